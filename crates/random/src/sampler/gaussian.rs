//! Discrete Gaussian noise.

use super::{bernoulli::bernoulli_exp_parts, laplace::discrete_laplace};
use crate::Ratio;
use dashu_int::{
    IBig, UBig,
    ops::{SquareRoot, UnsignedAbs},
};
use rand::Rng;

/// An integer X with P(X = x) proportional to `exp(-x^2 / (2 sigma2))`, exactly; 0 for variance 0.
///
/// Canonne, Kamath and Steinke, The Discrete Gaussian for Differential Privacy, algorithm 3.
/// Takes less than two discrete Laplace draws on average.
pub fn discrete_gaussian<R: Rng + ?Sized>(rng: &mut R, sigma2: &Ratio) -> IBig {
    let (a, b) = (sigma2.numer(), sigma2.denom());
    if a.is_zero() {
        return IBig::ZERO;
    }
    let t = (a / b).sqrt() + 1u8;
    let Some(scale) = Ratio::new(t.clone(), UBig::ONE) else {
        return IBig::ZERO;
    };
    // The exponent (|y| - sigma2/t)^2 / (2 sigma2) over one denominator.
    let tb = &t * b;
    let denom: UBig = &tb * &t * a * 2u8;
    loop {
        let y = discrete_laplace(rng, &scale);
        let offset = (IBig::from((&y).unsigned_abs() * &tb) - a).unsigned_abs();
        if bernoulli_exp_parts(rng, &(&offset * &offset), &denom) {
            return y;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Coins, testing::assert_fits_integers};

    #[test]
    fn draws_follow_the_law() {
        for (seed, (a, b)) in
            [(1u64, 4u64), (1, 1), (9, 4), (30, 1), (1000, 3)].into_iter().enumerate()
        {
            let mut coins = Coins::seeded(seed as i64);
            let sigma2 = Ratio::new(a, b).unwrap();
            let density = |x: i64| (-(x as f64).powi(2) * b as f64 / (2.0 * a as f64)).exp();
            let total: f64 = (-1000..=1000).map(density).sum();
            assert_fits_integers(
                |x| density(x) / total,
                6_000,
                || i64::try_from(discrete_gaussian(&mut coins, &sigma2)).unwrap(),
            );
        }
    }

    #[test]
    fn the_variance_of_wide_noise_is_its_parameter() {
        let mut coins = Coins::seeded(3);
        let sigma2 = Ratio::exact("sigma2", 1e12).unwrap();
        let n = 4000;
        let mean_square = (0..n)
            .map(|_| {
                f64::from(i32::try_from(discrete_gaussian(&mut coins, &sigma2)).unwrap()) / 1e6
            })
            .map(|x| x * x)
            .sum::<f64>()
            / n as f64;
        // The standard error of a mean square is sqrt(2 / n).
        assert!((mean_square - 1.0).abs() < 4.0 * (2.0 / n as f64).sqrt(), "{mean_square}");
    }
}
