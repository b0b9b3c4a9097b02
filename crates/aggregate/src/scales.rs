//! Finds bounds of columns without declared ones, with a part of epsilon.

use crate::measure::Range;
use guarantee::{Charge, Cost};
use rand::Rng;
use random::{Error, Noise};

/// The number of powers of two up to the largest bound.
const POWERS: usize = Range::LIMIT.trailing_zeros() as usize;
/// The probability that a bin without values widens the bounds.
const MISTAKE: f64 = 0.05;

/// Finds bounds of columns from noisy counts of values by sign and power of two: the bounds hold
/// every bin whose noisy count stands out of the noise.
///
/// A caller counts the values of each column in [`Scales::BINS`] bins by [`Scales::bin`].
#[derive(Debug, Clone)]
pub struct Scales {
    noises: Vec<Noise>,
    charge: Charge,
}

impl Scales {
    /// One bin for 0, and for each sign one for each power of two.
    pub const BINS: usize = 2 * POWERS + 1;

    /// For columns to which one unit can add these numbers of values; epsilon is split over the columns.
    pub fn new(contributions: &[u64], epsilon: f64) -> Result<Self, Error> {
        Error::require(!contributions.is_empty(), "columns", 0, "there must be at least one")?;
        let columns = contributions.len() as f64;
        let share = epsilon / columns * (1.0 - 1e-14);
        // A value is counted in one bin, so a unit changes the counts by at most its number of values.
        let noise = |&values: &u64| Noise::laplace(values.max(1), share);
        let noises = contributions.iter().map(noise).collect::<Result<_, Error>>()?;
        let rho = (epsilon * epsilon / 2.0).next_up() / columns;
        let whole = Cost { epsilon, delta: 0.0 };
        Ok(Scales {
            noises,
            charge: Charge { whole, rho: Some(rho.next_up()), rest: Cost::default() },
        })
    }

    /// What the bounds of all columns take out of a budget.
    pub fn charge(&self) -> Charge {
        self.charge
    }

    /// The bin of a value in steps. Bins are in the order of the values.
    pub fn bin(value: i64) -> usize {
        let power = ((u64::BITS - value.unsigned_abs().leading_zeros()) as usize).min(POWERS);
        if value < 0 { POWERS - power } else { POWERS + power }
    }

    /// The smallest and the largest value in a bin, in steps; for 0 up to 1.
    fn span(bin: usize) -> (i64, i64) {
        let below = |power: usize| if power == 0 { 0 } else { 1 << (power - 1) };
        match bin.checked_sub(POWERS) {
            Some(power) => (below(power), 1 << power),
            None => (-(1 << (POWERS - bin)), -below(POWERS - bin)),
        }
    }

    /// Bounds of a column in steps, low below high, both powers of two (or 0) within the limit, from
    /// the counts of its values by bin.
    pub fn bounds<R: Rng + ?Sized>(
        &self,
        column: usize,
        counts: &[i128],
        rng: &mut R,
    ) -> (i64, i64) {
        let noise = &self.noises[column];
        let noisy: Vec<i128> = counts.iter().map(|&count| noise.add(rng, count)).collect();
        // The noise of all empty bins stays below with probability 1 - MISTAKE.
        let tail = 2.0 * MISTAKE / Self::BINS as f64;
        let threshold = noise.half_width(1.0 - tail).unwrap_or(f64::MAX);
        let stands_out = |&bin: &usize| noisy[bin] as f64 > threshold;
        let most = (0..noisy.len()).max_by_key(|&bin| noisy[bin]).unwrap_or(POWERS);
        let first = (0..noisy.len()).find(stands_out).unwrap_or(most);
        let last = (0..noisy.len()).rev().find(stands_out).unwrap_or(most);
        (Self::span(first).0, Self::span(last).1)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use random::Coins;

    fn counted(values: impl IntoIterator<Item = i64>) -> Vec<i128> {
        let mut counts = vec![0; Scales::BINS];
        for value in values {
            counts[Scales::bin(value)] += 1;
        }
        counts
    }

    #[test]
    fn bins_hold_their_values() {
        let mut last = 0;
        for value in [i64::MIN, -Range::LIMIT, -1 << 39, -5, -4, -3, -1, 0, 1, 2, 3, 4, 1 << 39] {
            let bin = Scales::bin(value);
            assert!(bin >= last && bin < Scales::BINS);
            let (low, high) = Scales::span(bin);
            let held = value.clamp(-Range::LIMIT, Range::LIMIT);
            assert!(low < high && low <= held && held <= high, "{value}: {low} {high}");
            last = bin;
        }
        assert_eq!(Scales::span(0).0, -Range::LIMIT);
        assert_eq!(Scales::span(Scales::BINS - 1).1, Range::LIMIT);
    }

    #[test]
    fn bounds_hold_the_values_and_little_more() {
        let scales = Scales::new(&[1, 3], 0.5).unwrap();
        let mut coins = Coins::seeded(1);
        let cases: [(Vec<i64>, (i64, i64)); 5] = [
            ((0..50_000).map(|i| i % 90).collect(), (0, 128)),
            ((0..1000).map(|i| 30_000 + i).collect(), (16_384, 32_768)),
            ((0..2000).map(|i| i - 1000).collect(), (-1024, 1024)),
            (vec![0; 1000], (0, 1)),
            (vec![-1; 1000], (-2, -1)),
        ];
        for (values, bounds) in cases {
            let counts = counted(values);
            for column in [0, 1] {
                let right = (0..200)
                    .filter(|_| scales.bounds(column, &counts, &mut coins) == bounds)
                    .count();
                assert!(right >= 180, "{bounds:?}: {right} of 200");
            }
        }
    }

    #[test]
    fn nothing_has_some_bounds() {
        let scales = Scales::new(&[5], 0.01).unwrap();
        let mut coins = Coins::seeded(2);
        for _ in 0..200 {
            let (low, high) = scales.bounds(0, &counted([]), &mut coins);
            assert!(low < high && low >= -Range::LIMIT && high <= Range::LIMIT);
        }
        assert!(Scales::new(&[], 1.0).is_err() && Scales::new(&[1], 0.0).is_err());
    }

    #[test]
    fn the_charge_covers_every_column() {
        let scales = Scales::new(&[2, 7, 1], 0.3).unwrap();
        let mut epsilon = 0.0;
        for (noise, values) in scales.noises.iter().zip([2.0, 7.0, 1.0]) {
            let Noise::Laplace { scale } = noise else { panic!("{noise:?}") };
            epsilon += values / scale.to_f64();
        }
        let charge = scales.charge();
        assert!(epsilon <= 0.3 && charge.whole.epsilon == 0.3 && charge.rest == Cost::default());
        assert!((charge.rho.unwrap() / (3.0 * 0.1f64.powi(2) / 2.0) - 1.0).abs() < 1e-9);
    }
}
