//! Projections: the rows that contain a prefix, reduced to the items that may still extend it.
//!
//! The searches for MIIs, frequent and closed itemsets are built on them. `ranking` orders the items, `groups` holds
//! rows with equal ones merged, `group_sets` answers from bits whether items are frequent.

pub(crate) mod group_sets;
pub(crate) mod groups;
pub(crate) mod ranking;

use crate::project::groups::RowGroups;
use table::{Bag, Item, NONE, Slots, Stop, Watch};

/// The number of rows between two polls of the watch.
const STEP: usize = 1 << 14;

/// The number of items per row from which a projection counts as sparse.
const SPARSE: usize = 64;

/// The rows that contain a prefix, without the items that cannot extend it, equal rows merged.
///
/// Items have local numbers, in rank order.
#[derive(Default)]
pub(crate) struct Projection {
    pub groups: RowGroups,
    /// The sum of the weights: the support of the prefix.
    pub support: u64,
    /// The rank of each item, ascending.
    pub ranks: Vec<u32>,
    /// The number of each item in the projection that this one was made from.
    pub up: Vec<u32>,
    /// The occurrences of each item: (group, position after it among the groups' cells).
    occurrences: Vec<(u32, u32)>,
    /// The position of each item's first occurrence; one more entry than there are items.
    first: Vec<u32>,
}

/// Buffers of a projection, kept between calls.
pub(crate) struct Scratch<'w> {
    watch: &'w Watch,
    /// Whether the origins of groups are kept: for a projection the groups of its parent.
    track: bool,
    slots: Slots,
    /// By item of the parent: its support with the prefix, 0 between calls.
    counts: Vec<u64>,
    /// By item of the parent: its number in the projection. Valid for items that occur.
    numbers: Vec<u32>,
    /// Items of the parent that occur with the prefix, ascending, and their supports.
    pub seen: Vec<(u32, u64)>,
    /// The items of the parent that are kept.
    pub kept: Vec<u32>,
}

impl<'w> Scratch<'w> {
    /// For projections with at most `items` items; with `track`, groups remember their origins.
    pub(crate) fn new(items: usize, track: bool, watch: &'w Watch) -> Self {
        Scratch {
            watch,
            track,
            slots: Slots::default(),
            counts: vec![0; items],
            numbers: vec![NONE; items],
            seen: Vec::new(),
            kept: Vec::new(),
        }
    }

    pub(crate) fn memory(&self) -> usize {
        self.slots.memory()
            + (self.counts.capacity() + self.seen.capacity() * 2) * 8
            + (self.numbers.capacity() + self.kept.capacity()) * 4
    }
}

impl Projection {
    /// The root of a search: all rows, with the given items, which are in rank order.
    /// The origins of its groups are the rows of the bag.
    pub(crate) fn root(bag: &Bag, items: &[Item], scratch: &mut Scratch<'_>) -> Result<Self, Stop> {
        let Scratch { watch, track, slots, .. } = scratch;
        // Positions among cells are 32-bit numbers; more cells would not fit any memory budget.
        if bag.distinct().saturating_mul(bag.width()) > u32::MAX as usize {
            return Err(Stop::Memory { limit: watch.memory_limit() });
        }
        let mut ranks: Vec<Vec<u32>> = bag.domains().iter().map(|d| vec![NONE; d.len()]).collect();
        for (rank, item) in items.iter().enumerate() {
            ranks[item.column as usize][item.code as usize] = rank as u32;
        }
        let mut root = Projection::default();
        root.groups.clear(bag.distinct(), *track, slots);
        let mut row = Vec::with_capacity(bag.width());
        for i in 0..bag.distinct() {
            watch.poll(i)?;
            row.clear();
            row.extend(
                Bag::row_items(bag.row(i))
                    .map(|item| ranks[item.column as usize][item.code as usize])
                    .filter(|&rank| rank != NONE),
            );
            row.sort_unstable();
            row.iter().for_each(|&rank| root.groups.push(rank));
            // Rows of a bag are distinct: too few have become equal to be worth merging.
            root.groups.end_group(bag.weight(i), i as u32);
        }
        root.support = bag.row_count();
        root.ranks = (0..items.len() as u32).collect();
        root.index();
        Ok(root)
    }

    /// The largest number of bytes that [`Projection::root`] takes.
    pub(crate) fn root_memory(bag: &Bag) -> u64 {
        // Per cell its item and its occurrence; per row start, weight, origin, list and slots.
        let rows = bag.distinct() as u64;
        rows.saturating_mul(bag.width() as u64).saturating_mul(12).saturating_add(rows * 48)
    }

    /// Number of items.
    pub(crate) fn items(&self) -> usize {
        self.ranks.len()
    }

    /// The occurrences of `item`: (group, position after it among the groups' cells).
    #[inline]
    pub(crate) fn occurrences(&self, item: u32) -> &[(u32, u32)] {
        &self.occurrences
            [self.first[item as usize] as usize..self.first[item as usize + 1] as usize]
    }

    /// Counts the later items in the rows that contain `item`: leaves the items that occur in `scratch.seen` and
    /// returns the support of `item`.
    pub(crate) fn count(&self, item: u32, scratch: &mut Scratch<'_>) -> Result<u64, Stop> {
        let Scratch { watch, counts, seen, .. } = scratch;
        let mut support = 0;
        for occurrences in self.occurrences(item).chunks(STEP) {
            watch.check()?;
            for &(group, position) in occurrences {
                let weight = self.groups.weight(group);
                support += weight;
                for &cell in self.groups.row_from(group, position) {
                    counts[cell as usize] += weight;
                }
            }
        }
        seen.clear();
        let mut take = |cell: u32, count: &mut u64| {
            if *count > 0 {
                seen.push((cell, std::mem::take(count)));
            }
        };
        let later = item as usize + 1..self.items();
        // With many items and few rows, a second pass over the rows is cheaper than one over the items.
        if self.occurrences(item).len() * SPARSE < later.len() {
            for &(group, position) in self.occurrences(item) {
                for &cell in self.groups.row_from(group, position) {
                    take(cell, &mut counts[cell as usize]);
                }
            }
            seen.sort_unstable();
        } else {
            (later.start as u32..)
                .zip(&mut counts[later])
                .for_each(|(cell, count)| take(cell, count));
        }
        Ok(support)
    }

    /// Makes this the projection of `parent` to the rows that contain `item`, with support
    /// `support`, and to the items in `scratch.kept`, which are among those last counted.
    /// `merged` is called for each row: with its group in the parent, the position after `item` in
    /// it, and its group here.
    pub(crate) fn gather(
        &mut self,
        parent: &Projection,
        item: u32,
        support: u64,
        scratch: &mut Scratch<'_>,
        mut merged: impl FnMut(u32, u32, u32),
    ) -> Result<(), Stop> {
        let Scratch { watch, track, slots, numbers, seen, kept, .. } = scratch;
        seen.iter().for_each(|&(cell, _)| numbers[cell as usize] = NONE);
        for (number, &cell) in kept.iter().enumerate() {
            numbers[cell as usize] = number as u32;
        }
        self.support = support;
        self.up.clone_from(kept);
        let occurrences = parent.occurrences(item);
        self.groups.clear(occurrences.len(), *track, slots);
        for occurrences in occurrences.chunks(STEP) {
            watch.check()?;
            for &(group, position) in occurrences {
                for &cell in parent.groups.row_from(group, position) {
                    let number = numbers[cell as usize];
                    if number != NONE {
                        self.groups.push(number);
                    }
                }
                let into = self.groups.end_row(parent.groups.weight(group), group, slots);
                merged(group, position, into);
            }
        }
        Ok(())
    }

    /// Removes the items that occur in no light group; rows that become equal are merged, which
    /// may make them heavy. False if no light group is left.
    pub(crate) fn keep_light(
        &mut self,
        theta: u64,
        scratch: &mut Scratch<'_>,
    ) -> Result<bool, Stop> {
        let Scratch { watch, slots, numbers, .. } = scratch;
        loop {
            watch.check()?;
            let items = self.up.len();
            numbers[..items].fill(NONE);
            let mut light = false;
            for group in 0..self.groups.len() as u32 {
                if self.groups.light(group, theta) {
                    light = true;
                    self.groups.row(group).iter().for_each(|&item| numbers[item as usize] = 0);
                }
            }
            if !light {
                return Ok(false);
            }
            let mut left = 0;
            for (item, number) in numbers[..items].iter_mut().enumerate() {
                if *number != NONE {
                    *number = left;
                    self.up[left as usize] = self.up[item];
                    left += 1;
                }
            }
            if left as usize == items {
                return Ok(true);
            }
            self.up.truncate(left as usize);
            self.groups.renumber(&numbers[..items], slots);
        }
    }

    /// Takes the ranks of the items from `parent` once the items are final.
    pub(crate) fn name(&mut self, parent: &Projection) {
        self.ranks.clear();
        self.ranks.extend(self.up.iter().map(|&item| parent.ranks[item as usize]));
    }

    /// Indexes the occurrences once the items are named, which counting and further projections need.
    pub(crate) fn index(&mut self) {
        let Projection { groups, first, occurrences, ranks, .. } = self;
        first.clear();
        first.resize(ranks.len() + 2, 0);
        for group in 0..groups.len() as u32 {
            groups.row(group).iter().for_each(|&item| first[item as usize + 2] += 1);
        }
        for item in 2..first.len() {
            first[item] += first[item - 1];
        }
        // first[i + 1] is the position of the next occurrence of item i, and in the end the end of item i.
        occurrences.clear();
        occurrences.resize(groups.cells(), (0, 0));
        for group in 0..groups.len() as u32 {
            let start = groups.start(group);
            for (position, &item) in (start + 1..).zip(groups.row(group)) {
                let next = &mut first[item as usize + 1];
                occurrences[*next as usize] = (group, position);
                *next += 1;
            }
        }
        first.pop();
    }

    pub(crate) fn memory(&self) -> usize {
        self.groups.memory()
            + (self.ranks.capacity() + self.up.capacity() + self.first.capacity()) * 4
            + self.occurrences.capacity() * 8
    }
}
