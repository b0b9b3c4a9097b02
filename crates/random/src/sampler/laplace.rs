//! Discrete Laplace noise.

use super::bernoulli::bernoulli_exp_unit;
use crate::{Ratio, below_big};
use dashu_int::{IBig, UBig};
use rand::Rng;

/// An integer X with P(X = x) proportional to `exp(-|x| / scale)`, exactly; 0 for scale 0.
///
/// Canonne, Kamath and Steinke, The Discrete Gaussian for Differential Privacy, algorithm 2.
pub fn discrete_laplace<R: Rng + ?Sized>(rng: &mut R, scale: &Ratio) -> IBig {
    let (t, s) = (scale.numer(), scale.denom());
    if t.is_zero() {
        return IBig::ZERO;
    }
    loop {
        let u = below_big(rng, t);
        if !bernoulli_exp_unit(rng, &u, t) {
            continue;
        }
        let mut v = 0u64;
        while bernoulli_exp_unit(rng, &UBig::ONE, &UBig::ONE) {
            v += 1;
        }
        let magnitude = IBig::from((u + t * v) / s);
        let negative = rng.next_u32() & 1 == 1;
        match (negative, magnitude.is_zero()) {
            // Zero would otherwise be drawn with both signs, and so twice as often as it should.
            (true, true) => continue,
            (true, false) => return -magnitude,
            (false, _) => return magnitude,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Coins, testing::assert_fits_integers};

    fn probability(scale: f64, x: i64) -> f64 {
        let q = (-1.0 / scale).exp();
        (1.0 - q) / (1.0 + q) * q.powf(x.unsigned_abs() as f64)
    }

    #[test]
    fn draws_follow_the_law() {
        for (seed, (t, s)) in
            [(1u64, 3u64), (1, 1), (5, 2), (7, 1), (40, 3)].into_iter().enumerate()
        {
            let mut coins = Coins::seeded(seed as i64);
            let (scale, value) = (Ratio::new(t, s).unwrap(), t as f64 / s as f64);
            assert_fits_integers(
                |x| probability(value, x),
                8_000,
                || i64::try_from(discrete_laplace(&mut coins, &scale)).unwrap(),
            );
        }
    }

    #[test]
    fn a_float_epsilon_is_taken_exactly() {
        let mut coins = Coins::seeded(4);
        let scale = Ratio::exact("epsilon", 0.3).unwrap().divide(&UBig::ONE).unwrap();
        assert_fits_integers(
            |x| probability(1.0 / 0.3, x),
            8_000,
            || i64::try_from(discrete_laplace(&mut coins, &scale)).unwrap(),
        );
    }
}
