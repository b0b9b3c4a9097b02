//! The request for a fit, and the pairs of columns that are candidates for it.

use crate::schema::{WIDEST, cells};
use crate::score::WEIGHT;
use random::Error;

/// The request for a fit.
#[derive(Debug, Clone)]
pub struct SynthesisRequest {
    /// The cost of the fit, in rho of zero-concentrated differential privacy.
    pub rho: f64,
    /// The largest number of rows of one unit of privacy: 1 where the unit is a row.
    pub rows_per_unit: u64,
    /// Sets of columns that matter more than others, with weights above 0. A pair of columns weighs 1, and each set
    /// with both of them adds its weight; a set of one column adds its weight to all pairs of that column.
    pub workload: Vec<(Vec<usize>, f64)>,
}

/// Pairs that may be measured, with their weights of at most [`WEIGHT`].
pub struct Candidates {
    pub columns: Vec<[usize; 2]>,
    pub weights: Vec<u64>,
}

/// The largest number of cells of one candidate, and of all of them.
const PAIR: u64 = 1 << 16;
const PAIRS: u64 = 1 << 22;
/// The largest number of candidates: all pairs of two hundred columns. Counting takes a nanosecond per row and
/// candidate.
const MOST: usize = 20_000;
/// The largest number of rows of a unit: scores stay within their integers.
const ROWS: u64 = 1 << 40;

impl SynthesisRequest {
    /// Refuses a request that makes no sense; looks at no row.
    pub fn check(&self, width: usize, sizes: &[u32]) -> Result<(), Error> {
        let range = "it must be a finite number above 0";
        Error::require(self.rho > 0.0 && self.rho.is_finite(), "rho", self.rho, range)?;
        let rows = self.rows_per_unit;
        Error::require(
            (1..=ROWS).contains(&rows),
            "rows_per_unit",
            rows,
            "it must be from 1 to 2^40",
        )?;
        let range = "every column needs a size";
        Error::require(!sizes.is_empty() && sizes.len() == width, "sizes", sizes.len(), range)?;
        if let Some(column) = sizes.iter().position(|&size| size == 0) {
            return Err(Error::argument("sizes", column, "this column has no value"));
        }
        for (columns, weight) in &self.workload {
            let range = "weights must be finite numbers above 0";
            Error::require(*weight > 0.0 && weight.is_finite(), "workload", weight, range)?;
            if let Some(column) = columns.iter().find(|&&column| column >= width) {
                return Err(Error::argument("workload", column, "there is no such column"));
            }
        }
        Ok(())
    }

    /// The candidates, as columns numbered by their position in `order`: pairs with the largest weights, among equals
    /// the smallest, as long as their tables are small enough.
    pub fn candidates(&self, order: &[usize], sizes: &[u32]) -> Candidates {
        let mut known: Vec<([usize; 2], f64)> = vec![];
        for b in (0..sizes.len()).filter(|&b| sizes[b] <= WIDEST) {
            // A column with one value says nothing about others; sizes are ascending.
            for a in (0..b).filter(|&a| sizes[a] > 1) {
                if cells(sizes, &[a, b]) <= PAIR {
                    known.push(([a, b], self.weight(order[a], order[b])));
                }
            }
        }
        known.sort_by(|(a, weight), (b, other)| {
            other.total_cmp(weight).then(cells(sizes, a).cmp(&cells(sizes, b)))
        });
        let mut total = 0;
        known.truncate(MOST);
        known.retain(|(pair, _)| {
            total += cells(sizes, pair);
            total <= PAIRS
        });
        let highest = known.first().map_or(1.0, |&(_, weight)| weight);
        let units = |weight: f64| ((weight / highest * WEIGHT as f64) as u64).clamp(1, WEIGHT);
        Candidates {
            columns: known.iter().map(|&(pair, _)| pair).collect(),
            weights: known.iter().map(|&(_, weight)| units(weight)).collect(),
        }
    }

    fn weight(&self, a: usize, b: usize) -> f64 {
        let names = |columns: &[usize]| {
            columns.contains(&a) && columns.contains(&b)
                || columns.len() == 1 && (columns[0] == a || columns[0] == b)
        };
        let added = self.workload.iter().filter(|(columns, _)| names(columns));
        1.0 + added.map(|(_, weight)| weight).sum::<f64>()
    }

    /// The number of bytes of the counts, laws and scores of the candidates.
    pub fn memory(&self, sizes: &[u32], columns: &[[usize; 2]]) -> u64 {
        let pairs: u64 = columns.iter().map(|pair| cells(sizes, pair)).sum();
        let values: u64 = sizes.iter().map(|&size| u64::from(size)).sum();
        let width = sizes.len() as u64;
        // Counts, laws, noisy counts, factors and their moves; the numbers of pairs; scores.
        48 * (pairs + values) + 4 * width * width + 64 * columns.len() as u64
    }
}
