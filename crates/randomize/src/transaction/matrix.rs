//! The transition matrix of select-a-size: its effect on the number of items that a transaction shares with an
//! itemset.

use super::MAX_SIZE;
use super::operator::{check_keep, check_rho};
use random::Error;

/// Binomial coefficients of numbers up to [`MAX_SIZE`], 0 outside their range.
pub(super) fn choose(n: usize, k: usize) -> f64 {
    static TRIANGLE: [[f64; MAX_SIZE + 1]; MAX_SIZE + 1] = triangle();
    TRIANGLE[n][k]
}

/// Pascal's triangle.
const fn triangle() -> [[f64; MAX_SIZE + 1]; MAX_SIZE + 1] {
    let mut rows = [[0.0; MAX_SIZE + 1]; MAX_SIZE + 1];
    let mut n = 0;
    while n <= MAX_SIZE {
        rows[n][0] = 1.0;
        let mut k = 1;
        while k <= n {
            rows[n][k] = rows[n - 1][k - 1] + rows[n - 1][k];
            k += 1;
        }
        n += 1;
    }
    rows
}

/// P(Bin(n, p) = k), 0 outside the range.
pub(super) fn binomial(n: usize, k: usize, p: f64) -> f64 {
    if k > n { 0.0 } else { choose(n, k) * p.powi(k as i32) * (1.0 - p).powi((n - k) as i32) }
}

/// The transition matrix of an itemset: row l', column l has the probability that a transaction that shares l items
/// with it shares l' after it was randomised. Columns add up to 1; there is one for each number of items that a
/// transaction can share with it.
pub fn matrix(itemset: usize, rho: f64, keep: &[f64]) -> Result<Vec<Vec<f64>>, Error> {
    check_rho(rho)?;
    check_keep(keep)?;
    check_itemset(itemset)?;
    Ok(transitions(itemset, rho, keep))
}

/// Refuses a number of items that itemsets cannot have.
pub(super) fn check_itemset(itemset: usize) -> Result<(), Error> {
    let range = "it must be from 1 to 64";
    Error::require((1..=MAX_SIZE).contains(&itemset), "the size of the itemset", itemset, range)
}

/// [`matrix`] for parameters that were checked. Of l shared items, q are kept with the probability of a draw without
/// replacement; the k - l others are added by chance.
pub(super) fn transitions(itemset: usize, rho: f64, keep: &[f64]) -> Vec<Vec<f64>> {
    let size = keep.len() - 1;
    let shared = itemset.min(size);
    let column = |l: usize| {
        let mut column = vec![0.0; itemset + 1];
        for q in 0..=l {
            let kept = |j: usize| choose(l, q) * choose(size - l, j - q) / choose(size, j);
            let kept: f64 = (q..=size).map(|j| keep[j] * kept(j)).sum();
            for false_items in 0..=itemset - l {
                column[q + false_items] += kept * binomial(itemset - l, false_items, rho);
            }
        }
        column
    };
    let columns: Vec<Vec<f64>> = (0..=shared).map(column).collect();
    (0..=itemset).map(|row| columns.iter().map(|column| column[row]).collect()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// By definition: all choices of kept items and all false items, one by one.
    fn reference(itemset: usize, rho: f64, keep: &[f64]) -> Vec<Vec<f64>> {
        let size = keep.len() - 1;
        let shared = itemset.min(size);
        let column = |l: usize| {
            let mut column = vec![0.0; itemset + 1];
            for kept in 0u32..1 << size {
                let j = kept.count_ones() as usize;
                let chance = keep[j] / choose(size, j);
                // The first l items of the transaction are in the itemset.
                let q = (kept & ((1 << l) - 1)).count_ones() as usize;
                for others in 0u32..1 << (itemset - l) {
                    let f = others.count_ones() as usize;
                    let false_items =
                        rho.powi(f as i32) * (1.0 - rho).powi((itemset - l - f) as i32);
                    column[q + f] += chance * false_items;
                }
            }
            column
        };
        let columns: Vec<Vec<f64>> = (0..=shared).map(column).collect();
        (0..=itemset).map(|row| columns.iter().map(|column| column[row]).collect()).collect()
    }

    proptest! {
        #[test]
        fn the_matrix_is_that_of_the_definition(
            itemset in 1usize..6,
            rho in 0.01f64..0.99,
            weights in proptest::collection::vec(0.0f64..1.0, 2..7),
        ) {
            let sum: f64 = weights.iter().sum::<f64>() + 1e-3;
            let mut keep: Vec<f64> = weights.iter().map(|w| w / sum).collect();
            keep[0] += 1e-3 / sum;
            let found = matrix(itemset, rho, &keep).unwrap();
            let expected = reference(itemset, rho, &keep);
            for (found, expected) in found.iter().flatten().zip(expected.iter().flatten()) {
                prop_assert!((found - expected).abs() < 1e-12);
            }
            for l in 0..found[0].len() {
                prop_assert!((found.iter().map(|row| row[l]).sum::<f64>() - 1.0).abs() < 1e-12);
            }
        }
    }

    #[test]
    fn what_makes_no_sense_is_refused() {
        for (itemset, rho, keep) in [
            (0, 0.5, vec![0.5, 0.5]),
            (65, 0.5, vec![0.5, 0.5]),
            (1, 0.0, vec![0.5, 0.5]),
            (1, 1.0, vec![0.5, 0.5]),
            (1, f64::NAN, vec![0.5, 0.5]),
            (1, 0.5, vec![1.0]),
            (1, 0.5, vec![0.6, 0.5]),
            (1, 0.5, vec![f64::NAN, 0.5]),
            (1, 0.5, vec![1.5, -0.5]),
        ] {
            assert!(matrix(itemset, rho, &keep).is_err(), "{itemset} {rho} {keep:?}");
        }
    }
}
