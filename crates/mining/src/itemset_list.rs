//! Lists of itemsets under construction, within the limits of a watch.

use crate::mii::Sink;
use std::mem::{swap, take};
use table::{Item, Itemsets, Reservation, Stop, Watch};

/// The number of itemsets between two reports to the watch, whose counters all threads share.
const BATCH: u64 = 256;

/// Itemsets found by a part of a search.
pub(crate) struct ItemsetList<'w> {
    budget: Reservation<'w>,
    itemsets: Itemsets,
    /// The number of itemsets found and not yet reported.
    found: u64,
}

impl<'w> ItemsetList<'w> {
    pub(crate) fn new(watch: &'w Watch) -> Self {
        ItemsetList { budget: Reservation::new(watch), itemsets: Itemsets::new(), found: 0 }
    }

    pub(crate) fn push(&mut self, items: &[Item], support: u64) -> Result<(), Stop> {
        self.itemsets.push(items, support);
        self.found += 1;
        if self.found >= BATCH { self.report() } else { Ok(()) }
    }

    fn report(&mut self) -> Result<(), Stop> {
        let watch = self.budget.watch();
        watch.check()?;
        watch.found(take(&mut self.found))?;
        self.budget.raise(self.itemsets.memory())
    }

    /// The itemsets, whose memory stays reserved.
    pub(crate) fn finish(mut self) -> Result<Itemsets, Stop> {
        self.itemsets.shrink_to_fit();
        self.report()?;
        self.budget.hand_over(self.itemsets.memory())?;
        Ok(self.itemsets)
    }
}

impl Sink for ItemsetList<'_> {
    fn mii(&mut self, items: &[Item], _rows: &[u32], support: u64) -> Result<(), Stop> {
        self.push(items, support)
    }

    fn then(mut self, mut later: Self) -> Result<Self, Stop> {
        if self.itemsets.is_empty() {
            swap(&mut self, &mut later);
        } else {
            self.itemsets.append(&later.itemsets);
        }
        self.found += later.found;
        self.report()?;
        Ok(self)
    }
}
