//! Zero-concentrated differential privacy (zCDP), and its conversion to (epsilon, delta). The proofs are in
//! `zcdp.md`.

use crate::cost::{U, check_epsilon};
use random::{Error, bisect};

/// The rho of a mechanism that is pure epsilon-DP, rounded up.
pub fn pure_rho(epsilon: f64) -> f64 {
    (epsilon * epsilon / 2.0).next_up()
}

/// The delta at which rho-zCDP gives (epsilon, delta)-DP.
///
/// min over a > 1 of exp((a-1)(a rho - epsilon)) (1 - 1/a)^a / (a - 1), proposition 12 of Canonne,
/// Kamath and Steinke, The Discrete Gaussian for Differential Privacy. Every a gives a valid delta,
/// so the search for the best one needs no proof.
pub fn zcdp_delta(rho: f64, epsilon: f64) -> f64 {
    if rho <= 0.0 {
        return 0.0;
    }
    // The sign of the derivative of the exponent, up to small terms that hardly move its zero.
    let rises = |a: f64| (2.0 * a - 1.0) * rho - epsilon + (-1.0 / a).ln_1p() > 0.0;
    let (mut low, mut high) = (1.0 + 1e-9, (epsilon + 1.0) / (2.0 * rho) + 2.0);
    for _ in 0..200 {
        let middle = if high > 4.0 * low { (low * high).sqrt() } else { 0.5 * (low + high) };
        if middle <= low || middle >= high {
            break;
        }
        if rises(middle) { high = middle } else { low = middle }
    }
    let exponent = |a: f64| {
        let ln = (a - 1.0) * (a * rho - epsilon) + (a - 1.0) * (-1.0 / a).ln_1p() - a.ln();
        ln + 8.0 * U * ((a - 1.0) * (a * rho + epsilon) + a.ln() + 2.0)
    };
    let best = exponent(low).min(exponent(high));
    if best.is_nan() { 1.0 } else { (best.exp() * (1.0 + 4.0 * U)).clamp(f64::MIN_POSITIVE, 1.0) }
}

/// The smallest epsilon found at which rho-zCDP gives (epsilon, delta)-DP: never above
/// rho + 2 sqrt(rho ln(1/delta)), and below it by some per cent.
pub fn zcdp_epsilon(rho: f64, delta: f64) -> Result<f64, Error> {
    check_approximate(delta)?;
    let range = "it must be a finite number of at least 0";
    Error::require(rho >= 0.0 && rho.is_finite(), "rho", rho, range)?;
    if zcdp_delta(rho, 0.0) <= delta {
        return Ok(0.0);
    }
    let mut high = rho + 2.0 * (rho * -delta.ln()).sqrt();
    while zcdp_delta(rho, high) > delta && high.is_finite() {
        high *= 2.0;
    }
    Ok(bisect(0.0, high, |epsilon| zcdp_delta(rho, epsilon) > delta).1)
}

/// The largest rho found for which rho-zCDP gives (epsilon, delta)-DP.
pub fn zcdp_rho(epsilon: f64, delta: f64) -> Result<f64, Error> {
    check_approximate(delta)?;
    check_epsilon(epsilon)?;
    // The inverse of epsilon = rho + 2 sqrt(rho ln(1/delta)), written without cancellation, is a good start.
    let l = -delta.ln();
    let simple = (epsilon / ((epsilon + l).sqrt() + l.sqrt())).powi(2);
    let mut high = simple.max(f64::MIN_POSITIVE);
    while zcdp_delta(high, epsilon) <= delta && high.is_finite() {
        high *= 2.0;
    }
    let rho = bisect(0.0, high, |rho| zcdp_delta(rho, epsilon) <= delta).0;
    if rho > 0.0 {
        return Ok(rho);
    }
    Err(Error::argument("epsilon", epsilon, "it is too small for this delta"))
}

fn check_approximate(delta: f64) -> Result<(), Error> {
    let range = "Gaussian noise needs one above 0 and below 1";
    Error::require(delta > 0.0 && delta < 1.0, "delta", delta, range)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn known_conversions() {
        // The minimum over a fine grid of a, computed elsewhere.
        for (rho, epsilon, delta) in [
            (0.5, 3.0, 0.005143184113027972),
            (0.1, 2.0, 4.325211017004228e-6),
            (0.005, 0.5, 3.4493091811337545e-8),
        ] {
            let found = zcdp_delta(rho, epsilon);
            assert!((found / delta - 1.0).abs() < 1e-7, "{rho} {epsilon}: {found}");
        }
    }

    #[test]
    fn the_gaussian_itself_stays_below_the_conversion() {
        // The exact delta of a Gaussian of one coordinate, by summing the discrete law.
        for (sigma2, epsilon) in [(1.0f64, 1.0f64), (4.0, 0.5), (25.0, 0.3), (100.0, 0.2)] {
            let density = |x: i64| (-(x as f64).powi(2) / (2.0 * sigma2)).exp();
            let total: f64 = (-400..=400).map(density).sum();
            let exact: f64 = (-400..=400)
                .map(|x| ((density(x) - epsilon.exp() * density(x - 1)) / total).max(0.0))
                .sum();
            let bound = zcdp_delta(1.0 / (2.0 * sigma2), epsilon);
            assert!(bound >= exact, "{sigma2} {epsilon}: {bound} < {exact}");
            assert!(bound <= 12.0 * exact, "{sigma2} {epsilon}: {bound} far above {exact}");
        }
    }

    proptest! {
        #[test]
        fn conversions_agree_and_round_safely(ln_rho in -14.0f64..3.0, exponent in 1.0f64..12.0) {
            let (rho, delta) = (ln_rho.exp(), 10f64.powf(-exponent));
            let epsilon = zcdp_epsilon(rho, delta).unwrap();
            prop_assert!(epsilon <= rho + 2.0 * (rho * -delta.ln()).sqrt() * (1.0 + 1e-8));
            prop_assert!(zcdp_delta(rho, epsilon) <= delta);
            prop_assume!(epsilon > 0.0);
            let back = zcdp_rho(epsilon, delta).unwrap();
            prop_assert!((back / rho - 1.0).abs() < 1e-6, "{} {}", back, rho);
            prop_assert!(zcdp_delta(back, epsilon) <= delta);
        }

        #[test]
        fn more_rho_costs_more(rho in 1e-6f64..2.0, delta in 1e-12f64..0.1) {
            let epsilon = zcdp_epsilon(rho, delta).unwrap();
            prop_assume!(epsilon > 0.0);
            prop_assert!(zcdp_epsilon(rho * 1.01, delta).unwrap() > epsilon);
            prop_assert!(zcdp_epsilon(rho, delta / 1.5).unwrap() > epsilon);
            prop_assert!(zcdp_delta(rho, epsilon * 1.01) <= zcdp_delta(rho, epsilon));
        }
    }

    #[test]
    fn extremes_never_fail() {
        for rho in [0.0, 1e-300, 1e-9, 1.0, 1e9, 1e300] {
            for delta in [1e-300, 1e-9, 0.999] {
                let epsilon = zcdp_epsilon(rho, delta).unwrap();
                assert!(epsilon.is_finite() && epsilon >= 0.0, "{rho} {delta}");
            }
        }
        for epsilon in [1e-300, 1e-9, 1.0, 1e9, 1e300] {
            for delta in [1e-300, 1e-9, 0.999] {
                if let Ok(rho) = zcdp_rho(epsilon, delta) {
                    assert!(rho > 0.0 && zcdp_delta(rho, epsilon) <= delta, "{epsilon} {delta}");
                }
            }
        }
        for bad in [0.0, 1.0, -1.0, f64::NAN] {
            assert!(zcdp_epsilon(1.0, bad).is_err() && zcdp_rho(1.0, bad).is_err());
        }
    }
}
