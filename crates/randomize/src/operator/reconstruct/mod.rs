//! The law of the inputs from counts of outputs. The proofs are in `reconstruct.md`.

mod em;

use super::Operator;
use super::linear::{LeftInverse, dot};
use random::Error;
use table::{Choice, Watch};

/// The method by which the law of the inputs is found.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Method {
    /// The law of maximum likelihood.
    Em,
    /// The law by the inverse of the operator: unbiased, but possibly negative.
    Inverse,
}

impl Choice for Method {
    const NAMES: &'static [(&'static str, Self)] =
        &[("em", Method::Em), ("inverse", Method::Inverse)];
}

/// The estimate for one input.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Estimate {
    pub probability: f64,
    /// The standard deviation as an estimate of the probability from which inputs were drawn; `None` if the outputs
    /// do not distinguish the inputs.
    pub stddev: Option<f64>,
    /// The same as an estimate of the share of this input among the inputs that were randomised.
    pub stddev_of_share: Option<f64>,
}

/// The law of the inputs, from the number of observations of each output. `inverse` takes O(|X|^2 |Y|), `em` as much
/// for the standard deviations, and O(|X| |Y|) for each of its rounds.
pub fn reconstruct(
    operator: &Operator,
    observed: &[u64],
    method: Method,
    watch: &Watch,
) -> Result<Vec<Estimate>, Error> {
    let shares = shares(operator, observed)?;
    let matrices = if operator.inputs() > operator.outputs() { 0 } else { LeftInverse::MATRICES };
    let _held = watch.hold(matrices * operator.memory())?;
    let count = observed.iter().map(|&n| n as f64).sum::<f64>();
    let even = operator.output_law(&vec![1.0 / operator.inputs() as f64; operator.inputs()]);
    let left = LeftInverse::new(operator, |y| reciprocal(even[y]), watch)?;
    let solved: Option<Vec<f64>> =
        left.as_ref().map(|left| left.rows().map(|row| dot(row, &shares)).collect());
    let is_square = operator.inputs() == operator.outputs();
    match (method, left, solved) {
        (Method::Inverse, Some(left), Some(law)) => Ok(estimates(law, &left, &shares, count)),
        (Method::Inverse, ..) => Err(Error::argument(
            "operator",
            "a matrix that cannot be inverted",
            "its outputs must tell its inputs apart; method 'em' takes any operator",
        )),
        // A law that explains the shares exactly has maximum likelihood.
        (Method::Em, Some(left), Some(law)) if is_square && law.iter().all(|&p| p >= 0.0) => {
            Ok(estimates(law, &left, &shares, count))
        }
        (Method::Em, left, solved) => {
            let law = em::likeliest(operator, &shares, count, solved, watch)?;
            let fitted = operator.output_law(&law);
            let left = match left {
                Some(left) if is_square => Some(left),
                _ => LeftInverse::new(operator, |y| reciprocal(fitted[y]), watch)?,
            };
            Ok(match left {
                Some(left) => estimates(law, &left, &fitted, count),
                None => law.into_iter().map(without_stddev).collect(),
            })
        }
    }
}

/// The share of each output among those observed.
fn shares(operator: &Operator, observed: &[u64]) -> Result<Vec<f64>, Error> {
    const NAME: &str = "observed";
    Error::require(
        observed.len() == operator.outputs(),
        NAME,
        format_args!("an array of length {}", observed.len()),
        "the operator must have a column for each of its counts",
    )?;
    let count = observed.iter().map(|&n| n as f64).sum::<f64>();
    Error::require(count != 0.0, NAME, "zeros only", "at least one output must be observed")?;
    let impossible = |&y: &usize| observed[y] > 0 && operator.column(y).all(|p| p == 0.0);
    if let Some(y) = (0..observed.len()).find(impossible) {
        return Err(Error::argument(
            NAME,
            format_args!("{} at [{}]", observed[y], y + 1),
            "the operator never gives that output",
        ));
    }
    Ok(observed.iter().map(|&n| n as f64 / count).collect())
}

fn reciprocal(p: f64) -> f64 {
    if p > 0.0 { 1.0 / p } else { 0.0 }
}

fn without_stddev(probability: f64) -> Estimate {
    Estimate { probability, stddev: None, stddev_of_share: None }
}

/// A law with the standard deviations of the estimate by `left` if outputs have the law `outputs`.
fn estimates(law: Vec<f64>, left: &LeftInverse, outputs: &[f64], count: f64) -> Vec<Estimate> {
    let of = |(probability, row): (f64, &[f64])| {
        let squares: f64 = row.iter().zip(outputs).map(|(q, p)| q * q * p).sum();
        let deviation = |mean_square: f64| Some(((squares - mean_square).max(0.0) / count).sqrt());
        Estimate {
            probability,
            stddev: deviation(probability * probability),
            stddev_of_share: deviation(probability),
        }
    };
    law.into_iter().zip(left.rows()).map(of).collect()
}

#[cfg(test)]
mod tests;
