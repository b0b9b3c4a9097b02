//! The law of the inputs of maximum likelihood, by expectation maximisation.

use crate::operator::Operator;
use crate::operator::linear::dot;
use table::{Stop, Watch};

/// The rounds end when the log-likelihood is at most this far from the largest: such a law is a few thousandths of a
/// standard deviation away.
const GAP: f64 = 1e-5;

/// The number of probabilities that may be computed before the law is returned as it is, and the least and largest
/// number of rounds: some ten seconds for a thousand inputs and outputs.
const WORK: usize = 2_000_000_000;
const FEWEST_ROUNDS: usize = 200;
const MOST_ROUNDS: usize = 100_000;

/// The share of the uniform law that is mixed into the law at the start: a zero would stay zero.
const EVEN: f64 = 1e-3;

/// The law of maximum likelihood, found from `start` or from a uniform law. `shares` are those of `count` outputs.
pub(super) fn likeliest(
    operator: &Operator,
    shares: &[f64],
    count: f64,
    start: Option<Vec<f64>>,
    watch: &Watch,
) -> Result<Vec<f64>, Stop> {
    let even = 1.0 / operator.inputs() as f64;
    let mut law: Vec<f64> = match start {
        Some(start) => start.into_iter().map(|p| p.max(0.0) + EVEN * even).collect(),
        None => vec![even; operator.inputs()],
    };
    normalise(&mut law);
    let fit = Fit { operator, shares };
    // The number of rounds is not known in advance.
    watch.begin(0);
    let rounds = (WORK / operator.cells().len()).clamp(FEWEST_ROUNDS, MOST_ROUNDS);
    for _ in 0..rounds {
        watch.check()?;
        let first = fit.step(&law);
        if first.excess * count <= GAP {
            return Ok(first.law);
        }
        let second = fit.step(&first.law);
        let further = extrapolated(&law, &first.law, &second.law);
        // A step that goes too far is not taken, so each round raises the likelihood.
        law = match fit.step(&further) {
            jumped if jumped.likelihood >= second.likelihood => jumped.law,
            _ => fit.step(&second.law).law,
        };
    }
    Ok(law)
}

struct Fit<'a> {
    operator: &'a Operator,
    shares: &'a [f64],
}

/// A law that results from another one by one step of expectation maximisation.
struct Step {
    law: Vec<f64>,
    /// For the law before the step: the mean log-likelihood, and a bound on how far the maximum is above it.
    likelihood: f64,
    excess: f64,
}

impl Fit<'_> {
    fn step(&self, law: &[f64]) -> Step {
        let fitted = self.operator.output_law(law);
        let seen = |&(&share, &p): &(&f64, &f64)| share > 0.0 && p > 0.0;
        let pairs = self.shares.iter().zip(&fitted);
        let likelihood = pairs.clone().filter(seen).map(|(share, p)| share * p.ln()).sum();
        let ratios: Vec<f64> =
            pairs.map(|pair| if seen(&pair) { pair.0 / pair.1 } else { 0.0 }).collect();
        let gains: Vec<f64> = self.operator.rows().map(|row| dot(row, &ratios)).collect();
        let excess = gains.iter().copied().fold(0.0, f64::max) - 1.0;
        let mut law: Vec<f64> = law.iter().zip(gains).map(|(p, gain)| p * gain).collect();
        normalise(&mut law);
        Step { law, likelihood, excess }
    }
}

/// Extrapolates from three laws in a row (Varadhan and Roland's squared extrapolation), but stays away from zero,
/// because a zero stays zero.
fn extrapolated(start: &[f64], first: &[f64], second: &[f64]) -> Vec<f64> {
    let triples = || start.iter().zip(first).zip(second).map(|((a, b), c)| (a, b, c));
    let (mut speed, mut turn) = (0.0, 0.0);
    for (a, b, c) in triples() {
        speed += (b - a).powi(2);
        turn += (c - 2.0 * b + a).powi(2);
    }
    if turn == 0.0 {
        return second.to_vec();
    }
    let length = (speed / turn).sqrt().max(1.0);
    let far = |(a, b, c): (&f64, &f64, &f64)| {
        let reached = a + 2.0 * length * (b - a) + length * length * (c - 2.0 * b + a);
        reached.max(0.01 * c)
    };
    let mut law: Vec<f64> = triples().map(far).collect();
    normalise(&mut law);
    law
}

fn normalise(law: &mut [f64]) {
    let total: f64 = law.iter().sum();
    law.iter_mut().for_each(|p| *p /= total);
}
