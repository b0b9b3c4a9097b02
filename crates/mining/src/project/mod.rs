//! Projections: the rows that contain a prefix, reduced to the items that may still extend it.
//!
//! The searches for MIIs, frequent and closed itemsets are built on them. `ranking` orders the items, `groups` holds
//! rows with equal ones merged, `group_sets` answers from bits whether items are frequent. `unit_rows` has the rows of
//! a bag as they are needed where units are counted.

pub(crate) mod group_sets;
pub(crate) mod groups;
pub(crate) mod ranking;
pub(crate) mod unit_rows;

use crate::project::groups::{RowGroups, kept};
use crate::project::unit_rows::UnitRows;
use table::{Bag, Item, NONE, Slots, Stop, Watch};

/// The number of rows between two polls of the watch.
const STEP: usize = 1 << 14;

/// The number of items per row from which a projection counts as sparse.
const SPARSE: usize = 64;

/// Where units are counted, the counts of an item are one number: this times the groups that have it, and the units.
const GROUP: u64 = 1 << 32;

/// The rows that contain a prefix, without the items that cannot extend it, equal rows merged.
///
/// Items have local numbers, in rank order.
#[derive(Default)]
pub(crate) struct Projection {
    pub groups: RowGroups,
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
    /// By item of the parent: its support with the prefix, 0 between calls. Where units are counted, see [`GROUP`].
    counts: Vec<u64>,
    /// By item of the parent: the last unit that was counted, [`NONE`] between calls. Empty if rows count.
    last_units: Vec<u32>,
    /// By item of the parent: its number in the projection. Valid for items that occur.
    numbers: Vec<u32>,
    /// The items of the parent that occur with the prefix, ascending.
    pub seen: Vec<Seen>,
    /// The items of the parent that are kept.
    pub kept: Vec<u32>,
}

/// An item that occurs with a prefix.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Seen {
    pub item: u32,
    /// Whether all rows with the prefix have it. Where units are counted, fewer rows may have the same support.
    pub everywhere: bool,
    pub support: u64,
}

impl<'w> Scratch<'w> {
    /// For projections with at most `items` items; with `track`, groups remember their origins. With `by_unit`, units
    /// are counted.
    pub(crate) fn new(items: usize, track: bool, by_unit: bool, watch: &'w Watch) -> Self {
        Scratch {
            watch,
            track,
            slots: Slots::default(),
            counts: vec![0; items],
            last_units: vec![NONE; if by_unit { items } else { 0 }],
            numbers: vec![NONE; items],
            seen: Vec::new(),
            kept: Vec::new(),
        }
    }

    pub(crate) fn memory(&self) -> usize {
        self.slots.memory()
            + (self.counts.capacity() + self.seen.capacity() * 2) * 8
            + (self.numbers.capacity() + self.kept.capacity() + self.last_units.capacity()) * 4
    }
}

impl Projection {
    /// The root of a search: all rows, or those that `unit_rows` has, with the given items, which are in rank order.
    /// The origins of its groups are the rows of the bag.
    pub(crate) fn root(
        bag: &Bag,
        unit_rows: Option<&UnitRows>,
        items: &[Item],
        scratch: &mut Scratch<'_>,
    ) -> Result<Self, Stop> {
        let Scratch { watch, track, slots, .. } = scratch;
        let rows = unit_rows.map_or(bag.distinct(), |rows| rows.rows.len());
        // Positions among cells are 32-bit numbers; more cells would not fit any memory budget.
        if rows.saturating_mul(bag.width()) > u32::MAX as usize {
            return Err(Stop::Memory { limit: watch.memory_limit() });
        }
        let mut ranks: Vec<Vec<u32>> = bag.domains().iter().map(|d| vec![NONE; d.len()]).collect();
        for (rank, item) in items.iter().enumerate() {
            ranks[item.column as usize][item.code as usize] = rank as u32;
        }
        let mut groups = RowGroups::default();
        groups.clear(rows, *track, slots);
        let mut row = Vec::with_capacity(bag.width());
        for i in 0..rows {
            watch.poll(i)?;
            let of = unit_rows.map(|rows| rows.rows[i]);
            let number = of.map_or(i, |of| of.row as usize);
            row.clear();
            row.extend(
                Bag::row_items(bag.row(number))
                    .map(|item| ranks[item.column as usize][item.code as usize])
                    .filter(|&rank| rank != NONE),
            );
            row.sort_unstable();
            row.iter().for_each(|&rank| groups.push(rank));
            // Rows of a bag are distinct: too few have become equal to be worth merging.
            match of {
                None => groups.end_group(bag.weight(i), i as u32),
                Some(of) => groups.end_unit_group(of.unit, of.units, of.row),
            }
        }
        let ranks = (0..items.len() as u32).collect();
        let mut root = Projection { groups, ranks, ..Projection::default() };
        root.index();
        Ok(root)
    }

    /// The largest number of bytes that [`Projection::root`] takes for this number of rows.
    pub(crate) fn root_memory(bag: &Bag, rows: usize) -> u64 {
        // Per cell its item and its occurrence; per row start, weight, unit, origin, list and slots.
        let rows = rows as u64;
        rows.saturating_mul(bag.width() as u64).saturating_mul(12).saturating_add(rows * 52)
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
        if !scratch.last_units.is_empty() {
            return self.count_units(item, scratch);
        }
        let Scratch { watch, counts, .. } = scratch;
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
        self.take_counts(item, scratch, |count| (count, count == support));
        Ok(support)
    }

    /// As [`Projection::count`], where units are counted.
    fn count_units(&self, item: u32, scratch: &mut Scratch<'_>) -> Result<u64, Stop> {
        let Scratch { watch, counts, last_units, .. } = scratch;
        let mut sum = self.groups.unit_sum();
        let mut support = 0;
        for occurrences in self.occurrences(item).chunks(STEP) {
            watch.check()?;
            for &(group, position) in occurrences {
                support += sum.add(group as usize);
                let (unit, weight) = (self.groups.unit(group), self.groups.weight(group));
                let cells = self.groups.row_from(group, position);
                if unit == NONE {
                    cells.iter().for_each(|&cell| counts[cell as usize] += GROUP + weight);
                    continue;
                }
                for &cell in cells {
                    let last = &mut last_units[cell as usize];
                    counts[cell as usize] += GROUP + u64::from(*last != unit);
                    *last = unit;
                }
            }
        }
        let groups = self.occurrences(item).len() as u64;
        self.take_counts(item, scratch, |count| (count % GROUP, count / GROUP == groups));
        let Scratch { seen, last_units, .. } = scratch;
        seen.iter().for_each(|seen| last_units[seen.item as usize] = NONE);
        Ok(support)
    }

    /// Moves the counts of the items after `item` to `scratch.seen`; `read` makes support and [`Seen::everywhere`] of
    /// a count.
    #[inline(always)]
    fn take_counts(&self, item: u32, scratch: &mut Scratch<'_>, read: impl Fn(u64) -> (u64, bool)) {
        let Scratch { counts, seen, .. } = scratch;
        seen.clear();
        let mut take = |item: u32, count: &mut u64| {
            if *count > 0 {
                let (support, everywhere) = read(std::mem::take(count));
                seen.push(Seen { item, everywhere, support });
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
            seen.sort_unstable_by_key(|seen| seen.item);
        } else {
            (later.start as u32..)
                .zip(&mut counts[later])
                .for_each(|(cell, count)| take(cell, count));
        }
    }

    /// Makes this the projection of `parent` to the rows that contain `item` and to the items in `scratch.kept`, which
    /// are among those last counted. `merged` is called for each row: with its group in the parent, the position after
    /// `item` in it, and its group here.
    pub(crate) fn gather(
        &mut self,
        parent: &Projection,
        item: u32,
        scratch: &mut Scratch<'_>,
        mut merged: impl FnMut(u32, u32, u32),
    ) -> Result<(), Stop> {
        let Scratch { watch, track, slots, numbers, last_units, seen, kept, .. } = scratch;
        seen.iter().for_each(|seen| numbers[seen.item as usize] = NONE);
        for (number, &cell) in kept.iter().enumerate() {
            numbers[cell as usize] = number as u32;
        }
        self.up.clone_from(kept);
        let occurrences = parent.occurrences(item);
        self.groups.clear(occurrences.len(), *track, slots);
        if !last_units.is_empty() {
            return self.gather_units(parent, occurrences, scratch, merged);
        }
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

    /// As [`Projection::gather`] of the given occurrences, where units are counted.
    fn gather_units(
        &mut self,
        parent: &Projection,
        occurrences: &[(u32, u32)],
        scratch: &mut Scratch<'_>,
        mut merged: impl FnMut(u32, u32, u32),
    ) -> Result<(), Stop> {
        let Scratch { watch, slots, numbers, .. } = scratch;
        let groups = &parent.groups;
        let unit_of = |&(group, _): &(u32, u32)| groups.unit(group);
        let kept =
            |&(group, position): &(u32, u32)| kept(groups.row_from(group, position), numbers);
        let of_one = |a: &_, b: &_| unit_of(a) != NONE && unit_of(a) == unit_of(b);
        let mut done = 0;
        for rows in occurrences.chunk_by(of_one) {
            // A unit whose rows have become equal has no other row here: one of them counts.
            let alike = rows[1..].iter().all(|other| kept(other).eq(kept(&rows[0])));
            for (i, row) in rows.iter().enumerate() {
                watch.poll_every(STEP, done)?;
                done += 1;
                kept(row).for_each(|number| self.groups.push(number));
                let &(group, position) = row;
                let (unit, units) = match alike {
                    true if i == 0 => (NONE, groups.weight(group)),
                    true => (NONE, 0),
                    false => (unit_of(row), 1),
                };
                let into = self.groups.end_unit_row(unit, units, group, slots);
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
