//! Bags whose last column identifies the unit of each row.

use crate::{Bag, CodedTable, Stop, Watch};

impl Bag {
    /// True if some unit has more than `most` rows, or a row has no unit. The unit is the last column.
    pub fn exceeds(&self, most: u64, watch: &Watch) -> Result<bool, Stop> {
        let Some(last) = self.width().checked_sub(1) else { return Ok(self.row_count() > 0) };
        let _held = watch.hold(8 * self.domain(last).len() as u64)?;
        let mut rows = vec![0u64; self.domain(last).len()];
        for i in 0..self.distinct() {
            watch.poll(i)?;
            let Some(unit) = rows.get_mut(self.row(i)[last] as usize) else { return Ok(true) };
            *unit = unit.saturating_add(self.weight(i));
            if *unit > most {
                return Ok(true);
            }
        }
        Ok(false)
    }
}

impl CodedTable {
    /// The table without its last column. Equal rows are merged.
    pub fn without_last(mut self, watch: &Watch) -> Result<Self, Stop> {
        let columns: Vec<usize> = (1..self.bag.width()).map(|column| column - 1).collect();
        let _held = watch.hold(self.memory())?;
        self.bag = self.bag.project(&columns, watch)?;
        self.raws.truncate(columns.len());
        Ok(self)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Coder, Encoding};

    fn table(rows: &[(&str, Option<&str>)]) -> CodedTable {
        let columns = ["x", "unit"].map(|name| (name.to_string(), Encoding::Text));
        let mut coder = Coder::new(columns);
        for (x, unit) in rows {
            coder.text(0, x.as_bytes());
            match unit {
                Some(unit) => coder.text(1, unit.as_bytes()),
                None => coder.null(1),
            }
            coder.end_row();
        }
        coder.finish(&Watch::unlimited()).unwrap()
    }

    #[test]
    fn equal_and_different_rows_of_a_unit_add_up() {
        let (watch, a, b) = (Watch::unlimited(), Some("a"), Some("b"));
        let bag = table(&[("x", a), ("x", a), ("y", a), ("x", b)]).bag;
        let exceeded: Vec<bool> = (1..5).map(|most| bag.exceeds(most, &watch).unwrap()).collect();
        assert_eq!(exceeded, [true, true, false, false]);
        assert!(table(&[("x", a), ("x", None)]).bag.exceeds(9, &watch).unwrap());
        assert!(!table(&[]).bag.exceeds(0, &watch).unwrap());
    }

    #[test]
    fn a_table_loses_its_last_column() {
        let watch = Watch::unlimited();
        let table = table(&[("x", Some("a")), ("x", Some("b")), ("y", Some("b"))]);
        let table = table.without_last(&watch).unwrap();
        assert_eq!((table.bag.width(), table.bag.weights()), (1, &[2, 1][..]));
        assert_eq!((table.raw(0, 0), table.raw(0, 1)), (&b"x"[..], &b"y"[..]));
        assert_eq!(watch.memory(), 0);
    }
}
