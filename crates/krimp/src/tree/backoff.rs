//! Draws rows column by column, where the longest path that fits decides each.
//!
//! A node that decides gives its children's values v the weights P(v). The rest of its probability goes to the nodes
//! after it, for the values that it has no child for. The rest of the last one goes by the values' own shares.

use crate::thread_buffers::ThreadBuffers;
use crate::tree::children::Children;
use crate::tree::code_tree::CodeTree;
use crate::tree::deciders::{self, Decider, Deciders, Named};
use crate::tree::values::Values;
use rand::Rng;
use table::{NONE, Reservation, Stop, Watch};

/// Draws rows by `Walk::Backoff`.
pub(crate) struct Backoff {
    columns: Vec<BackoffColumn>,
    pub(crate) scratch: ThreadBuffers<Scratch>,
    /// The number of bytes of the columns' deciders.
    pub(crate) memory: u64,
}

struct BackoffColumn {
    values: Values,
    named: Named,
    deciders: Deciders,
}

/// The buffers of a thread that draws.
#[derive(Default)]
pub(crate) struct Scratch {
    /// By column: the number of the row's value among the values in paths.
    row: Vec<usize>,
    bases: Vec<usize>,
    taken: Vec<u32>,
}

impl Backoff {
    pub(crate) fn new(tree: &CodeTree, watch: &Watch) -> Result<Self, Stop> {
        let children = Children::new(tree);
        let mut named = Vec::with_capacity(tree.width());
        for (column, shares) in tree.shares().iter().enumerate() {
            named.push(Named::new(shares.values.len(), inner(tree, &children, column as u32)));
        }
        let mut held = Reservation::new(watch);
        let deciding = by_column(tree, &children);
        let mut of_columns = Vec::with_capacity(tree.width());
        for (column, (shares, nodes)) in tree.shares().iter().zip(deciding).enumerate() {
            watch.check()?;
            held.add(deciders::bytes(nodes.len(), &named[..column]))?;
            let column_number = column as u32;
            let deciders = Deciders::new(tree, &children, column_number, &nodes, &named[..column]);
            of_columns.push((Values::new(shares), deciders));
        }
        let columns = of_columns.into_iter().zip(named);
        let columns = columns
            .map(|((values, deciders), named)| BackoffColumn { values, named, deciders })
            .collect();
        Ok(Backoff { columns, scratch: ThreadBuffers::default(), memory: held.bytes() })
    }

    /// Draws a row.
    #[inline]
    pub(crate) fn row<R: Rng>(&self, row: &mut [u32], scratch: &mut Scratch, rng: &mut R) {
        scratch.row.clear();
        for (cell, column) in row.iter_mut().zip(&self.columns) {
            let code = column.draw(scratch, rng);
            scratch.row.push(column.named.number(code));
            *cell = if Some(code) == column.values.null() { NONE } else { code };
        }
    }

    /// The law of a column's value, given those before it, for tests.
    #[cfg(test)]
    pub(crate) fn law(&self, row: &[u32]) -> Vec<(u32, f64)> {
        let column = &self.columns[row.len()];
        let numbers =
            row.iter().zip(&self.columns).map(|(&code, column)| column.named.number(code));
        let (mut law, mut taken, mut left) = (Vec::new(), Vec::new(), 1.0);
        column.deciders.visit(&numbers.collect::<Vec<_>>(), &mut Vec::new(), |number| {
            let decider = &column.deciders.list[number];
            if let Some((sum, rest)) = column.weights(decider, &taken) {
                let new: Vec<(u32, f64)> = column.new_values(decider, &taken).copied().collect();
                for (code, p) in new {
                    law.push((code, left * p / (sum + rest)));
                    taken.push(code);
                }
                left *= rest / (sum + rest);
            }
            left == 0.0
        });
        taken.sort_unstable();
        if left > 0.0 {
            law.extend(column.values.law(&taken).iter().map(|&(code, p)| (code, left * p)));
        }
        law
    }
}

impl BackoffColumn {
    /// The code that the column gets after the columns in the scratch.
    #[inline]
    fn draw<R: Rng>(&self, scratch: &mut Scratch, rng: &mut R) -> u32 {
        let Scratch { row, bases, taken } = scratch;
        taken.clear();
        let mut drawn = None;
        self.deciders.visit(row, bases, |number| {
            let decider = &self.deciders.list[number];
            let Some((sum, rest)) = self.weights(decider, taken) else { return false };
            let mut left = uniform(rng) * (sum + rest);
            let mut last = None;
            for &(code, probability) in self.new_values(decider, taken) {
                last = Some(code);
                if left < probability {
                    drawn = last;
                    return true;
                }
                left -= probability;
            }
            if rest <= 0.0 {
                // Rounding may lead past the last one.
                drawn = last;
                return true;
            }
            let before = taken.len();
            for &(code, _) in self.values_of(decider) {
                if !taken[..before].contains(&code) {
                    taken.push(code);
                }
            }
            false
        });
        drawn.unwrap_or_else(|| {
            taken.sort_unstable();
            self.values.pick(taken, uniform(rng))
        })
    }

    /// The weight of a node's children except the taken ones, and of all values without a child of the node; `None`
    /// if the node decides nothing.
    #[inline]
    fn weights(&self, decider: &Decider, taken: &[u32]) -> Option<(f64, f64)> {
        let new = self.new_values(decider, taken);
        let (count, sum) = new.fold((0, 0.0), |(count, sum), &(_, p)| (count + 1, sum + p));
        let all = taken.len() + count == self.values.len();
        let rest = if all { 0.0 } else { decider.rest };
        (count > 0 && sum + rest > 0.0).then_some((sum, rest))
    }

    #[inline]
    fn new_values<'a>(
        &'a self,
        decider: &Decider,
        taken: &'a [u32],
    ) -> impl Iterator<Item = &'a (u32, f64)> {
        self.values_of(decider).iter().filter(|(code, _)| !taken.contains(code))
    }

    #[inline]
    fn values_of(&self, decider: &Decider) -> &[(u32, f64)] {
        &self.deciders.values[decider.start..decider.end]
    }
}

/// A number of 0..1.
#[inline]
fn uniform<R: Rng>(rng: &mut R) -> f64 {
    (rng.next_u64() >> 11) as f64 / (1u64 << 53) as f64
}

/// The values of a column whose nodes, anywhere in the tree, have children.
fn inner(tree: &CodeTree, children: &Children, column: u32) -> impl Iterator<Item = u32> {
    let nodes = (0..).zip(tree.nodes()).filter(|&(number, _)| !children.of(number).is_empty());
    let items = nodes.filter_map(|(_, node)| node.item);
    items.filter(move |item| item.column == column).map(|item| item.code)
}

/// By column: the nodes other than the root that have children in it, in the order in which they decide: by
/// descending length of the path, then by descending probability, then in path order.
fn by_column(tree: &CodeTree, children: &Children) -> Vec<Vec<u32>> {
    let nodes = tree.nodes();
    let mut depths = vec![0u32; nodes.len()];
    for (number, node) in nodes.iter().enumerate() {
        if let Some(parent) = node.parent {
            depths[number] = depths[parent as usize] + 1;
        }
    }
    let mut order: Vec<u32> = (1..nodes.len() as u32).collect();
    order.retain(|&node| !children.of(node).is_empty());
    order.sort_by(|&a, &b| {
        let probability = |node: u32| nodes[node as usize].probability;
        let deeper = depths[b as usize].cmp(&depths[a as usize]);
        deeper.then(probability(b).total_cmp(&probability(a))).then(a.cmp(&b))
    });
    let mut columns = vec![Vec::new(); tree.width()];
    for node in order {
        let mut last = None;
        for &child in children.of(node) {
            let column = children.column(child);
            if last.replace(column) != Some(column) {
                columns[column as usize].push(node);
            }
        }
    }
    columns
}
