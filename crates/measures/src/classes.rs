//! Equality classes, and the values of the sensitive column in each.

use table::{Bag, Index, NONE, Stop, Watch};

/// The size of the smallest equality class on all columns of the bag; `None` if it has no rows.
///
/// A bag has its classes already: rows that are equal, NULLs included, are one distinct row.
pub fn k_anonymity(bag: &Bag) -> Option<u64> {
    bag.weights().iter().copied().min()
}

/// The number of times that each value of the sensitive column occurs in each class.
pub(crate) struct Tally {
    /// (class, value, rows), by class and value. A value is a code, or [`NONE`] for NULL.
    cells: Vec<(u32, u32, u64)>,
    /// A distinct row of each class.
    firsts: Vec<u32>,
}

impl Tally {
    /// Counts the values of column `sensitive` by classes on the other columns; `None` if the
    /// bag has no rows or no such column.
    pub(crate) fn new(bag: &Bag, sensitive: usize, watch: &Watch) -> Result<Option<Self>, Stop> {
        if sensitive >= bag.width() || bag.distinct() == 0 {
            return Ok(None);
        }
        let class = |i: u32| {
            let row = bag.row(i as usize);
            (&row[..sensitive], &row[sensitive + 1..])
        };
        // The cells, and as if each were a class, a slot in an index that grows by doubling.
        let _held = watch.hold(bag.distinct() as u64 * (16 + 40))?;
        let mut index = Index::new();
        let mut firsts = Vec::new();
        let mut cells = Vec::with_capacity(bag.distinct());
        for i in 0..bag.distinct() as u32 {
            watch.poll(i as usize)?;
            let number = index.number(class(i), |number| class(firsts[number as usize]));
            let number = number.unwrap_or_else(|new| {
                firsts.push(i);
                new
            });
            cells.push((number, bag.row(i as usize)[sensitive], bag.weight(i as usize)));
        }
        cells.sort_unstable();
        Ok(Some(Tally { cells, firsts }))
    }

    /// A distinct row of a class.
    pub(crate) fn row(&self, class: u32) -> u32 {
        self.firsts[class as usize]
    }

    /// The classes: for each the values it holds, ascending with NULL last, and their rows.
    pub(crate) fn classes(&self) -> impl Iterator<Item = &[(u32, u32, u64)]> {
        self.cells.chunk_by(|a, b| a.0 == b.0)
    }

    /// The bytes held.
    pub(crate) fn memory(&self) -> u64 {
        (self.cells.capacity() * size_of::<(u32, u32, u64)>() + self.firsts.capacity() * 4) as u64
    }

    /// The number of rows of each value over all classes, by code; the last entry is NULL's.
    pub(crate) fn totals(&self, domain: usize) -> Vec<u64> {
        let mut totals = vec![0; domain + 1];
        for &(_, value, rows) in &self.cells {
            totals[position(value, domain)] += rows;
        }
        totals
    }
}

/// The position of a value in [`Tally::totals`].
pub(crate) fn position(value: u32, domain: usize) -> usize {
    if value == NONE { domain } else { value as usize }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn k_is_the_smallest_class_and_nulls_are_equal() {
        let rows = [[Some("a"), None], [Some("a"), None], [Some("b"), Some("x")]];
        assert_eq!(k_anonymity(&Bag::from_text(2, rows)), Some(1));
        assert_eq!(k_anonymity(&Bag::from_text(2, rows[..2].to_vec())), Some(2));
        assert_eq!(k_anonymity(&Bag::from_text(2, rows[..0].to_vec())), None);
    }
}
