//! Groups: rows of local item numbers, with equal rows merged and their weights added.
//!
//! Where units are counted, the weight of a group is a number of units, and only rows whose units have no other row
//! here are merged freely: their units add up. Rows of a unit that has several different ones stay groups of that
//! unit, one after the other, and are merged with each other only.

use crate::project::unit_rows::UnitSum;
use table::{NONE, Slots};

/// Marks the end of a list of rows.
const EMPTY: u32 = u32::MAX;

/// Distinct rows of item numbers (ascending) with weights and origins.
#[derive(Default)]
pub(crate) struct RowGroups {
    cells: Vec<u32>,
    /// The position of each group's first cell; one more entry than there are groups.
    starts: Vec<u32>,
    weights: Vec<u64>,
    /// The unit of each group whose unit may have other groups too, which all weigh 1, or [`NONE`]. The groups of a
    /// unit follow one another, others perhaps between those of two units. Empty if rows count.
    units: Vec<u32>,
    /// The groups from which no MIIs are needed; empty if there are none.
    skipped: Vec<bool>,
    /// Whether the following three are kept.
    track: bool,
    /// The rows merged into each group as a linked list: its last row, and each row's predecessor.
    last: Vec<u32>,
    previous: Vec<u32>,
    /// The number that each row was added with.
    origins: Vec<u32>,
}

impl RowGroups {
    /// Empties the groups; at most `rows` rows will be added. With `track`, their origins are remembered.
    pub(crate) fn clear(&mut self, rows: usize, track: bool, slots: &mut Slots) {
        self.track = track;
        self.cells.clear();
        self.starts.clear();
        self.starts.push(0);
        self.weights.clear();
        self.units.clear();
        self.skipped.clear();
        self.last.clear();
        self.previous.clear();
        self.origins.clear();
        slots.clear(rows);
    }

    /// Adds a cell to the row under construction; cells come in ascending order.
    #[inline]
    pub(crate) fn push(&mut self, cell: u32) {
        self.cells.push(cell);
    }

    /// Ends the row under construction: merges it with an equal one if there is one. Returns the
    /// group it belongs to, which is the last one if it is new.
    #[inline]
    pub(crate) fn end_row(&mut self, weight: u64, origin: u32, slots: &mut Slots) -> u32 {
        self.end::<false>(NONE, weight, origin, slots)
    }

    /// As [`RowGroups::end_row`] for a row of `weight` units: of units that have no other row, if `unit` is [`NONE`],
    /// or of one that has.
    pub(crate) fn end_unit_row(
        &mut self,
        unit: u32,
        weight: u64,
        origin: u32,
        slots: &mut Slots,
    ) -> u32 {
        self.end::<true>(unit, weight, origin, slots)
    }

    #[inline(always)]
    fn end<const UNITS: bool>(
        &mut self,
        unit: u32,
        weight: u64,
        origin: u32,
        slots: &mut Slots,
    ) -> u32 {
        let start = self.starts[self.starts.len() - 1] as usize;
        let row = self.origins.len() as u32;
        let new = self.len() as u32;
        let cells = &self.cells[start..];
        let equals =
            |group| self.row(group) == cells && (!UNITS || self.units[group as usize] == unit);
        let known = slots.find(unit.wrapping_add(1), cells, equals, new);
        match known {
            Some(group) => {
                self.cells.truncate(start);
                if !UNITS || unit == NONE {
                    self.weights[group as usize] += weight;
                }
                if self.track {
                    self.previous.push(self.last[group as usize]);
                    self.last[group as usize] = row;
                }
            }
            None => {
                self.weights.push(weight);
                if UNITS {
                    self.units.push(unit);
                }
                self.starts.push(self.cells.len() as u32);
                if self.track {
                    self.last.push(row);
                    self.previous.push(EMPTY);
                }
            }
        }
        if self.track {
            self.origins.push(origin);
        }
        known.unwrap_or(new)
    }

    /// Ends the row under construction as a group of its own, even if there is an equal one.
    pub(crate) fn end_group(&mut self, weight: u64, origin: u32) {
        self.weights.push(weight);
        self.starts.push(self.cells.len() as u32);
        if self.track {
            self.last.push(self.origins.len() as u32);
            self.previous.push(EMPTY);
            self.origins.push(origin);
        }
    }

    /// As [`RowGroups::end_group`], for units as in [`RowGroups::end_unit_row`].
    pub(crate) fn end_unit_group(&mut self, unit: u32, weight: u64, origin: u32) {
        self.units.push(unit);
        self.end_group(weight, origin);
    }

    /// Renumbers the items: item `i` becomes `numbers[i]`, or is removed if that is [`table::NONE`];
    /// `numbers` keeps the order. Rows that become equal are merged.
    pub(crate) fn renumber(&mut self, numbers: &[u32], slots: &mut Slots) {
        if self.units.is_empty() {
            self.renumber_groups::<false>(numbers, slots);
        } else {
            self.release_units(numbers);
            self.renumber_groups::<true>(numbers, slots);
        }
    }

    /// The groups of a unit that become equal will be one row: of a unit that has no other row.
    fn release_units(&mut self, numbers: &[u32]) {
        let mut start = 0;
        while start < self.len() {
            let unit = self.units[start];
            let others = self.units[start + 1..].iter();
            let end = start + 1 + others.take_while(|&&other| other == unit).count();
            let kept = |group: usize| kept(self.row(group as u32), numbers);
            if unit != NONE && (start + 1..end).all(|other| kept(other).eq(kept(start))) {
                self.units[start..end].fill(NONE);
                self.weights[start + 1..end].fill(0);
            }
            start = end;
        }
    }

    fn renumber_groups<const UNITS: bool>(&mut self, numbers: &[u32], slots: &mut Slots) {
        slots.clear(self.len());
        // The write position never overtakes the read position.
        let (mut groups, mut end, mut from) = (0, 0, 0);
        for group in 0..self.len() {
            let to = self.starts[group + 1] as usize;
            let start = end;
            for position in from..to {
                let number = numbers[self.cells[position] as usize];
                if number != NONE {
                    self.cells[end] = number;
                    end += 1;
                }
            }
            from = to;
            let (done, row) = self.cells[..end].split_at(start);
            let starts = &self.starts;
            let unit = if UNITS { self.units[group] } else { NONE };
            let equals = |g: u32| {
                &done[starts[g as usize] as usize..starts[g as usize + 1] as usize] == row
                    && (!UNITS || self.units[g as usize] == unit)
            };
            match slots.find(unit.wrapping_add(1), row, equals, groups as u32) {
                Some(equal) => {
                    end = start;
                    if unit == NONE {
                        self.weights[equal as usize] += self.weights[group];
                    }
                    if !self.skipped.is_empty() {
                        self.skipped[equal as usize] &= self.skipped[group];
                    }
                    if self.track {
                        let mut first = self.last[group];
                        while self.previous[first as usize] != EMPTY {
                            first = self.previous[first as usize];
                        }
                        self.previous[first as usize] = self.last[equal as usize];
                        self.last[equal as usize] = self.last[group];
                    }
                }
                None => {
                    self.weights[groups] = self.weights[group];
                    if UNITS {
                        self.units[groups] = unit;
                    }
                    if !self.skipped.is_empty() {
                        self.skipped[groups] = self.skipped[group];
                    }
                    if self.track {
                        self.last[groups] = self.last[group];
                    }
                    groups += 1;
                    self.starts[groups] = end as u32;
                }
            }
        }
        self.cells.truncate(end);
        self.starts.truncate(groups + 1);
        self.weights.truncate(groups);
        self.units.truncate(groups);
        self.skipped.truncate(groups);
        if self.track {
            self.last.truncate(groups);
        }
    }

    /// Number of groups.
    pub(crate) fn len(&self) -> usize {
        self.weights.len()
    }

    /// Number of cells of all groups.
    pub(crate) fn cells(&self) -> usize {
        self.cells.len()
    }

    /// The items of a group, ascending.
    #[inline]
    pub(crate) fn row(&self, group: u32) -> &[u32] {
        &self.cells[self.starts[group as usize] as usize..self.starts[group as usize + 1] as usize]
    }

    /// The items of a group from a position among all cells on.
    #[inline]
    pub(crate) fn row_from(&self, group: u32, position: u32) -> &[u32] {
        &self.cells[position as usize..self.starts[group as usize + 1] as usize]
    }

    /// The position of a group's first cell among all cells.
    pub(crate) fn start(&self, group: u32) -> u32 {
        self.starts[group as usize]
    }

    #[inline]
    pub(crate) fn weight(&self, group: u32) -> u64 {
        self.weights[group as usize]
    }

    pub(crate) fn weights(&self) -> &[u64] {
        &self.weights
    }

    /// The unit of a group, if that may have other groups too, or [`NONE`]. Only where units are counted.
    #[inline]
    pub(crate) fn unit(&self, group: u32) -> u32 {
        self.units[group as usize]
    }

    /// As [`RowGroups::unit`], of all groups; empty if rows count.
    pub(crate) fn units(&self) -> &[u32] {
        &self.units
    }

    /// A count of the units of groups.
    pub(crate) fn unit_sum(&self) -> UnitSum<'_> {
        UnitSum::new(&self.weights, &self.units)
    }

    /// Sets for each group whether it is skipped.
    pub(crate) fn skip(&mut self, skipped: impl Iterator<Item = bool>) {
        self.skipped.extend(skipped);
    }

    /// Whether no MIIs are needed from a group.
    #[inline]
    pub(crate) fn skipped(&self, group: u32) -> bool {
        self.skipped.get(group as usize).is_some_and(|&skipped| skipped)
    }

    /// Whether a group can contain MIIs that are needed.
    #[inline]
    pub(crate) fn light(&self, group: u32, theta: u64) -> bool {
        self.weight(group) <= theta && !self.skipped(group)
    }

    /// The origins of the rows merged into a group.
    pub(crate) fn origins(&self, group: u32) -> impl Iterator<Item = u32> {
        let next = |row: u32| (row != EMPTY).then_some(row);
        std::iter::successors(next(self.last[group as usize]), move |&row| {
            next(self.previous[row as usize])
        })
        .map(|row| self.origins[row as usize])
    }

    pub(crate) fn memory(&self) -> usize {
        (self.cells.capacity() + self.starts.capacity() + self.origins.capacity()) * 4
            + (self.last.capacity() + self.previous.capacity() + self.units.capacity()) * 4
            + self.weights.capacity() * 8
            + self.skipped.capacity()
    }
}

/// The new numbers of a row's items without those that are removed.
pub(crate) fn kept<'a>(row: &'a [u32], numbers: &'a [u32]) -> impl Iterator<Item = u32> + 'a {
    row.iter().map(|&item| numbers[item as usize]).filter(|&number| number != NONE)
}
