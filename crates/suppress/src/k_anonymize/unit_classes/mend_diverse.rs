//! Classes that lack units, diversity or closeness join others.

use super::{OfUnit, Terms, UnitClasses};
use crate::k_anonymize::Diversity;
use std::cmp::Reverse;
use table::{Stop, Watch};

/// Merges of a class with single others before it is merged with all.
const MERGES: usize = 1 << 6;

/// How often the terms are computed again because rows were dropped.
const ROUNDS: usize = 4;

/// Rows are dropped one by one to trim a class, in large classes several at once.
const STEPS: usize = 512;

impl UnitClasses<'_> {
    /// Merges each class that may not be released with the nearest others, if necessary with all. Where the table itself
    /// is not diverse enough rows are dropped.
    pub fn mend_diverse(&mut self, asked: Diversity, watch: &Watch) -> Result<(), Stop> {
        for _ in 0..ROUNDS {
            let mut all = Vec::new();
            self.open().for_each(|class| self.add_rows(class, &mut all));
            let column = self.partition.people.width();
            let values = self.bag.domain(column).len() + 1;
            let terms = Terms::new(self.partition.rule.k, asked, values, &mut all);
            drop(all);
            let before = self.dropped.len();
            let mut order: Vec<u32> = self.open().collect();
            order.sort_unstable_by_key(|&class| {
                (self.partition.classes[class as usize].loss, class)
            });
            for class in order {
                watch.check()?;
                self.comply(class, &terms, watch)?;
            }
            if self.dropped.len() == before {
                break;
            }
        }
        Ok(())
    }

    /// Makes a class one that may be released.
    fn comply(&mut self, class: u32, terms: &Terms, watch: &Watch) -> Result<(), Stop> {
        let mut merges = 0;
        while self.partition.classes[class as usize].size > 0 && !terms.hold(&mut self.rows(class))
        {
            watch.check()?;
            if self.partition.rule.drops && self.trim(class, terms) {
                return Ok(());
            }
            merges += 1;
            match self.nearest_class(class) {
                Some(nearest) if merges <= MERGES => self.merge(nearest, class),
                Some(_) => {
                    let others: Vec<u32> = self.open().filter(|&other| other != class).collect();
                    others.into_iter().for_each(|other| self.merge(other, class));
                }
                None => {
                    if !self.trim(class, terms) {
                        self.drop_rows(class, |_, _| true);
                    }
                    return Ok(());
                }
            }
        }
        Ok(())
    }

    /// What the units of a class have in the sensitive column.
    fn rows(&self, class: u32) -> Vec<OfUnit> {
        let mut rows = Vec::new();
        self.add_rows(class, &mut rows);
        rows
    }

    fn add_rows(&self, class: u32, rows: &mut Vec<OfUnit>) {
        for &share in &self.partition.classes[class as usize].members {
            let (row, value) = (self.row_of(share), self.value_of(share));
            let of = |unit| OfUnit { value, unit, rows: self.rows_of(row, unit) };
            rows.extend(self.units_of(share).map(of));
        }
    }

    fn value_of(&self, share: u32) -> u32 {
        let row = self.partition.shares[share as usize].row;
        self.partition.people.sensitive[row as usize]
    }

    /// Drops rows of the values that a class has too much of until it may be released; false, and nothing is dropped, if
    /// none would be left.
    fn trim(&mut self, class: u32, terms: &Terms) -> bool {
        let mut rows = self.rows(class);
        let mut gone: Vec<(u32, u32)> = Vec::new();
        let step = (rows.len() / STEPS).max(1);
        while !terms.hold(&mut rows) {
            let Some(value) = terms.excess(&rows) else { return false };
            let mut of_units: Vec<u32> = rows.iter().map(|of| of.unit).collect();
            of_units.sort_unstable();
            let values = |unit: u32| {
                let from = &of_units[of_units.partition_point(|&other| other < unit)..];
                from.iter().take_while(|&&other| other == unit).count()
            };
            let mut most: Vec<OfUnit> =
                rows.iter().filter(|of| of.value == value).copied().collect();
            // Units with other values too stay in the class.
            most.sort_unstable_by_key(|of| (Reverse(values(of.unit)), of.rows, of.unit));
            most.truncate(step);
            most.sort_unstable();
            gone.extend(most.iter().map(|of| (of.value, of.unit)));
            rows.retain(|of| most.binary_search(of).is_err());
        }
        gone.sort_unstable();
        self.drop_rows(class, |value, unit| gone.binary_search(&(value, unit)).is_ok());
        true
    }

    /// Drops the rows of a class whose value and unit are given.
    fn drop_rows(&mut self, class: u32, is_gone: impl Fn(u32, u32) -> bool) {
        for share in self.partition.classes[class as usize].members.clone() {
            let value = self.value_of(share);
            let mut gone: Vec<u32> =
                self.units_of(share).filter(|&unit| is_gone(value, unit)).collect();
            gone.sort_unstable();
            if !gone.is_empty() {
                self.drop_units(share, &gone);
            }
        }
        self.partition.tighten(class);
        self.count(class);
    }
}
