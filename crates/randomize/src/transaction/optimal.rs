//! The law of the number of kept items that preserves most information for a given gamma.

use super::MAX_SIZE;
use super::matrix::binomial;
use super::operator::{SizeOperator, check_rho};
use random::Error;

/// The factors by which a law may have to stay below the requested gamma, so that its integers are within it.
const SHADES: [f64; 4] = [1e-12, 1e-9, 1e-6, 1e-3];

/// The probabilities to keep 0, 1, …, size items: P(Bin(size, rho) = j), times gamma where more than `cut` are kept.
/// The operator with them amplifies by at most gamma.
pub fn keep(size: usize, rho: f64, gamma: f64, cut: usize) -> Result<Vec<f64>, Error> {
    check_rho(rho)?;
    check_size(size)?;
    let range = "it must be finite and above 1, at which nothing would be told";
    Error::require(gamma > 1.0 && gamma.is_finite(), "gamma", gamma, range)?;
    let range = "it must be from 0 to one less than the size: more kept items are favoured";
    Error::require(cut < size, "cut", cut, range)?;
    for shade in SHADES {
        let keep = law(size, rho, gamma * (1.0 - shade), cut);
        if SizeOperator::new(rho, &keep).is_ok_and(|operator| operator.gamma() <= gamma) {
            return Ok(keep);
        }
    }
    let range = "with this size and gamma some chances are too small for 63 binary digits";
    Err(Error::argument("rho", rho, range))
}

/// Refuses a size that transactions cannot have.
pub(super) fn check_size(size: usize) -> Result<(), Error> {
    Error::require((1..=MAX_SIZE).contains(&size), "size", size, "it must be from 1 to 64 items")
}

/// The law itself, for parameters that were checked.
pub(super) fn law(size: usize, rho: f64, gamma: f64, cut: usize) -> Vec<f64> {
    let factor = |j: usize| if j > cut { gamma } else { 1.0 };
    let weights: Vec<f64> = (0..=size).map(|j| factor(j) * binomial(size, j, rho)).collect();
    let sum: f64 = weights.iter().sum();
    weights.into_iter().map(|weight| weight / sum).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn assert_close(found: &[f64], expected: &[f64]) {
        assert_eq!(found.len(), expected.len());
        for (found, expected) in found.iter().zip(expected) {
            assert!((found / expected - 1.0).abs() < 1e-8, "{found} {expected}");
        }
    }

    #[test]
    fn public_vectors() {
        // 002-sas-est-0, -2, -4
        let keep_of = |size, gamma, cut, rho| keep(size, rho, gamma, cut).unwrap();
        assert_close(&keep_of(5, 19.0, 4, 0.5), &[0.02, 0.1, 0.2, 0.2, 0.1, 0.38]);
        assert_close(
            &keep_of(3, 9.0, 1, 0.125),
            &[0.498546511627907, 0.2136627906976744, 0.2747093023255814, 0.01308139534883721],
        );
        assert_close(
            &keep_of(2, 6.0, 0, 0.5),
            &[0.05263157894736842, 0.631578947368421, 0.3157894736842105],
        );
    }

    #[test]
    fn what_makes_no_sense_is_refused() {
        for (size, rho, gamma, cut) in [
            (0, 0.5, 9.0, 0),
            (65, 0.5, 9.0, 0),
            (5, 0.0, 9.0, 0),
            (5, 1.0, 9.0, 0),
            (5, f64::NAN, 9.0, 0),
            (5, 0.5, 1.0, 0),
            (5, 0.5, f64::NAN, 0),
            (5, 0.5, f64::INFINITY, 0),
            (5, 0.5, 9.0, 5),
            // rho^20 is far below 2^-63.
            (20, 1e-3, 9.0, 0),
        ] {
            assert!(keep(size, rho, gamma, cut).is_err(), "{size} {rho} {gamma} {cut}");
        }
    }

    proptest! {
        #[test]
        fn the_integers_are_within_gamma(
            size in 1usize..12,
            rho in 0.02f64..0.98,
            gamma in 1.01f64..1000.0,
            part in 0.0f64..1.0,
        ) {
            let cut = (part * size as f64) as usize;
            let Ok(keep) = keep(size, rho, gamma, cut) else { return Ok(()) };
            let found = SizeOperator::new(rho, &keep).unwrap().gamma();
            prop_assert!(found <= gamma, "{found} {gamma}");
            // Nothing is lost except by the factor and by rounding the smallest probability; for a probability of a
            // few units of 2^-63 that is much.
            let rarest = keep.iter().copied().fold(1.0, f64::min) * 2f64.powi(63);
            let tight = gamma * (1.0 - 2e-3) * (1.0 - 2.0 / rarest);
            prop_assert!(found > tight, "{found} {gamma} {rarest}");
        }
    }

    /// Statement 2 of the paper: the mean of any function that grows with the number of kept items is largest for one
    /// of the cuts.
    #[test]
    fn no_other_law_keeps_more() {
        let (size, rho, gamma) = (4, 0.3, 9.0);
        let worths: [fn(usize) -> f64; 3] =
            [|j| j as f64, |j| (j * j) as f64, |j| f64::from(u8::from(j >= 3))];
        for worth in worths {
            let average =
                |keep: &[f64]| keep.iter().enumerate().map(|(j, p)| p * worth(j)).sum::<f64>();
            let best = (0..size)
                .map(|cut| average(&keep(size, rho, gamma, cut).unwrap()))
                .fold(0.0, f64::max);
            // All laws whose factors are 1, 3 or 9.
            for code in 0..3usize.pow(size as u32 + 1) {
                let factor = |j: usize| 3f64.powi((code / 3usize.pow(j as u32) % 3) as i32);
                let weights: Vec<f64> =
                    (0..=size).map(|j| factor(j) * binomial(size, j, rho)).collect();
                let sum: f64 = weights.iter().sum();
                let keep: Vec<f64> = weights.iter().map(|weight| weight / sum).collect();
                assert!(average(&keep) <= best * (1.0 + 1e-9), "{keep:?}");
            }
        }
    }
}
