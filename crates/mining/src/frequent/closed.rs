//! The search for closed itemsets (LCM).

use crate::frequent::bitmaps::{self, Asked};
use crate::frequent::closed_narrow::ClosedNarrow;
use crate::itemset_list::ItemsetList;
use crate::mii::{Sink, Way};
use crate::project::ranking::ranked;
use crate::project::{Projection, Scratch};
use rayon::prelude::*;
use std::mem::replace;
use table::{Bag, Item, Itemsets, Reservation, Stop, Watch};

/// Every non-empty closed itemset (no superset has the same support, whatever its length) with a support of at least
/// `min_support` (at least 1) and a length of at most `max_length`. The order is not specified, but does not depend
/// on the number of threads.
///
/// LCM (Uno, Kiyomi, Arimura: "LCM ver. 2"): a closed set is extended by an item of higher rank than the last one
/// added, and closed again. That gives each closed set once if extensions whose closure has a new item of lower rank
/// are dropped.
pub fn closed(
    bag: &Bag,
    min_support: u64,
    max_length: Option<usize>,
    watch: &Watch,
) -> Result<Itemsets, Stop> {
    search(bag, min_support, max_length, Way::Cheapest, watch)
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
    let supports = bag.supports();
    let asked = Asked { min_support, max_length, closed: true };
    let items = ranked(&supports, |support| support >= min_support);
    let (by_bitmaps, narrow) = match way {
        Way::Cheapest => (bitmaps::pay(bag, &supports, &items, asked, watch), ClosedNarrow::GROUPS),
        #[cfg(test)]
        Way::Bitmaps => (true, ClosedNarrow::GROUPS),
        #[cfg(test)]
        Way::Projections { narrow } => (false, narrow),
    };
    if by_bitmaps {
        return bitmaps::search(bag, asked, &items, watch)?.finish();
    }
    let total = bag.row_count();
    let mut all = ItemsetList::new(watch);
    // The closure of the empty set is the items that every row has.
    let common = ranked(&supports, |support| support == total);
    if total < min_support || common.len() > max_length {
        return all.finish();
    }
    if !common.is_empty() {
        all.push(&common, total)?;
    }
    let items = ranked(&supports, |support| support >= min_support && support < total);
    let mut budget = Reservation::new(watch);
    budget.add(Projection::root_memory(bag))?;
    let projection = Projection::root(bag, &items, &mut Scratch::new(0, false, watch))?;
    let root = ClosedTable { projection, ..ClosedTable::default() };
    let shared = Shared { min_support, max_length, narrow, items: &items, watch };
    watch.begin(items.len() as u64);
    let list = || ItemsetList::new(watch);
    let found = (0..items.len() as u32)
        .into_par_iter()
        .try_fold(
            || ClosedTask::new(&shared, common.clone(), &root),
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

/// State that all tasks share.
struct Shared<'a, 'w> {
    min_support: u64,
    max_length: usize,
    /// The largest number of groups of a table that is searched with a few words per set of groups.
    narrow: usize,
    items: &'a [Item],
    watch: &'w Watch,
}

/// The rows that contain a closed set, reduced to the items above the last one added.
#[derive(Default)]
pub(crate) struct ClosedTable {
    pub projection: Projection,
    /// The ranks of the items below the last one added, outside the set, that all rows of a group have; ascending,
    /// group after group. Merging rows keeps the ranks that they share.
    below: Vec<u32>,
    /// The position of each group's ranks.
    spans: Vec<(u32, u32)>,
}

impl ClosedTable {
    /// The ranks below that all rows of a group have.
    pub(crate) fn below(&self, group: u32) -> &[u32] {
        let (start, length) = self.spans.get(group as usize).copied().unwrap_or_default();
        &self.below[start as usize..][..length as usize]
    }

    /// The ranks outside the set that all rows of a group have, below the item that ends before
    /// `position`.
    fn below_item(&self, group: u32, position: u32) -> impl Iterator<Item = u32> {
        let groups = &self.projection.groups;
        let length = position - groups.start(group) - 1;
        let earlier = groups.row(group)[..length as usize].iter();
        self.below(group).iter().copied().chain(earlier.map(|&i| self.projection.ranks[i as usize]))
    }

    /// Whether all rows with `item` share an item that is below it and outside the set.
    fn implies_below(&self, item: u32, common: &mut Vec<u32>) -> bool {
        let mut rows = self.projection.occurrences(item).iter();
        common.clear();
        common.extend(rows.next().into_iter().flat_map(|&(g, p)| self.below_item(g, p)));
        rows.all(|&(group, position)| {
            let left = intersect(common, self.below_item(group, position));
            common.truncate(left);
            left > 0
        }) && !common.is_empty()
    }

    /// Makes this the table of the rows of `parent` with `item`, for the items in `scratch.kept`.
    fn gather(
        &mut self,
        parent: &ClosedTable,
        item: u32,
        support: u64,
        scratch: &mut Scratch<'_>,
    ) -> Result<(), Stop> {
        let ClosedTable { projection, below, spans } = self;
        below.clear();
        spans.clear();
        projection.gather(&parent.projection, item, support, scratch, |from, position, into| {
            let ranks = parent.below_item(from, position);
            match spans.get_mut(into as usize) {
                Some((start, length)) => {
                    let common = &mut below[*start as usize..][..*length as usize];
                    *length = intersect(common, ranks) as u32;
                }
                None => {
                    let start = below.len();
                    below.extend(ranks);
                    spans.push((start as u32, (below.len() - start) as u32));
                }
            }
        })?;
        projection.name(&parent.projection);
        projection.index();
        Ok(())
    }

    fn memory(&self) -> usize {
        self.projection.memory() + self.below.capacity() * 4 + self.spans.capacity() * 8
    }
}

/// Moves the ranks that are also in `others` to the beginning of `ranks` and returns their number; both are
/// ascending.
fn intersect(ranks: &mut [u32], mut others: impl Iterator<Item = u32>) -> usize {
    let mut left = 0;
    let mut other = others.next();
    for i in 0..ranks.len() {
        while other.is_some_and(|other| other < ranks[i]) {
            other = others.next();
        }
        if other == Some(ranks[i]) {
            ranks[left] = ranks[i];
            left += 1;
        }
    }
    left
}

/// A part of the search, run by one thread.
struct ClosedTask<'a, 'w> {
    shared: &'a Shared<'a, 'w>,
    list: ItemsetList<'w>,
    /// The current closed set.
    set: Vec<Item>,
    /// Unused tables, kept for reuse.
    spare: Vec<ClosedTable>,
    /// Bytes of the tables in use.
    held: usize,
    scratch: Scratch<'w>,
    common: Vec<u32>,
    narrow: ClosedNarrow,
    budget: Reservation<'w>,
}

impl<'a, 'w> ClosedTask<'a, 'w> {
    /// For sets that extend `set`, whose table is `table`.
    fn new(shared: &'a Shared<'a, 'w>, set: Vec<Item>, table: &ClosedTable) -> Self {
        ClosedTask {
            shared,
            list: ItemsetList::new(shared.watch),
            set,
            spare: Vec::new(),
            held: 0,
            scratch: Scratch::new(table.projection.items(), false, shared.watch),
            common: Vec::new(),
            narrow: ClosedNarrow::default(),
            budget: Reservation::new(shared.watch),
        }
    }

    /// Same as [`ClosedTask::extend`], with several tasks if there is much to do.
    fn extend_in_parallel(&mut self, table: &ClosedTable, item: u32) -> Result<(), Stop> {
        let length = self.set.len();
        let Some(child) = self.child(table, item)? else {
            self.set.truncate(length);
            return Ok(());
        };
        if child.projection.groups.len() <= self.shared.narrow {
            self.search_narrow(&child)?;
        } else {
            let list = || ItemsetList::new(self.shared.watch);
            let more = (0..child.projection.items() as u32)
                .into_par_iter()
                .try_fold(
                    || ClosedTask::new(self.shared, self.set.clone(), &child),
                    |mut task, item| {
                        task.extend(&child, item)?;
                        Ok(task)
                    },
                )
                .map(|task| task.map(|task| task.list))
                .try_reduce(list, ItemsetList::then)?;
            self.list = replace(&mut self.list, list()).then(more)?;
        }
        self.leave(child, length);
        Ok(())
    }

    /// Lists the closed sets that extend the set by `item` of its table.
    ///
    /// A set can grow as often as there are columns: too often for recursion.
    fn extend(&mut self, table: &ClosedTable, item: u32) -> Result<(), Stop> {
        // The tables entered, the next item to extend by in each, and the length of the set before.
        let mut entered: Vec<(ClosedTable, u32, usize)> = Vec::new();
        let mut length = self.set.len();
        let mut child = self.child(table, item)?;
        loop {
            match child {
                Some(child) if child.projection.groups.len() > self.shared.narrow => {
                    entered.push((child, 0, length));
                }
                Some(child) => {
                    self.search_narrow(&child)?;
                    self.leave(child, length);
                }
                None => self.set.truncate(length),
            }
            while let Some((done, _, length)) =
                entered.pop_if(|(table, next, _)| *next as usize == table.projection.items())
            {
                self.leave(done, length);
            }
            let Some((table, next, _)) = entered.last_mut() else { return Ok(()) };
            *next += 1;
            length = self.set.len();
            child = self.child(table, *next - 1)?;
        }
    }

    /// Goes back to the set of the given length; `table` is no longer needed.
    fn leave(&mut self, table: ClosedTable, length: usize) {
        self.held -= table.memory();
        self.spare.push(table);
        self.set.truncate(length);
    }

    /// Lists the closed sets that extend the set, whose table is `table` and narrow.
    fn search_narrow(&mut self, table: &ClosedTable) -> Result<(), Stop> {
        let Shared { min_support, max_length, items, .. } = *self.shared;
        self.narrow.search(table, items, min_support, max_length, &mut self.set, &mut self.list)
    }

    /// Extends the set by `item` and closes it, if the result is new and short enough. Returns the table of the
    /// result if it can be extended further.
    fn child(&mut self, table: &ClosedTable, item: u32) -> Result<Option<ClosedTable>, Stop> {
        let Shared { min_support, max_length, items, watch, .. } = *self.shared;
        watch.check()?;
        if table.implies_below(item, &mut self.common) {
            return Ok(None);
        }
        let projection = &table.projection;
        let support = projection.count(item, &mut self.scratch)?;
        let name = |item: u32| items[projection.ranks[item as usize] as usize];
        self.set.push(name(item));
        self.scratch.kept.clear();
        for &(later, count) in &self.scratch.seen {
            if count == support {
                self.set.push(name(later));
            } else if count >= min_support {
                self.scratch.kept.push(later);
            }
        }
        if self.set.len() > max_length {
            return Ok(None);
        }
        self.list.push(&self.set, support)?;
        if self.scratch.kept.is_empty() || self.set.len() == max_length {
            return Ok(None);
        }
        let mut child = self.spare.pop().unwrap_or_default();
        child.gather(table, item, support, &mut self.scratch)?;
        self.held += child.memory();
        self.budget.raise((self.held + self.scratch.memory()) as u64)?;
        Ok(Some(child))
    }
}
