//! What a cell is worth, and what a release costs.

use crate::{Error, Release};
use table::{Bag, NONE};

/// The least weight in the units of the search: weights are rounded to a sixteenth of it.
pub(super) const UNIT: u64 = 16;

/// A dropped row counts as its cells this many times: more than blanking all of them, so that a
/// row is dropped only where keeping it would cost other rows even more.
pub(super) const DROP: u64 = 2;

/// Weights that are one for each column and positive; all 1 if there are none.
pub(super) fn checked(weights: Option<&[f64]>, columns: usize) -> Result<Vec<f64>, Error> {
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
pub(super) fn units(weights: &[f64]) -> Vec<u64> {
    let least = weights.iter().copied().fold(f64::INFINITY, f64::min);
    // A column worth a million times another one is as good as never blanked for it.
    let most = (UNIT << 20) as f64;
    weights.iter().map(|w| (w / least * UNIT as f64).round().min(most) as u64).collect()
}

impl Release {
    /// What the release lacks: the weights of all suppressed cells, and of all cells of dropped
    /// rows. Every cell counts 1 without weights; cells that were NULL before count nothing.
    pub fn cost(&self, bag: &Bag, weights: Option<&[f64]>) -> Result<f64, Error> {
        let weights = checked(weights, bag.width())?;
        let worth = |row: &[u32], shown: &dyn Fn(usize) -> bool| -> f64 {
            let cells = row.iter().enumerate();
            cells.filter(|&(c, &code)| code != NONE && shown(c)).map(|(c, _)| weights[c]).sum()
        };
        let all: f64 =
            (0..bag.distinct()).map(|i| bag.weight(i) as f64 * worth(bag.row(i), &|_| true)).sum();
        let released: f64 = self
            .pieces()
            .iter()
            .map(|piece| {
                let shown = |c: usize| !self.suppresses(piece.form, c);
                piece.weight as f64 * worth(bag.row(piece.row as usize), &shown)
            })
            .sum();
        Ok(all - released)
    }
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

    #[test]
    fn the_cost_counts_suppressed_cells_and_dropped_rows() {
        let bag = Bag::from_text(2, [[Some("a"), Some("x")], [Some("b"), None], [Some("c"), None]]);
        let mut release = Release::new(2);
        release.push(0, &[0b10], 1);
        release.push(1, &[0b10], 1);
        assert_eq!(release.cost(&bag, None).unwrap(), 2.0);
        assert_eq!(release.cost(&bag, Some(&[1.0, 5.0])).unwrap(), 6.0);
    }
}
