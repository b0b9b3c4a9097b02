//! A randomisation as a matrix of probabilities, and measures of how far its input and output depend on each other.

use random::Error;
use std::f64::consts::LN_2;

/// How far a sum of probabilities may be from 1.
const SLACK: f64 = 1e-9;

/// A randomisation of finitely many inputs, and the probability of each input.
#[derive(Debug, Clone)]
pub struct Channel {
    outputs: usize,
    /// By input, then output: the probability of the output.
    operator: Vec<f64>,
    prior: Vec<f64>,
}

/// How far input X and output Y of a channel depend on each other.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Dependence {
    /// The least epsilon with e^-epsilon <= P(x, y) / (P(x) P(y)) <= e^epsilon for all possible x and y;
    /// infinite if some combination of them is impossible.
    pub epsilon: f64,
    /// I(X; Y) in bits.
    pub mutual: f64,
    /// The largest mutual information that epsilon allows: epsilon tanh(epsilon / 2), in bits.
    pub mutual_bound: f64,
    /// The bits of min-entropy by which the output reduces that of the input.
    pub min_entropy_leakage: f64,
    /// The probability that the best guess of X from Y is right.
    pub guess: f64,
    /// The largest value of it that Fano's inequality allows, from I(X; Y) alone.
    pub guess_bound: f64,
}

impl Channel {
    /// `operator` has a row of `outputs` probabilities for each input, `prior` a probability for each input.
    pub fn new(outputs: usize, operator: Vec<f64>, prior: Vec<f64>) -> Result<Self, Error> {
        if operator.is_empty() || outputs == 0 || !operator.len().is_multiple_of(outputs) {
            let size = format_args!("of {} numbers", operator.len());
            let range = "it must be a matrix with a row for each input";
            return Err(Error::argument("operator", size, range));
        }
        check("operator", &operator)?;
        for row in operator.chunks_exact(outputs) {
            check_sum("operator", row, "each of its rows must add up to 1")?;
        }
        let inputs = operator.len() / outputs;
        if prior.len() != inputs {
            let size = format_args!("of {} numbers", prior.len());
            let range = "it must have one for each row of the operator";
            return Err(Error::argument("prior", size, range));
        }
        check("prior", &prior)?;
        check_sum("prior", &prior, "it must add up to 1")?;
        Ok(Channel { outputs, operator, prior })
    }

    /// The inputs that are possible, as pairs of prior and row.
    fn inputs(&self) -> impl Iterator<Item = (f64, &[f64])> {
        let rows = self.operator.chunks_exact(self.outputs);
        self.prior.iter().copied().zip(rows).filter(|&(prior, _)| prior > 0.0)
    }

    /// All measures at once, in time proportional to the matrix.
    pub fn dependence(&self) -> Dependence {
        let mut outputs = vec![0.0; self.outputs];
        // The most likely input for each output, weighted by its prior.
        let mut best = vec![0.0f64; self.outputs];
        for (prior, row) in self.inputs() {
            for ((sum, best), &p) in outputs.iter_mut().zip(&mut best).zip(row) {
                *sum += prior * p;
                *best = best.max(prior * p);
            }
        }
        let (mut epsilon, mut nats, mut entropy) = (0.0f64, 0.0, 0.0);
        for (prior, row) in self.inputs() {
            entropy -= prior * prior.ln();
            for (&p, &output) in row.iter().zip(&outputs) {
                if output > 0.0 {
                    // P(x, y) / (P(x) P(y)) - 1.
                    let excess = (p - output) / output;
                    epsilon = epsilon.max(excess.ln_1p().abs());
                    nats += prior * output * divergence(excess);
                }
            }
        }
        let guess: f64 = best.iter().sum();
        let first = self.prior.iter().copied().fold(0.0, f64::max);
        let entropy = entropy / LN_2;
        // Rounding must not make it larger than the entropy.
        let mutual = (nats / LN_2).min(entropy);
        let possible = self.inputs().count() as f64;
        // Fano: (H - I - 1) / log |X| is at most the probability of a wrong guess.
        let right = 1.0 - (entropy - mutual - 1.0) / possible.log2();
        Dependence {
            epsilon,
            mutual,
            mutual_bound: epsilon * (epsilon / 2.0).tanh() / LN_2,
            min_entropy_leakage: (guess / first).log2().max(0.0),
            guess: guess.min(1.0),
            guess_bound: right.clamp(0.0, 1.0),
        }
    }
}

/// (1 + d) ln(1 + d) - d, which is never negative. Its sum with the weights P(x) P(y) is the mutual information,
/// since the excesses d add up to 0. Near 0 the difference would cancel.
fn divergence(d: f64) -> f64 {
    if d <= -1.0 {
        1.0
    } else if d.abs() < 1e-3 {
        d * d * (0.5 - d * (1.0 / 6.0 - d * (1.0 / 12.0 - d * (0.05 - d / 30.0))))
    } else {
        (1.0 + d) * d.ln_1p() - d
    }
}

/// Refuses numbers that are not probabilities.
fn check(name: &'static str, values: &[f64]) -> Result<(), Error> {
    match values.iter().find(|value| !(0.0..=1.0 + SLACK).contains(*value)) {
        Some(value) => Err(Error::argument(
            name,
            format!("of numbers like {value}"),
            "probabilities are from 0 to 1",
        )),
        None => Ok(()),
    }
}

/// Refuses probabilities that do not add up to 1.
pub(super) fn check_sum(
    name: &'static str,
    values: &[f64],
    range: &'static str,
) -> Result<(), Error> {
    let sum: f64 = values.iter().sum();
    Error::require(
        (sum - 1.0).abs() <= SLACK,
        name,
        format_args!("of numbers that add up to {sum}"),
        range,
    )
}

#[cfg(test)]
mod tests {
    use super::super::super::cells::keep_probability;
    use super::*;
    use proptest::prelude::*;

    fn close(a: f64, b: f64) -> bool {
        (a - b).abs() <= 1e-9 * b.abs()
    }

    /// Randomised response on `size` values.
    fn response(epsilon: f64, size: usize) -> Vec<f64> {
        let keep = keep_probability(epsilon, size as u32);
        let other = (1.0 - keep) / (size - 1) as f64;
        let cell = |i: usize| if i.is_multiple_of(size + 1) { keep } else { other };
        (0..size * size).map(cell).collect()
    }

    #[test]
    fn mutual_information_of_the_vectors() {
        // 000-mi-0 and 000-mi-2.
        for (epsilon, bound, uniform) in [
            (0.1, 0.00720746998026048, 0.00124843923426841),
            (2.0, 2.1974962239348, 0.327813325472738),
        ] {
            let channel = Channel::new(2, response(epsilon, 2), vec![0.5, 0.5]).unwrap();
            let found = channel.dependence();
            assert!(close(found.mutual * LN_2, uniform), "{found:?}");
            // The bound is that of the dependence of this prior, which is below epsilon.
            assert!(found.epsilon < epsilon);
            assert!(close(epsilon * (epsilon / 2.0f64).tanh() / LN_2, bound));
            assert!(close(found.mutual_bound, found.epsilon * (found.epsilon / 2.0).tanh() / LN_2));
        }
    }

    /// The bound is reached: X chooses with probability 1/2 between the ratios e^epsilon and e^-epsilon.
    #[test]
    fn the_bound_on_mutual_information_is_tight() {
        // P(y|x) / P(y) is e^epsilon on a share 1 / (1 + e^epsilon) of the outputs, e^-epsilon on the rest:
        // with k inputs of equal weight and all choices of which outputs are favoured this is exact.
        let epsilon = 1.0f64;
        let p = 1.0 / (1.0 + epsilon.exp());
        // A large number of outputs, of which each input favours a share p.
        let (inputs, outputs) = (101usize, 101usize);
        let favoured = (p * outputs as f64).round() as usize;
        let (high, low) = (epsilon.exp(), (-epsilon).exp());
        let total = favoured as f64 * high + (outputs - favoured) as f64 * low;
        let mut operator = Vec::new();
        for x in 0..inputs {
            for y in 0..outputs {
                let offset = (y + outputs - x) % outputs;
                operator.push(if offset < favoured { high } else { low } / total);
            }
        }
        let channel = Channel::new(outputs, operator, vec![1.0 / inputs as f64; inputs]).unwrap();
        let found = channel.dependence();
        assert!(found.mutual <= found.mutual_bound);
        assert!(found.mutual > 0.97 * found.mutual_bound, "{found:?}");
    }

    #[test]
    fn posteriors_differ_by_twice_epsilon() {
        // 000-postratio-0 and 000-postratio-2: the ratio of the posteriors of two outputs.
        for (epsilon, prior, ratio) in
            [(1.0, 0.01, 1.97662186776082), (0.1, 0.001, 0.199799667501788)]
        {
            let keep = keep_probability(epsilon, 2);
            let posterior = |likelihood: f64, other: f64| {
                prior * likelihood / (prior * likelihood + (1.0 - prior) * other)
            };
            let found: f64 = (posterior(keep, 1.0 - keep) / posterior(1.0 - keep, keep)).ln();
            assert!(close(found, ratio) && found > epsilon && found <= 2.0 * epsilon);
            // Each of the two is within epsilon of the prior, as dependence states.
            let channel = Channel::new(2, response(epsilon, 2), vec![prior, 1.0 - prior]).unwrap();
            assert!(channel.dependence().epsilon <= epsilon);
            assert!(found <= 2.0 * channel.dependence().epsilon);
        }
    }

    #[test]
    fn ends() {
        let identity = Channel::new(2, vec![1.0, 0.0, 0.0, 1.0], vec![0.25, 0.75]).unwrap();
        let found = identity.dependence();
        assert_eq!(
            (found.epsilon, found.mutual_bound, found.guess),
            (f64::INFINITY, f64::INFINITY, 1.0)
        );
        assert!(close(found.mutual, 0.811278124459133));
        assert!(close(found.min_entropy_leakage, (1f64 / 0.75).log2()));
        let constant = Channel::new(2, vec![0.3, 0.7, 0.3, 0.7], vec![0.5, 0.5]).unwrap();
        let found = constant.dependence();
        assert_eq!((found.epsilon, found.mutual, found.mutual_bound), (0.0, 0.0, 0.0));
        assert_eq!((found.guess, found.min_entropy_leakage, found.guess_bound), (0.5, 0.0, 1.0));
        // An input or an output that does not occur counts for nothing.
        let unused = Channel::new(3, vec![0.3, 0.7, 0.0, 0.0, 0.0, 1.0], vec![1.0, 0.0]).unwrap();
        let found = unused.dependence();
        assert_eq!((found.epsilon, found.guess, found.guess_bound), (0.0, 1.0, 1.0));
        // Many indistinguishable inputs: the bound on guessing is not trivial.
        let many = Channel::new(1, vec![1.0; 1024], vec![1.0 / 1024.0; 1024]).unwrap();
        assert!(close(many.dependence().guess_bound, 0.1));
    }

    #[test]
    fn what_is_no_channel_is_refused() {
        let refused = |outputs, operator: &[f64], prior: &[f64]| {
            Channel::new(outputs, operator.to_vec(), prior.to_vec()).unwrap_err().to_string()
        };
        assert!(refused(2, &[], &[]).contains("operator is of 0 numbers"));
        assert!(refused(2, &[0.5, 0.6], &[1.0]).contains("1.1"));
        assert!(refused(2, &[-0.5, 1.5], &[1.0]).contains("-0.5"));
        assert!(refused(1, &[f64::NAN], &[1.0]).contains("NaN"));
        assert!(refused(1, &[1.0, 1.0], &[1.0]).contains("prior is of 1 numbers"));
        assert!(
            refused(1, &[1.0, 1.0], &[0.5, 0.6]).contains("prior is of numbers that add up to 1.1")
        );
    }

    proptest! {
        /// Against the definitions, and each measure against its bound.
        #[test]
        fn measures_are_as_defined(
            raw in proptest::collection::vec(proptest::collection::vec(0.01f64..1.0, 4), 3),
            weights in proptest::collection::vec(0.01f64..1.0, 3),
        ) {
            let total: f64 = weights.iter().sum();
            let prior: Vec<f64> = weights.iter().map(|w| w / total).collect();
            let rows: Vec<Vec<f64>> = raw.iter().map(|row| {
                let sum: f64 = row.iter().sum();
                row.iter().map(|p| p / sum).collect()
            }).collect();
            let found = Channel::new(4, rows.concat(), prior.clone()).unwrap().dependence();
            let (mut epsilon, mut mutual, mut guess) = (0.0f64, 0.0, 0.0);
            for y in 0..4 {
                let joint = || prior.iter().zip(&rows).map(|(prior, row)| prior * row[y]);
                let output: f64 = joint().sum();
                guess += joint().fold(0.0, f64::max);
                for (joint, row) in joint().zip(&rows) {
                    let ratio = row[y] / output;
                    epsilon = epsilon.max(ratio.ln().abs());
                    mutual += joint * ratio.log2();
                }
            }
            prop_assert!((found.epsilon - epsilon).abs() < 1e-9);
            prop_assert!((found.mutual - mutual).abs() < 1e-9);
            prop_assert!((found.guess - guess).abs() < 1e-12);
            prop_assert!(found.mutual <= found.mutual_bound + 1e-12);
            prop_assert!(found.guess <= found.guess_bound + 1e-12);
            let most = prior.iter().copied().fold(0.0, f64::max);
            prop_assert!((found.min_entropy_leakage - (guess / most).log2()).abs() < 1e-12);
        }
    }
}
