//! The nodes of a tree, indexed by parent.

use crate::tree::code_tree::CodeTree;

/// A tree, its nodes by parent.
pub(crate) struct Children {
    /// By node: the position of its first child in `numbers`; one more entry than there are nodes.
    starts: Vec<u32>,
    /// The children of each node, in item order.
    numbers: Vec<u32>,
    /// By node, except the root: its item's column and code, and its probability.
    columns: Vec<u32>,
    codes: Vec<u32>,
    probabilities: Vec<f64>,
}

impl Children {
    pub(crate) fn new(tree: &CodeTree) -> Self {
        let nodes = tree.nodes();
        let mut starts = vec![0; nodes.len() + 1];
        for parent in nodes.iter().filter_map(|node| node.parent) {
            starts[parent as usize + 1] += 1;
        }
        for i in 1..starts.len() {
            starts[i] += starts[i - 1];
        }
        let mut next = starts.clone();
        let mut numbers = vec![0; nodes.len() - 1];
        for (number, node) in (0..).zip(nodes) {
            if let Some(parent) = node.parent {
                let place = &mut next[parent as usize];
                numbers[*place as usize] = number;
                *place += 1;
            }
        }
        Children {
            starts,
            numbers,
            columns: nodes.iter().map(|node| node.item.map_or(0, |item| item.column)).collect(),
            codes: nodes.iter().map(|node| node.item.map_or(0, |item| item.code)).collect(),
            probabilities: nodes.iter().map(|node| node.probability).collect(),
        }
    }

    /// Number of nodes.
    pub(crate) fn len(&self) -> usize {
        self.columns.len()
    }

    /// The children of a node, in item order.
    pub(crate) fn of(&self, node: u32) -> &[u32] {
        let (start, end) = (self.starts[node as usize], self.starts[node as usize + 1]);
        &self.numbers[start as usize..end as usize]
    }

    /// The children of a node that have a value of the column.
    pub(crate) fn in_column(&self, node: u32, column: u32) -> &[u32] {
        let all = self.of(node);
        let start = all.partition_point(|&child| self.column(child) < column);
        let len = all[start..].partition_point(|&child| self.column(child) == column);
        &all[start..start + len]
    }

    pub(crate) fn column(&self, node: u32) -> u32 {
        self.columns[node as usize]
    }

    pub(crate) fn code(&self, node: u32) -> u32 {
        self.codes[node as usize]
    }

    pub(crate) fn probability(&self, node: u32) -> f64 {
        self.probabilities[node as usize]
    }
}
