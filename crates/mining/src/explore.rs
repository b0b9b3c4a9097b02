//! Depth-first search for the MIIs that extend a prefix.

use crate::path::Path;
use crate::projection::{Projection, Scratch};
use crate::visitor::{Sink, Subtree};
use std::mem::take;
use table::{Item, Stop, Watch};

/// One task of the search: a path that it lengthens and shortens, and the MIIs found.
///
/// An MII extends a prefix only by items that are frequent with it (all but the last one), that
/// reduce its support (else the MII without some item would have the same support) and that
/// occur in light groups (in a heavy group everything is frequent).
pub(crate) struct Task<'a, S> {
    path: Path<'a>,
    sink: S,
    scratch: Scratch,
    watch: &'a Watch,
    /// Bytes reserved.
    reserved: u64,
    /// Items of the parent that are infrequent with the prefix, and their supports.
    infrequent: Vec<(u32, u64)>,
    numbers: Vec<u32>,
    items: Vec<Item>,
    rows: Vec<u32>,
    narrow: Narrow,
}

/// The state of the search in a projection of at most 64 groups.
#[derive(Default)]
struct Narrow {
    depth: usize,
    weights: Vec<u64>,
    sets: Vec<u64>,
    light: u64,
    /// The items chosen after the prefix, and the groups that contain those before each.
    chosen: Vec<(u32, u64)>,
    /// The items that may extend what is chosen, with the groups that contain both.
    tails: Vec<(u32, u64)>,
}

impl Narrow {
    /// The support of a set of groups, if at most `theta`.
    #[inline]
    fn infrequent(&self, mut set: u64, theta: u64) -> Option<u64> {
        if set & !self.light != 0 {
            return None;
        }
        let mut support = 0;
        while set != 0 {
            support += self.weights[set.trailing_zeros() as usize];
            if support > theta {
                return None;
            }
            set &= set - 1;
        }
        Some(support)
    }

    /// Whether the chosen items and `item` stay frequent with any but the last of the chosen ones
    /// left out; without the last one that is known.
    fn minimal(&self, item: u32, theta: u64) -> bool {
        let mut later = self.sets[item as usize];
        self.chosen.iter().enumerate().rev().all(|(i, &(chosen, before))| {
            let frequent = i + 1 == self.chosen.len() || self.infrequent(before & later, theta).is_none();
            later &= self.sets[chosen as usize];
            frequent
        })
    }
}

impl<'a, S: Sink> Task<'a, S> {
    pub(crate) fn new(path: Path<'a>, sink: S, watch: &'a Watch) -> Self {
        Task {
            scratch: Scratch::new(path.first.projection.items()),
            path,
            sink,
            watch,
            reserved: 0,
            infrequent: Vec::new(),
            numbers: Vec::new(),
            items: Vec::new(),
            rows: Vec::new(),
            narrow: Narrow::default(),
        }
    }

    /// What was found.
    pub(crate) fn finish(self) -> S {
        self.watch.release(self.reserved);
        self.sink
    }

    /// Finds the MIIs whose first items are the prefix (of `depth` items) and `item`, a number in
    /// the projection to the prefix.
    pub(crate) fn child(&mut self, depth: usize, item: u32) -> Result<(), Stop> {
        self.watch.check()?;
        let theta = self.path.ground.theta;
        let parent = &self.path.node(depth).projection;
        let support = parent.count(item, &mut self.scratch);
        self.scratch.kept.clear();
        self.infrequent.clear();
        for &(later, count) in &self.scratch.seen {
            if count <= theta {
                self.infrequent.push((later, count));
            } else if count < support {
                self.scratch.kept.push(later);
            }
        }
        for i in 0..self.infrequent.len() {
            let (later, support) = self.infrequent[i];
            self.numbers.clear();
            self.numbers.extend([later, item]);
            if self.path.minimal(depth, &mut self.numbers) {
                self.found_below(depth, item, later, support)?;
            }
        }
        if self.scratch.kept.len() < 2 || depth + 3 > self.path.ground.max_length {
            return Ok(());
        }
        if self.path.nodes.len() < depth {
            self.path.nodes.resize_with(depth, Default::default);
        }
        let mut node = take(&mut self.path.nodes[depth - 1]);
        let parent = &self.path.node(depth).projection;
        let child = &mut node.projection;
        child.gather(parent, item, support, S::ROWS, &mut self.scratch);
        if !child.keep_light(theta, &mut self.scratch) || child.up.len() < 2 {
            self.path.nodes[depth - 1] = node;
            return Ok(());
        }
        child.name(parent);
        node.sets.fill(&node.projection, theta);
        let wide = node.sets.single_words().is_none();
        if wide {
            node.projection.index();
            let bytes = (node.memory() * 2 + self.scratch.memory()) as u64;
            if bytes > self.reserved {
                self.watch.reserve(bytes - self.reserved)?;
                self.reserved = bytes;
            }
        }
        self.path.nodes[depth - 1] = node;
        self.path.prefix.truncate(depth);
        self.path.prefix.push(item);
        if S::SKIPS && self.skip(depth + 1, None) {
            return Ok(());
        }
        self.descend(depth + 1)
    }

    /// Finds the MIIs that extend the prefix of `depth` items by at least two more.
    pub(crate) fn descend(&mut self, depth: usize) -> Result<(), Stop> {
        let node = self.path.node(depth);
        let items = node.projection.items() as u32;
        let Some((sets, heavy)) = node.sets.single_words() else {
            return (0..items).try_for_each(|item| self.child(depth, item));
        };
        let narrow = &mut self.narrow;
        narrow.depth = depth;
        narrow.weights.clear();
        narrow.weights.extend_from_slice(node.projection.groups.weights());
        narrow.sets.clear();
        narrow.sets.extend_from_slice(sets);
        narrow.light = !heavy;
        narrow.chosen.clear();
        narrow.tails.clear();
        narrow.tails.extend((0..items).map(|item| (item, sets[item as usize])));
        self.narrow(0, items as usize)
    }

    /// Extends what is chosen by each of the tails from `begin` to `end` and more of them.
    fn narrow(&mut self, begin: usize, end: usize) -> Result<(), Stop> {
        self.watch.check()?;
        let theta = self.path.ground.theta;
        for i in begin..end {
            let narrow = &mut self.narrow;
            let (item, set) = narrow.tails[i];
            let before = narrow.chosen.last().map_or(u64::MAX, |&(last, before)| before & narrow.sets[last as usize]);
            narrow.chosen.push((item, before));
            for j in i + 1..end {
                let narrow = &mut self.narrow;
                let later = narrow.tails[j].0;
                let both = set & narrow.sets[later as usize];
                if both & narrow.light == 0 || both == set {
                    continue;
                }
                match narrow.infrequent(both, theta) {
                    None => narrow.tails.push((later, both)),
                    Some(support) => {
                        if narrow.minimal(later, theta) {
                            self.numbers.clear();
                            self.numbers.push(later);
                            self.numbers.extend(narrow.chosen.iter().map(|&(chosen, _)| chosen));
                            if self.path.minimal(narrow.depth, &mut self.numbers) {
                                self.found_narrow(later, both, support)?;
                            }
                        }
                    }
                }
            }
            let tails = self.narrow.tails.len();
            let length = self.narrow.depth + self.narrow.chosen.len();
            if tails > end + 1 && length + 2 <= self.path.ground.max_length && !(S::SKIPS && self.skip_narrow(set, end))
            {
                self.narrow(end, tails)?;
            }
            self.narrow.tails.truncate(end);
            self.narrow.chosen.pop();
        }
        Ok(())
    }

    /// An MII: the prefix up to `depth`, `item` and `later` of the projection to it.
    fn found_below(&mut self, depth: usize, item: u32, later: u32, support: u64) -> Result<(), Stop> {
        let path = &self.path;
        self.items.clear();
        self.items.extend(path.items(depth));
        self.items.extend([path.item(depth, item), path.item(depth, later)]);
        if S::ROWS {
            let projection: &Projection = &path.node(depth).projection;
            let rows = &mut self.rows;
            rows.clear();
            for &(group, position) in projection.occurrences(item) {
                if projection.groups.row_from(group, position).contains(&later) {
                    path.all_rows(depth, group, &mut |row| {
                        rows.push(row);
                        true
                    });
                }
            }
            rows.sort_unstable();
        }
        self.sink.mii(&self.items, &self.rows, support)
    }

    /// An MII in a narrow projection: the prefix, what is chosen, and `item`; in the groups `set`.
    fn found_narrow(&mut self, item: u32, mut set: u64, support: u64) -> Result<(), Stop> {
        let (path, narrow) = (&self.path, &self.narrow);
        self.items.clear();
        self.items.extend(path.items(narrow.depth));
        self.items.extend(narrow.chosen.iter().map(|&(chosen, _)| path.item(narrow.depth, chosen)));
        self.items.push(path.item(narrow.depth, item));
        if S::ROWS {
            let rows = &mut self.rows;
            rows.clear();
            while set != 0 {
                path.all_rows(narrow.depth, set.trailing_zeros(), &mut |row| {
                    rows.push(row);
                    true
                });
                set &= set - 1;
            }
            rows.sort_unstable();
        }
        self.sink.mii(&self.items, &self.rows, support)
    }

    /// Whether the sink needs nothing from below the prefix of `depth` items.
    fn skip(&self, depth: usize, groups: Option<u64>) -> bool {
        let ranks = &self.path.node(depth).projection.ranks;
        let later = ranks.iter().map(|&rank| self.path.ground.items[rank as usize]);
        self.skip_items(depth, groups, self.path.items(depth).chain(later))
    }

    /// Whether the sink needs nothing from below what is chosen, with the tails from `end` on.
    fn skip_narrow(&self, set: u64, end: usize) -> bool {
        let narrow = &self.narrow;
        let numbers = narrow.chosen.iter().chain(&narrow.tails[end..]);
        let later = numbers.map(|&(number, _)| self.path.item(narrow.depth, number));
        self.skip_items(narrow.depth, Some(set), self.path.items(narrow.depth).chain(later))
    }

    fn skip_items(&self, depth: usize, groups: Option<u64>, items: impl Iterator<Item = Item>) -> bool {
        let mut columns = vec![0; self.path.ground.width.div_ceil(64)];
        for item in items {
            columns[item.column as usize / 64] |= 1 << (item.column % 64);
        }
        self.sink.skip(&Subtree { path: &self.path, depth, groups, columns: &columns })
    }
}
