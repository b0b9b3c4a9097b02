//! Grows the prefix tree of all frequent itemsets, in item order.
//!
//! Rows are sorted with the last column as the most significant. The rows that contain an itemset
//! then stay sorted by the columns after its last one, so rows that agree on those columns are
//! neighbours and are merged into one entry with the sum of their weights. Deep in the search,
//! where most itemsets are, few entries are left.

use crate::candidates::tree::{Keys, Link, NO_NODE, Tree};
use rayon::prelude::*;
use table::{Bag, Item, NONE, Stop, Watch};

/// The number of nodes made between two polls of the watch.
const STEP: usize = 1024;

/// Rows that agree on the remaining columns: one of them, and the weight of all.
#[derive(Clone, Copy)]
struct Entry {
    row: u32,
    weight: u64,
}

const ENTRY_BYTES: u64 = size_of::<Entry>() as u64;

/// The bag prepared for the search for frequent itemsets.
pub(crate) struct Grower<'a> {
    keys: Keys,
    min_support: u64,
    max_length: usize,
    watch: &'a Watch,
    width: usize,
    items: Vec<Item>,
    /// The position of each column's first item; one more entry than there are columns.
    starts: Vec<usize>,
    /// Item numbers, row after row; [`NONE`] for NULL and infrequent values.
    cells: Vec<u32>,
    /// Row after row, with one more entry than there are columns: rows with equal cells from a column on have equal
    /// numbers there.
    suffixes: Vec<u32>,
    weights: Vec<u64>,
}

impl<'a> Grower<'a> {
    pub(crate) fn new(
        bag: &Bag,
        min_support: u64,
        max_length: Option<usize>,
        watch: &'a Watch,
    ) -> Result<Self, Stop> {
        let min_support = min_support.max(1);
        let width = bag.width();
        let supports = bag.supports();
        let mut items = Vec::new();
        let mut starts = Vec::with_capacity(width + 1);
        let mut numbers: Vec<Vec<u32>> = Vec::with_capacity(width);
        for (column, supports) in supports.iter().enumerate() {
            starts.push(items.len());
            let mut of_column = vec![NONE; supports.len()];
            for (code, &support) in supports.iter().enumerate() {
                if support >= min_support {
                    of_column[code] = items.len() as u32;
                    items.push(Item { column: column as u32, code: code as u32 });
                }
            }
            numbers.push(of_column);
        }
        starts.push(items.len());
        watch.check()?;
        let rows = bag.distinct();
        watch.reserve((rows * (2 * width + 1) * 4) as u64)?;
        let number = |row: usize, column: usize| match bag.row(row)[column] {
            NONE => NONE,
            code => numbers[column][code as usize],
        };
        let mut order: Vec<u32> = (0..rows as u32).collect();
        table::sort_watched(&mut order, watch, |a, b| {
            let cell = |row: u32, column: usize| number(row as usize, column);
            (0..width).rev().map(|c| cell(a, c)).cmp((0..width).rev().map(|c| cell(b, c)))
        })?;
        let mut cells = Vec::with_capacity(rows * width);
        let mut suffixes = Vec::with_capacity(rows * (width + 1));
        for (i, &row) in order.iter().enumerate() {
            cells.extend((0..width).map(|c| number(row as usize, c)));
            suffixes.resize((i + 1) * (width + 1), 0);
            if i > 0 {
                let (old, new) = cells[(i - 1) * width..].split_at(width);
                let differ = (0..width).rev().find(|&c| old[c] != new[c]);
                for c in 0..=width {
                    let before = suffixes[(i - 1) * (width + 1) + c];
                    suffixes[i * (width + 1) + c] =
                        before + u32::from(differ.is_some_and(|d| c <= d));
                }
            }
        }
        let weights = order.iter().map(|&row| bag.weight(row as usize)).collect();
        Ok(Grower {
            keys: Keys::new(width),
            min_support,
            max_length: max_length.unwrap_or(usize::MAX),
            watch,
            width,
            items,
            starts,
            cells,
            suffixes,
            weights,
        })
    }

    #[inline]
    fn cell(&self, row: u32, column: usize) -> u32 {
        self.cells[row as usize * self.width + column]
    }

    /// Adds an entry to a list that will only be read from `column` on.
    #[inline]
    fn merge(&self, list: &mut Vec<Entry>, entry: Entry, column: usize) {
        let suffix = |row: u32| self.suffixes[row as usize * (self.width + 1) + column];
        match list.last_mut() {
            Some(last) if suffix(last.row) == suffix(entry.row) => last.weight += entry.weight,
            _ => list.push(entry),
        }
    }

    /// Drops a list that [`Branch::children`] made.
    fn drop(&self, list: Vec<Entry>) {
        self.watch.release(list.capacity() as u64 * ENTRY_BYTES);
    }

    /// All frequent itemsets.
    pub(crate) fn grow<F>(self, allowed: &F) -> Result<Tree, Stop>
    where
        F: Fn(&[Item]) -> bool + Sync,
    {
        let rows = self.weights.iter().zip(0..).map(|(&weight, row)| Entry { row, weight });
        let all = Branch::new(&self, allowed);
        let mut lists: Vec<(u32, Vec<Entry>)> = Vec::new();
        if self.max_length > 0 {
            let bytes = self.weights.len() as u64 * ENTRY_BYTES;
            self.watch.reserve(bytes)?;
            all.children(&rows.collect::<Vec<_>>(), 0, |item, list| lists.push((item, list)))?;
            self.watch.release(bytes);
        }
        self.watch.begin(lists.len() as u64);
        // One task per pair of items: the numbers of sets that begin with one item are too uneven. By itself, rayon
        // makes a few tasks of all pairs, one of which takes most of the time: two threads were hardly faster than
        // one.
        let branches = lists
            .into_par_iter()
            .with_max_len(1)
            .map(|(item, entries)| {
                let mut first = Branch::new(&self, allowed);
                let mut lists = Vec::new();
                if first.enter(NO_NODE, item, entries.iter().map(|e| e.weight).sum())? {
                    let next = self.items[item as usize].column as usize + 1;
                    first.children(&entries, next, |item, list| lists.push((item, list)))?;
                }
                self.drop(entries);
                let mut parts = vec![first.finish()?];
                parts.extend(
                    lists
                        .into_par_iter()
                        .with_max_len(1)
                        .map(|(second, entries)| {
                            let mut branch = Branch::new(&self, allowed);
                            branch.prefix.push(self.items[item as usize]);
                            let support = entries.iter().map(|e| e.weight).sum();
                            if branch.enter(NO_NODE, second, support)? {
                                let next = self.items[second as usize].column as usize + 1;
                                branch.extend(0, &entries, next)?;
                            }
                            self.drop(entries);
                            branch.finish()
                        })
                        .collect::<Result<Vec<_>, Stop>>()?,
                );
                self.watch.advance(1);
                Ok(parts)
            })
            .collect::<Result<Vec<_>, Stop>>()?;
        let nodes = branches.iter().flatten().map(|part| part.links.len()).sum();
        Tree::check(nodes)?;
        // The parts are freed as they are copied, but the allocator keeps their memory in pieces.
        self.watch.reserve(nodes as u64 * Tree::NODE_BYTES)?;
        let (links, keys) = (Vec::with_capacity(nodes), Vec::with_capacity(nodes));
        let mut tree = Tree { items: self.items, links, keys };
        for parts in branches {
            let root = tree.links.len() as u32;
            for (i, part) in parts.into_iter().enumerate() {
                let start = tree.links.len() as u32;
                let above = if i == 0 { NO_NODE } else { root };
                tree.links.extend(part.links.iter().map(|link| Link {
                    parent: if link.parent == NO_NODE { above } else { link.parent + start },
                    item: link.item,
                }));
                tree.keys.extend_from_slice(&part.keys);
            }
        }
        Ok(tree)
    }
}

/// A part of the search, run by one thread.
struct Branch<'a, F> {
    grower: &'a Grower<'a>,
    allowed: &'a F,
    prefix: Vec<Item>,
    tree: Tree,
    /// The number of nodes that were reported to the watch.
    counted: usize,
    /// Lists by depth and item of the current column, kept for reuse.
    lists: Vec<Vec<Vec<Entry>>>,
    /// Supports by depth and item.
    counts: Vec<Vec<u64>>,
    /// The largest number of entries so far, by depth.
    most: Vec<usize>,
    /// Bytes reserved for these.
    reserved: u64,
}

impl<'a, F: Fn(&[Item]) -> bool> Branch<'a, F> {
    fn new(grower: &'a Grower<'a>, allowed: &'a F) -> Self {
        Branch {
            grower,
            allowed,
            prefix: Vec::new(),
            tree: Tree::default(),
            counted: 0,
            lists: Vec::new(),
            counts: Vec::new(),
            most: Vec::new(),
            reserved: 0,
        }
    }

    fn finish(mut self) -> Result<Tree, Stop> {
        self.tell()?;
        self.grower.watch.release(self.reserved);
        self.tree.links.shrink_to_fit();
        self.tree.keys.shrink_to_fit();
        Ok(self.tree)
    }

    #[cold]
    fn tell(&mut self) -> Result<(), Stop> {
        let new = (self.tree.links.len() - self.counted) as u64;
        self.counted = self.tree.links.len();
        Tree::check(self.counted)?;
        self.grower.watch.check()?;
        self.grower.watch.found(new)?;
        self.grower.watch.reserve(new * Tree::NODE_BYTES)
    }

    /// Reserves memory for the lists and counts of a depth: lists grow by doubling, and the first visit of a depth
    /// has about the largest number of remaining items.
    #[cold]
    fn make_room(&mut self, depth: usize, entries: usize, items: usize) -> Result<(), Stop> {
        let known = self.most[depth];
        let counts = if known == 0 { items as u64 * 8 } else { 0 };
        let bytes = 2 * (entries - known) as u64 * ENTRY_BYTES + counts;
        self.grower.watch.reserve(bytes)?;
        self.reserved += bytes;
        self.most[depth] = entries;
        Ok(())
    }

    /// Adds the prefix with `item` to the list unless it is refused; true if it may be extended.
    #[inline]
    fn enter(&mut self, parent: u32, item: u32, support: u64) -> Result<bool, Stop> {
        self.prefix.push(self.grower.items[item as usize]);
        if !(self.allowed)(&self.prefix) {
            return Ok(false);
        }
        self.tree.links.push(Link { parent, item });
        self.tree.keys.push(self.grower.keys.key(support, self.prefix.len()));
        if self.tree.links.len() - self.counted >= STEP {
            self.tell()?;
        }
        Ok(self.prefix.len() < self.grower.max_length)
    }

    /// The frequent items from column `from` on, each with the entries that contain it.
    fn children(
        &self,
        entries: &[Entry],
        from: usize,
        mut child: impl FnMut(u32, Vec<Entry>),
    ) -> Result<(), Stop> {
        let grower = self.grower;
        for column in from..grower.width {
            grower.watch.check()?;
            let start = grower.starts[column];
            let mut lists = vec![Vec::new(); grower.starts[column + 1] - start];
            let mut counts = vec![0; lists.len()];
            for &entry in entries {
                let item = grower.cell(entry.row, column);
                if item != NONE {
                    counts[item as usize - start] += entry.weight;
                    grower.merge(&mut lists[item as usize - start], entry, column + 1);
                }
            }
            for (i, list) in lists.into_iter().enumerate() {
                if counts[i] >= grower.min_support {
                    grower.watch.reserve(list.capacity() as u64 * ENTRY_BYTES)?;
                    child((start + i) as u32, list);
                }
            }
        }
        Ok(())
    }

    /// Lists all frequent itemsets that extend the node by items from column `from` on.
    fn extend(&mut self, node: u32, entries: &[Entry], from: usize) -> Result<(), Stop> {
        if let [entry] = entries {
            return self.chain(node, *entry, from);
        }
        let grower = self.grower;
        let depth = self.prefix.len();
        if self.lists.len() <= depth {
            self.lists.resize_with(depth + 1, Vec::new);
            self.counts.resize_with(depth + 1, Vec::new);
            self.most.resize(depth + 1, 0);
        }
        let first = grower.starts[from];
        if entries.len() > self.most[depth] {
            self.make_room(depth, entries.len(), grower.items.len() - first)?;
        }
        let mut counts = std::mem::take(&mut self.counts[depth]);
        counts.clear();
        counts.resize(grower.items.len() - first, 0);
        for entry in entries {
            let row = entry.row as usize * grower.width;
            for &item in &grower.cells[row + from..row + grower.width] {
                if item != NONE {
                    counts[item as usize - first] += entry.weight;
                }
            }
        }
        let mut lists = std::mem::take(&mut self.lists[depth]);
        let last = grower.items[grower.items.len() - 1].column as usize;
        for column in from..=last {
            let (start, end) = (grower.starts[column], grower.starts[column + 1]);
            let counts = &counts[start - first..end - first];
            if counts.iter().all(|&count| count < grower.min_support) {
                continue;
            }
            let leaves = column == last || depth + 1 >= grower.max_length;
            if !leaves {
                if lists.len() < counts.len() {
                    lists.resize_with(counts.len(), Vec::new);
                }
                for &entry in entries {
                    let item = grower.cell(entry.row, column);
                    if item != NONE && counts[item as usize - start] >= grower.min_support {
                        grower.merge(&mut lists[item as usize - start], entry, column + 1);
                    }
                }
            }
            for (i, &support) in counts.iter().enumerate() {
                if support >= grower.min_support {
                    let child = self.tree.links.len() as u32;
                    if self.enter(node, (start + i) as u32, support)? && !leaves {
                        self.extend(child, &lists[i], column + 1)?;
                    }
                    self.prefix.pop();
                    if !leaves {
                        lists[i].clear();
                    }
                }
            }
        }
        self.counts[depth] = counts;
        self.lists[depth] = lists;
        Ok(())
    }

    /// [`Branch::extend`] for one entry: every subset of the remaining items has its weight as support.
    fn chain(&mut self, node: u32, entry: Entry, from: usize) -> Result<(), Stop> {
        for column in from..self.grower.width {
            let item = self.grower.cell(entry.row, column);
            if item != NONE {
                let child = self.tree.links.len() as u32;
                if self.enter(node, item, entry.weight)? {
                    self.chain(child, entry, column + 1)?;
                }
                self.prefix.pop();
            }
        }
        Ok(())
    }
}
