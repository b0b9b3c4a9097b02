//! Rows without a unit join classes: they count for nobody, and only add to what is lost.

use super::UnitClasses;
use crate::k_anonymize::improve::DROP;
use table::{Bag, NONE, Stop, Watch};

/// The most classes with which a row is compared, if many rows remain.
const CLASSES: usize = 1 << 11;
const FEW_ROWS: usize = 1 << 6;

impl UnitClasses<'_> {
    /// The class of the copies of each row of the bag that have no unit; [`NONE`] if there are none, or if they are
    /// dropped. Levels are then too high to be tightened: the copies are in no share.
    pub fn join_nobody(&mut self, drops: bool, watch: &Watch) -> Result<Vec<u32>, Stop> {
        let mut joined = vec![NONE; self.bag.distinct()];
        let copies: Vec<u64> = (0..self.bag.distinct()).map(|row| self.copies(row)).collect();
        if copies.iter().all(|&copies| copies == 0) {
            return Ok(joined);
        }
        let mut home = vec![NONE; self.bag.distinct()];
        let people = self.partition.people;
        for share in self.partition.shares.iter().filter(|share| share.weight > 0) {
            let home = &mut home[people.rows[share.row as usize] as usize];
            let loss = |class: u32| (self.partition.classes[class as usize].loss, class);
            if *home == NONE || loss(share.class) < loss(*home) {
                *home = share.class;
            }
        }
        let mut order: Vec<u32> = (0..self.bag.distinct() as u32).collect();
        order.retain(|&row| copies[row as usize] > 0);
        // The order of reading must not matter.
        let content = |row: u32| self.bag.row(row as usize);
        table::sort_watched(&mut order, watch, |a, b| content(a).cmp(content(b)))?;
        let open: Vec<u32> = self.open().collect();
        let most = if order.len() > FEW_ROWS { CLASSES } else { usize::MAX };
        let step = open.len().div_ceil(most).max(1);
        for (i, &row) in order.iter().enumerate() {
            watch.poll_every(16, i)?;
            joined[row as usize] = match home[row as usize] {
                NONE => {
                    self.class_of(row as usize, copies[row as usize], drops, &open, i % step, step)
                }
                home => home,
            };
            if joined[row as usize] != NONE {
                let (bag, partition) = (self.bag, &mut self.partition);
                partition.admit(joined[row as usize], |column| {
                    cell(bag, row as usize, column, people.columns[column].null())
                });
            }
        }
        Ok(joined)
    }

    /// The copies of a row of the bag that have no unit.
    pub fn copies(&self, row: usize) -> u64 {
        self.bag.weight(row) - self.units.of(row).iter().map(|of| of.rows).sum::<u64>()
    }

    /// The class that copies of a row join at the least loss.
    fn class_of(
        &self,
        row: usize,
        copies: u64,
        drops: bool,
        open: &[u32],
        from: usize,
        step: usize,
    ) -> u32 {
        let columns = &self.partition.people.columns;
        let own = |column: usize| cell(self.bag, row, column, columns[column].null());
        let worth: u64 = columns.iter().enumerate().map(|(c, column)| column.worth(own(c))).sum();
        let mut most = if drops { DROP * copies * worth + 1 } else { u64::MAX };
        let mut home = NONE;
        for &class in open.iter().skip(from).step_by(step) {
            if let Some(growth) = self.partition.growth_by(class, own, copies, most) {
                (most, home) = (growth, class);
            }
        }
        home
    }
}

/// The cell of a row of the bag as the columns of the partition have it.
fn cell(bag: &Bag, row: usize, column: usize, null: u32) -> u32 {
    match bag.row(row)[column] {
        NONE => null,
        code => code,
    }
}
