//! 95 % intervals of sums of independent noises.

use random::Noise;

/// The confidence level of an interval.
#[derive(Debug, Clone, Copy)]
pub struct Level {
    /// The probability outside the interval.
    tail: f64,
    /// P(|Z| > normal) = tail for a standard normal Z.
    normal: f64,
}

impl Level {
    /// The level of every interval that is reported.
    pub const L95: Level = Level { tail: 0.05, normal: 1.959_963_984_540_054 };
    /// Two levels whose tails add up to that of `L95`.
    pub const L96: Level = Level { tail: 0.04, normal: 2.053_748_910_631_822_5 };
    pub const L99: Level = Level { tail: 0.01, normal: 2.575_829_303_548_900_4 };
}

/// A sum of independent noises with weights.
#[derive(Debug, Clone, Default)]
pub struct Spread {
    /// Scales of the Laplace parts with their counts, as many parts are alike.
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
    pub fn half_width(&self) -> f64 {
        self.half_width_at(Level::L95)
    }

    /// Half-width h with P(|X| <= h) at the given level.
    ///
    /// Exact for up to three Laplace parts and for Gaussian ones. For more parts it is the normal quantile with
    /// Cornish and Fisher's correction for kurtosis. That is off by less than a part in 300 where many parts are
    /// alike, and too wide by up to a part in 40 where one part outweighs all others.
    pub fn half_width_at(&self, level: Level) -> f64 {
        let parts: f64 = self.laplace.iter().map(|part| part.1).sum();
        if self.gaussian == 0.0 && (1.0..=3.0).contains(&parts) {
            return few_laplace(&self.laplace, level.tail);
        }
        let variance = self.stddev().powi(2);
        if variance == 0.0 {
            return 0.0;
        }
        // The fourth cumulant of a Laplace law is 12 scale^4.
        let fourth: f64 =
            self.laplace.iter().map(|(scale, count)| 12.0 * scale.powi(4) * count).sum();
        let excess = fourth / (variance * variance);
        let z = level.normal + (level.normal.powi(3) - 3.0 * level.normal) * excess / 24.0;
        z * variance.sqrt()
    }
}

/// The least relative distance of two scales: enough to divide by, too little to matter.
const APART: f64 = 1e-4;

/// The h with P(|X| > h) = tail for a sum X of a few Laplace parts, given as scales and counts.
///
/// With distinct scales a_i, P(|X| > x) is the sum of e^(-x/a_i) times the product over j of
/// a_i^2 / (a_i^2 - a_j^2), by partial fractions of the characteristic function 1 / (1 + a^2 t^2).
fn few_laplace(parts: &[(f64, f64)], tail: f64) -> f64 {
    let mut scales: Vec<f64> = parts
        .iter()
        .flat_map(|&(scale, count)| std::iter::repeat_n(scale, count as usize))
        .collect();
    scales.sort_by(f64::total_cmp);
    for i in 1..scales.len() {
        scales[i] = scales[i].max(scales[i - 1] * (1.0 + APART));
    }
    let square = |x: f64| x * x;
    let weight = |i: usize| -> f64 {
        let others = (0..scales.len()).filter(|&j| j != i);
        others.map(|j| 1.0 / (1.0 - square(scales[j] / scales[i]))).product()
    };
    let weights: Vec<f64> = (0..scales.len()).map(weight).collect();
    let beyond =
        |x: f64| scales.iter().zip(&weights).map(|(scale, w)| w * (-x / scale).exp()).sum::<f64>();
    if let [scale] = scales[..] {
        return -scale * tail.ln();
    }
    let (mut low, mut high) = (0.0, -2.0 * tail.ln() * scales.iter().sum::<f64>());
    for _ in 0..40 {
        let middle = 0.5 * (low + high);
        if beyond(middle) > tail { low = middle } else { high = middle }
    }
    high
}

#[cfg(test)]
mod tests {
    use super::*;
    use random::Coins;

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
