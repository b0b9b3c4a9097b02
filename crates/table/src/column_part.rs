//! Some columns of a table as a bag of their own, while the other columns are kept unchanged.

use crate::{Bag, NONE, Stop, Units, Watch};

/// The first columns of a table with equal rows merged, where the other columns are kept unchanged: a release is
/// decided on this part, and its rows are rows of the table.
pub struct ColumnPart {
    pub bag: Bag,
    /// The units of the rows of the part, if the last column of the table is the unit.
    pub units: Option<Units>,
    /// For each distinct row of the table, its row of the part.
    rows: Vec<u32>,
}

impl ColumnPart {
    /// The first `width` columns of a table.
    pub fn new(table: &Bag, width: usize, watch: &Watch) -> Result<Self, Stop> {
        ColumnPart::map(table, width, |_, code| code, watch)
    }

    /// The first columns of a table whose last column is the unit, and the units of their rows.
    pub fn with_units(table: &Bag, width: usize, watch: &Watch) -> Result<Self, Stop> {
        let mut part = ColumnPart::new(table, width, watch)?;
        let _held = watch.hold(part.memory())?;
        let columns: Vec<usize> = (0..width).chain(table.width().checked_sub(1)).collect();
        let whole = table.project(&columns, watch)?;
        let _whole = watch.hold(whole.own_memory())?;
        // Both ways merge rows in the order in which they come first.
        let (_, units) = whole.split_units(watch)?;
        part.units = Some(units);
        Ok(part)
    }

    /// The first columns of a table, in which unknown values become NULL. `known` has for each such column, by code,
    /// whether the value is known.
    pub fn of_known(table: &Bag, known: &[Vec<bool>], watch: &Watch) -> Result<Self, Stop> {
        let keep = |column: usize, code: u32| {
            if code != NONE && known[column][code as usize] { code } else { NONE }
        };
        ColumnPart::map(table, known.len(), keep, watch)
    }

    fn map(
        table: &Bag,
        width: usize,
        cell: impl Fn(usize, u32) -> u32,
        watch: &Watch,
    ) -> Result<Self, Stop> {
        let _held = watch.hold(table.distinct() as u64 * 4)?;
        let mut rows = Vec::with_capacity(table.distinct());
        let columns: Vec<usize> = (0..width).collect();
        let bag = table.map(&columns, cell, |row| rows.push(row as u32), watch)?;
        Ok(ColumnPart { bag, units: None, rows })
    }

    /// For each distinct row of the table, its row of the part.
    pub(crate) fn rows(&self) -> &[u32] {
        &self.rows
    }

    /// The bytes held beside the table.
    pub fn memory(&self) -> u64 {
        let units = self.units.as_ref().map_or(0, Units::memory);
        self.bag.own_memory() + self.rows.capacity() as u64 * 4 + units
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn table() -> Bag {
        let rows = [["a", "x", "1"], ["a", "x", "2"], ["b", "y", "3"], ["a", "x", "1"]];
        Bag::from_text(3, rows.map(|row| row.map(Some)))
    }

    #[test]
    fn equal_rows_are_merged_and_found_again() {
        let (table, watch) = (table(), Watch::unlimited());
        let part = ColumnPart::new(&table, 2, &watch).unwrap();
        assert_eq!((part.bag.width(), part.bag.weights()), (2, &[3, 1][..]));
        assert_eq!(part.rows(), [0, 0, 1]);
        assert!(std::ptr::eq(part.bag.domain(0), table.domain(0)));
        assert_eq!(watch.memory(), 0);
    }

    #[test]
    fn values_that_are_not_known_are_null() {
        let known = [vec![false, true], vec![true, true]];
        let part = ColumnPart::of_known(&table(), &known, &Watch::unlimited()).unwrap();
        assert_eq!([part.bag.row(0), part.bag.row(1)], [[NONE, 0], [1, 1]]);
        let known = [vec![false, false], vec![false, false]];
        let part = ColumnPart::of_known(&table(), &known, &Watch::unlimited()).unwrap();
        assert_eq!((part.bag.weights(), part.rows()), (&[4][..], &[0, 0, 0][..]));
    }

    #[test]
    fn the_units_of_a_part_are_those_of_its_rows() {
        let rows = [["a", "1", "u"], ["b", "1", "v"], ["a", "2", "v"], ["a", "3", "u"]];
        let table = Bag::from_text(3, rows.map(|row| row.map(Some)));
        let watch = Watch::unlimited();
        let part = ColumnPart::with_units(&table, 1, &watch).unwrap();
        let units = part.units.as_ref().unwrap();
        let of = |row| units.of(row).iter().map(|of| (of.unit, of.rows)).collect::<Vec<_>>();
        assert_eq!((of(0), of(1)), (vec![(0, 2), (1, 1)], vec![(1, 1)]));
        assert_eq!(part.bag.weights(), [3, 1]);
        assert_eq!(watch.memory(), 0);
    }

    #[test]
    fn memory_is_limited() {
        let stop = ColumnPart::new(&table(), 2, &Watch::new(8, 0)).err();
        assert_eq!(stop, Some(Stop::Memory { limit: 8 }));
    }
}
