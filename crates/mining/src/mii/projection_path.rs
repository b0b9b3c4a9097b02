//! The path from the root of the search to the current prefix: one projection per item.

use crate::project::Projection;
use crate::project::group_sets::GroupSets;
use table::{Item, Reservation};

/// A projection and its sets of groups.
#[derive(Default)]
pub(crate) struct PathNode {
    pub projection: Projection,
    pub sets: GroupSets,
}

impl PathNode {
    /// Whether more than `theta` rows, or units, of the projection contain all of `items`.
    fn frequent(&self, items: &[u32], theta: u64) -> bool {
        self.sets.frequent(&self.projection, items, theta)
    }

    /// Number of groups of rows.
    pub(crate) fn groups(&self) -> usize {
        self.projection.groups.len()
    }

    pub(crate) fn memory(&self) -> u64 {
        (size_of::<Self>() + self.projection.memory() + self.sets.memory()) as u64
    }
}

/// State that all parts of a search share.
pub(crate) struct Shared<'w> {
    pub theta: u64,
    pub max_length: usize,
    /// The largest number of groups of a projection that is searched with a few words per set of groups.
    pub narrow: usize,
    /// The number of columns of the bag.
    pub width: usize,
    /// Whether units are counted.
    pub by_unit: bool,
    /// By rank: ascending support.
    pub items: Vec<Item>,
    pub root: PathNode,
    /// By rank: the projection to the rows with that item, if there was memory to keep it.
    pub first: Vec<Option<PathNode>>,
    pub budget: Reservation<'w>,
}

impl Shared<'_> {
    /// Sorts rows of the bag. Where units are counted, a row is in the root once for each unit that has several rows.
    pub(crate) fn sort_rows(&self, rows: &mut Vec<u32>) {
        rows.sort_unstable();
        if self.by_unit {
            rows.dedup();
        }
    }

    /// Whether the items with these ranks are frequent; `ranks` becomes scratch.
    fn frequent(&self, ranks: &mut Vec<u32>) -> bool {
        let Some(lowest) = (0..ranks.len()).min_by_key(|&i| ranks[i]) else { return true };
        match &self.first[ranks[lowest] as usize] {
            Some(node) => {
                // An item that the projection lacks is infrequent with the lowest one. (It could also be in all rows
                // of the lowest one, but then it would not reduce the support of any set with it, and the search
                // would not have reached this point.)
                ranks.swap_remove(lowest);
                ranks.iter_mut().all(|rank| match node.projection.ranks.binary_search(rank) {
                    Ok(number) => {
                        *rank = number as u32;
                        true
                    }
                    Err(_) => false,
                }) && node.frequent(ranks, self.theta)
            }
            None => self.root.frequent(ranks, self.theta),
        }
    }
}

/// A prefix and the projections to it and to its own prefixes.
pub(crate) struct ProjectionPath<'a> {
    pub shared: &'a Shared<'a>,
    /// The projection to the first item.
    pub first: &'a PathNode,
    /// The projections to the first two items, the first three and so on; the last ones may be left over from another
    /// prefix.
    pub nodes: Vec<PathNode>,
    /// The prefix: the number of each item in the projection to the items before it.
    pub prefix: Vec<u32>,
}

impl<'a> ProjectionPath<'a> {
    pub(crate) fn new(shared: &'a Shared<'a>, first: &'a PathNode, rank: u32) -> Self {
        ProjectionPath { shared, first, nodes: Vec::new(), prefix: vec![rank] }
    }

    /// The projection to the first `depth` items of the prefix.
    #[inline]
    pub(crate) fn node(&self, depth: usize) -> &PathNode {
        match depth {
            0 => &self.shared.root,
            1 => self.first,
            _ => &self.nodes[depth - 2],
        }
    }

    /// The item with a number in the projection to the first `depth` items of the prefix.
    pub(crate) fn item(&self, depth: usize, number: u32) -> Item {
        let rank = self.node(depth).projection.ranks[number as usize];
        self.shared.items[rank as usize]
    }

    /// The items of the prefix up to `depth`.
    pub(crate) fn items(&self, depth: usize) -> impl Iterator<Item = Item> {
        (0..depth).map(|i| self.item(i, self.prefix[i]))
    }

    /// Whether the first `depth` items of the prefix together with `numbers` (of the projection
    /// to them, at least two) stay frequent when any one of the prefix's items is left out.
    /// `numbers` becomes scratch.
    ///
    /// Without item i the set contains the i-1 items before it, so its support can be counted in
    /// the projection to these, which has all later items of the set. Without item 1 it is counted
    /// in the projection to the lowest item left.
    pub(crate) fn minimal(&self, depth: usize, numbers: &mut Vec<u32>) -> bool {
        for i in (1..=depth).rev() {
            let up = &self.node(i).projection.up;
            numbers.iter_mut().for_each(|number| *number = up[*number as usize]);
            if i == 1 {
                return self.shared.frequent(numbers);
            }
            if !self.node(i - 1).frequent(numbers, self.shared.theta) {
                return false;
            }
            numbers.push(self.prefix[i - 1]);
        }
        true
    }

    /// Calls `accept` with the rows of the bag that a group of the projection at `depth` stands for, until it returns
    /// false; true if it never does.
    pub(crate) fn all_rows(
        &self,
        depth: usize,
        group: u32,
        accept: &mut impl FnMut(u32) -> bool,
    ) -> bool {
        let mut origins = self.node(depth).projection.groups.origins(group);
        if depth == 0 {
            origins.all(accept)
        } else {
            origins.all(|origin| self.all_rows(depth - 1, origin, accept))
        }
    }

    /// Adds the rows of the bag that a group of the projection at `depth` stands for.
    pub(crate) fn rows(&self, depth: usize, group: u32, rows: &mut Vec<u32>) {
        self.all_rows(depth, group, &mut |row| {
            rows.push(row);
            true
        });
    }
}
