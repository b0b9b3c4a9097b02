//! Depth-first search for the MIIs that extend a prefix.

use crate::narrow::Narrow;
use crate::path::Path;
use crate::projection::Scratch;
use crate::visitor::{Sink, Subtree};
use std::mem::take;
use table::{Item, Stop, Watch};

/// One task of the search: a path that it lengthens and shortens, and the MIIs found.
///
/// An MII extends a prefix only by items that are frequent with it (all but the last one), that
/// reduce its support (else the MII without some item would have the same support) and that
/// occur in light groups (in a heavy group everything is frequent).
pub(crate) struct Task<'a, S> {
    finder: Finder<'a, S>,
    scratch: Scratch,
    /// Bytes reserved.
    reserved: u64,
    /// Items of the parent that are infrequent with the prefix, and their supports.
    infrequent: Vec<(u32, u64)>,
    narrow: Narrow<1>,
    narrow4: Narrow<4>,
}

/// The path, and where MIIs are handed to.
pub(crate) struct Finder<'a, S> {
    pub path: Path<'a>,
    pub watch: &'a Watch,
    sink: S,
    numbers: Vec<u32>,
    items: Vec<Item>,
    rows: Vec<u32>,
}

impl<'a, S: Sink> Task<'a, S> {
    pub(crate) fn new(path: Path<'a>, sink: S, watch: &'a Watch) -> Self {
        Task {
            scratch: Scratch::new(path.first.projection.items()),
            finder: Finder { path, watch, sink, numbers: Vec::new(), items: Vec::new(), rows: Vec::new() },
            reserved: 0,
            infrequent: Vec::new(),
            narrow: Narrow::default(),
            narrow4: Narrow::default(),
        }
    }

    /// What was found.
    pub(crate) fn finish(self) -> S {
        self.finder.watch.release(self.reserved);
        self.finder.sink
    }

    /// Finds the MIIs that extend the prefix of `depth` items by at least two more.
    pub(crate) fn descend(&mut self, depth: usize) -> Result<(), Stop> {
        let node = self.finder.path.node(depth);
        match node.sets.words() {
            1 => self.narrow.search(depth, &mut self.finder),
            2..=4 => self.narrow4.search(depth, &mut self.finder),
            _ => (0..node.projection.items() as u32).try_for_each(|item| self.child(depth, item)),
        }
    }

    /// Finds the MIIs whose first items are the prefix (of `depth` items) and `item`, a number in
    /// the projection to the prefix.
    pub(crate) fn child(&mut self, depth: usize, item: u32) -> Result<(), Stop> {
        let Task { finder, scratch, .. } = self;
        finder.watch.check()?;
        let theta = finder.path.ground.theta;
        let support = finder.path.node(depth).projection.count(item, scratch);
        scratch.kept.clear();
        self.infrequent.clear();
        for &(later, count) in &scratch.seen {
            if count <= theta {
                self.infrequent.push((later, count));
            } else if count < support {
                scratch.kept.push(later);
            }
        }
        for &(later, support) in &self.infrequent {
            if finder.minimal(depth, [later, item]) {
                finder.found(depth, [item, later], support, |path, rows| {
                    let projection = &path.node(depth).projection;
                    for &(group, position) in projection.occurrences(item) {
                        if projection.groups.row_from(group, position).contains(&later) {
                            path.rows(depth, group, rows);
                        }
                    }
                })?;
            }
        }
        if scratch.kept.len() < 2 || depth + 3 > finder.path.ground.max_length {
            return Ok(());
        }
        let path = &mut finder.path;
        if path.nodes.len() < depth {
            path.nodes.resize_with(depth, Default::default);
        }
        let mut node = take(&mut path.nodes[depth - 1]);
        let parent = &path.node(depth).projection;
        node.projection.gather(parent, item, support, S::ROWS, scratch);
        let some = node.projection.keep_light(theta, scratch) && node.projection.up.len() > 1;
        if some {
            node.projection.name(parent);
            node.sets.fill(&node.projection, theta);
            if !(1..=4).contains(&node.sets.words()) {
                node.projection.index();
                let bytes = (node.memory() * 2 + self.scratch.memory()) as u64;
                if bytes > self.reserved {
                    self.finder.watch.reserve(bytes - self.reserved)?;
                    self.reserved = bytes;
                }
            }
        }
        let path = &mut self.finder.path;
        path.nodes[depth - 1] = node;
        if !some {
            return Ok(());
        }
        path.prefix.truncate(depth);
        path.prefix.push(item);
        if S::SKIPS && self.finder.skip(depth + 1, None, 0..path_items(&self.finder.path, depth + 1)) {
            return Ok(());
        }
        self.descend(depth + 1)
    }
}

fn path_items(path: &Path<'_>, depth: usize) -> u32 {
    path.node(depth).projection.items() as u32
}

impl<S: Sink> Finder<'_, S> {
    /// Whether the prefix up to `depth` with `numbers` stays frequent when any one of the
    /// prefix's items is left out.
    #[inline]
    pub(crate) fn minimal(&mut self, depth: usize, numbers: impl IntoIterator<Item = u32>) -> bool {
        self.numbers.clear();
        self.numbers.extend(numbers);
        self.path.minimal(depth, &mut self.numbers)
    }

    /// Hands on an MII: the prefix up to `depth` and `numbers` of the projection to it; `rows`
    /// finds the rows that contain it.
    pub(crate) fn found(
        &mut self,
        depth: usize,
        numbers: impl IntoIterator<Item = u32>,
        support: u64,
        rows: impl FnOnce(&Path<'_>, &mut Vec<u32>),
    ) -> Result<(), Stop> {
        self.items.clear();
        self.items.extend(self.path.items(depth));
        self.items.extend(numbers.into_iter().map(|number| self.path.item(depth, number)));
        if S::ROWS {
            self.rows.clear();
            rows(&self.path, &mut self.rows);
            self.rows.sort_unstable();
        }
        self.sink.mii(&self.items, &self.rows, support)
    }

    /// Whether the sink needs no MII made of the prefix up to `depth` and of `numbers` of the
    /// projection to it; if `groups` are given, with some of the numbers that only they contain.
    pub(crate) fn skip(&self, depth: usize, groups: Option<&[u64]>, numbers: impl IntoIterator<Item = u32>) -> bool {
        let path = &self.path;
        let mut columns = vec![0; path.ground.width.div_ceil(64)];
        for item in path.items(depth).chain(numbers.into_iter().map(|number| path.item(depth, number))) {
            columns[item.column as usize / 64] |= 1 << (item.column % 64);
        }
        self.sink.skip(&Subtree { path, depth, groups, columns: &columns })
    }
}
