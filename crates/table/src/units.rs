//! Bags whose last column identifies the unit of each row: the person, say, whose row it is.

use crate::{Bag, CodedTable, NONE, Stop, Watch};

/// The rows of a unit that are equal.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RowsOfUnit {
    pub unit: u32,
    pub rows: u64,
}

/// The units of each distinct row of a bag.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Units {
    /// Where the units of each distinct row end.
    ends: Vec<usize>,
    /// By distinct row, then by unit.
    rows: Vec<RowsOfUnit>,
    /// The size of the units' domain.
    domain: usize,
}

impl Units {
    /// The units of a distinct row, ascending, and how many of its rows each has. Rows without a unit are in none.
    #[inline]
    pub fn of(&self, row: usize) -> &[RowsOfUnit] {
        let start = if row == 0 { 0 } else { self.ends[row - 1] };
        &self.rows[start..self.ends[row]]
    }

    /// All units are numbers below this one; some may have no row.
    pub fn domain(&self) -> usize {
        self.domain
    }

    /// The number of pairs of a distinct row and a unit of it.
    pub fn pairs(&self) -> usize {
        self.rows.len()
    }

    /// The number of different units that have a row.
    pub fn count(&self, watch: &Watch) -> Result<u64, Stop> {
        let _held = watch.hold(UnitCounter::bytes(self.domain))?;
        let mut counter = UnitCounter::new(self.domain);
        counter.begin();
        let mut found = 0;
        for (i, of) in self.rows.iter().enumerate() {
            watch.poll(i)?;
            found += u64::from(counter.see(of.unit));
        }
        Ok(found)
    }

    /// The bytes held.
    pub fn memory(&self) -> u64 {
        Units::bytes(self.ends.capacity(), self.rows.capacity())
    }

    fn bytes(rows: usize, pairs: usize) -> u64 {
        (rows * size_of::<usize>() + pairs * size_of::<RowsOfUnit>()) as u64
    }
}

/// Counts the different units of some rows. Made once for many counts: its memory is that of the units, and a count
/// costs the rows only.
#[derive(Debug, Clone)]
pub struct UnitCounter {
    /// The number of the last count that saw each unit.
    seen: Vec<u32>,
    count: u32,
}

impl UnitCounter {
    /// A counter of units below `domain`.
    pub fn new(domain: usize) -> Self {
        UnitCounter { seen: vec![0; domain], count: 0 }
    }

    /// Begins another count.
    pub fn begin(&mut self) {
        self.count = self.count.checked_add(1).unwrap_or_else(|| {
            self.seen.fill(0);
            1
        });
    }

    /// True if this count has not seen the unit yet.
    #[inline]
    pub fn see(&mut self, unit: u32) -> bool {
        let seen = &mut self.seen[unit as usize];
        let is_new = *seen != self.count;
        *seen = self.count;
        is_new
    }

    /// The number of different units among these, up to `most`.
    pub fn count(&mut self, units: impl Iterator<Item = u32>, most: u64) -> u64 {
        self.begin();
        let mut found = 0;
        for unit in units {
            if found >= most {
                break;
            }
            found += u64::from(self.see(unit));
        }
        found
    }

    /// The bytes held.
    pub fn bytes(domain: usize) -> u64 {
        domain as u64 * 4
    }
}

impl Bag {
    /// The number of different units, NULL being none. The unit is the last column.
    pub fn unit_count(&self, watch: &Watch) -> Result<u64, Stop> {
        let Some(last) = self.width().checked_sub(1) else { return Ok(0) };
        let _held = watch.hold(UnitCounter::bytes(self.domain(last).len()))?;
        let mut counter = UnitCounter::new(self.domain(last).len());
        counter.begin();
        let mut found = 0;
        for i in 0..self.distinct() {
            watch.poll(i)?;
            let unit = self.row(i)[last];
            found += u64::from(unit != NONE && counter.see(unit));
        }
        Ok(found)
    }

    /// The bag without its last column, and the units of its rows: those of the last column. Costs the pairs of
    /// distinct row and unit.
    pub fn split_units(&self, watch: &Watch) -> Result<(Bag, Units), Stop> {
        let last = self.width().saturating_sub(1);
        let columns: Vec<usize> = (0..last).collect();
        let _became = watch.hold(4 * self.distinct() as u64)?;
        let mut became = Vec::with_capacity(self.distinct());
        let bag = self.map(&columns, |_, code| code, |row| became.push(row as u32), watch)?;
        let unit = |i: usize| self.row(i).get(last).copied().unwrap_or(NONE);
        let mut ends = vec![0; bag.distinct()];
        let _held = watch.hold(Units::bytes(bag.distinct(), self.distinct()))?;
        let owned = |i: &usize| unit(*i) != NONE;
        (0..self.distinct()).filter(owned).for_each(|i| ends[became[i] as usize] += 1);
        let mut sum = 0;
        ends.iter_mut().for_each(|end| {
            // Where the list begins; filling it moves that to where it ends.
            let count = *end;
            *end = sum;
            sum += count;
        });
        let mut rows = vec![RowsOfUnit { unit: NONE, rows: 0 }; sum];
        for i in (0..self.distinct()).filter(owned) {
            watch.poll(i)?;
            let place = &mut ends[became[i] as usize];
            rows[*place] = RowsOfUnit { unit: unit(i), rows: self.weight(i) };
            *place += 1;
        }
        let mut start = 0;
        for (i, &end) in ends.iter().enumerate() {
            watch.poll(i)?;
            rows[start..end].sort_unstable_by_key(|rows| rows.unit);
            start = end;
        }
        let domain = self.domains.get(last).map_or(0, |domain| domain.len());
        Ok((bag, Units { ends, rows, domain }))
    }

    /// The rows of the units that `keep` accepts, and the units of these rows. Rows without a unit are left out.
    pub fn of_units(
        &self,
        units: &Units,
        keep: impl Fn(u32) -> bool,
        watch: &Watch,
    ) -> Result<(Bag, Units), Stop> {
        let _held = watch.hold(8 * self.distinct() as u64 + units.memory())?;
        let mut weights = vec![0; self.distinct()];
        let mut kept = Units { ends: Vec::new(), rows: Vec::new(), domain: units.domain };
        for (row, weight) in weights.iter_mut().enumerate() {
            watch.poll(row)?;
            let before = kept.rows.len();
            kept.rows.extend(units.of(row).iter().filter(|of| keep(of.unit)));
            *weight = kept.rows[before..].iter().map(|of| of.rows).sum();
            if *weight > 0 {
                kept.ends.push(kept.rows.len());
            }
        }
        Ok((self.with_weights(&weights), kept))
    }

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
    /// The table with a column moved behind all others.
    pub fn with_last(mut self, column: usize, watch: &Watch) -> Result<Self, Stop> {
        let others = (0..self.bag.width()).filter(|&other| other != column);
        let columns: Vec<usize> = others.chain([column]).collect();
        let _held = watch.hold(self.memory())?;
        self.bag = self.bag.project(&columns, watch)?;
        let raw = self.raws.remove(column);
        self.raws.push(raw);
        Ok(self)
    }

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
    use proptest::prelude::*;
    use std::collections::{BTreeMap, BTreeSet};

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

    type Row = (Option<u8>, Option<u8>);

    fn rows() -> impl Strategy<Value = Vec<Row>> {
        prop::collection::vec((prop::option::of(0u8..4), prop::option::of(0u8..6)), 0..40)
    }

    proptest! {
        #[test]
        fn the_units_of_a_row_are_those_it_occurs_with(rows in rows()) {
            let text = |cell: Option<u8>| cell.map(|n| n.to_string());
            let whole = Bag::from_text(2, rows.iter().map(|row| [text(row.0), text(row.1)]));
            let watch = Watch::unlimited();
            let (bag, units) = whole.split_units(&watch).unwrap();
            prop_assert_eq!(bag.row_count(), rows.len() as u64);
            let all: BTreeSet<u8> = rows.iter().filter_map(|row| row.1).collect();
            prop_assert_eq!(whole.unit_count(&watch).unwrap(), all.len() as u64);
            let value = |column: usize, code: u32| {
                let text = || std::str::from_utf8(whole.domain(column).value(code)).unwrap();
                (code != NONE).then(|| text().parse::<u8>().unwrap())
            };
            let mut counter = UnitCounter::new(units.domain());
            for i in 0..bag.distinct() {
                let cell = value(0, bag.row(i)[0]);
                let mut expected: BTreeMap<u8, u64> = BTreeMap::new();
                rows.iter().filter(|row| row.0 == cell).filter_map(|row| row.1).for_each(|unit| {
                    *expected.entry(unit).or_default() += 1;
                });
                let found = units.of(i).iter().map(|of| (value(1, of.unit).unwrap(), of.rows));
                prop_assert_eq!(found.collect::<BTreeMap<_, _>>(), expected.clone());
                prop_assert!(units.of(i).is_sorted_by(|a, b| a.unit < b.unit));
                let twice = units.of(i).iter().chain(units.of(i)).map(|of| of.unit);
                prop_assert_eq!(counter.count(twice.clone(), u64::MAX), expected.len() as u64);
                prop_assert_eq!(counter.count(twice, 2), expected.len().min(2) as u64);
            }
            prop_assert_eq!(units.count(&watch).unwrap(), all.len() as u64);
            // Those of some units are the same as if only their rows were there.
            let keep = |unit: u32| value(1, unit).is_some_and(|unit| unit % 2 == 0);
            let (part, of_part) = bag.of_units(&units, keep, &watch).unwrap();
            let (same, of_same) = whole.filter(|row| keep(row[1])).split_units(&watch).unwrap();
            let listed = |bag: &Bag, units: &Units| {
                let row = |i: usize| (bag.row(i).to_vec(), bag.weight(i), units.of(i).to_vec());
                let mut rows: Vec<_> = (0..bag.distinct()).map(row).collect();
                rows.sort_by(|a, b| a.0.cmp(&b.0));
                rows
            };
            prop_assert_eq!(listed(&part, &of_part), listed(&same, &of_same));
            prop_assert_eq!(watch.memory(), 0);
        }
    }

    #[test]
    fn a_column_is_moved_behind_the_others() {
        let watch = Watch::unlimited();
        let table = table(&[("x", Some("a")), ("x", Some("b")), ("y", None)]);
        let table = table.with_last(0, &watch).unwrap();
        assert_eq!((table.bag.domain(0).name(), table.bag.domain(1).name()), ("unit", "x"));
        assert_eq!((table.raw(0, 1), table.raw(1, 1)), (&b"b"[..], &b"y"[..]));
        assert_eq!((table.bag.row(1), table.bag.row(2)), (&[1, 0][..], &[NONE, 1][..]));
        assert_eq!(watch.memory(), 0);
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
