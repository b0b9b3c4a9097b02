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
