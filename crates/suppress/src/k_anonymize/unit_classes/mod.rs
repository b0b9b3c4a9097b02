//! Classes of units: whose copies of a row are in which class, and what a class then has.
//!
//! The search counts a unit once for each different row that it has, so it over-counts the units with several of these
//! in one class. Here each share of a row gets units (`owners`), the different units of each class are counted, and
//! classes that have too few, or lack diversity, are mended (`mend`, `mend_diverse`). Rows without a unit join last
//! (`nobody`), as they can neither help nor harm. `terms` defines diversity and closeness of units.

mod matching;
mod mend;
mod mend_diverse;
mod nobody;
mod owners;
mod terms;

pub(crate) use terms::{OfUnit, Terms, diverse_enough};

use super::group::Lists;
use super::improve::Partition;
use owners::Owners;
use table::{Bag, Stop, UnitCounter, Units, Watch};

/// Classes, and the units that the copies in them are of.
pub(crate) struct UnitClasses<'a> {
    pub partition: Partition<'a>,
    pub bag: &'a Bag,
    pub units: &'a Units,
    /// By share, the units whose copies it has, ascending; those of all units that have the row if not given.
    owners: Vec<Option<Vec<u32>>>,
    /// Rows of the partition and units that have no class for them.
    dropped: Vec<(u32, u32)>,
    /// The different units of each class; at least so many, once units have moved.
    counts: Vec<u64>,
    counter: UnitCounter,
}

impl<'a> UnitClasses<'a> {
    /// Gives each share of the partition its units, and counts those of each class.
    pub fn new(
        partition: Partition<'a>,
        bag: &'a Bag,
        units: &'a Units,
        watch: &Watch,
    ) -> Result<Self, Stop> {
        let counter = UnitCounter::new(units.domain());
        let (owners, dropped) = Owners::new(&partition, units, counter, watch)?.choose(watch)?;
        let counter = UnitCounter::new(units.domain());
        let classes = partition.classes.len();
        let counts = vec![0; classes];
        let mut own = UnitClasses { partition, bag, units, owners, dropped, counts, counter };
        for class in 0..classes as u32 {
            watch.poll_every(64, class as usize)?;
            own.count(class);
        }
        Ok(own)
    }

    /// The units whose copies a share has.
    pub fn units_of(&self, share: u32) -> impl Iterator<Item = u32> + Clone {
        let owners = &self.owners[share as usize];
        let all = match owners {
            Some(_) => &[],
            None => self.units.of(self.row_of(share)),
        };
        let some = owners.as_deref().unwrap_or_default();
        some.iter().copied().chain(all.iter().map(|of| of.unit))
    }

    /// The row of a share, as a number of the bag.
    fn row_of(&self, share: u32) -> usize {
        let people = self.partition.people;
        people.rows[self.partition.shares[share as usize].row as usize] as usize
    }

    /// How many rows a unit has that equal a row of the bag.
    pub fn rows_of(&self, row: usize, unit: u32) -> u64 {
        let all = self.units.of(row);
        all.binary_search_by_key(&unit, |of| of.unit).map_or(0, |place| all[place].rows)
    }

    /// Counts the different units of a class.
    fn count(&mut self, class: u32) {
        self.counter.begin();
        let mut found = 0;
        for place in 0..self.partition.classes[class as usize].members.len() {
            let share = self.partition.classes[class as usize].members[place];
            match &self.owners[share as usize] {
                Some(owners) => {
                    for &unit in owners {
                        found += u64::from(self.counter.see(unit));
                    }
                }
                None => {
                    for of in self.units.of(self.row_of(share)) {
                        found += u64::from(self.counter.see(of.unit));
                    }
                }
            }
        }
        self.counts[class as usize] = found;
    }

    /// The classes that have rows.
    fn open(&self) -> impl Iterator<Item = u32> + '_ {
        let classes = 0..self.partition.classes.len() as u32;
        classes.filter(|&class| self.partition.classes[class as usize].size > 0)
    }

    /// The shares of each row that have copies.
    fn shares_of_rows(&self) -> Lists {
        shares_of_rows(&self.partition)
    }

    /// Moves the copies that some units have in a share to another class; both must be tightened afterwards.
    fn give(&mut self, share: u32, mut given: Vec<u32>, to: u32) {
        given.sort_unstable();
        let from = self.partition.shares[share as usize].class;
        let rest = self.units_of(share).filter(|unit| given.binary_search(unit).is_err()).collect();
        self.owners[share as usize] = Some(rest);
        self.partition.part(share, given.len() as u64, to);
        // Others of their rows may be in both classes.
        let count = &mut self.counts[from as usize];
        *count = count.saturating_sub(given.len() as u64);
        self.owners.push(Some(given));
        self.count(to);
    }

    /// Takes the copies that some units have in a share out of its class, which must be tightened afterwards.
    fn drop_units(&mut self, share: u32, gone: &[u32]) {
        let rest = self.units_of(share).filter(|unit| gone.binary_search(unit).is_err()).collect();
        self.owners[share as usize] = Some(rest);
        let row = self.partition.withdraw(share, gone.len() as u64);
        self.dropped.extend(gone.iter().map(|&unit| (row, unit)));
    }

    /// Puts all rows of one class into another.
    fn merge(&mut self, from: u32, to: u32) {
        self.partition.merge(from, to);
        self.counts[from as usize] = 0;
        self.count(to);
    }

    /// The bytes held, also while classes are mended.
    pub fn bytes(bag: &Bag, units: &Units) -> u64 {
        let pairs = units.pairs() as u64;
        2 * UnitCounter::bytes(units.domain()) + pairs * 48 + bag.distinct() as u64 * 128
    }
}

fn shares_of_rows(partition: &Partition<'_>) -> Lists {
    Lists::gather(partition.people.len(), || {
        let shares = partition.shares.iter().zip(0..);
        shares.filter(|(share, _)| share.weight > 0).map(|(share, number)| (share.row, number))
    })
}
