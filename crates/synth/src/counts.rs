//! True counts of marginals: the only code that reads the protected rows.

use crate::pairs::Pairs;
use table::{Bag, NONE, Stop, Watch};

/// The true counts behind measurements and scores, made once by [`MarginalCounts::new`], before anything is released.
pub struct MarginalCounts {
    /// By column, then by code.
    pub columns: Vec<Vec<u64>>,
    /// Cells of all pairs, at the positions that [`Pairs`] gives them.
    pub pairs: Vec<u64>,
}

/// The number of rows that are transposed together: a hundred columns of them fit into a cache.
const TURNED: usize = 2048;

impl MarginalCounts {
    /// Counts all columns and the given pairs of a bag; `order[i]` is the column of the bag that is
    /// column `i` here. NULL is the last code of its column, and so is any code beyond it.
    pub fn new(
        bag: &Bag,
        order: &[usize],
        sizes: &[u32],
        pairs: &Pairs,
        watch: &Watch,
    ) -> Result<Self, Stop> {
        let mut counts = MarginalCounts {
            columns: sizes.iter().map(|&size| vec![0; size as usize]).collect(),
            pairs: vec![0; pairs.cells()],
        };
        let mut codes = vec![vec![]; sizes.len()];
        for start in (0..bag.distinct()).step_by(TURNED) {
            let rows = start..(start + TURNED).min(bag.distinct());
            let weights = &bag.weights()[rows.clone()];
            for ((codes, &column), &size) in codes.iter_mut().zip(order).zip(sizes) {
                let code = |code: u32| if code == NONE { size - 1 } else { code.min(size - 1) };
                codes.clear();
                codes.extend(rows.clone().map(|row| code(bag.row(row)[column]) as usize));
            }
            for (codes, counts) in codes.iter().zip(&mut counts.columns) {
                codes.iter().zip(weights).for_each(|(&code, weight)| counts[code] += weight);
            }
            for (pair, &[a, b]) in pairs.columns.iter().enumerate() {
                watch.poll_every(256, pair)?;
                let (counts, inner) = (&mut counts.pairs[pairs.range(pair)], sizes[b] as usize);
                for ((x, y), weight) in codes[a].iter().zip(&codes[b]).zip(weights) {
                    counts[x * inner + y] += weight;
                }
            }
            watch.advance(weights.len() as u64);
        }
        Ok(counts)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::reference::{all_pairs, bag};
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn counts_are_those_of_the_rows(
            rows in prop::collection::vec(prop::collection::vec(0u32..4, 3), 0..40),
        ) {
            // Code 3 is NULL in columns of three values: their last code.
            let sizes = [3, 3, 4];
            let pairs = all_pairs(&sizes);
            let watch = Watch::unlimited();
            let counts = MarginalCounts::new(&bag(&sizes, &rows), &[0, 1, 2], &sizes, &pairs, &watch).unwrap();
            let code = |row: &[u32], column: usize| row[column].min(sizes[column] - 1);
            for (column, counts) in counts.columns.iter().enumerate() {
                for (value, &count) in counts.iter().enumerate() {
                    let has = |row: &&Vec<u32>| code(row, column) as usize == value;
                    prop_assert_eq!(count as usize, rows.iter().filter(has).count());
                }
            }
            for (pair, &[a, b]) in pairs.columns.iter().enumerate() {
                for (cell, &count) in counts.pairs[pairs.range(pair)].iter().enumerate() {
                    let cell = cell as u32;
                    let has = |row: &&Vec<u32>| code(row, a) * sizes[b] + code(row, b) == cell;
                    prop_assert_eq!(count as usize, rows.iter().filter(has).count());
                }
            }
        }
    }
}
