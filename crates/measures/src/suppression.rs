//! The share of suppressed cells of each column.

use table::Bag;

/// The cells of a column and how many of them are NULL.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ColumnSuppression {
    pub cells: u64,
    pub suppressed: u64,
}

impl ColumnSuppression {
    /// The share of the cells that is NULL; `None` if the column has no cells.
    pub fn share(&self) -> Option<f64> {
        (self.cells > 0).then(|| self.suppressed as f64 / self.cells as f64)
    }
}

/// The suppressed cells of each column. The released table does not distinguish a suppressed cell from one that was
/// never filled: both are NULL and count.
pub fn suppression(bag: &Bag) -> Vec<ColumnSuppression> {
    let cells = bag.row_count();
    let filled = bag.supports().into_iter().map(|supports| supports.iter().sum::<u64>());
    filled.map(|filled| ColumnSuppression { cells, suppressed: cells - filled }).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nulls_are_counted_by_column_and_weight() {
        let rows = [[Some("a"), None], [Some("a"), None], [None, None], [Some("b"), Some("x")]];
        let found = suppression(&Bag::from_text(2, rows));
        assert_eq!(found[0], ColumnSuppression { cells: 4, suppressed: 1 });
        assert_eq!(found[1].share(), Some(0.75));
        assert_eq!(suppression(&Bag::from_text(1, [[Some("a"); 1]; 0]))[0].share(), None);
    }
}
