//! The data for the search: cells at each level, and rows in an order that depends on their content only.

mod columns;
mod people;

pub(crate) use columns::{Column, UNIT};
pub(crate) use people::{People, Selected};

use crate::Error;

/// Splitmix64's mixer, a bijection: neighbouring numbers get unrelated keys, different numbers
/// different ones.
pub(crate) fn mix(number: u64) -> u64 {
    let mut x = number.wrapping_add(0x9e37_79b9_7f4a_7c15);
    x = (x ^ (x >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    x = (x ^ (x >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    x ^ (x >> 31)
}

/// The weights, checked to be positive and one for each column; all 1 if none are given.
pub(crate) fn checked_weights(weights: Option<&[f64]>, columns: usize) -> Result<Vec<f64>, Error> {
    let Some(weights) = weights else { return Ok(vec![1.0; columns]) };
    if weights.len() != columns {
        return Err(Error::WeightCount { weights: weights.len(), columns });
    }
    match weights.iter().position(|&w| !(w > 0.0 && w.is_finite())) {
        Some(column) => Err(Error::Weight { column }),
        None => Ok(weights.to_vec()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn wrong_weights_are_refused() {
        let refused = |w: &[f64]| checked_weights(Some(w), 2).unwrap_err();
        assert_eq!(refused(&[1.0]), Error::WeightCount { weights: 1, columns: 2 });
        for bad in [0.0, -1.0, f64::NAN, f64::INFINITY] {
            assert_eq!(refused(&[1.0, bad]), Error::Weight { column: 1 });
        }
    }
}
