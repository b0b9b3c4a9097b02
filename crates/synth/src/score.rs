//! How badly the law predicts a pair, as an integer with an exact sensitivity.

/// Bits after the binary point of predicted counts.
const FRACTION: u32 = 6;
/// The largest weight; weights are integers.
pub const WEIGHT: u64 = 1 << 10;
/// The largest change of a score by one row: one count changes by one, times the largest weight.
pub const SENSITIVITY: u64 = WEIGHT << FRACTION;
/// The share of the expected noise by which a score is lowered. With all of it, large marginals are never measured at
/// small epsilon, however wrong their prediction is (largest error .17 instead of .10). With less, pairs are measured
/// where there is mostly noise to learn.
const NOISE: f64 = 0.5;

/// The expected sum of the absolute values of noise on this number of counts.
pub fn expected_noise(deviation: f64, counts: usize) -> f64 {
    deviation * std::f64::consts::FRAC_2_PI.sqrt() * counts as f64
}

/// The distance between true and predicted counts, less a part of the noise that measuring them would
/// add, times a weight of at most [`WEIGHT`].
///
/// `law`, `rows` and `deviation` come from noisy counts or from the request. They are rounded before they are
/// compared with the true counts, so that the score is an exact integer.
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
