//! Depth-first search for the MIIs that extend a prefix.

use crate::mii::narrow_search::Narrow;
use crate::mii::projection_path::{PathNode, ProjectionPath};
use crate::mii::visitor::{Sink, Subtree};
use crate::project::group_sets::FEW_WORDS;
use crate::project::{Projection, Scratch, Seen};
use std::mem::take;
use table::{Item, Reservation, Stop, Watch, bits};

/// One task of the search: a path that it lengthens and shortens, and the MIIs found.
///
/// An MII extends a prefix only by items that are frequent with it (all but the last one), that some row with the
/// prefix lacks (else the MII without some item would have the same rows) and that occur in light groups (in a heavy
/// group everything is frequent).
pub(crate) struct MiiTask<'a, S> {
    finder: Finder<'a, S>,
    scratch: Scratch<'a>,
    budget: Reservation<'a>,
    /// Items of the parent that are infrequent with the prefix, and their supports.
    infrequent: Vec<(u32, u64)>,
    narrow: Narrow<1>,
    narrow_more: Narrow<FEW_WORDS>,
}

/// The path, and the sink of the MIIs.
pub(crate) struct Finder<'a, S> {
    pub path: ProjectionPath<'a>,
    pub watch: &'a Watch,
    sink: S,
    numbers: Vec<u32>,
    items: Vec<Item>,
    rows: Vec<u32>,
    columns: Vec<u64>,
}

impl<'a, S: Sink> MiiTask<'a, S> {
    pub(crate) fn new(path: ProjectionPath<'a>, sink: S, watch: &'a Watch) -> Self {
        MiiTask {
            scratch: Scratch::new(
                path.first.projection.items(),
                S::ROWS,
                path.shared.by_unit,
                watch,
            ),
            finder: Finder {
                columns: Vec::new(),
                path,
                watch,
                sink,
                numbers: Vec::new(),
                items: Vec::new(),
                rows: Vec::new(),
            },
            budget: Reservation::new(watch),
            infrequent: Vec::new(),
            narrow: Narrow::default(),
            narrow_more: Narrow::default(),
        }
    }

    /// The findings of the task.
    pub(crate) fn finish(self) -> S {
        self.finder.sink
    }

    /// Finds the MIIs whose first items are the prefix (of `depth` items) and `item`, a number in
    /// the projection to the prefix.
    ///
    /// A prefix can have almost as many items as there are columns: too many for recursion.
    pub(crate) fn extend(&mut self, depth: usize, item: u32) -> Result<(), Stop> {
        // The next item to extend by, for each item of the prefix after `depth`.
        let mut entered: Vec<u32> = Vec::new();
        let mut item = item;
        loop {
            let prefix = depth + entered.len();
            if self.child(prefix, item)? {
                if self.is_narrow(prefix + 1) {
                    self.search_narrow(prefix + 1)?;
                } else {
                    entered.push(0);
                }
            }
            let items =
                |entered: &[u32]| self.finder.path.node(depth + entered.len()).projection.items();
            while entered.last().is_some_and(|&next| next as usize == items(&entered)) {
                entered.pop();
            }
            let Some(next) = entered.last_mut() else { return Ok(()) };
            item = *next;
            *next += 1;
        }
    }

    fn is_narrow(&self, depth: usize) -> bool {
        self.finder.path.node(depth).groups() <= self.finder.path.shared.narrow
    }

    /// Finds the MIIs that extend the prefix of `depth` items by at least two more, if the
    /// projection to it is narrow.
    pub(crate) fn search_narrow(&mut self, depth: usize) -> Result<(), Stop> {
        match self.finder.path.node(depth).sets.words() {
            1 => self.narrow.search(depth, &mut self.finder),
            _ => self.narrow_more.search(depth, &mut self.finder),
        }
    }

    /// Finds the MIIs that are the prefix, `item` and one more item; adds `item` to the prefix and projects to it.
    /// False if no longer MII begins with them.
    fn child(&mut self, depth: usize, item: u32) -> Result<bool, Stop> {
        let MiiTask { finder, scratch, .. } = self;
        let theta = finder.path.shared.theta;
        finder.path.node(depth).projection.count(item, scratch)?;
        scratch.kept.clear();
        self.infrequent.clear();
        for &Seen { item: later, everywhere, support } in &scratch.seen {
            if support <= theta {
                self.infrequent.push((later, support));
            } else if !everywhere {
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
        if scratch.kept.len() < 2 || depth + 3 > finder.path.shared.max_length {
            return Ok(false);
        }
        self.lengthen(depth, item)
    }

    /// Adds `item` to the prefix of `depth` items and projects to the kept items. False if no MII can lie below.
    fn lengthen(&mut self, depth: usize, item: u32) -> Result<bool, Stop> {
        let MiiTask { finder, scratch, .. } = self;
        let path = &mut finder.path;
        let theta = path.shared.theta;
        path.prefix.truncate(depth);
        path.prefix.push(item);
        if path.nodes.len() < depth {
            path.nodes.resize_with(depth, Default::default);
        }
        // Taken out of the path while it is filled, since its parent is in the path too.
        let mut node = take(&mut path.nodes[depth - 1]);
        let parent = &path.node(depth).projection;
        node.projection.gather(parent, item, scratch, |_, _, _| {})?;
        if S::SKIPS {
            finder.skip(depth, &mut node.projection);
        }
        let path = &mut finder.path;
        let parent = &path.node(depth).projection;
        let some = node.projection.keep_light(theta, scratch)? && node.projection.up.len() > 1;
        let wide = some && node.groups() > path.shared.narrow;
        if some {
            node.projection.name(parent);
            node.sets.fill(&node.projection, theta);
        }
        if wide {
            node.projection.index();
        }
        path.nodes[depth - 1] = node;
        if wide {
            let nodes: u64 = path.nodes.iter().map(PathNode::memory).sum();
            self.budget.raise(nodes + scratch.memory() as u64)?;
        }
        Ok(some)
    }
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
        rows: impl FnOnce(&ProjectionPath<'_>, &mut Vec<u32>),
    ) -> Result<(), Stop> {
        self.items.clear();
        self.items.extend(self.path.items(depth));
        self.items.extend(numbers.into_iter().map(|number| self.path.item(depth, number)));
        if S::ROWS {
            self.rows.clear();
            rows(&self.path, &mut self.rows);
            self.path.shared.sort_rows(&mut self.rows);
        }
        self.sink.mii(&self.items, &self.rows, support)
    }

    /// Finds the groups of `child` from which the sink needs no MIIs; `child` is a projection of the one at `depth`,
    /// not yet on the path.
    fn skip(&mut self, depth: usize, child: &mut Projection) {
        let Finder { path, columns, sink, .. } = self;
        let words = bits::words(path.shared.width);
        columns.resize(words * 2, 0);
        let (prefix, columns) = columns.split_at_mut(words);
        let add = |columns: &mut [u64], item: Item| bits::insert(columns, item.column as usize);
        prefix.fill(0);
        path.items(depth + 1).for_each(|item| add(prefix, item));
        let groups = &child.groups;
        let skipped: Vec<bool> = (0..groups.len() as u32)
            .map(|group| {
                columns.copy_from_slice(prefix);
                for &number in groups.row(group) {
                    add(columns, path.item(depth, child.up[number as usize]));
                }
                let light = groups.weight(group) <= path.shared.theta;
                light && sink.skip(&Subtree { columns, path, depth, groups, group })
            })
            .collect();
        child.groups.skip(skipped.into_iter());
    }
}
