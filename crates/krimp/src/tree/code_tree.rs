//! The dependent code tree, and how it is made from the patterns of a code table.

use crate::fit::{CodeTable, Nulls, itemised};
use crate::tree::counted_frequencies::{CountedFrequencies, shares};
use crate::tree::frequencies::{Frequencies, Shares};
use crate::tree::unions::visit_unions;
use table::{Bag, Item, Itemsets, Reservation, Stop, Watch, sort_watched};

/// A node of a code tree. Its path is the itemset of its item and those of its ancestors.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct TreeNode {
    /// `None` for the root.
    pub parent: Option<u32>,
    pub item: Option<Item>,
    /// The joint frequency of its path, at most that of its parent's.
    pub probability: f64,
}

/// A dependent code tree. Made from the patterns of a code table by [`code_tree()`] or by
/// [`crate::Sanitised::tree`], drawn from by a [`crate::TreeGenerator`].
#[derive(Debug, Clone, PartialEq)]
pub struct CodeTree {
    /// The root first, then each node before those below it, siblings in item order: a smaller number is a smaller
    /// path.
    nodes: Vec<TreeNode>,
    shares: Vec<Shares>,
}

/// The tree of a bag's own code table, with the frequencies of the bag.
///
/// Patterns that cover no row belong to the table, and to the tree. NULL is an item if it was one in the fit.
/// Otherwise it is no node, and gets the share that the values of its column leave.
pub fn code_tree(
    bag: &Bag,
    table: &CodeTable,
    nulls: Nulls,
    threshold: f64,
    watch: &Watch,
) -> Result<CodeTree, Stop> {
    let (bag, codes) = itemised(bag, nulls);
    let elements: Vec<&[Item]> = table.patterns().iter().map(|e| e.items.as_slice()).collect();
    let counted = CountedFrequencies::new(&bag, elements.iter().copied().flatten(), watch)?;
    CodeTree::new(&elements, shares(&bag, &codes), &counted, threshold, watch)
}

impl CodeTree {
    /// The tree of elements with two items or more: a child of the root for every value, and a path for
    /// every union of elements with a frequency above the threshold.
    pub(crate) fn new<F: Frequencies>(
        elements: &[&[Item]],
        shares: Vec<Shares>,
        frequencies: &F,
        threshold: f64,
        watch: &Watch,
    ) -> Result<Self, Stop> {
        let mut held = Reservation::new(watch);
        let mut paths = Itemsets::new();
        visit_unions(elements, shares.len(), frequencies, threshold, watch, &mut |items| {
            watch.found(1)?;
            paths.push(items, 0);
            watch.poll_with(paths.len(), || held.raise(paths.memory()))
        })?;
        let unions = paths.len();
        for (column, shares) in (0..).zip(&shares) {
            for code in 0..shares.values.len() as u32 {
                paths.push(&[Item { column, code }], 0);
            }
        }
        held.raise(paths.memory() + paths.len() as u64 * 8)?;
        let mut order: Vec<u32> = (0..paths.len() as u32).collect();
        sort_watched(&mut order, watch, |a, b| {
            paths.items(a as usize).cmp(paths.items(b as usize))
        })?;
        let root = TreeNode { parent: None, item: None, probability: 1.0 };
        let (nodes, rows) = (vec![root], vec![frequencies.all()]);
        let mut grower = Grower { nodes, shares: &shares, frequencies, path: Vec::new(), rows };
        for (i, &path) in order.iter().enumerate() {
            watch.poll_with(i, || held.raise(paths.memory() + grower.memory()))?;
            grower.insert(paths.items(path as usize));
        }
        let nodes = grower.nodes;
        watch.found(nodes.len().saturating_sub(unions) as u64)?;
        Ok(CodeTree { nodes, shares })
    }

    /// The nodes, the root first and every node after its parent.
    pub fn nodes(&self) -> &[TreeNode] {
        &self.nodes
    }

    /// Number of columns.
    pub fn width(&self) -> usize {
        self.shares.len()
    }

    /// The code that stands for NULL in a column, where NULL is an item.
    pub fn null_code(&self, column: u32) -> Option<u32> {
        self.shares[column as usize].null
    }

    /// The values of a column with their shares.
    pub(crate) fn shares(&self) -> &[Shares] {
        &self.shares
    }

    /// The bytes held.
    pub fn memory(&self) -> u64 {
        let values: usize = self.shares.iter().map(|shares| shares.values.capacity()).sum();
        (self.nodes.capacity() * size_of::<TreeNode>() + values * size_of::<f64>()) as u64
    }
}

/// A tree under construction: paths must come in item order.
struct Grower<'a, F: Frequencies> {
    nodes: Vec<TreeNode>,
    shares: &'a [Shares],
    frequencies: &'a F,
    /// The last path.
    path: Vec<(u32, Item)>,
    /// The rows of its first nodes, beginning with no node, as far as they were needed.
    rows: Vec<F::Rows>,
}

impl<F: Frequencies> Grower<'_, F> {
    fn insert(&mut self, items: &[Item]) {
        let known = self.path.iter().zip(items).take_while(|((_, a), b)| a == *b).count();
        self.path.truncate(known);
        self.rows.truncate(known + 1);
        for &item in &items[known..] {
            let (parent, probability) = match self.path.last() {
                None => (0, self.shares[item.column as usize].values[item.code as usize]),
                Some(&(parent, _)) => {
                    let most = self.nodes[parent as usize].probability;
                    (parent, self.share(item).min(most))
                }
            };
            self.path.push((self.nodes.len() as u32, item));
            self.nodes.push(TreeNode { parent: Some(parent), item: Some(item), probability });
        }
    }

    /// The joint frequency of the last path and one more item.
    fn share(&mut self, item: Item) -> f64 {
        for &(_, item) in &self.path[self.rows.len() - 1..] {
            let above = &self.rows[self.rows.len() - 1];
            self.rows.push(self.frequencies.with(above, &[item]));
        }
        self.frequencies.share(&self.rows[self.path.len()], &[item])
    }

    fn memory(&self) -> u64 {
        let rows = self.rows.len() as u64 * self.frequencies.bytes();
        (self.nodes.capacity() * size_of::<TreeNode>()) as u64 + rows
    }
}
