//! How badly the law predicts a pair, as an integer whose sensitivity is exact.

/// Bits after the binary point of predicted counts.
const FRACTION: u32 = 6;
/// Weights are integers up to this one.
pub const WEIGHT: u64 = 1 << 10;
/// What one row more or less changes a score by, at most: one count by one, times the largest weight.
pub const SENSITIVITY: u64 = WEIGHT << FRACTION;
/// The share of the expected noise that a score is lowered by. With all of it, large marginals are
/// never measured at small epsilon, however wrong their prediction is (largest error .17 instead of
/// .10); with less, noise is measured where little is to be learned.
const NOISE: f64 = 0.5;

/// The sum of the absolute values of noise on so many counts, as expected.
pub fn expected_noise(deviation: f64, counts: usize) -> f64 {
    deviation * std::f64::consts::FRAC_2_PI.sqrt() * counts as f64
}

/// The distance between true and predicted counts, less a part of the noise that measuring them would
/// add, times a weight of at most [`WEIGHT`].
///
/// `law`, `rows` and `deviation` come from noisy counts or from the request. They are rounded before
/// they meet the true counts, so that the score is an exact integer.
pub fn score(counts: &[u64], law: &[f64], rows: f64, deviation: f64, weight: u64) -> i128 {
    let scale = f64::from(1u32 << FRACTION);
    let noise = (NOISE * expected_noise(deviation, counts.len()) * scale).min(1e30) as i128;
    let distance: i128 = counts
        .iter()
        .zip(law)
        .map(|(&count, &p)| {
            let predicted = (p * rows * scale).round().clamp(0.0, 1e25) as i128;
            ((i128::from(count) << FRACTION) - predicted).abs()
        })
        .sum();
    (distance - noise) * i128::from(weight.min(WEIGHT))
}
