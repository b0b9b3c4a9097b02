//! Draws rows from a code tree as published.
//!
//! Each column has a pool of nodes, at first the root alone. In the order of the columns, a node is drawn from the
//! pool: the root gives the column one of its values by their shares, any other node its own. Then one of the
//! children of the value's node is drawn by their probabilities and joins the pool of its column. A node that is not
//! drawn because the root is drawn is lost: dependence is kept half of the time.

use crate::generate::alias::Alias;
use crate::tree::children::Children;
use crate::tree::code_tree::CodeTree;
use rand::Rng;
use table::NONE;

/// Draws rows by `Walk::Literal`.
pub(crate) struct Literal {
    children: Children,
    /// By column: draws a child of the root, or 0 for NULL where it is no item.
    roots: Vec<Alias>,
    /// By node: draws a child.
    next: Vec<Option<Alias>>,
    nulls: Vec<Option<u32>>,
}

/// The pools of a row.
#[derive(Default)]
pub(crate) struct Pools(Vec<Vec<u32>>);

impl Literal {
    pub(crate) fn new(tree: &CodeTree) -> Self {
        let children = Children::new(tree);
        let weighted = |nodes: &[u32]| -> Vec<(u32, f64)> {
            nodes.iter().map(|&node| (node, children.probability(node))).collect()
        };
        let mut roots = Vec::with_capacity(tree.width());
        for (column, shares) in (0..).zip(tree.shares()) {
            let mut values = weighted(children.in_column(0, column));
            if shares.missing > 0.0 || values.is_empty() {
                values.push((0, shares.missing));
            }
            roots.push(alias(values));
        }
        let inner = |node| (node > 0 && !children.of(node).is_empty()).then_some(node);
        let next = (0..children.len() as u32)
            .map(|node| inner(node).map(|node| alias(weighted(children.of(node)))))
            .collect();
        let nulls = tree.shares().iter().map(|shares| shares.null).collect();
        Literal { children, roots, next, nulls }
    }

    /// Draws a row.
    pub(crate) fn row<R: Rng>(&self, row: &mut [u32], pools: &mut Pools, rng: &mut R) {
        let pools = &mut pools.0;
        pools.resize(self.roots.len(), Vec::new());
        pools.iter_mut().for_each(Vec::clear);
        for (column, cell) in row.iter_mut().enumerate() {
            let nodes = pools[column].len() as u128 + 1;
            let drawn = match ((u128::from(rng.next_u64()) * nodes) >> 64) as usize {
                0 => self.roots[column].pick(rng.next_u64()),
                place => pools[column][place - 1],
            };
            *cell = match drawn {
                0 => NONE,
                node => match Some(self.children.code(node)) {
                    code if code == self.nulls[column] => NONE,
                    _ => self.children.code(node),
                },
            };
            if let Some(next) = &self.next[drawn as usize] {
                let child = next.pick(rng.next_u64());
                pools[self.children.column(child) as usize].push(child);
            }
        }
    }
}

/// Draws by weight; if there are only zeros, all are equally likely.
fn alias(mut weighted: Vec<(u32, f64)>) -> Alias {
    if weighted.iter().all(|&(_, weight)| weight <= 0.0) {
        weighted.iter_mut().for_each(|(_, weight)| *weight = 1.0);
    }
    Alias::new(&weighted)
}
