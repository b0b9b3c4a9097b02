//! True counts of marginals: the only place where the protected rows are read.

use crate::pairs::Pairs;
use table::{Bag, NONE, Stop, Watch};

/// The counts that measurements and scores are taken of: made once by [`Counts::new`], before anything
/// is released.
pub struct Counts {
    /// By column, then by code.
    pub columns: Vec<Vec<u64>>,
    /// Cells of all pairs, at the places that [`Pairs`] gives them.
    pub pairs: Vec<u64>,
}

/// Rows that are turned into columns together: some hundred columns of them stay in a cache.
const TURNED: usize = 2048;

impl Counts {
    /// Counts all columns and the given pairs of a bag; `order[i]` is the column of the bag that is
    /// column `i` here. NULL is the last code of its column, and so is any code beyond it.
    pub fn new(
        bag: &Bag,
        order: &[usize],
        sizes: &[u32],
        pairs: &Pairs,
        watch: &Watch,
    ) -> Result<Self, Stop> {
        let mut counts = Counts {
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
