//! Finds the nodes that decide a column, given the values of the columns before it.
//!
//! A node decides a column if it has children there, and if the row so far contains its path. For each column, these
//! nodes are numbered in the order in which they decide. For each value of each earlier column there is a bitmap of
//! the nodes that do not contradict it: those without the column in their path, and those with this value. The
//! intersection of the bitmaps of a row's values has the nodes that decide, in order, whatever the size of the tree.

use crate::tree::children::Children;
use crate::tree::code_tree::CodeTree;
use table::bits::{ones, place, words};
use table::{Item, NONE};

/// Words of bitmaps that are intersected at a time.
const BLOCK: usize = 4;

/// A node that decides a column.
pub(crate) struct Decider {
    /// The range of its children's values.
    pub start: usize,
    pub end: usize,
    /// Its probability less that of all its children in the column.
    pub rest: f64,
}

/// The nodes that decide a column, and when.
#[derive(Default)]
pub(crate) struct Deciders {
    /// In the order in which they decide.
    pub list: Vec<Decider>,
    /// The values of their children, and their probabilities.
    pub values: Vec<(u32, f64)>,
    /// Each earlier column that matters, and the position of its first bitmap.
    earlier: Vec<(usize, usize)>,
    /// Bitmaps of `stride` words each.
    bitmaps: Vec<u64>,
    stride: usize,
}

/// The part of a node's probability that counts as left by rounding.
const ROUNDING: f64 = 1e-12;

/// By column and code: the number of the value among the values in paths. Other values, and NULL, have the number
/// after them.
pub(crate) struct Named {
    numbers: Vec<u32>,
    pub count: usize,
}

impl Named {
    /// The values of a column of `len` values that have nodes with children.
    pub(crate) fn new(len: usize, codes: impl Iterator<Item = u32>) -> Self {
        let mut numbers = vec![NONE; len];
        codes.for_each(|code| numbers[code as usize] = 0);
        let mut count = 0;
        for number in numbers.iter_mut().filter(|number| **number == 0) {
            *number = count;
            count += 1;
        }
        numbers.iter_mut().for_each(|number| *number = (*number).min(count));
        Named { numbers, count: count as usize }
    }

    #[inline]
    pub(crate) fn number(&self, code: u32) -> usize {
        self.numbers.get(code as usize).map_or(self.count, |&number| number as usize)
    }
}

/// The bytes that the bitmaps of a column take.
pub(crate) fn bytes(nodes: usize, named: &[Named]) -> u64 {
    let bitmaps: usize = named.iter().map(|named| named.count + 1).sum();
    (bitmaps * words(nodes).next_multiple_of(BLOCK) * size_of::<u64>()) as u64
}

impl Deciders {
    /// `nodes` have children in the column and are in the order in which they decide; `named` are the values of the
    /// columns before it.
    pub(crate) fn new(
        tree: &CodeTree,
        children: &Children,
        column: u32,
        nodes: &[u32],
        named: &[Named],
    ) -> Self {
        let stride = words(nodes.len()).next_multiple_of(BLOCK);
        let mut deciders = Deciders { stride, ..Deciders::default() };
        let paths: Vec<Vec<Item>> = nodes.iter().map(|&node| path(tree, node)).collect();
        for (earlier, named) in named.iter().enumerate() {
            let item = |path: &Vec<Item>| {
                path.iter().find(|item| item.column as usize == earlier).map(|item| item.code)
            };
            let codes: Vec<Option<u32>> = paths.iter().map(item).collect();
            if codes.iter().any(Option::is_some) {
                deciders.add_bitmaps(earlier, named, &codes);
            }
        }
        for &node in nodes {
            let start = deciders.values.len();
            let of = children.in_column(node, column).iter();
            let of = of.map(|&child| (children.code(child), children.probability(child)));
            deciders.values.extend(of);
            let values = &deciders.values[start..];
            let sum: f64 = values.iter().map(|&(_, probability)| probability).sum();
            let rest = children.probability(node) - sum;
            let rest = if rest < ROUNDING * children.probability(node) { 0.0 } else { rest };
            deciders.list.push(Decider { start, end: deciders.values.len(), rest });
        }
        deciders
    }

    /// Adds the bitmaps of an earlier column, for which each node's path has a code or none.
    fn add_bitmaps(&mut self, column: usize, named: &Named, codes: &[Option<u32>]) {
        let start = self.bitmaps.len();
        self.earlier.push((column, start));
        self.bitmaps.resize(start + (named.count + 1) * self.stride, 0);
        for (number, code) in codes.iter().enumerate() {
            let (word, bit) = place(number);
            let fitting = match code {
                Some(code) => named.number(*code)..named.number(*code) + 1,
                None => 0..named.count + 1,
            };
            for bitmap in fitting {
                self.bitmaps[start + bitmap * self.stride + word] |= bit;
            }
        }
    }

    /// Calls back with the numbers of the nodes that decide, given the number of the value of each column, until
    /// `stop` returns true. `bases` is a buffer.
    #[inline]
    pub(crate) fn visit(
        &self,
        row: &[usize],
        bases: &mut Vec<usize>,
        mut stop: impl FnMut(usize) -> bool,
    ) {
        bases.clear();
        bases.extend(self.earlier.iter().map(|&(column, start)| start + row[column] * self.stride));
        for block in (0..self.stride).step_by(BLOCK) {
            let mut both = [u64::MAX; BLOCK];
            for &base in bases.iter() {
                let words = &self.bitmaps[base + block..][..BLOCK];
                for (both, word) in both.iter_mut().zip(words) {
                    *both &= word;
                }
                if both == [0; BLOCK] {
                    break;
                }
            }
            for (i, &word) in both.iter().enumerate() {
                for bit in ones(word) {
                    if stop((block + i) * 64 + bit) {
                        return;
                    }
                }
            }
        }
    }
}

/// The path of a node.
fn path(tree: &CodeTree, node: u32) -> Vec<Item> {
    let nodes = tree.nodes();
    let above = |node: &u32| nodes[*node as usize].parent;
    let path = std::iter::successors(Some(node), above);
    path.filter_map(|node| nodes[node as usize].item).collect()
}
