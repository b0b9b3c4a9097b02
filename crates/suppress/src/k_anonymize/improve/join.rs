//! Puts the remaining rows into classes.

use super::partition::Partition;
use crate::k_anonymize::rule;
use table::{Stop, Watch};

/// The most classes with which a row is compared, if many rows remain.
const CLASSES: usize = 1 << 11;
const FEW_ROWS: usize = 1 << 6;

/// The most classes tried for a row, those that lose least first.
const TRIES: usize = 16;

/// Merges of single classes before all are merged.
const MERGES: usize = 1 << 10;

/// The cost of a dropped row, as a multiple of its cells: more than blanking all of them, so that a row is dropped only
/// if keeping it would cost other rows even more.
pub(crate) const DROP: u64 = 2;

impl Partition<'_> {
    /// Finds classes for the rows that have none, or drops them where that costs less.
    pub fn join_or_drop(&mut self, watch: &Watch) -> Result<(), Stop> {
        let people = self.people;
        let most = |row: u32, copies: u64| DROP * copies * people.worth(row) + 1;
        self.waiting = self.place(most, watch)?;
        Ok(())
    }

    /// The loss of all rows; rows without a class count as dropped.
    pub fn cost(&self) -> u64 {
        let dropped = self.waiting.iter().map(|&(row, copies)| copies * self.people.worth(row));
        self.total() + DROP * dropped.sum::<u64>()
    }

    /// Finds classes for the rows that have none. A row that can join no class under the rule is merged with as many
    /// classes as it takes, unless rows must be dropped.
    pub fn join(&mut self, watch: &Watch) -> Result<(), Stop> {
        let rest = self.place(|_, _| u64::MAX, watch)?;
        if self.rule.drops && self.classes.iter().any(|class| class.size > 0) {
            self.waiting = rest;
            return Ok(());
        }
        if rest.is_empty() {
            return Ok(());
        }
        let class = self.open();
        rest.into_iter().for_each(|(row, weight)| self.enter(row, weight, class));
        self.tighten(class);
        self.complete(class, watch)
    }

    /// Puts rows without a class into one if that loses less than `most`; returns the other rows.
    fn place(
        &mut self,
        most: impl Fn(u32, u64) -> u64,
        watch: &Watch,
    ) -> Result<Vec<(u32, u64)>, Stop> {
        let mut rest = Vec::new();
        let waiting = std::mem::take(&mut self.waiting);
        let classes = if waiting.len() > FEW_ROWS { CLASSES } else { usize::MAX };
        for (row, weight) in waiting {
            watch.check()?;
            // Many copies are placed in several parts, because the rule may not hold for all of them at once.
            let parts = if self.rule.is_plain() { 1 } else { weight.min(64) };
            for part in 0..parts {
                let copies = weight / parts + u64::from(part < weight % parts);
                match self.best(row, copies, most(row, copies), classes) {
                    Some(class) => {
                        self.enter(row, copies, class);
                        self.tighten(class);
                    }
                    None => rest.push((row, copies)),
                }
            }
        }
        Ok(rest)
    }

    /// The class that a row joins at the least loss, below `most`, among those for which the rule then holds.
    fn best(&self, row: u32, weight: u64, most: u64, classes: usize) -> Option<u32> {
        let step = self.classes.len().div_ceil(classes).max(1);
        let mut found: Vec<(u64, u32)> = Vec::new();
        let classes = (row as usize % step..self.classes.len()).step_by(step);
        for class in classes.map(|class| class as u32) {
            let most = if found.len() < TRIES { most } else { found[TRIES - 1].0 };
            if let Some(loss) = self.growth(class, row, weight, most) {
                found.push((loss, class));
                found.sort_unstable();
                found.truncate(TRIES);
            }
        }
        let holds = |class: u32| {
            let Some(&value) = self.people.sensitive.get(row as usize) else { return true };
            let mut tally = self.classes[class as usize].tally.clone();
            rule::add(&mut tally, value, weight);
            self.rule.holds(&tally)
        };
        found.into_iter().map(|entry| entry.1).find(|&class| holds(class))
    }

    /// The additional loss of a class and a row that joins it; `None` if the class is gone, or if the loss is at least
    /// `most`.
    pub fn growth(&self, class: u32, row: u32, weight: u64, most: u64) -> Option<u64> {
        self.growth_by(class, |column| self.people.cells[column][row as usize], weight, most)
    }

    /// The same for a row with these cells, by column.
    #[inline]
    pub fn growth_by(
        &self,
        class: u32,
        cell: impl Fn(usize) -> u32,
        weight: u64,
        most: u64,
    ) -> Option<u64> {
        let first = self.first(class)?;
        let size = self.classes[class as usize].size;
        let mut growth: u64 = 0;
        let columns = self.people.columns.iter().zip(&self.people.cells);
        for (place, ((column, cells), &level)) in columns.zip(self.levels(class)).enumerate() {
            let (own, new) = (cells[first as usize], cell(place));
            let meet = column.meet(own, new).max(level);
            let loss = |level: u8, cell: u32| u64::from(column.losses(level.into())[cell as usize]);
            growth += (loss(meet, own) - loss(level, own)) * size + loss(meet, new) * weight;
            if growth >= most {
                return None;
            }
        }
        Some(growth)
    }

    /// Merges other classes into this one until the rule holds for it, if necessary all of them.
    fn complete(&mut self, class: u32, watch: &Watch) -> Result<(), Stop> {
        let others = |partition: &Self| -> Vec<u32> {
            let classes = 0..partition.classes.len() as u32;
            classes.filter(|&c| c != class && partition.classes[c as usize].size > 0).collect()
        };
        for _ in 0..MERGES {
            watch.check()?;
            if self.rule.holds(&self.whole_tally(class)) {
                return Ok(());
            }
            let Some(row) = self.first(class) else { return Ok(()) };
            let size = self.classes[class as usize].size;
            let growth = |other: u32| (self.growth(other, row, size, u64::MAX), other);
            let Some((_, nearest)) = others(self).into_iter().map(growth).min() else { break };
            self.merge(nearest, class);
        }
        if !self.rule.holds(&self.whole_tally(class)) {
            others(self).into_iter().for_each(|other| self.merge(other, class));
        }
        Ok(())
    }

    /// Ensures the rule for the released rows if rows are dropped, because closeness refers to the released rows. One
    /// class of all rows has distance 0.
    pub fn secure(&mut self) {
        if self.waiting.is_empty() || self.rule.is_plain() {
            return;
        }
        let mut all = rule::Tally::new();
        let tallies = self.classes.iter().flat_map(|class| &class.tally);
        tallies.for_each(|&(value, rows)| rule::add(&mut all, value, rows));
        let released = self.rule.for_released(&all);
        let mut classes: Vec<u32> = (0..self.classes.len() as u32).collect();
        classes.retain(|&class| self.classes[class as usize].size > 0);
        if classes.iter().all(|&class| released.holds(&self.classes[class as usize].tally)) {
            return;
        }
        let first = classes[0];
        classes[1..].iter().for_each(|&class| self.merge(class, first));
    }

    /// Rows by sensitive value; a single value if there is no sensitive column.
    fn whole_tally(&self, class: u32) -> rule::Tally {
        let class = &self.classes[class as usize];
        if self.rule.is_plain() { vec![(0, class.size)] } else { class.tally.clone() }
    }
}
