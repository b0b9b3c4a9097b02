//! Limits on breaches from worst-case information: Statements 6 and 7.

use random::{Error, bisect};
use randomize::operator::{check_breach, check_probability};

/// Bounds on the posterior probability of a property, from worst-case information.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct BreachBound {
    /// By Statement 7 for the property.
    pub low: f64,
    /// By Statement 6 for the property.
    pub high: f64,
    /// By both statements for the property and for its complement.
    pub tight_low: f64,
    pub tight_high: f64,
}

/// The Kullback-Leibler distance of two events' probabilities, in bits.
fn distance(p: f64, q: f64) -> f64 {
    let part = |p: f64, q: f64| if p == 0.0 { 0.0 } else { p * (p / q).log2() };
    (part(p, q) + part(1.0 - p, 1.0 - q)).max(0.0)
}

/// The worst-case information below which no upward breach from `rho1` to `rho2` can occur (Statement 6),
/// and the inverse worst-case information below which no downward one from `rho2` to `rho1` can (7).
pub fn breach_information(rho1: f64, rho2: f64) -> Result<f64, Error> {
    check_breach(rho1, rho2)?;
    Ok(distance(rho2, rho1))
}

/// How far outputs can move the probability of a property whose prior is `prior`, if they reveal this number of bits.
/// The distance grows with the posterior's distance from the prior, so it is bisected.
pub fn information_breach_bound(
    worst_case: f64,
    inverse_worst_case: f64,
    prior: f64,
) -> Result<BreachBound, Error> {
    for (name, bits) in [("worst_case", worst_case), ("inverse_worst_case", inverse_worst_case)] {
        if bits.is_nan() || bits < 0.0 {
            return Err(Error::argument(name, bits, "it is a number of bits: 0 or more"));
        }
    }
    check_probability("prior", prior)?;
    if prior == 0.0 || prior == 1.0 {
        // A certain property stays certain.
        return Ok(BreachBound { low: prior, high: prior, tight_low: prior, tight_high: prior });
    }
    let straight = |posterior: f64| distance(posterior, prior) <= worst_case;
    let inverse = |posterior: f64| distance(prior, posterior) <= inverse_worst_case;
    let (low, high) = (lowest(prior, inverse), highest(prior, straight));
    Ok(BreachBound {
        low,
        high,
        tight_low: low.max(lowest(prior, straight)),
        tight_high: high.min(highest(prior, inverse)),
    })
}

/// The largest possible posterior, or slightly more.
fn highest(prior: f64, is_possible: impl Fn(f64) -> bool) -> f64 {
    if is_possible(1.0) { 1.0 } else { bisect(prior, 1.0, is_possible).1 }
}

/// The least possible posterior, or slightly less.
fn lowest(prior: f64, is_possible: impl Fn(f64) -> bool) -> f64 {
    if is_possible(0.0) { 0.0 } else { bisect(0.0, prior, |posterior| !is_possible(posterior)).0 }
}
