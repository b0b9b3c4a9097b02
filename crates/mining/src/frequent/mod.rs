//! The search for frequent itemsets. All of them are found here; `closed` finds closed ones and uses `closed_narrow`
//! where few groups of rows are left; `bitmaps` finds both kinds in tables of many columns.

mod bitmaps;
mod closed;
mod closed_narrow;

pub use closed::closed;
#[cfg(test)]
pub(crate) use closed::search as search_closed;

use crate::frequent::bitmaps::Asked;
use crate::itemset_list::ItemsetList;
use crate::mii::{Sink, Way};
use crate::project::ranking::ranked;
use crate::project::{Projection, Scratch};
use rayon::prelude::*;
use std::mem::replace;
use table::{Bag, Item, Itemsets, Reservation, Stop, Watch};

/// Every non-empty itemset with a support of at least `min_support` (at least 1) and a length of at most
/// `max_length`. The order is not specified, but does not depend on the number of threads. The memory of the result
/// stays reserved.
pub fn frequent(
    bag: &Bag,
    min_support: u64,
    max_length: Option<usize>,
    watch: &Watch,
) -> Result<Itemsets, Stop> {
    search(bag, min_support, max_length, Way::Cheapest, watch)
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
    let max_length = max_length.unwrap_or(usize::MAX);
    let asked = Asked { min_support: min_support.max(1), max_length, closed: false };
    let supports = bag.supports();
    let items = ranked(&supports, |support| support >= asked.min_support);
    if max_length > FEW || !bitmaps::pay(bag, &supports, &items, asked, watch) {
        return Ok(None);
    }
    bitmaps::search(bag, asked, &items, watch)?.finish().map(Some)
}

pub(crate) fn search(
    bag: &Bag,
    min_support: u64,
    max_length: Option<usize>,
    way: Way,
    watch: &Watch,
) -> Result<Itemsets, Stop> {
    let min_support = min_support.max(1);
    let max_length = max_length.unwrap_or(usize::MAX);
    let list = || ItemsetList::new(watch);
    if max_length == 0 {
        return list().finish();
    }
    let supports = bag.supports();
    let items = &ranked(&supports, |support| support >= min_support);
    let asked = Asked { min_support, max_length, closed: false };
    let by_bitmaps = match way {
        Way::Cheapest => bitmaps::pay(bag, &supports, items, asked, watch),
        #[cfg(test)]
        Way::Bitmaps => true,
        #[cfg(test)]
        Way::Projections { .. } => false,
    };
    if by_bitmaps {
        return bitmaps::search(bag, asked, items, watch)?.finish();
    }
    let mut budget = Reservation::new(watch);
    budget.add(Projection::root_memory(bag))?;
    let root = &Projection::root(bag, items, &mut Scratch::new(0, false, watch))?;
    watch.begin(items.len() as u64);
    let task = |set: Vec<Item>, projection: &Projection| FrequentTask {
        min_support,
        max_length,
        items,
        list: list(),
        set,
        scratch: Scratch::new(projection.items(), false, watch),
        spare: Vec::new(),
        held: 0,
        budget: Reservation::new(watch),
    };
    (0..items.len() as u32)
        .into_par_iter()
        .try_fold(
            || task(Vec::new(), root),
            |mut first, rank| {
                if let Some(projection) = first.child(root, rank)? {
                    let more = (0..projection.items() as u32)
                        .into_par_iter()
                        .try_fold(
                            || task(first.set.clone(), &projection),
                            |mut task, item| {
                                task.extend(&projection, item)?;
                                Ok(task)
                            },
                        )
                        .map(|task| task.map(|task| task.list))
                        .try_reduce(list, ItemsetList::then)?;
                    first.list = replace(&mut first.list, list()).then(more)?;
                    first.leave(projection);
                }
                first.set.pop();
                watch.advance(1);
                Ok(first)
            },
        )
        .map(|task| task.map(|task| task.list))
        .try_reduce(list, ItemsetList::then)?
        .finish()
}

/// A part of the search, run by one thread.
struct FrequentTask<'a> {
    min_support: u64,
    max_length: usize,
    items: &'a [Item],
    list: ItemsetList<'a>,
    /// The current itemset.
    set: Vec<Item>,
    scratch: Scratch<'a>,
    /// Unused projections, kept for reuse.
    spare: Vec<Projection>,
    /// Bytes of the projections in use.
    held: usize,
    budget: Reservation<'a>,
}

impl FrequentTask<'_> {
    /// Lists the frequent itemsets that extend the set by `item` of its projection.
    ///
    /// A set can have as many items as there are columns: too many for recursion.
    fn extend(&mut self, projection: &Projection, item: u32) -> Result<(), Stop> {
        // The projections entered, and the next item to extend by in each.
        let mut entered: Vec<(Projection, u32)> = Vec::new();
        let mut child = self.child(projection, item)?;
        loop {
            match child {
                Some(child) => entered.push((child, 0)),
                None => _ = self.set.pop(),
            }
            while let Some((done, _)) = entered.pop_if(|(p, next)| *next as usize == p.items()) {
                self.leave(done);
                self.set.pop();
            }
            let Some((projection, next)) = entered.last_mut() else { return Ok(()) };
            *next += 1;
            child = self.child(projection, *next - 1)?;
        }
    }

    /// Keeps a projection that is no longer needed for reuse.
    fn leave(&mut self, projection: Projection) {
        self.held -= projection.memory();
        self.spare.push(projection);
    }

    /// Extends the set by `item` and lists it; returns its projection if it can be extended further.
    fn child(&mut self, projection: &Projection, item: u32) -> Result<Option<Projection>, Stop> {
        let support = projection.count(item, &mut self.scratch)?;
        self.set.push(self.items[projection.ranks[item as usize] as usize]);
        self.list.push(&self.set, support)?;
        let Scratch { seen, kept, .. } = &mut self.scratch;
        kept.clear();
        kept.extend(
            seen.iter().filter(|&&(_, count)| count >= self.min_support).map(|&(item, _)| item),
        );
        if kept.is_empty() || self.set.len() >= self.max_length {
            return Ok(None);
        }
        let mut child = self.spare.pop().unwrap_or_default();
        child.gather(projection, item, support, &mut self.scratch, |_, _, _| {})?;
        child.name(projection);
        child.index();
        self.held += child.memory();
        self.budget.raise((self.held + self.scratch.memory()) as u64)?;
        Ok(Some(child))
    }
}
