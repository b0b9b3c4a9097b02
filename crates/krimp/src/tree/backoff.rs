//! Rows drawn column by column, the longest path that fits deciding each.

use crate::spare::Spare;
use crate::tree::code_tree::CodeTree;
use crate::tree::law::{Children, Values};
use crate::tree::states::{Prepared, States};
use rand::Rng;

/// Draws rows by `Walk::Backoff`.
pub(crate) struct Backoff {
    pub(crate) prepared: Prepared,
    pub(crate) states: Spare<States>,
}

impl Backoff {
    pub(crate) fn new(tree: &CodeTree) -> Self {
        let children = Children::new(tree);
        let mut values = Vec::with_capacity(tree.width());
        for (column, shares) in (0..).zip(tree.shares()) {
            values.push(Values::new(&children, column, shares));
        }
        let ranks = ranks(tree, &children);
        Backoff { prepared: Prepared { children, values, ranks }, states: Spare::default() }
    }

    /// Draws a row.
    #[inline]
    pub(crate) fn row<R: Rng>(&self, row: &mut [u32], states: &mut States, rng: &mut R) {
        let mut at = states.first(&self.prepared);
        for cell in row {
            (*cell, at) = states.draw(&self.prepared, at, || rng.next_u64());
        }
    }
}

/// The order in which nodes decide: the longest path, then the most probable, then the smallest.
fn ranks(tree: &CodeTree, children: &Children) -> Vec<u32> {
    let mut depths = vec![0u32; tree.nodes().len()];
    for (number, node) in tree.nodes().iter().enumerate() {
        if let Some(parent) = node.parent {
            depths[number] = depths[parent as usize] + 1;
        }
    }
    let mut order: Vec<u32> = (0..children.len() as u32).collect();
    order.sort_by(|&a, &b| {
        let probability = |node| children.probability(node);
        depths[b as usize]
            .cmp(&depths[a as usize])
            .then(probability(b).total_cmp(&probability(a)))
            .then(a.cmp(&b))
    });
    let mut ranks = vec![0; order.len()];
    for (rank, &node) in (0..).zip(&order) {
        ranks[node as usize] = rank;
    }
    ranks
}
