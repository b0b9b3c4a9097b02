//! Splits a bag by the values of one column, so that each class gets its own model and rows.

use std::collections::BTreeMap;
use table::{Bag, NONE, Stop, Watch};

/// The classes of a bag: its distinct rows by their value in one column.
pub struct ClassRows<'a> {
    bag: &'a Bag,
    /// All other columns.
    columns: Vec<usize>,
    /// By class: the code of that column, [`NONE`] for NULL, and the rows.
    rows: Vec<(u32, Vec<u32>)>,
}

impl<'a> ClassRows<'a> {
    /// The classes that `column` makes, in the order of its values, NULL last.
    pub fn new(bag: &'a Bag, column: usize) -> Self {
        let mut rows = BTreeMap::<u32, Vec<u32>>::new();
        for row in 0..bag.distinct() {
            rows.entry(bag.row(row)[column]).or_default().push(row as u32);
        }
        let columns = (0..bag.width()).filter(|&c| c != column).collect();
        ClassRows { bag, columns, rows: rows.into_iter().collect() }
    }

    /// The number of classes.
    pub fn len(&self) -> usize {
        self.rows.len()
    }

    /// True if the bag has no rows.
    pub fn is_empty(&self) -> bool {
        self.rows.is_empty()
    }

    /// The code of a class, [`NONE`] for NULL.
    pub fn code(&self, class: usize) -> u32 {
        self.rows[class].0
    }

    /// The number of rows of each class.
    pub fn sizes(&self) -> Vec<u64> {
        let size = |rows: &[u32]| rows.iter().map(|&row| self.bag.weight(row as usize)).sum();
        self.rows.iter().map(|(_, rows)| size(rows)).collect()
    }

    /// The rows of a class without the class column. Domains stay those of the whole bag.
    pub fn bag(&self, class: usize, watch: &Watch) -> Result<Bag, Stop> {
        let mut builder = self.bag.filter(|_| false).project(&self.columns, watch)?.builder();
        let mut cells = vec![NONE; self.columns.len()];
        for (i, &row) in self.rows[class].1.iter().enumerate() {
            watch.poll(i)?;
            for (cell, &column) in cells.iter_mut().zip(&self.columns) {
                *cell = self.bag.row(row as usize)[column];
            }
            builder.add(&cells, self.bag.weight(row as usize));
        }
        Ok(builder.finish())
    }
}

/// Splits `n` in proportion to the sizes, by the largest remainders; among equal ones the first.
pub fn apportion(n: u64, sizes: &[u64]) -> Vec<u64> {
    let total: u128 = sizes.iter().map(|&size| u128::from(size)).sum();
    if total == 0 {
        return vec![0; sizes.len()];
    }
    let exact = |size: u64| u128::from(n) * u128::from(size);
    let mut shares: Vec<u64> = sizes.iter().map(|&size| (exact(size) / total) as u64).collect();
    let mut order: Vec<usize> = (0..sizes.len()).collect();
    order.sort_by_key(|&i| std::cmp::Reverse(exact(sizes[i]) % total));
    let missing = n - shares.iter().sum::<u64>();
    order.into_iter().take(missing as usize).for_each(|i| shares[i] += 1);
    shares
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn classes_are_the_rows_without_the_class() {
        let rows = [
            [Some("a"), Some("1")],
            [Some("b"), Some("1")],
            [Some("a"), None],
            [Some("a"), Some("1")],
        ];
        let bag = Bag::from_text(2, rows);
        let classes = ClassRows::new(&bag, 1);
        let shape = |class| {
            let bag = classes.bag(class, &Watch::unlimited()).unwrap();
            (classes.code(class), bag.width(), bag.distinct(), bag.row_count())
        };
        assert_eq!([shape(0), shape(1)], [(0, 1, 2, 3), (NONE, 1, 1, 1)]);
        assert_eq!((classes.len(), classes.sizes()), (2, vec![3, 1]));
    }

    #[test]
    fn shares_add_up() {
        assert_eq!(apportion(10, &[1, 1, 1]), [4, 3, 3]);
        assert_eq!(apportion(3, &[10, 0, 1]), [3, 0, 0]);
        assert!(apportion(7, &[]).is_empty());
        assert_eq!(apportion(7, &[0, 0]), [0, 0]);
        assert_eq!(apportion(u64::MAX, &[u64::MAX, u64::MAX]).iter().sum::<u64>(), u64::MAX);
    }
}
