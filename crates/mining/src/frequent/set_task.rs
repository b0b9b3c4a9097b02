//! The depth-first search for frequent and closed itemsets, as tasks of several threads.

use crate::frequent::Asked;
use crate::frequent::closed_narrow::ClosedNarrow;
use crate::frequent::set_table::SetTable;
use crate::frequent::unit_closure::UnitClosure;
use crate::itemset_list::ItemsetList;
use crate::mii::Sink;
use crate::project::Scratch;
use rayon::prelude::*;
use std::mem::replace;
use table::{Item, Reservation, Stop, Watch};

/// State that all tasks share.
pub(super) struct Shared<'a, 'w> {
    pub asked: Asked,
    /// The largest number of groups of a table that is searched with a few words per set of groups.
    pub narrow: usize,
    pub items: &'a [Item],
    /// Whether units are counted, and, if closed sets are asked for, how to tell those.
    pub by_unit: bool,
    pub closure: Option<UnitClosure<'a>>,
    pub watch: &'w Watch,
}

/// A part of the search, run by one thread.
pub(super) struct SetTask<'a, 'w> {
    shared: &'a Shared<'a, 'w>,
    pub list: ItemsetList<'w>,
    /// The current set.
    set: Vec<Item>,
    /// Unused tables, kept for reuse.
    #[expect(
        clippy::vec_box,
        reason = "tables go in and out with every set: moving them was 2 % of the work"
    )]
    spare: Vec<Box<SetTable>>,
    /// Bytes of the tables in use.
    held: usize,
    scratch: Scratch<'w>,
    common: Vec<u32>,
    narrow: ClosedNarrow,
    budget: Reservation<'w>,
}

impl<'a, 'w> SetTask<'a, 'w> {
    /// For sets that extend `set`, whose table is `table`.
    pub(super) fn new(shared: &'a Shared<'a, 'w>, set: Vec<Item>, table: &SetTable) -> Self {
        SetTask {
            shared,
            list: ItemsetList::new(shared.watch),
            set,
            spare: Vec::new(),
            held: 0,
            scratch: Scratch::new(table.projection.items(), false, shared.by_unit, shared.watch),
            common: Vec::new(),
            narrow: ClosedNarrow::default(),
            budget: Reservation::new(shared.watch),
        }
    }

    /// Same as [`SetTask::extend`], with several tasks if there is much to do.
    pub(super) fn extend_in_parallel(&mut self, table: &SetTable, item: u32) -> Result<(), Stop> {
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
                    || SetTask::new(self.shared, self.set.clone(), &child),
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

    /// Lists the sets that extend the set by `item` of its table.
    ///
    /// A set can grow as often as there are columns: too often for recursion.
    fn extend(&mut self, table: &SetTable, item: u32) -> Result<(), Stop> {
        // The tables entered, the next item to extend by in each, and the length of the set before.
        let mut entered: Vec<(Box<SetTable>, u32, usize)> = Vec::new();
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
    fn leave(&mut self, table: Box<SetTable>, length: usize) {
        self.held -= table.memory();
        self.spare.push(table);
        self.set.truncate(length);
    }

    /// Lists the closed sets that extend the set, whose table is `table` and narrow.
    fn search_narrow(&mut self, table: &SetTable) -> Result<(), Stop> {
        self.narrow.search(table, self.shared, &mut self.set, &mut self.list)
    }

    /// Extends the set by `item`, closes it if closed sets are asked for, and lists the result if it is new and short
    /// enough. Returns the table of the result if it can be extended further.
    fn child(&mut self, table: &SetTable, item: u32) -> Result<Option<Box<SetTable>>, Stop> {
        let Shared { asked: Asked { min_support, max_length, closed }, items, watch, .. } =
            *self.shared;
        if closed {
            watch.check()?;
            if table.implies_below(item, &mut self.common) {
                return Ok(None);
            }
        }
        let projection = &table.projection;
        let support = projection.count(item, &mut self.scratch)?;
        let name = |item: u32| items[projection.ranks[item as usize] as usize];
        self.set.push(name(item));
        self.scratch.kept.clear();
        for seen in &self.scratch.seen {
            if closed && seen.everywhere {
                self.set.push(name(seen.item));
            } else if seen.support >= min_support {
                self.scratch.kept.push(seen.item);
            }
        }
        if self.set.len() > max_length {
            return Ok(None);
        }
        let is_asked = match &self.shared.closure {
            None => true,
            Some(closure) => {
                let mut others = self.scratch.seen.iter().filter(|seen| !seen.everywhere);
                others.all(|seen| seen.support < support) && closure.is_closed(&self.set, watch)?
            }
        };
        if is_asked {
            self.list.push(&self.set, support)?;
        }
        if self.scratch.kept.is_empty() || self.set.len() == max_length {
            return Ok(None);
        }
        let mut child = self.spare.pop().unwrap_or_default();
        child.gather(table, item, closed, &mut self.scratch)?;
        self.held += child.memory();
        self.budget.raise((self.held + self.scratch.memory()) as u64)?;
        Ok(Some(child))
    }
}
