//! The delta of sampling and suppression, exactly and by the published bound.

use guarantee::check_epsilon;
use random::Error;
use random::binomial::{tail_above, weighted_tail_above};

/// The cost of sampling at rate beta and suppressing below k, in addition to epsilon.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct SamplingDelta {
    /// The smallest delta for which the guarantee holds, rounded up.
    pub delta: f64,
    /// The bound d(k, beta, epsilon) of Li, Qardaji and Su, rounded up.
    pub delta_li: f64,
}

/// The share of a class above which a sample is more likely for the larger of two neighbouring tables by more than
/// e^epsilon: gamma = 1 - (1 - beta) exp(-epsilon), and its complement.
struct Gamma {
    gamma: f64,
    complement: f64,
}

impl Gamma {
    fn new(beta: f64, epsilon: f64) -> Self {
        let exponent = (-beta).ln_1p() - epsilon;
        Gamma { gamma: -exponent.exp_m1(), complement: exponent.exp() }
    }
}

/// Delta of keeping each row with probability `beta` and showing only forms of at least `k` sampled
/// rows, for neighbours that differ in one row and `epsilon >= -ln(1 - beta)`.
///
/// Exactly, delta = max over N of E[(J - gamma N)+; J >= k] / (N (1 - gamma)), J ~ Bin(N, beta);
/// the maximum is at N = max(k, ceil((k-1)/gamma)), so this is one sum of some tens of terms.
/// Li's bound is max over n >= k/gamma - 1 of P(Bin(n, beta) > gamma n).
pub fn sampling_delta(k: u64, beta: f64, epsilon: f64) -> Result<SamplingDelta, Error> {
    check_arguments(k, epsilon)?;
    Error::require(beta > 0.0 && beta < 1.0, "beta", beta, "it must be above 0 and below 1")?;
    // A limit that the caller computed as 1 - exp(-epsilon) is rounded. It counts as the limit if it belongs to this
    // epsilon; for a tiny epsilon rounding leaves no digits to compare.
    let limit = -(-epsilon).exp_m1();
    let is_within = beta <= limit || -(-beta).ln_1p() <= epsilon * (1.0 + 1e-12);
    Error::require(is_within, "beta", beta, "it must be at most 1 - exp(-epsilon)")?;
    Ok(SamplingDelta { delta: exact(k, beta, epsilon), delta_li: li(k, beta, epsilon) })
}

pub(super) fn check_arguments(k: u64, epsilon: f64) -> Result<(), Error> {
    // Counts near k must be exact as floats.
    let range = "it must be at least 1 and below 2^32";
    Error::require((1..=u64::from(u32::MAX)).contains(&k), "k", k, range)?;
    check_epsilon(epsilon)
}

/// The exact delta, rounded up.
pub(super) fn exact(k: u64, beta: f64, epsilon: f64) -> f64 {
    let (k, gamma) = (k as f64, Gamma::new(beta, epsilon));
    let best = ((k - 1.0) / gamma.gamma).ceil().max(k);
    // Rounding may move the maximum by one; next to it the values are nearly equal.
    let around = [best, best + 1.0, (best - 1.0).max(k)];
    clip(around.into_iter().map(|n| exact_at(k, n, beta, &gamma)).fold(0.0, f64::max))
}

/// E[(J - gamma n)+; J >= k] / (n (1 - gamma)) for J ~ Bin(n, beta), rounded up.
fn exact_at(k: f64, n: f64, beta: f64, gamma: &Gamma) -> f64 {
    let from = k.max((gamma.gamma * n).floor());
    if gamma.gamma <= 0.5 {
        let per_row = 1.0 / (n * gamma.complement);
        let weight = |j: f64| (j - gamma.gamma * n + 4.0 * f64::EPSILON * j).max(0.0) * per_row;
        weighted_tail_above(n, from, beta, per_row * (1.0 + 4.0 * f64::EPSILON), weight)
            * (1.0 + 8.0 * f64::EPSILON)
    } else {
        // The same weight as 1 - (n - j) / (n (1 - gamma)): exact at j = n, even where 1 - gamma is 0.
        let slope = 1.0 / (n * gamma.complement);
        let weight = |j: f64| match n - j {
            0.0 => 1.0,
            gap => (1.0 - gap * slope + 8.0 * f64::EPSILON).max(0.0),
        };
        weighted_tail_above(n, from, beta, slope.min(1.0) * (1.0 + 4.0 * f64::EPSILON), weight)
            * (1.0 + 8.0 * f64::EPSILON)
    }
}

/// Li's d(k, beta, epsilon), rounded up.
pub(super) fn li(k: u64, beta: f64, epsilon: f64) -> f64 {
    let Gamma { gamma, complement } = Gamma::new(beta, epsilon);
    // KL(gamma || beta); the second logarithm of the divergence is -epsilon.
    let divergence = gamma * (gamma / beta).ln() - complement * epsilon;
    let (mut j, mut best) = (k as f64, 0.0f64);
    loop {
        // Among all n with floor(gamma n) + 1 = j the largest has the largest tail. If j / gamma is
        // within rounding of an integer the larger n is taken: never too small.
        let n = (j / gamma * (1.0 + 4.0 * f64::EPSILON)).ceil() - 1.0;
        if !n.is_finite() || best > 0.0 && -n * divergence < best.ln() - 1e-9 {
            return clip(best);
        }
        best = best.max(tail_above(n, j, beta));
        if best == 0.0 {
            return clip(best);
        }
        // While n - j stays the same, the tail falls with j: skip to where n - j grows.
        let gap = (n - j + 1.0) * gamma / complement * (1.0 - 4.0 * f64::EPSILON);
        j = gap.floor().max(j + 1.0);
    }
}

/// Keeps a delta above 0 and at most 1, because no sample has a delta of 0.
fn clip(delta: f64) -> f64 {
    delta.clamp(f64::MIN_POSITIVE, 1.0)
}

#[cfg(test)]
mod tests {
    use super::*;
    use random::testing::binomial;

    /// The worst hockey-stick divergence, both ways, between the outputs on classes of N-1 and N rows.
    fn brute_force(k: usize, beta: f64, epsilon: f64, largest: usize) -> f64 {
        let outputs = |n: usize| {
            let pmf = binomial(n, beta);
            let mut shown = vec![0.0; largest + 1];
            for (j, p) in pmf.iter().enumerate() {
                shown[if j >= k { j } else { 0 }] += p;
            }
            shown
        };
        let stick = |a: &[f64], b: &[f64]| {
            a.iter().zip(b).map(|(a, b)| (a - epsilon.exp() * b).max(0.0)).sum::<f64>()
        };
        let outputs: Vec<Vec<f64>> = (0..=largest).map(outputs).collect();
        outputs
            .windows(2)
            .map(|pair| stick(&pair[1], &pair[0]).max(stick(&pair[0], &pair[1])))
            .fold(0.0, f64::max)
    }

    #[test]
    fn delta_is_the_worst_privacy_loss_over_all_class_sizes() {
        for k in [1, 2, 3, 5, 8] {
            for epsilon in [0.3f64, 0.7, 1.0, 2.5] {
                for share in [0.2, 0.5, 0.9, 1.0] {
                    let beta = -(-epsilon).exp_m1() * share;
                    let brute = brute_force(k, beta, epsilon, 70);
                    let delta = sampling_delta(k as u64, beta, epsilon).unwrap().delta;
                    assert!(
                        delta >= brute * (1.0 - 1e-12) && delta <= brute * (1.0 + 1e-9) + 1e-13,
                        "k {k}, beta {beta}, epsilon {epsilon}: {delta} {brute}"
                    );
                }
            }
        }
    }

    #[test]
    fn the_closed_form_maximum_is_the_maximum() {
        for k in [2u64, 4, 11, 37] {
            for epsilon in [0.05f64, 0.4, 1.0, 3.0] {
                for share in [0.1, 0.6, 1.0] {
                    let beta = -(-epsilon).exp_m1() * share;
                    let gamma = Gamma::new(beta, epsilon);
                    let end = (3.0 * k as f64 / gamma.gamma) as u64 + 20;
                    let scanned = (k..end)
                        .map(|n| exact_at(k as f64, n as f64, beta, &gamma))
                        .fold(0.0, f64::max);
                    let delta = exact(k, beta, epsilon);
                    assert!((delta / scanned - 1.0).abs() < 1e-12, "{k} {epsilon} {share}");
                }
            }
        }
    }

    #[test]
    fn li_is_the_maximum_of_the_tail() {
        for k in [1u64, 3, 5, 20] {
            for epsilon in [0.1f64, 1.0, 2.0, 4.0] {
                for share in [0.3, 0.7, 0.999] {
                    let beta = -(-epsilon).exp_m1() * share;
                    let gamma = Gamma::new(beta, epsilon).gamma;
                    let start = (k as f64 / gamma - 1.0).ceil() as u64;
                    let scanned = (start..start + 3000)
                        .map(|n| tail_above(n as f64, (gamma * n as f64).floor() + 1.0, beta))
                        .fold(0.0, f64::max);
                    let bound = li(k, beta, epsilon);
                    assert!((bound / scanned - 1.0).abs() < 1e-10, "{k} {epsilon} {share}");
                }
            }
        }
    }

    #[test]
    fn extremes_are_answered_quickly_and_stay_probabilities() {
        for k in [1, 2, 10, 5000, 1_000_000, u64::from(u32::MAX)] {
            for epsilon in [1e-300, 1e-9, 1e-3, 0.1, 1.0, 20.0, 36.0, 700.0, 1e300] {
                let limit = -f64::exp_m1(-epsilon);
                for beta in [limit, limit / 2.0, limit * 1e-6, f64::MIN_POSITIVE] {
                    if !(beta > 0.0 && beta < 1.0) {
                        continue;
                    }
                    let SamplingDelta { delta, delta_li } =
                        sampling_delta(k, beta, epsilon).unwrap();
                    assert!(delta > 0.0 && delta <= 1.0, "{k} {beta} {epsilon}: {delta}");
                    assert!(delta_li > 0.0 && delta_li <= 1.0, "{k} {beta} {epsilon}: {delta_li}");
                    assert!(
                        delta <= delta_li * (1.0 + 1e-9),
                        "{k} {beta} {epsilon}: {delta} {delta_li}"
                    );
                }
            }
        }
    }

    #[test]
    fn a_rounded_limit_is_the_limit() {
        for epsilon in [1e-4f64, 0.01, 0.1, 1.0, 2.5, 10.0] {
            assert!(sampling_delta(5, 1.0 - (-epsilon).exp(), epsilon).is_ok(), "{epsilon}");
        }
    }

    #[test]
    fn bad_arguments_are_refused() {
        for (k, beta, epsilon) in [
            (0, 0.1, 1.0),
            (1 << 32, 0.1, 1.0),
            (5, 0.0, 1.0),
            (5, 1.0, 1.0),
            (5, f64::NAN, 1.0),
            (5, 0.1, 0.0),
            (5, 0.1, f64::NAN),
            (5, 0.1, f64::INFINITY),
            (5, 0.5, 0.1),
            // Above the limit by less than one rounding of 1, which is many times the limit.
            (5, 2e-16, 1e-17),
            (1000, 1e-300, 5e-324),
        ] {
            assert!(sampling_delta(k, beta, epsilon).is_err(), "{k} {beta} {epsilon}");
        }
    }
}
