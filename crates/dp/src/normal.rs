//! Tails of the normal law, and the delta of a vector of Gaussian noises. The proofs are in
//! `normal.md`.

use crate::Error;
use crate::accounting::{bisect, zcdp_rho};
use std::f64::consts::PI;

/// Relative error of [`mills`], generously.
const ERROR: f64 = 1e-12;

/// Terms of the continued fraction: from [`SERIES`] on these are enough for every digit.
const TERMS: u32 = 120;
/// Below this the series is as good, above it loses digits.
const SERIES: f64 = 2.5;

/// Mills' ratio, P(Z >= x) / density(x) of a standard normal Z, for x >= 0.
fn mills(x: f64) -> f64 {
    if x < SERIES {
        // sqrt(pi/2) e^(x^2/2) - (x + x^3/3 + x^5/(3 5) + …)
        let (mut term, mut sum, mut k) = (x, x, 1.0);
        while term > 1e-18 * sum {
            k += 2.0;
            term *= x * x / k;
            sum += term;
        }
        return (PI / 2.0).sqrt() * (x * x / 2.0).exp() - sum;
    }
    // 1/(x + 1/(x + 2/(x + 3/(x + …))))
    let mut tail = x;
    for k in (1..=TERMS).rev() {
        tail = x + f64::from(k) / tail;
    }
    1.0 / tail
}

/// The logarithm of the density of a standard normal law.
fn ln_density(x: f64) -> f64 {
    -0.5 * x * x - 0.5 * (2.0 * PI).ln()
}

/// An upper bound on ln P(X >= y) for a discrete Gaussian X of standard deviation `sigma`, y >= 0.
pub(crate) fn ln_tail(y: f64, sigma: f64) -> f64 {
    let x = y / sigma;
    ln_density(x) * (1.0 - 4.0 * f64::EPSILON) + ((mills(x) + 1.0 / sigma) * (1.0 + ERROR)).ln()
}

/// The narrowest noise, in steps of its grid, for which the lattice is fine enough.
const FINEST: f64 = 32.0;

/// An upper bound on the delta at which a vector of discrete Gaussian noises is (epsilon, delta)-DP:
/// a unit moves it by changes whose squares over the variances add up to at most `mu`^2, and no
/// standard deviation is below `sigma` steps. 1 where the proof does not hold.
pub(crate) fn gaussian_delta(epsilon: f64, mu: f64, sigma: f64) -> f64 {
    let tau = epsilon / mu - mu / 2.0;
    if !(mu > 0.0 && tau >= 0.0 && tau.is_finite() && sigma >= FINEST) {
        return 1.0;
    }
    let near = mills(tau);
    // Mills' ratio falls and is convex: the chord for wide steps, the tangent for narrow ones.
    let chord = near - mills(tau + mu) + 2.0 * ERROR * near;
    let tangent = mu * (1.0 - tau * near + 2.0 * ERROR);
    let continuous = chord.min(tangent);
    // What the lattice adds.
    let lattice = 4.21 * mu / (9.0 * sigma * sigma);
    // The exponent loses a few units in its last place.
    let density = (ln_density(tau) * (1.0 - 8.0 * f64::EPSILON)).exp();
    ((continuous + lattice) * density * (1.0 + ERROR)).clamp(f64::MIN_POSITIVE, 1.0)
}

/// The largest rho found at which Gaussian noises with sum of change^2 / (2 sigma^2) <= rho are
/// (epsilon, delta)-DP, if each is calibrated to a sensitivity of at least `step` steps of its grid:
/// the law of the vector itself (Balle and Wang, Improving the Gaussian mechanism for differential
/// privacy), and zCDP where that does not apply.
pub fn gaussian_rho(epsilon: f64, delta: f64, step: f64) -> Result<f64, Error> {
    let concentrated = zcdp_rho(epsilon, delta)?;
    // No part has more than the whole rho, so none is narrower than step / mu.
    let holds = |mu: f64| gaussian_delta(epsilon, mu, step / mu) <= delta;
    let low = (2.0 * concentrated).sqrt();
    if !holds(low) {
        return Ok(concentrated);
    }
    let mut high = low * 2.0;
    while holds(high) && high.is_finite() {
        high *= 2.0;
    }
    let mu = bisect(low, high, holds).0;
    Ok((mu * mu / 2.0).next_down().max(concentrated))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::zcdp_delta;
    use proptest::prelude::*;

    #[test]
    fn mills_ratios_are_known() {
        // Computed elsewhere with 60 digits.
        for (x, ratio) in [
            (0.0, 1.2533141373155003),
            (0.1, 1.1592623996187363),
            (1.0, 0.655_679_542_418_798_4),
            (2.49, 0.355_411_914_278_194_8),
            (2.5, 0.35426511132979367),
            (2.51, 0.3531251506381219),
            (5.0, 0.19280810471531576),
            (12.0, 0.082_766_286_501_369_18),
            (37.0, 0.027007327965128336),
        ] {
            let found = mills(x);
            assert!((found / ratio - 1.0).abs() < ERROR / 10.0, "{x}: {found}");
        }
    }

    #[test]
    fn deltas_of_gaussians_are_known() {
        for (epsilon, mu, delta) in [
            (1.0, 0.25, 2.924_272_104_856_407e-6),
            (0.1, 0.02, 1.1240012356922474e-9),
            (10.0, 2.0, 9.940_202_816_118_153e-6),
            (0.5, 0.9, 0.1985993922515939),
            (1.0, 0.1, 1.2308359836427042e-25),
            (0.001, 0.0002, 1.0697678519879218e-11),
            (1.0, 0.027, 1.7423952104926731e-303),
            (1e-6, 1.5e-7, 2.824_257_361_880_706e-19),
        ] {
            // The lattice is so fine that it does not matter.
            let found = gaussian_delta(epsilon, mu, 1e12);
            assert!(found >= delta && found < delta * (1.0 + 1e-5), "{epsilon} {mu}: {found}");
        }
    }

    /// The exact delta of a vector of discrete Gaussians that moves by `change`, by summing its law.
    fn exact_delta(epsilon: f64, sigmas: [f64; 2], change: [i32; 2]) -> f64 {
        let law = |sigma: f64| -> (i32, Vec<f64>) {
            let reach = if sigma == 0.0 { 0 } else { (11.0 * sigma) as i32 };
            let weight = |x: i32| (-0.5 * (f64::from(x) / sigma.max(1.0)).powi(2)).exp();
            let weights: Vec<f64> = (-reach..=reach).map(weight).collect();
            let total: f64 = weights.iter().sum();
            (reach, weights.into_iter().map(|weight| weight / total).collect())
        };
        let [(reach, first), (other_reach, second)] = sigmas.map(law);
        // ln(P/Q) is linear in the place.
        let ratio = |sigma: f64, change: i32, x: i32| {
            let (x, c) = (f64::from(x), f64::from(change));
            if sigma == 0.0 { 0.0 } else { (c * c - 2.0 * x * c) / (2.0 * sigma * sigma) }
        };
        let mut delta = 0.0;
        for (x, p) in (-reach..).zip(&first) {
            let loss = ratio(sigmas[0], change[0], x);
            for (y, q) in (-other_reach..).zip(&second) {
                let loss = loss + ratio(sigmas[1], change[1], y);
                delta += p * q * (-(epsilon - loss).exp_m1()).max(0.0);
            }
        }
        delta
    }

    #[test]
    fn lattices_stay_below_the_bound() {
        let cases = [
            ([32.0, 0.0], [5, 0]),
            ([32.0, 0.0], [32, 0]),
            ([37.5, 0.0], [90, 0]),
            ([32.0, 33.0], [7, 3]),
            ([32.0, 40.0], [1, 1]),
            ([32.0, 47.0], [20, 29]),
        ];
        for (sigmas, change) in cases {
            let squares = [0, 1].map(|i| f64::from(change[i]) / f64::max(sigmas[i], 1.0));
            let mu = (squares[0].powi(2) + squares[1].powi(2)).sqrt();
            for times in [1.5, 3.0, 5.0] {
                let epsilon = times * mu;
                let exact = exact_delta(epsilon, sigmas, change);
                let bound = gaussian_delta(epsilon, mu, 32.0);
                assert!(bound >= exact, "{sigmas:?} {change:?} {epsilon}: {bound} < {exact}");
                assert!(bound <= exact * 1.05, "{sigmas:?} {change:?}: {bound} far above {exact}");
                // Less than zCDP says.
                let zcdp = zcdp_delta(mu * mu / 2.0, epsilon);
                assert!(bound < zcdp, "{sigmas:?} {change:?}: {bound} {zcdp}");
            }
        }
    }

    #[test]
    fn tails_are_bounded() {
        for sigma in [70.0f64, 1000.0] {
            let weight = |x: i64| (-0.5 * (x as f64 / sigma).powi(2)).exp();
            let end = (30.0 * sigma) as i64;
            let total: f64 = (-end..=end).map(weight).sum();
            for x in [0.0, 0.5, 2.0, 6.0, 20.0] {
                let y = (x * sigma) as i64;
                let exact = ((y..=end).rev().map(weight).sum::<f64>() / total).ln();
                let bound = ln_tail(y as f64, sigma);
                assert!(bound >= exact && bound < exact + 0.5, "{sigma} {x}: {bound} {exact}");
            }
        }
    }

    #[test]
    fn where_the_proof_does_not_hold_nothing_is_promised() {
        assert_eq!(gaussian_delta(1.0, 0.1, 31.0), 1.0);
        assert_eq!(gaussian_delta(1.0, 1.5, 1e6), 1.0);
        for (epsilon, mu) in [(0.0, 0.0), (1.0, f64::NAN), (f64::INFINITY, 1.0), (1.0, -1.0)] {
            assert_eq!(gaussian_delta(epsilon, mu, 1e6), 1.0);
        }
        // Noise of one step is too coarse: zCDP.
        assert_eq!(gaussian_rho(1.0, 1e-6, 1.0), zcdp_rho(1.0, 1e-6));
        assert!(gaussian_rho(1.0, 0.0, 1024.0).is_err() && gaussian_rho(0.0, 0.1, 1.0).is_err());
    }

    proptest! {
        #[test]
        fn rho_meets_the_budget_and_is_no_smaller_than_that_of_zcdp(
            ln_epsilon in -9.0f64..3.0, exponent in 0.5f64..15.0,
        ) {
            let (epsilon, delta) = (ln_epsilon.exp(), 10f64.powf(-exponent));
            let rho = gaussian_rho(epsilon, delta, 1024.0).unwrap();
            let concentrated = zcdp_rho(epsilon, delta).unwrap();
            prop_assert!(rho >= concentrated);
            let mu = (2.0 * rho).sqrt();
            let found = gaussian_delta(epsilon, mu, 1024.0 / mu);
            prop_assert!(rho == concentrated || found <= delta * (1.0 + 1e-9), "{} {}", found, delta);
            // A fifth of delta is what zCDP gives away.
            prop_assert!(exponent < 3.0 || rho > 1.03 * concentrated, "{} {}", rho, concentrated);
        }
    }
}
