//! Laplace and Gaussian noise as mechanisms use them: calibration, drawing, error.

use crate::normal::ln_tail;
use crate::{Error, Ratio, bisect, discrete_gaussian, discrete_laplace};
use dashu_int::{IBig, UBig};
use rand::Rng;

/// Integer noise with an exact law.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Noise {
    /// P(x) proportional to exp(-|x| / scale).
    Laplace { scale: Ratio },
    /// P(x) proportional to exp(-x^2 / (2 sigma2)).
    Gaussian { sigma2: Ratio },
}

/// The widest Gaussian whose law is summed to find its quantiles.
const SUMMED: f64 = 64.0;

impl Noise {
    /// Laplace noise that makes integers of the given L1 sensitivity `epsilon`-DP; the scale is
    /// exactly sensitivity / epsilon.
    pub fn laplace(sensitivity: u64, epsilon: f64) -> Result<Self, Error> {
        Noise::laplace_big(&sensitivity.into(), epsilon)
    }

    /// [`Noise::laplace`] for a sensitivity of any size.
    pub fn laplace_big(sensitivity: &UBig, epsilon: f64) -> Result<Self, Error> {
        let range = "it must be a finite number above 0";
        let scale = Ratio::exact("epsilon", epsilon)?
            .divide(sensitivity)
            .ok_or_else(|| Error::argument("epsilon", epsilon, range))?;
        Ok(Noise::Laplace { scale })
    }

    /// Gaussian noise that makes integers of the given squared L2 sensitivity `rho`-zCDP: variance
    /// sensitivity / (2 rho), rounded up to a short fraction.
    pub fn gaussian(squared_sensitivity: f64, rho: f64) -> Result<Self, Error> {
        let range = "it must be a finite number above 0";
        Error::require(rho > 0.0 && rho.is_finite(), "rho", rho, range)?;
        let variance = (squared_sensitivity / (2.0 * rho)).next_up();
        Ok(Noise::Gaussian { sigma2: Ratio::short_above("variance", variance)? })
    }

    /// A draw.
    pub fn draw<R: Rng + ?Sized>(&self, rng: &mut R) -> IBig {
        match self {
            Noise::Laplace { scale } => discrete_laplace(rng, scale),
            Noise::Gaussian { sigma2 } => discrete_gaussian(rng, sigma2),
        }
    }

    /// `value` plus a draw, clamped to the range of the type: clamping is post-processing, and there is no overflow.
    pub fn add<R: Rng + ?Sized>(&self, rng: &mut R, value: i128) -> i128 {
        let sum = self.draw(rng) + value;
        let end = if sum < IBig::ZERO { i128::MIN } else { i128::MAX };
        i128::try_from(sum).unwrap_or(end)
    }

    /// The standard deviation; for a Gaussian narrower than 1 an upper bound.
    pub fn stddev(&self) -> f64 {
        match self {
            // The variance of a two-sided geometric law, 2q / (1 - q)^2 with q = exp(-1/scale).
            Noise::Laplace { scale } => {
                1.0 / (std::f64::consts::SQRT_2 * (0.5 / scale.to_f64()).sinh())
            }
            Noise::Gaussian { sigma2 } => sigma2.to_f64().sqrt(),
        }
    }

    /// The smallest whole h with P(|X| <= h) >= confidence: value +- h is the interval to report.
    pub fn half_width(&self, confidence: f64) -> Result<f64, Error> {
        let range = "it must be at least 0 and below 1";
        Error::require((0.0..1.0).contains(&confidence), "confidence", confidence, range)?;
        Ok(self.reach((1.0 - confidence) / 2.0) - 1.0)
    }

    /// The noisy count from which a group is shown. A group that exists only through one person is then shown with
    /// probability at most `delta` over all `groups` of that person, who adds at most `contribution` to each.
    pub fn threshold(&self, contribution: u64, groups: u64, delta: f64) -> Result<f64, Error> {
        let range = "it must be above 0 and below 1";
        Error::require(delta > 0.0 && delta < 1.0, "delta", delta, range)?;
        Ok(contribution as f64 + self.reach(delta / groups.max(1) as f64))
    }

    /// The smallest whole y >= 1 with P(X >= y) <= tail.
    fn reach(&self, tail: f64) -> f64 {
        match self {
            Noise::Laplace { scale } => {
                // P(X >= y) = q^y / (1 + q).
                let scale = scale.to_f64();
                let q = (-1.0 / scale).exp();
                (-scale * (tail * (1.0 + q)).ln() * (1.0 + 1e-14)).ceil().max(1.0)
            }
            Noise::Gaussian { sigma2 } => {
                let sigma = sigma2.to_f64().sqrt();
                if sigma <= SUMMED { summed_reach(sigma, tail) } else { wide_reach(sigma, tail) }
            }
        }
    }
}

/// The same for a wide Gaussian, by a bound on its tail that is off by less than a step.
fn wide_reach(sigma: f64, tail: f64) -> f64 {
    let (low, high) = (0.0, 40.0 * sigma);
    bisect(low, high, |y| ln_tail(y, sigma) > tail.ln()).1.ceil().max(1.0)
}

/// The smallest whole y >= 1 with P(X >= y) <= tail for a discrete Gaussian, by summing the law.
fn summed_reach(sigma: f64, tail: f64) -> f64 {
    let weight = |x: f64| (-0.5 * (x / sigma).powi(2)).exp();
    // From here on the law is below the smallest float, and the sum of the rest is even smaller.
    let end = (38.0 * sigma).ceil() + 1.0;
    let mut upper = 0.0;
    let mut x = end;
    while x >= 1.0 {
        upper += weight(x);
        x -= 1.0;
    }
    let limit = tail * (1.0 + 2.0 * upper);
    let (mut beyond, mut y) = (0.0, end);
    while y > 1.0 && beyond + weight(y - 1.0) <= limit {
        y -= 1.0;
        beyond += weight(y);
    }
    // For tails below the range of floats: P(X >= y) <= exp(-y^2 / (2 sigma^2)).
    if tail < 1e-300 { y.max((sigma * (-2.0 * tail.ln()).sqrt()).ceil()) } else { y }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Coins;

    fn gaussian(sigma2: f64) -> Noise {
        Noise::Gaussian { sigma2: Ratio::exact("x", sigma2).unwrap() }
    }

    /// P(X >= y) by the definition of the law.
    fn tail(noise: &Noise, y: i64) -> f64 {
        let weight = |x: i64| match noise {
            Noise::Laplace { scale } => (-x.abs() as f64 / scale.to_f64()).exp(),
            Noise::Gaussian { sigma2 } => (-(x as f64).powi(2) / (2.0 * sigma2.to_f64())).exp(),
        };
        let total: f64 = (-2000..=2000).map(weight).sum();
        (y..=2000).map(weight).sum::<f64>() / total
    }

    #[test]
    fn reach_is_the_exact_quantile() {
        let laplace = |s| Noise::laplace(1, s).unwrap();
        for noise in [
            laplace(2.0),
            laplace(0.7),
            laplace(0.05),
            gaussian(0.3),
            gaussian(4.0),
            gaussian(900.0),
        ] {
            for p in [0.4, 0.1, 0.025, 1e-3, 1e-6, 1e-9] {
                let y = noise.reach(p) as i64;
                assert!(tail(&noise, y) <= p * (1.0 + 1e-9), "{noise:?} {p} {y}");
                assert!(y == 1 || tail(&noise, y - 1) > p, "{noise:?} {p} {y}");
            }
        }
    }

    #[test]
    fn wide_gaussians_have_normal_quantiles() {
        for sigma in [1e4, 1e6, 1e150] {
            let half = gaussian(sigma * sigma).half_width(0.95).unwrap();
            assert!((1.9599..1.9607).contains(&(half / sigma)), "{}", half / sigma);
        }
    }

    #[test]
    fn intervals_cover_what_they_say() {
        let mut coins = Coins::seeded(2);
        for noise in [Noise::laplace(1, 0.1).unwrap(), gaussian(10_000.0)] {
            let half = noise.half_width(0.95).unwrap() as i128;
            let inside = (0..4000).filter(|_| noise.add(&mut coins, 5).abs_diff(5) as i128 <= half);
            let share = inside.count() as f64 / 4000.0;
            assert!((0.937..0.965).contains(&share), "{noise:?} {share}");
        }
    }

    #[test]
    fn spreads_are_those_of_the_law() {
        let laplace = Noise::laplace(3, 1.0).unwrap();
        let weight = |x: i32| (-f64::from(x.abs()) / 3.0).exp();
        let total: f64 = (-500..=500).map(weight).sum();
        let squares: f64 = (-500..=500).map(|x| f64::from(x * x) * weight(x)).sum();
        assert!((laplace.stddev() / (squares / total).sqrt() - 1.0).abs() < 1e-9);
        let wide = Noise::laplace(1, 1e-9).unwrap();
        assert!((wide.stddev() / (2f64.sqrt() * 1e9) - 1.0).abs() < 1e-9);
    }

    #[test]
    fn sums_are_held_at_the_ends() {
        let mut coins = Coins::seeded(5);
        let wide = Noise::laplace(1, 1e-200).unwrap();
        let ends: Vec<i128> = (0..20).map(|_| wide.add(&mut coins, 0)).collect();
        assert!(ends.iter().all(|&x| x == i128::MIN || x == i128::MAX));
        assert_eq!(Noise::laplace(0, 1.0).unwrap().add(&mut coins, 7), 7);
    }

    #[test]
    fn thresholds_hide_single_people() {
        let noise = Noise::laplace(1, 1.0).unwrap();
        let t = noise.threshold(1, 1, 1e-6).unwrap() as i64;
        assert!(tail(&noise, t - 1) <= 1e-6 && tail(&noise, t - 2) > 1e-6);
        assert!(noise.threshold(1, 10, 1e-6).unwrap() > t as f64);
        assert!(noise.threshold(1, 1, 0.0).is_err());
        assert!(gaussian(1.0).threshold(1, 1, 1e-310).unwrap() < 50.0);
    }
}
