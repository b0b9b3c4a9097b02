//! 95 % intervals of sums of independent noises.

use crate::Noise;

/// What lies outside of an interval.
const TAIL: f64 = 0.05;
/// P(|Z| <= NORMAL) = 0.95 for a standard normal Z.
const NORMAL: f64 = 1.959_963_984_540_054;

/// A sum of independent noises with weights.
#[derive(Debug, Clone, Default)]
pub struct Spread {
    /// Scales of the Laplace parts; counted, as many are alike.
    laplace: Vec<(f64, f64)>,
    /// The variance of the Gaussian part.
    gaussian: f64,
}

impl Spread {
    /// One noise alone.
    pub fn of(noise: &Noise) -> Self {
        let mut spread = Spread::default();
        spread.add(noise, 1.0, 1.0);
        spread
    }

    /// Adds `count` independent noises, each times `weight`.
    pub fn add(&mut self, noise: &Noise, weight: f64, count: f64) {
        if weight == 0.0 || count == 0.0 {
            return;
        }
        match noise {
            Noise::Laplace { scale } => self.laplace.push((scale.to_f64() * weight.abs(), count)),
            Noise::Gaussian { sigma2 } => {
                self.gaussian += sigma2.to_f64() * weight * weight * count
            }
        }
    }

    /// The standard deviation.
    pub fn stddev(&self) -> f64 {
        let laplace: f64 =
            self.laplace.iter().map(|(scale, count)| 2.0 * scale * scale * count).sum();
        (laplace + self.gaussian).sqrt()
    }

    /// The h with P(|X| <= h) = 0.95.
    ///
    /// Exact for one and for two Laplace parts and for Gaussian ones: the law of the sum of two
    /// Laplace parts of scales a and b has P(|X| > x) = (a^2 e^(-x/a) - b^2 e^(-x/b)) / (a^2 - b^2).
    /// From three parts on the normal quantile with Cornish and Fisher's correction for kurtosis,
    /// which is off by less than a part in 300.
    pub fn half_width(&self) -> f64 {
        let parts: f64 = self.laplace.iter().map(|part| part.1).sum();
        if self.gaussian == 0.0 && parts == 1.0 {
            return -self.laplace[0].0 * TAIL.ln();
        }
        if self.gaussian == 0.0 && parts == 2.0 {
            let a = self.laplace[0].0;
            let b = self.laplace.get(1).map_or(a, |part| part.0);
            return two_laplace(a.max(b), a.min(b));
        }
        let variance = self.stddev().powi(2);
        if variance == 0.0 {
            return 0.0;
        }
        // The fourth cumulant of a Laplace law is 12 scale^4.
        let fourth: f64 =
            self.laplace.iter().map(|(scale, count)| 12.0 * scale.powi(4) * count).sum();
        let excess = fourth / (variance * variance);
        let z = NORMAL + (NORMAL.powi(3) - 3.0 * NORMAL) * excess / 24.0;
        z * variance.sqrt()
    }
}

/// The 95 % quantile of |X + Y| for Laplace X and Y of scales a >= b.
fn two_laplace(a: f64, b: f64) -> f64 {
    // Equal scales are the limit; a hair apart is near enough and divides.
    let b = b.min(a * (1.0 - 1e-5));
    let beyond = |x: f64| (a * a * (-x / a).exp() - b * b * (-x / b).exp()) / (a * a - b * b);
    let (mut low, mut high) = (0.0, 10.0 * (a + b));
    for _ in 0..60 {
        let middle = 0.5 * (low + high);
        if beyond(middle) > TAIL { low = middle } else { high = middle }
    }
    high
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Coins;

    fn laplace(scale: f64) -> Noise {
        Noise::laplace(1, 1.0 / scale).unwrap()
    }

    /// The share of draws within the half-width.
    fn coverage(parts: &[(&Noise, f64, usize)], seed: i64) -> f64 {
        let mut spread = Spread::default();
        for &(noise, weight, count) in parts {
            spread.add(noise, weight, count as f64);
        }
        let (half, mut coins) = (spread.half_width(), Coins::seeded(seed));
        let mut draw = || {
            let mut sum = 0.0;
            for &(noise, weight, count) in parts {
                for _ in 0..count {
                    sum += weight * noise.add(&mut coins, 0) as f64;
                }
            }
            sum
        };
        (0..20_000).filter(|_| draw().abs() <= half).count() as f64 / 20_000.0
    }

    #[test]
    fn intervals_cover_95_per_cent() {
        let (one, two) = (laplace(1000.0), laplace(300.0));
        let normal = Noise::gaussian(1e6, 0.5).unwrap();
        let cases: [&[(&Noise, f64, usize)]; 8] = [
            &[(&one, 1.0, 1)],
            &[(&one, 1.0, 2)],
            &[(&one, 1.0, 1), (&two, -2.0, 1)],
            &[(&one, 1.0, 1), (&two, 0.1, 1)],
            &[(&one, 1.0, 3)],
            &[(&one, 1.0, 1), (&two, 1.0, 2)],
            &[(&one, 0.5, 16), (&one, -0.5, 16)],
            &[(&normal, 2.0, 3)],
        ];
        for (i, case) in cases.into_iter().enumerate() {
            let share = coverage(case, i as i64);
            assert!((0.9455..0.9545).contains(&share), "case {i}: {share}");
        }
    }

    #[test]
    fn no_noise_no_width() {
        assert_eq!(Spread::default().half_width(), 0.0);
    }
}
