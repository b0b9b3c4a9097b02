//! Sums a clique's table to many smaller marginals, and multiplies it by factors on them.
//!
//! Summing a table of T cells to each of ten pairs takes ten passes over T. Summing out one column at a time and
//! sharing intermediate tables takes three passes, and smaller ones: a tree of tables with the whole clique at its
//! root, where each child is its parent with one column summed out. Factors are applied in the opposite direction.
//! Columns of a table are in ascending order of their size, so that inner loops are long.

/// A table of the tree.
struct SummedTable {
    parent: usize,
    /// The parent's cells form blocks of summed x inner cells; the first dimension is summed out.
    summed: usize,
    inner: usize,
    cells: usize,
}

/// The tree of tables of one clique. [`SummationTree::new`] makes it; networks use it in every iteration.
pub struct SummationTree {
    nodes: Vec<SummedTable>,
    /// The table of each wanted set of columns in the tree.
    places: Vec<usize>,
    /// One number per cell of every table but the root's.
    tables: Vec<Vec<f64>>,
    /// Whether a table holds a factor.
    marked: Vec<bool>,
}

impl SummationTree {
    /// The tree for the marginals of the `wanted` columns of a clique; both are in the clique's order.
    pub fn new(sizes: &[u32], clique: &[usize], wanted: &[Vec<usize>]) -> Self {
        let mut plan = SummationTree {
            nodes: vec![],
            places: vec![0; wanted.len()],
            tables: vec![],
            marked: vec![],
        };
        let cells = clique.iter().map(|&c| sizes[c] as usize).product();
        plan.push(SummedTable { parent: 0, summed: 0, inner: 0, cells });
        plan.tables[0] = vec![];
        plan.divide(sizes, 0, clique, wanted, (0..wanted.len()).collect());
        plan
    }

    fn push(&mut self, node: SummedTable) {
        self.tables.push(vec![0.0; node.cells]);
        self.nodes.push(node);
        self.marked.push(false);
    }

    /// Places every set of `rest` at a node or below it.
    fn divide(
        &mut self,
        sizes: &[u32],
        node: usize,
        columns: &[usize],
        wanted: &[Vec<usize>],
        mut rest: Vec<usize>,
    ) {
        rest.retain(|&set| {
            let here = wanted[set].len() == columns.len();
            if here {
                self.places[set] = node;
            }
            !here
        });
        while !rest.is_empty() {
            // The column that most sets do not have; among equals the largest.
            let without =
                |column: usize| rest.iter().filter(move |&&s| !wanted[s].contains(&column));
            let key = |&place: &usize| {
                (without(columns[place]).count(), sizes[columns[place]], columns.len() - place)
            };
            let Some(place) = (0..columns.len()).max_by_key(key) else {
                return;
            };
            let count = |columns: &[usize]| columns.iter().map(|&c| sizes[c] as usize).product();
            let (outer, inner): (usize, usize) =
                (count(&columns[..place]), count(&columns[place + 1..]));
            let summed = sizes[columns[place]] as usize;
            let child = self.nodes.len();
            self.push(SummedTable { parent: node, summed, inner, cells: outer * inner });
            let mut fewer = columns.to_vec();
            let column = fewer.remove(place);
            let (below, others) = rest.iter().partition(|&&s| !wanted[s].contains(&column));
            rest = others;
            self.divide(sizes, child, &fewer, wanted, below);
        }
    }

    /// Sums a clique's table to every table of the tree.
    pub fn gather(&mut self, whole: &[f64]) {
        for node in 1..self.nodes.len() {
            self.sum(whole, node);
        }
    }

    /// Sums a clique's table to the marginal of one wanted set.
    pub fn gather_one(&mut self, whole: &[f64], set: usize) {
        let mut path = vec![];
        let mut node = self.places[set];
        while node != 0 {
            path.push(node);
            node = self.nodes[node].parent;
        }
        path.iter().rev().for_each(|&node| self.sum(whole, node));
    }

    fn sum(&mut self, whole: &[f64], node: usize) {
        let (before, after) = self.tables.split_at_mut(node);
        let at = &self.nodes[node];
        let from = if at.parent == 0 { whole } else { &before[at.parent] };
        sum_out(from, &mut after[0], at.summed, at.inner);
    }

    /// The marginal of a wanted set, as last gathered.
    pub fn marginal<'s>(&'s self, whole: &'s [f64], set: usize) -> &'s [f64] {
        match self.places[set] {
            0 => whole,
            place => &self.tables[place],
        }
    }

    /// Combines a clique's table with factors, each for a wanted set with a number per cell. `combine` multiplies by
    /// them, or adds them where both are logarithms.
    pub fn spread<'f>(
        &mut self,
        whole: &mut [f64],
        factors: impl Iterator<Item = (usize, &'f [f64])>,
        combine: impl Fn(&mut f64, f64) + Copy,
    ) {
        self.marked.fill(false);
        for (set, factor) in factors {
            let place = self.places[set];
            if place == 0 {
                whole.iter_mut().zip(factor).for_each(|(a, &b)| combine(a, b));
            } else if self.marked[place] {
                self.tables[place].iter_mut().zip(factor).for_each(|(a, &b)| combine(a, b));
            } else {
                self.tables[place].copy_from_slice(factor);
                self.marked[place] = true;
            }
        }
        for node in (1..self.nodes.len()).rev() {
            if !self.marked[node] {
                continue;
            }
            let (before, after) = self.tables.split_at_mut(node);
            let at = &self.nodes[node];
            if at.parent == 0 {
                spread(whole, &after[0], at.summed, at.inner, combine);
            } else if self.marked[at.parent] {
                spread(&mut before[at.parent], &after[0], at.summed, at.inner, combine);
            } else {
                spread(&mut before[at.parent], &after[0], at.summed, at.inner, |a, b| *a = b);
                self.marked[at.parent] = true;
            }
        }
    }
}

/// `to[o, i]` becomes the sum of `from[o, s, i]` over s.
fn sum_out(from: &[f64], to: &mut [f64], summed: usize, inner: usize) {
    if inner == 1 {
        for (to, from) in to.iter_mut().zip(from.chunks_exact(summed)) {
            *to = from.iter().sum();
        }
        return;
    }
    for (to, from) in to.chunks_exact_mut(inner).zip(from.chunks_exact(summed * inner)) {
        to.copy_from_slice(&from[..inner]);
        for from in from[inner..].chunks_exact(inner) {
            to.iter_mut().zip(from).for_each(|(to, from)| *to += from);
        }
    }
}

/// Combines every `to[o, s, i]` with `from[o, i]`.
fn spread(
    to: &mut [f64],
    from: &[f64],
    summed: usize,
    inner: usize,
    combine: impl Fn(&mut f64, f64),
) {
    if inner == 1 {
        for (to, &from) in to.chunks_exact_mut(summed).zip(from) {
            to.iter_mut().for_each(|to| combine(to, from));
        }
        return;
    }
    for (to, from) in to.chunks_exact_mut(summed * inner).zip(from.chunks_exact(inner)) {
        for to in to.chunks_exact_mut(inner) {
            to.iter_mut().zip(from).for_each(|(to, &from)| combine(to, from));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::reference::{assert_close, factors, joint, marginal};
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn sums_and_products_are_those_of_the_definition((sizes, factors) in factors(2.0)) {
            let all: Vec<usize> = (0..sizes.len()).collect();
            let mut wanted: Vec<Vec<usize>> = factors.iter().map(|(set, _)| set.clone()).collect();
            wanted.extend([vec![], all.clone()]);
            let mut table = joint(&sizes, &factors);
            let mut plan = SummationTree::new(&sizes, &all, &wanted);
            plan.gather(&table);
            for (set, columns) in wanted.iter().enumerate() {
                assert_close(plan.marginal(&table, set), &marginal(&sizes, &table, &all, columns));
            }
            // Dividing by all factors makes the law uniform.
            let inverse: Vec<Vec<f64>> =
                factors.iter().map(|(_, logs)| logs.iter().map(|log| (-log).exp()).collect()).collect();
            plan.spread(&mut table, inverse.iter().map(Vec::as_slice).enumerate(), |a, b| *a *= b);
            assert_close(&table, &vec![table[0]; table.len()]);
            let last = factors.len();
            plan.gather_one(&table, last);
            assert_close(plan.marginal(&table, last), &[table.iter().sum()]);
        }
    }
}
