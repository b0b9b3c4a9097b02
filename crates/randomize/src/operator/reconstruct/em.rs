//! The law of the inputs that makes what was observed likeliest, by expectation and maximisation.

use crate::operator::Operator;
use crate::operator::linear::dot;
use table::{Stop, Watch};

/// The logarithm of the likelihood is at most this far from the largest when the rounds end: a law so near
/// is a few thousandths of a standard deviation away.
const GAP: f64 = 1e-5;

/// Probabilities that may be looked at before the law is taken as it is, and the least and most rounds that
/// this may be: some ten seconds for a thousand inputs and outputs.
const WORK: usize = 2_000_000_000;
const FEWEST_ROUNDS: usize = 200;
const MOST_ROUNDS: usize = 100_000;

/// The share of an even law that is mixed into the law to begin with: a zero would stay one.
const EVEN: f64 = 1e-3;

/// The likeliest law, found from `start` or from an even law. `shares` are those of `count` outputs.
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
    // Nobody knows how many rounds it takes.
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
        // A step that goes too far is not taken: each round makes what was observed likelier.
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

/// A law made of another one by one step of expectation and maximisation.
struct Step {
    law: Vec<f64>,
    /// Of the law that the step was made from: the mean logarithm of the likelihood, and a bound on how much
    /// the likeliest law's is above it.
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

/// Where three laws in a row lead to, if they go on like this (Varadhan and Roland's squared extrapolation),
/// but nowhere near zero: what is zero stays zero.
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
