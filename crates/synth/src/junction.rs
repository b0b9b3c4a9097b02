//! Junction trees: which columns are modelled together.
//!
//! Sets of columns that are measured are edges of a graph. Eliminating its columns one by one, each
//! time the one whose clique has the fewest cells, gives cliques that form a tree in which the cliques
//! of every column hang together; beliefs about cliques then agree wherever neighbours do.

use crate::schema::{Limits, cells, contains};
use std::collections::BTreeSet;

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
/// `None` if they are larger than the limits, which are looked at after all edges are in: a set may be
/// small and the cliques that it leads to large.
pub fn cliques<'s>(
    sizes: &[u32],
    sets: impl Iterator<Item = &'s [usize]>,
    limits: Limits,
) -> Option<Vec<Vec<usize>>> {
    let mut near = vec![BTreeSet::new(); sizes.len()];
    for set in sets {
        for &a in set {
            near[a].extend(set.iter().copied().filter(|&b| b != a));
        }
    }
    let log = |column: usize| f64::from(sizes[column]).log2();
    let weight = |near: &[BTreeSet<usize>], column: usize| -> f64 {
        log(column) + near[column].iter().map(|&c| log(c)).sum::<f64>()
    };
    let mut left: BTreeSet<usize> = (0..sizes.len()).collect();
    let mut weights: Vec<f64> = (0..sizes.len()).map(|c| weight(&near, c)).collect();
    let mut found: Vec<Vec<usize>> = Vec::new();
    let mut total = 0u64;
    while let Some(next) = left.iter().copied().min_by(|&a, &b| weights[a].total_cmp(&weights[b])) {
        left.remove(&next);
        let others = std::mem::take(&mut near[next]);
        let mut clique: Vec<usize> = others.iter().copied().collect();
        for &other in &clique {
            near[other].remove(&next);
            near[other].extend(clique.iter().copied().filter(|&c| c != other));
            weights[other] = weight(&near, other);
        }
        clique.push(next);
        clique.sort_unstable();
        // A clique made later is never larger in columns that were eliminated before: only earlier
        // cliques can contain this one.
        if !found.iter().any(|earlier| contains(earlier, &clique)) {
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
        // For each clique outside the tree its best place in it: columns shared, and with whom.
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
