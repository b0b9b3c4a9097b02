//! What a cell is worth.

use crate::Error;

/// The least weight in the units of the search: weights are rounded to a sixteenth of it.
pub(crate) const UNIT: u64 = 16;

/// A dropped row counts as its cells this many times: more than blanking all of them, so that a
/// row is dropped only where keeping it would cost other rows even more.
pub(crate) const DROP: u64 = 2;

/// Weights that are one for each column and positive; all 1 if there are none.
pub(crate) fn checked(weights: Option<&[f64]>, columns: usize) -> Result<Vec<f64>, Error> {
    let Some(weights) = weights else { return Ok(vec![1.0; columns]) };
    if weights.len() != columns {
        return Err(Error::WeightCount { weights: weights.len(), columns });
    }
    match weights.iter().position(|&w| !(w > 0.0 && w.is_finite())) {
        Some(column) => Err(Error::Weight { column }),
        None => Ok(weights.to_vec()),
    }
}

/// The weights in units of the search.
pub(crate) fn units(weights: &[f64]) -> Vec<u64> {
    let least = weights.iter().copied().fold(f64::INFINITY, f64::min);
    // A column worth a million times another one is as good as never blanked for it.
    let most = (UNIT << 20) as f64;
    weights.iter().map(|w| (w / least * UNIT as f64).round().min(most) as u64).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn weights_are_rounded_to_units() {
        assert_eq!(units(&[0.5, 1.0, 0.75]), [16, 32, 24]);
        assert_eq!(units(&[1e-9, 1e9]), [16, 16 << 20]);
        assert_eq!(units(&[]), [0; 0]);
    }

    #[test]
    fn wrong_weights_are_refused() {
        let refused = |w: &[f64]| checked(Some(w), 2).unwrap_err();
        assert_eq!(refused(&[1.0]), Error::WeightCount { weights: 1, columns: 2 });
        for bad in [0.0, -1.0, f64::NAN, f64::INFINITY] {
            assert_eq!(refused(&[1.0, bad]), Error::Weight { column: 1 });
        }
    }
}
