//! Equality classes, and the values of the sensitive column in each.

use crate::matching::Matching;
use crate::unit_rows::{UnitRows, WHOLE};
use table::{Bag, Index, NONE, Reservation, Stop, Units, Watch};

/// The size of the smallest equality class on all columns of the bag, in rows or in units; `None` if it has no rows.
///
/// A bag has its classes already: rows that are equal, NULLs included, are one distinct row. A class of rows without a
/// unit has 0 units.
pub fn k_anonymity(bag: &Bag, units: Option<&Units>, watch: &Watch) -> Result<Option<u64>, Stop> {
    let Some(units) = units else { return Ok(bag.weights().iter().copied().min()) };
    let mut least = None;
    for row in 0..bag.distinct() {
        watch.poll(row)?;
        let size = units.of(row).len() as u64;
        least = Some(least.map_or(size, |least: u64| least.min(size)));
    }
    Ok(least)
}

/// A value of the sensitive column in a class. All rows of the class that have it are one distinct row.
#[derive(Debug, Clone, Copy)]
pub(crate) struct ClassValue {
    /// Class and value as one number, which is compared in one step.
    key: u64,
    row: u32,
}

impl ClassValue {
    fn new(class: u32, value: u32, row: u32) -> Self {
        ClassValue { key: u64::from(class) << 32 | u64::from(value), row }
    }

    fn class(self) -> u32 {
        (self.key >> 32) as u32
    }

    /// A code, or [`NONE`] for NULL.
    fn value(self) -> u32 {
        self.key as u32
    }
}

/// The values of the sensitive column in each class.
pub(crate) struct Tally<'a> {
    bag: &'a Bag,
    units: Option<&'a Units>,
    /// By class and value.
    values: Vec<ClassValue>,
    /// A distinct row of each class.
    firsts: Vec<u32>,
    held: Reservation<'a>,
}

impl<'a> Tally<'a> {
    /// Lists the values of column `sensitive` by classes on the other columns; `None` if the
    /// bag has no rows or no such column.
    pub(crate) fn new(
        bag: &'a Bag,
        units: Option<&'a Units>,
        sensitive: usize,
        watch: &'a Watch,
    ) -> Result<Option<Self>, Stop> {
        if sensitive >= bag.width() || bag.distinct() == 0 {
            return Ok(None);
        }
        let class = |i: u32| {
            let row = bag.row(i as usize);
            (&row[..sensitive], &row[sensitive + 1..])
        };
        // The values, and as if each were a class, a slot in an index that grows by doubling.
        let mut held = watch.hold(bag.distinct() as u64 * (16 + 40))?;
        let mut index = Index::new();
        let mut firsts = Vec::new();
        let mut values = Vec::with_capacity(bag.distinct());
        for row in 0..bag.distinct() as u32 {
            watch.poll(row as usize)?;
            let number = index.number(class(row), |number| class(firsts[number as usize]));
            let class = number.unwrap_or_else(|new| {
                firsts.push(row);
                new
            });
            values.push(ClassValue::new(class, bag.row(row as usize)[sensitive], row));
        }
        values.sort_unstable_by_key(|of| of.key);
        drop(index);
        held.lower((values.capacity() * size_of::<ClassValue>() + firsts.capacity() * 4) as u64);
        Ok(Some(Tally { bag, units, values, firsts, held }))
    }

    /// A distinct row of a class.
    pub(crate) fn row(&self, class: u32) -> u32 {
        self.firsts[class as usize]
    }

    /// The classes: for each the values it holds, ascending with NULL last.
    pub(crate) fn classes(&self) -> impl Iterator<Item = &[ClassValue]> {
        self.values.chunk_by(|a, b| a.class() == b.class())
    }

    /// The share of each value in the whole table, by code; the last entry is NULL's. Without units the rows count;
    /// with units each of them weighs the same, spread over all of its rows. All are 0 if no row has a unit.
    pub(crate) fn shares(&self, domain: usize) -> Result<Vec<f64>, Stop> {
        let Some(units) = self.units else {
            let mut totals = vec![0; domain + 1];
            for of in &self.values {
                totals[position(of.value(), domain)] += self.bag.weight(of.row as usize);
            }
            let all = self.bag.row_count() as f64;
            return Ok(totals.iter().map(|&rows| rows as f64 / all).collect());
        };
        let watch = self.held.watch();
        let _held = watch.hold(UnitRows::bytes(units.domain()) + domain as u64 * 16)?;
        let rows = UnitRows::of_table(self.bag, units, watch)?;
        let mut totals = vec![0; domain + 1];
        for (i, of) in self.values.iter().enumerate() {
            watch.poll(i)?;
            totals[position(of.value(), domain)] += rows.weight(units.of(of.row as usize));
        }
        let all = WHOLE * rows.units().len().max(1) as u128;
        Ok(totals.iter().map(|&weight| weight as f64 / all as f64).collect())
    }

    /// Counts in the classes.
    pub(crate) fn counter(&self) -> Result<ClassCounter<'_>, Stop> {
        let watch = self.held.watch();
        let longest = self.classes().map(<[ClassValue]>::len).max().unwrap_or(0);
        // The shares of a class, a list that grows by doubling.
        let mut held = watch.hold(longest as u64 * 32)?;
        let mut counter = None;
        if let Some(units) = self.units {
            let domain = units.domain();
            held.add(UnitRows::bytes(domain) + Matching::bytes(domain, longest))?;
            let (rows, matching) = (UnitRows::new(domain), Matching::new(units, watch));
            counter = Some(UnitsOfClass { units, rows, matching, watch });
        }
        Ok(ClassCounter { bag: self.bag, units: counter, shares: Vec::new(), _held: held })
    }
}

/// Counts the rows or the units of classes, one class after the other.
pub(crate) struct ClassCounter<'a> {
    bag: &'a Bag,
    /// `None` if rows count.
    units: Option<UnitsOfClass<'a>>,
    shares: Vec<(u32, f64)>,
    _held: Reservation<'a>,
}

/// Counts the units of classes.
struct UnitsOfClass<'a> {
    units: &'a Units,
    rows: UnitRows,
    matching: Matching<'a>,
    watch: &'a Watch,
}

impl ClassCounter<'_> {
    /// The number of rows of a class, and of its units if units count.
    pub(crate) fn size(&mut self, class: &[ClassValue]) -> Result<(u64, Option<u64>), Stop> {
        let rows = class.iter().map(|of| self.bag.weight(of.row as usize)).sum();
        let Some(counter) = &mut self.units else { return Ok((rows, None)) };
        counter.add(class)?;
        let units = counter.rows.units().len() as u64;
        counter.rows.clear();
        Ok((rows, Some(units)))
    }

    /// The number of values of a class. With units, that of the values that can be matched to different units, up to
    /// `most`.
    pub(crate) fn distinct(&mut self, class: &[ClassValue], most: u64) -> Result<u64, Stop> {
        match &mut self.units {
            None => Ok(class.len() as u64),
            Some(counter) => counter.matching.size(class.iter().map(|of| of.row), most),
        }
    }

    /// The values of a class, and the share of each: that of its rows, or, with units, that of its weight, where each
    /// unit of the class weighs the same, spread over its rows in the class. Values that no unit has are left out, so
    /// that a class without units has none.
    #[inline]
    pub(crate) fn shares(&mut self, class: &[ClassValue]) -> Result<&[(u32, f64)], Stop> {
        self.shares.clear();
        match (&mut self.units, class) {
            // Most classes of a detailed table have one value.
            (None, [only]) => self.shares.push((only.value(), 1.0)),
            (None, _) => {
                let mut all = 0;
                self.shares.extend(class.iter().map(|of| {
                    let rows = self.bag.weight(of.row as usize);
                    all += rows;
                    (of.value(), rows as f64)
                }));
                self.shares.iter_mut().for_each(|(_, share)| *share /= all as f64);
            }
            (Some(counter), _) => {
                counter.add(class)?;
                let all = (WHOLE * counter.rows.units().len() as u128) as f64;
                for of in class {
                    counter.watch.check()?;
                    let weight = counter.rows.weight(counter.units.of(of.row as usize));
                    if weight > 0 {
                        self.shares.push((of.value(), weight as f64 / all));
                    }
                }
                counter.rows.clear();
            }
        }
        Ok(&self.shares)
    }
}

impl UnitsOfClass<'_> {
    fn add(&mut self, class: &[ClassValue]) -> Result<(), Stop> {
        for of in class {
            self.watch.check()?;
            self.rows.add(self.units.of(of.row as usize));
        }
        Ok(())
    }
}

/// The position of a value in [`Tally::shares`].
pub(crate) fn position(value: u32, domain: usize) -> usize {
    if value == NONE { domain } else { value as usize }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn k_is_the_smallest_class_and_nulls_are_equal() {
        let rows = [[Some("a"), None], [Some("a"), None], [Some("b"), Some("x")]];
        let k = |rows: &[[Option<&str>; 2]]| {
            let bag = Bag::from_text(2, rows.iter().copied());
            k_anonymity(&bag, None, &Watch::unlimited()).unwrap()
        };
        assert_eq!([k(&rows), k(&rows[..2]), k(&rows[..0])], [Some(1), Some(2), None]);
    }
}
