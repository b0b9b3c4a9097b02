//! Tails of the normal law and of the discrete Gaussian. The proofs are in `normal.md`.

use std::f64::consts::PI;

/// A generous bound on the relative error of [`mills`].
pub const ERROR: f64 = 1e-12;

/// The number of terms of the continued fraction: from [`SERIES`] on these are enough for every digit.
const TERMS: u32 = 120;
/// Below this the series is as precise; above it the series loses digits.
const SERIES: f64 = 2.5;

/// Mills' ratio, P(Z >= x) / density(x) of a standard normal Z, for x >= 0.
pub fn mills(x: f64) -> f64 {
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
pub fn ln_density(x: f64) -> f64 {
    -0.5 * x * x - 0.5 * (2.0 * PI).ln()
}

/// An upper bound on ln P(X >= y) for a discrete Gaussian X of standard deviation `sigma`, y >= 0.
pub fn ln_tail(y: f64, sigma: f64) -> f64 {
    let x = y / sigma;
    ln_density(x) * (1.0 - 4.0 * f64::EPSILON) + ((mills(x) + 1.0 / sigma) * (1.0 + ERROR)).ln()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn mills_ratios_are_known() {
        // Values computed by another program with 60 digits.
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
}
