//! Junction trees: which columns are modelled together.
//!
//! Measured sets of columns are edges of a graph. Eliminating its columns one by one, each time the column whose
//! clique has the fewest cells, gives cliques that form a tree in which the cliques of every column are connected.
//! Beliefs about cliques agree everywhere if they agree between neighbours.

use crate::schema::{Limits, cells, contains};
use table::{BitSets, bits};

/// Cliques in an order in which every one comes after its parent; the first is the root.
#[derive(Debug, Clone)]
pub struct Junction {
    /// Ascending columns of each clique.
    pub cliques: Vec<Vec<usize>>,
    /// The parent of each clique; the root is its own.
    pub parents: Vec<usize>,
    /// The columns that each clique shares with its parent.
    pub separators: Vec<Vec<usize>>,
}

/// The cliques of a triangulated graph of the given sets, none within another.
///
/// `None` if they exceed the limits. The limits are checked after all edges are added: small sets can lead to large
/// cliques.
pub fn cliques<'s>(
    sizes: &[u32],
    sets: impl Iterator<Item = &'s [usize]>,
    limits: Limits,
) -> Option<Vec<Vec<usize>>> {
    let width = sizes.len();
    let mut near = BitSets::new(width, width);
    for set in sets {
        for &a in set {
            set.iter().filter(|&&b| b != a).for_each(|&b| near.insert(a, b));
        }
    }
    let logs: Vec<f64> = sizes.iter().map(|&size| f64::from(size).log2()).collect();
    let weight = |near: &BitSets, column: usize| -> f64 {
        logs[column] + bits::numbers(near.set(column)).map(|other| logs[other]).sum::<f64>()
    };
    let mut weights: Vec<f64> = (0..width).map(|column| weight(&near, column)).collect();
    let mut left: Vec<usize> = (0..width).collect();
    let mut found: Vec<Vec<usize>> = Vec::new();
    let mut found_sets = BitSets::new(0, width);
    let mut total = 0u64;
    while let Some(place) = (0..left.len()).min_by(|&a, &b| {
        let (a, b) = (left[a], left[b]);
        weights[a].total_cmp(&weights[b]).then(a.cmp(&b))
    }) {
        let next = left.swap_remove(place);
        let mut others = near.set(next).to_vec();
        let mut clique: Vec<usize> = bits::numbers(&others).collect();
        for &other in &clique {
            let row = near.set_mut(other);
            row.iter_mut().zip(&others).for_each(|(row, word)| *row |= word);
            bits::remove(row, other);
            bits::remove(row, next);
            weights[other] = weight(&near, other);
        }
        clique.push(next);
        clique.sort_unstable();
        bits::insert(&mut others, next);
        // A column that was eliminated is in no later clique, so only earlier ones can contain this one.
        let within = |earlier: usize| {
            found_sets.set(earlier).iter().zip(&others).all(|(earlier, own)| own & !earlier == 0)
        };
        if !(0..found.len()).any(within) {
            found_sets.push(&others);
            let cells = cells(sizes, &clique);
            total = total.saturating_add(cells);
            if total > limits.cells || (clique.len() > 1 && cells > limits.clique) {
                return None;
            }
            found.push(clique);
        }
    }
    Some(found)
}

impl Junction {
    /// The tree of the given cliques: a spanning tree whose separators have the most columns, rooted
    /// at the clique with the most cells.
    pub fn new(sizes: &[u32], cliques: Vec<Vec<usize>>) -> Self {
        let mut rest = cliques;
        let root = (0..rest.len()).max_by_key(|&i| cells(sizes, &rest[i]));
        let mut tree = Junction { cliques: vec![], parents: vec![], separators: vec![] };
        let Some(root) = root else {
            return tree;
        };
        let first = rest.swap_remove(root);
        // For each clique outside the tree its best connection: the number of shared columns, and the clique inside.
        let shared = |a: &[usize], b: &[usize]| a.iter().filter(|c| b.contains(c)).count();
        let mut best: Vec<(usize, usize)> = rest.iter().map(|c| (shared(c, &first), 0)).collect();
        tree.push(first, 0);
        while let Some(next) = (0..rest.len()).max_by_key(|&i| best[i].0) {
            let (clique, (_, parent)) = (rest.swap_remove(next), best.swap_remove(next));
            let place = tree.cliques.len();
            for (other, best) in rest.iter().zip(&mut best) {
                let shared = shared(other, &clique);
                if shared > best.0 {
                    *best = (shared, place);
                }
            }
            tree.push(clique, parent);
        }
        tree
    }

    fn push(&mut self, clique: Vec<usize>, parent: usize) {
        let shared = match self.cliques.get(parent) {
            Some(other) => clique.iter().copied().filter(|c| other.contains(c)).collect(),
            None => vec![],
        };
        self.cliques.push(clique);
        self.parents.push(parent);
        self.separators.push(shared);
    }

    /// The smallest clique that contains all these columns.
    pub fn host(&self, sizes: &[u32], columns: &[usize]) -> Option<usize> {
        let fits = |&i: &usize| contains(&self.cliques[i], columns);
        (0..self.cliques.len()).filter(fits).min_by_key(|&i| cells(sizes, &self.cliques[i]))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::reference::{FREE, factors};
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn cliques_are_a_tree_in_which_columns_hang_together((sizes, factors) in factors(1.0)) {
            let sets = || factors.iter().map(|(set, _)| set.as_slice());
            let found = cliques(&sizes, sets(), FREE).unwrap();
            for set in sets() {
                prop_assert!(found.iter().any(|clique| contains(clique, set)));
            }
            for (i, clique) in found.iter().enumerate() {
                let within = |(j, other): (usize, &Vec<usize>)| i != j && contains(other, clique);
                prop_assert!(!found.iter().enumerate().any(within));
            }
            let tree = Junction::new(&sizes, found.clone());
            prop_assert_eq!(tree.cliques.len(), found.len());
            for column in 0..sizes.len() {
                // The cliques of a column form one subtree if exactly one of them has no parent with that column.
                let has = |&i: &usize| tree.cliques[i].contains(&column);
                let alone = |&i: &usize| i == 0 || !tree.separators[i].contains(&column);
                prop_assert_eq!((0..found.len()).filter(has).filter(alone).count(), 1);
            }
            for i in 1..found.len() {
                prop_assert!(tree.parents[i] < i);
                let shared = tree.cliques[i].iter().filter(|c| tree.cliques[tree.parents[i]].contains(c));
                prop_assert_eq!(shared.copied().collect::<Vec<_>>(), tree.separators[i].clone());
            }
        }

        #[test]
        fn limits_hold_for_the_cliques_of_the_tree((sizes, factors) in factors(1.0)) {
            let sets = || factors.iter().map(|(set, _)| set.as_slice());
            let found = cliques(&sizes, sets(), FREE).unwrap();
            let all: u64 = found.iter().map(|clique| cells(&sizes, clique)).sum();
            let several = found.iter().filter(|clique| clique.len() > 1);
            let most = several.map(|clique| cells(&sizes, clique)).max().unwrap_or(0);
            let fits = |cells, clique| cliques(&sizes, sets(), Limits { cells, clique }).is_some();
            prop_assert!(fits(all, most));
            prop_assert!(!fits(all - 1, most));
            prop_assert!(most == 0 || !fits(all, most - 1));
        }
    }

    #[test]
    fn a_ring_is_limited_by_the_cliques_that_it_leads_to() {
        // Each pair has 100 cells; without a chord the ring has no tree, and with one 1000 per clique.
        let ring = [[0, 1], [1, 2], [2, 3], [0, 3]];
        let sets = || ring.iter().map(|pair| pair.as_slice());
        let limits = |cells| Limits { cells, clique: u64::MAX };
        assert!(cliques(&[10; 4], sets(), limits(1999)).is_none());
        assert!(cliques(&[10; 4], sets(), limits(2000)).is_some());
    }
}
