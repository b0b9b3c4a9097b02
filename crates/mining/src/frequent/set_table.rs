//! The rows that contain a set, and which earlier items they share: sets that are not closed are known by these.

use crate::project::{Projection, Scratch};
use table::Stop;

/// The rows that contain a set, reduced to the items above the last one added.
#[derive(Default)]
pub(crate) struct SetTable {
    pub projection: Projection,
    /// The ranks of the items below the last one added, outside the set, that all rows of a group have; ascending,
    /// group after group. Merging rows keeps the ranks that they share.
    below: Vec<u32>,
    /// The position of each group's ranks.
    spans: Vec<(u32, u32)>,
}

impl SetTable {
    /// The table of a set whose items every row has: nothing is below.
    pub(super) fn root(projection: Projection) -> Self {
        SetTable { projection, ..SetTable::default() }
    }

    /// The ranks below that all rows of a group have.
    pub(crate) fn below(&self, group: u32) -> &[u32] {
        let (start, length) = self.spans.get(group as usize).copied().unwrap_or_default();
        &self.below[start as usize..][..length as usize]
    }

    /// The ranks outside the set that all rows of a group have, below the item that ends before
    /// `position`.
    #[inline(always)]
    fn below_item(&self, group: u32, position: u32) -> impl Iterator<Item = u32> {
        let groups = &self.projection.groups;
        let length = position - groups.start(group) - 1;
        let earlier = groups.row(group)[..length as usize].iter();
        self.below(group).iter().copied().chain(earlier.map(|&i| self.projection.ranks[i as usize]))
    }

    /// Whether all rows with `item` share an item that is below it and outside the set.
    pub(super) fn implies_below(&self, item: u32, common: &mut Vec<u32>) -> bool {
        let mut rows = self.projection.occurrences(item).iter();
        common.clear();
        common.extend(rows.next().into_iter().flat_map(|&(g, p)| self.below_item(g, p)));
        rows.all(|&(group, position)| {
            let left = intersect(common, self.below_item(group, position));
            common.truncate(left);
            left > 0
        }) && !common.is_empty()
    }

    /// Makes this the table of the rows of `parent` with `item`, for the items in `scratch.kept`; with the ranks
    /// below only if `closed`.
    pub(super) fn gather(
        &mut self,
        parent: &SetTable,
        item: u32,
        closed: bool,
        scratch: &mut Scratch<'_>,
    ) -> Result<(), Stop> {
        let SetTable { projection, below, spans } = self;
        below.clear();
        spans.clear();
        let note = |from: u32, position: u32, into: u32| {
            note(below, spans, parent.below_item(from, position), into);
        };
        if closed {
            projection.gather(&parent.projection, item, scratch, note)?;
        } else {
            projection.gather(&parent.projection, item, scratch, |_, _, _| {})?;
        }
        projection.name(&parent.projection);
        projection.index();
        Ok(())
    }

    pub(super) fn memory(&self) -> usize {
        self.projection.memory() + self.below.capacity() * 4 + self.spans.capacity() * 8
    }
}

/// Notes the ranks below that a row has, which has become part of the group `into`.
// Called where rows are gathered and where they are gathered by unit. Not inlined there, it and what it calls take 2 %
// of the instructions of a search for closed sets.
#[inline(always)]
fn note(
    below: &mut Vec<u32>,
    spans: &mut Vec<(u32, u32)>,
    ranks: impl Iterator<Item = u32>,
    into: u32,
) {
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
}

/// Moves the ranks that are also in `others` to the beginning of `ranks` and returns their number; both are
/// ascending.
#[inline(always)]
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
