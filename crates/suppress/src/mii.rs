//! Suppression of minimal infrequent itemsets (ten Tusscher, chapter 2).

use crate::{Error, counted};
use mining::{Subtree, Visitor, visit_miis};
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use table::{Bag, Item, Marks, Release, Stop, Units, Watch};

/// Blanks in each row the cells that lie in a minimal infrequent itemset the row contains.
///
/// The remaining cells of a row are contained in more than `theta` rows of the table, or in those of more than `theta`
/// of the units, unless `max_length` cut the search short. This is not a guarantee for the release itself: its classes may be smaller. Equal to listing all MIIs
/// and suppressing them one by one, but keeps no list.
pub fn mii_suppress(
    bag: &Bag,
    units: Option<&Units>,
    theta: u64,
    max_length: Option<usize>,
    watch: &Watch,
) -> Result<Release, Error> {
    let all = counted(bag, units, watch)?;
    if bag.row_count() > 0 && theta >= all {
        return Err(Error::NothingLeft { class: theta.saturating_add(1), rows: all });
    }
    let _held = watch.hold(Marks::bytes(bag.distinct(), bag.width()))?;
    let blanked = Blanked::new(bag);
    visit_miis(bag, units, theta, max_length, watch, &blanked)?;
    Ok(Release::from_masks(bag, blanked.cells.into_sets().words(), watch)?)
}

/// The cells that are part of an MII found so far.
struct Blanked {
    /// By distinct row, their columns.
    cells: Marks,
    /// How often a subtree was checked for skipping, and how often it was skipped.
    asked: AtomicU64,
    skipped: AtomicU64,
}

/// After this number of checks, checking continues only if at least one in [`WORTH`] checks skipped a subtree: on a
/// mostly blanked array it cuts the search to a quarter, on the Adult table it costs a tenth.
const TRIAL: u64 = 1024;
const WORTH: u64 = 16;

impl Blanked {
    fn new(bag: &Bag) -> Self {
        Blanked {
            cells: Marks::new(bag.distinct(), bag.width()),
            asked: AtomicU64::new(0),
            skipped: AtomicU64::new(0),
        }
    }
}

impl Visitor for Blanked {
    const SKIPS: bool = true;

    fn mii(&self, items: &[Item], rows: &[u32], _support: u64) -> Result<(), Stop> {
        for item in items {
            rows.iter().for_each(|&row| self.cells.insert(row as usize, item.column as usize));
        }
        Ok(())
    }

    /// Marks are only ever added, so a subtree whose cells are all marked adds none. Whether checking is worth its time
    /// depends on the data; the result is the same.
    fn skip(&self, subtree: &Subtree<'_>) -> bool {
        let asked = self.asked.load(Relaxed);
        if asked >= TRIAL && self.skipped.load(Relaxed) * WORTH < asked {
            return false;
        }
        self.asked.fetch_add(1, Relaxed);
        let marked = subtree.all_rows(|row| self.cells.contains(row as usize, subtree.columns));
        self.skipped.fetch_add(marked.into(), Relaxed);
        marked
    }
}
