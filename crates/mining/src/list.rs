//! Lists of itemsets under construction, within the limits of a watch.

use crate::visitor::{Sink, Subtree};
use table::{Item, Itemsets, Stop, Watch};

/// Itemsets between two reports to the watch: its counters are shared by all threads.
const BATCH: u64 = 256;

/// Itemsets found by one task.
pub(crate) struct List<'a> {
    watch: &'a Watch,
    itemsets: Itemsets,
    /// Found and not yet reported.
    found: u64,
    /// Bytes reserved.
    reserved: u64,
}

impl<'a> List<'a> {
    pub(crate) fn new(watch: &'a Watch) -> Self {
        List { watch, itemsets: Itemsets::new(), found: 0, reserved: 0 }
    }

    pub(crate) fn push(&mut self, items: &[Item], support: u64) -> Result<(), Stop> {
        self.itemsets.push(items, support);
        self.found += 1;
        if self.found >= BATCH { self.report() } else { Ok(()) }
    }

    fn report(&mut self) -> Result<(), Stop> {
        self.watch.check()?;
        self.watch.found(std::mem::take(&mut self.found))?;
        let bytes = self.itemsets.memory();
        if bytes > self.reserved {
            self.watch.reserve(bytes - self.reserved)?;
            self.reserved = bytes;
        }
        Ok(())
    }

    /// The list; its memory stays reserved.
    pub(crate) fn finish(mut self) -> Result<Itemsets, Stop> {
        self.report()?;
        self.reserved = 0;
        Ok(std::mem::take(&mut self.itemsets))
    }
}

impl Drop for List<'_> {
    fn drop(&mut self) {
        self.watch.release(self.reserved);
    }
}

impl Sink for List<'_> {
    const ROWS: bool = false;
    const SKIPS: bool = false;

    fn mii(&mut self, items: &[Item], _rows: &[u32], support: u64) -> Result<(), Stop> {
        self.push(items, support)
    }

    fn skip(&self, _subtree: &Subtree<'_>) -> bool {
        false
    }

    fn append(&mut self, mut later: Self) -> Result<(), Stop> {
        if self.itemsets.is_empty() {
            std::mem::swap(self, &mut later);
        } else {
            self.itemsets.append(&later.itemsets);
        }
        self.found += std::mem::take(&mut later.found);
        self.report()
    }
}
