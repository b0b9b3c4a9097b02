//! The search for frequent and for closed itemsets.
//!
//! Both are found by the same depth-first search (`set_task`) over projections (`set_table`); `closed_narrow` lists
//! closed ones where few groups of rows are left, and `bitmaps` finds both kinds in tables of many columns. Where
//! units are counted, `unit_closure` picks the sets that are closed by units from those that are closed by rows, which
//! bitmaps do not help with.

mod bitmaps;
mod closed_narrow;
mod set_table;
mod set_task;
mod unit_closure;

pub(crate) use bitmaps::Asked;

use crate::frequent::closed_narrow::ClosedNarrow;
use crate::frequent::set_table::SetTable;
use crate::frequent::set_task::{SetTask, Shared};
use crate::frequent::unit_closure::UnitClosure;
use crate::itemset_list::ItemsetList;
use crate::mii::{Sink, Way};
use crate::project::ranking::ranked;
use crate::project::unit_rows::UnitRows;
use crate::project::{Projection, Scratch};
use rayon::prelude::*;
use table::{Bag, Item, Itemsets, Reservation, Stop, Units, Watch};

/// Every non-empty itemset with a support of at least `min_support` (at least 1) and a length of at most
/// `max_length`. With `units`, supports are numbers of units. The order is not specified, but does not depend on the number of threads. The memory of the result
/// stays reserved.
pub fn frequent(
    bag: &Bag,
    units: Option<&Units>,
    min_support: u64,
    max_length: Option<usize>,
    watch: &Watch,
) -> Result<Itemsets, Stop> {
    search(bag, units, Asked::new(min_support, max_length, false), Way::Cheapest, watch)
}

/// Every non-empty closed itemset (no superset has the same support, whatever its length) with a support of at least
/// `min_support` (at least 1) and a length of at most `max_length`. With `units`, supports are numbers of units. The
/// order is not specified, but does not depend on the number of threads.
///
/// LCM (Uno, Kiyomi, Arimura: "LCM ver. 2"): a closed set is extended by an item of higher rank than the last one
/// added, and closed again. That gives each closed set once if extensions whose closure has a new item of lower rank
/// are dropped. With units, this search is by rows too: if no item is in all rows of a set, another set may still have
/// as many units. Each set found is listed if none has. That finds all, because what is closed by units is closed by
/// rows; but the time is that of the sets that are closed by rows, which may be more.
pub fn closed(
    bag: &Bag,
    units: Option<&Units>,
    min_support: u64,
    max_length: Option<usize>,
    watch: &Watch,
) -> Result<Itemsets, Stop> {
    search(bag, units, Asked::new(min_support, max_length, true), Way::Cheapest, watch)
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
    let items = ranked(&supports, |_, support| support >= asked.min_support);
    if asked.max_length > FEW || !bitmaps::pay(bag, &supports, &items, asked, watch) {
        return Ok(None);
    }
    bitmaps::search(bag, None, asked, &items, watch)?.finish().map(Some)
}

/// The itemsets that are asked for, found in the given way. Sets that are closed by units are not found by bitmaps.
pub(crate) fn search(
    bag: &Bag,
    units: Option<&Units>,
    asked: Asked,
    way: Way,
    watch: &Watch,
) -> Result<Itemsets, Stop> {
    let mut all = ItemsetList::new(watch);
    if asked.max_length == 0 {
        return all.finish();
    }
    let mut budget = Reservation::new(watch);
    budget.add(units.map_or(0, |units| UnitRows::bytes(bag, units)))?;
    // Rows without a unit are in no support.
    let unit_rows = units.map(|units| UnitRows::new(bag, units, false, watch)).transpose()?;
    let supports = match &unit_rows {
        None => bag.supports(),
        Some(rows) => rows.supports(bag, watch)?,
    };
    let items = ranked(&supports, |_, support| support >= asked.min_support);
    let narrow = if asked.closed { ClosedNarrow::GROUPS } else { 0 };
    let bitmaps_can = !(asked.closed && units.is_some());
    let (by_bitmaps, narrow) = match way {
        Way::Cheapest => {
            (bitmaps_can && bitmaps::pay(bag, &supports, &items, asked, watch), narrow)
        }
        #[cfg(test)]
        Way::Bitmaps => (bitmaps_can, narrow),
        #[cfg(test)]
        Way::Projections { narrow } => (false, if asked.closed { narrow } else { 0 }),
    };
    if by_bitmaps {
        return bitmaps::search(bag, unit_rows.as_ref(), asked, &items, watch)?.finish();
    }
    // The closure of the empty set is the items that every row has.
    let total = unit_rows.as_ref().map_or(bag.row_count(), |rows| rows.total);
    let of_all = unit_rows.as_ref().filter(|_| asked.closed).map(|rows| rows.items_of_all(bag));
    let everywhere = |item: &Item| match &of_all {
        None => supports[item.column as usize][item.code as usize] == total,
        Some(of_all) => of_all.contains(item),
    };
    let (common, items): (Vec<Item>, Vec<Item>) =
        items.into_iter().partition(|item| asked.closed && everywhere(item));
    if common.len() > asked.max_length {
        return all.finish();
    }
    let rows = unit_rows.as_ref().map_or(bag.distinct(), |rows| rows.rows.len());
    budget.add(Projection::root_memory(bag, rows))?;
    let by_unit = units.is_some();
    let mut scratch = Scratch::new(0, false, by_unit, watch);
    let root = SetTable::root(Projection::root(bag, unit_rows.as_ref(), &items, &mut scratch)?);
    let closure = unit_rows.filter(|_| asked.closed);
    let closure = closure.map(|rows| UnitClosure::new(bag, rows, &items, &root.projection));
    let is_closed = |closure: &UnitClosure| closure.is_closed(&common, watch);
    if !common.is_empty() && closure.as_ref().map_or(Ok(true), is_closed)? {
        all.push(&common, total)?;
    }
    let shared = Shared { asked, narrow, items: &items, by_unit, closure, watch };
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
