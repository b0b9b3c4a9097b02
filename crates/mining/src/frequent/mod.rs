//! The search for frequent and for closed itemsets.
//!
//! Both are found by the same depth-first search (`set_task`) over projections (`set_table`); `closed_narrow` lists
//! closed ones where few groups of rows are left, and `bitmaps` finds both kinds in tables of many columns.

mod bitmaps;
mod closed_narrow;
mod set_table;
mod set_task;

pub(crate) use bitmaps::Asked;

use crate::frequent::closed_narrow::ClosedNarrow;
use crate::frequent::set_table::SetTable;
use crate::frequent::set_task::{SetTask, Shared};
use crate::itemset_list::ItemsetList;
use crate::mii::{Sink, Way};
use crate::project::ranking::ranked;
use crate::project::{Projection, Scratch};
use rayon::prelude::*;
use table::{Bag, Item, Itemsets, Reservation, Stop, Units, Watch};

/// Every non-empty itemset with a support of at least `min_support` (at least 1) and a length of at most
/// `max_length`. The order is not specified, but does not depend on the number of threads. The memory of the result
/// stays reserved.
pub fn frequent(
    bag: &Bag,
    units: Option<&Units>,
    min_support: u64,
    max_length: Option<usize>,
    watch: &Watch,
) -> Result<Itemsets, Stop> {
    let _ = units;
    search(bag, Asked::new(min_support, max_length, false), Way::Cheapest, watch)
}

/// Every non-empty closed itemset (no superset has the same support, whatever its length) with a support of at least
/// `min_support` (at least 1) and a length of at most `max_length`. The order is not specified, but does not depend
/// on the number of threads.
///
/// LCM (Uno, Kiyomi, Arimura: "LCM ver. 2"): a closed set is extended by an item of higher rank than the last one
/// added, and closed again. That gives each closed set once if extensions whose closure has a new item of lower rank
/// are dropped.
pub fn closed(
    bag: &Bag,
    units: Option<&Units>,
    min_support: u64,
    max_length: Option<usize>,
    watch: &Watch,
) -> Result<Itemsets, Stop> {
    let _ = units;
    search(bag, Asked::new(min_support, max_length, true), Way::Cheapest, watch)
}

/// The length of the longest itemsets that [`few_by_bitmaps`] lists: longer ones may be too many for a list.
const FEW: usize = 3;

/// The result of [`frequent`] if only short itemsets are requested and bitmaps find them fastest.
pub(crate) fn few_by_bitmaps(
    bag: &Bag,
    min_support: u64,
    max_length: Option<usize>,
    watch: &Watch,
) -> Result<Option<Itemsets>, Stop> {
    let asked = Asked::new(min_support, max_length, false);
    let supports = bag.supports();
    let items = ranked(&supports, |support| support >= asked.min_support);
    if asked.max_length > FEW || !bitmaps::pay(bag, &supports, &items, asked, watch) {
        return Ok(None);
    }
    bitmaps::search(bag, asked, &items, watch)?.finish().map(Some)
}

/// The itemsets that are asked for, found in the given way.
pub(crate) fn search(bag: &Bag, asked: Asked, way: Way, watch: &Watch) -> Result<Itemsets, Stop> {
    let mut all = ItemsetList::new(watch);
    if asked.max_length == 0 {
        return all.finish();
    }
    let supports = bag.supports();
    let items = ranked(&supports, |support| support >= asked.min_support);
    let narrow = if asked.closed { ClosedNarrow::GROUPS } else { 0 };
    let (by_bitmaps, narrow) = match way {
        Way::Cheapest => (bitmaps::pay(bag, &supports, &items, asked, watch), narrow),
        #[cfg(test)]
        Way::Bitmaps => (true, narrow),
        #[cfg(test)]
        Way::Projections { narrow } => (false, if asked.closed { narrow } else { 0 }),
    };
    if by_bitmaps {
        return bitmaps::search(bag, asked, &items, watch)?.finish();
    }
    // The closure of the empty set is the items that every row has.
    let total = bag.row_count();
    let everywhere = |item: &Item| supports[item.column as usize][item.code as usize] == total;
    let (common, items): (Vec<Item>, Vec<Item>) =
        items.into_iter().partition(|item| asked.closed && everywhere(item));
    if common.len() > asked.max_length {
        return all.finish();
    }
    if !common.is_empty() {
        all.push(&common, total)?;
    }
    let mut budget = Reservation::new(watch);
    budget.add(Projection::root_memory(bag))?;
    let projection = Projection::root(bag, &items, &mut Scratch::new(0, false, watch))?;
    let root = SetTable::root(projection);
    let shared = Shared { asked, narrow, items: &items, watch };
    watch.begin(items.len() as u64);
    let list = || ItemsetList::new(watch);
    let found = (0..items.len() as u32)
        .into_par_iter()
        .try_fold(
            || SetTask::new(&shared, common.clone(), &root),
            |mut first, rank| {
                first.extend_in_parallel(&root, rank)?;
                watch.advance(1);
                Ok(first)
            },
        )
        .map(|task| task.map(|task| task.list))
        .try_reduce(list, ItemsetList::then)?;
    found.then(all)?.finish()
}
