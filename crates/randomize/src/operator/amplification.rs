//! Amplification: how far an operator can move a belief, whatever the prior.

use super::Operator;
use random::Error;

/// Bounds on a posterior probability.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Bounds {
    pub low: f64,
    pub high: f64,
}

/// The least gamma for which the operator is at most gamma-amplifying: the largest p\[x1 -> y\] /
/// p\[x2 -> y\] over all inputs and all outputs that occur. Infinite where an output rules an input out.
/// The operator is ln(gamma)-locally differentially private, and no better.
pub fn amplification(operator: &Operator) -> f64 {
    let outputs = operator.outputs();
    let (mut least, mut most) = (vec![f64::INFINITY; outputs], vec![0.0f64; outputs]);
    for row in operator.rows() {
        for ((least, most), &p) in least.iter_mut().zip(&mut most).zip(row) {
            *least = least.min(p);
            *most = most.max(p);
        }
    }
    let occurring = least.into_iter().zip(most).filter(|&(_, most)| most > 0.0);
    occurring.map(|(least, most)| most / least).fold(1.0, f64::max)
}

/// The gamma from which an operator may cause a breach from `rho1` to `rho2`, or down from `rho2` to `rho1`: below it
/// there is none, whatever the prior (Statement 1). At it a prior of exactly `rho1` can reach exactly `rho2`, which
/// counts as a breach.
pub fn breach_gamma(rho1: f64, rho2: f64) -> Result<f64, Error> {
    check_breach(rho1, rho2)?;
    Ok(rho2 / rho1 * ((1.0 - rho1) / (1.0 - rho2)))
}

/// The bounds on the posterior of a property whose prior is `prior`, for an operator with this gamma. Some operator
/// reaches each of them.
pub fn breach_posterior(gamma: f64, prior: f64) -> Result<Bounds, Error> {
    Error::require(gamma >= 1.0, "gamma", gamma, "it must be at least 1")?;
    check_probability("prior", prior)?;
    // The odds change by at most the factor gamma; 0 and 1 are certain and stay.
    let moved = |p: f64, factor: f64| if p == 0.0 { 0.0 } else { p / (p + (1.0 - p) / factor) };
    Ok(Bounds {
        low: if prior == 1.0 { 1.0 } else { moved(prior, 1.0 / gamma) },
        high: moved(prior, gamma),
    })
}

/// Refuses limits that do not satisfy 0 < `rho1` < `rho2` < 1.
pub fn check_breach(rho1: f64, rho2: f64) -> Result<(), Error> {
    Error::require(rho1 > 0.0 && rho1 < 1.0, "rho1", rho1, "it must lie between 0 and 1")?;
    Error::require(rho2 > rho1 && rho2 < 1.0, "rho2", rho2, "it must lie between rho1 and 1")?;
    Ok(())
}

/// Refuses a number that is not a probability.
pub fn check_probability(name: &'static str, value: f64) -> Result<(), Error> {
    Error::require((0.0..=1.0).contains(&value), name, value, "it is a probability: from 0 to 1")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::operator::{NumberOperator, Prior, posterior};
    use proptest::prelude::*;

    fn close(a: f64, b: f64) -> bool {
        (a - b).abs() <= 1e-12 * b.abs()
    }

    #[test]
    fn vectors_of_amplification() {
        let r3 = NumberOperator::new(0, 1000, 100, 0.5).unwrap().matrix().unwrap();
        assert!(close(amplification(&r3), 1202.0 / 201.0)); // 002-gamma-R3
        for (rho1, rho2, limit) in [
            (1.0 / 7.0, 0.5, 6.0), // 002-gamma-0
            (0.01, 0.5, 99.0),     // 002-gamma-2
            (0.02, 0.3, 21.0),     // 002-gamma-4
        ] {
            assert!(close(breach_gamma(rho1, rho2).unwrap(), limit));
        }
        let bounds = breach_posterior(5.980099502487562, 0.14285714285714285).unwrap();
        assert!(close(bounds.high, 0.4991694352159468)); // 002-posterior-1
        assert!(close(bounds.low, 0.027114528530959123));
        let bounds = breach_posterior(9.0, 0.1).unwrap();
        assert!(close(bounds.high, 0.5)); // 002-posterior-3
        assert!(close(bounds.low, 0.012195121951219514));
    }

    #[test]
    fn edges() {
        let of = |cells: &[f64], outputs| {
            amplification(&Operator::new(cells.to_vec(), outputs).unwrap())
        };
        assert_eq!(of(&[0.3, 0.7], 2), 1.0);
        assert_eq!(of(&[1.0, 0.0, 0.0, 1.0], 2), f64::INFINITY);
        // An output that never occurs does not count.
        assert_eq!(of(&[0.5, 0.5, 0.0, 0.25, 0.75, 0.0], 3), 2.0);
        let bounds =
            |gamma, prior| breach_posterior(gamma, prior).map(|b| (b.low, b.high)).unwrap();
        assert_eq!(bounds(f64::INFINITY, 0.3), (0.0, 1.0));
        assert_eq!(bounds(f64::INFINITY, 0.0), (0.0, 0.0));
        assert_eq!(bounds(f64::INFINITY, 1.0), (1.0, 1.0));
        assert_eq!(bounds(1.0, 0.25), (0.25, 0.25));
        for (gamma, prior) in
            [(0.9, 0.5), (f64::NAN, 0.5), (2.0, -0.1), (2.0, 1.1), (2.0, f64::NAN)]
        {
            assert!(breach_posterior(gamma, prior).is_err(), "{gamma} {prior}");
        }
        for (rho1, rho2) in
            [(0.5, 0.5), (0.6, 0.5), (0.0, 0.5), (0.5, 1.0), (f64::NAN, 0.5), (0.1, f64::NAN)]
        {
            assert!(breach_gamma(rho1, rho2).is_err(), "{rho1} {rho2}");
        }
    }

    #[test]
    fn at_the_limit_the_breach_is_reached_and_below_it_is_not() {
        let (rho1, rho2) = (0.125, 0.5);
        let gamma = breach_gamma(rho1, rho2).unwrap();
        assert_eq!(breach_posterior(gamma, rho1).unwrap().high, rho2);
        assert!(breach_posterior(gamma * (1.0 - 1e-9), rho1).unwrap().high < rho2);
    }

    /// An operator with `outputs` outputs of weights from 1 to 100.
    fn operators() -> impl Strategy<Value = (Operator, Vec<u32>)> {
        (2usize..6, 2usize..5).prop_flat_map(|(inputs, outputs)| {
            let weights = prop::collection::vec(1u32..100, inputs * outputs);
            (weights, prop::collection::vec(1u32..100, inputs)).prop_map(move |(weights, prior)| {
                let row = |row: &[u32]| {
                    let total = row.iter().sum::<u32>();
                    row.iter().map(|&w| f64::from(w) / f64::from(total)).collect::<Vec<f64>>()
                };
                let cells = weights.chunks(outputs).flat_map(row).collect();
                (Operator::new(cells, outputs).unwrap(), prior)
            })
        })
    }

    proptest! {
        /// Every property of every input set stays within the bounds by gamma.
        #[test]
        fn no_property_passes_the_bound((operator, weights) in operators()) {
            let total = f64::from(weights.iter().sum::<u32>());
            let prior: Vec<f64> = weights.iter().map(|&w| f64::from(w) / total).collect();
            let gamma = amplification(&operator);
            let known = Prior::new(prior.clone(), &operator).unwrap();
            for y in 0..operator.outputs() {
                let after = posterior(&operator, &known, y).unwrap();
                for property in 0u32..1 << operator.inputs() {
                    let of = |law: &[f64]| -> f64 {
                        (0..law.len()).filter(|x| property >> x & 1 == 1).map(|x| law[x]).sum()
                    };
                    let bounds = breach_posterior(gamma, of(&prior).min(1.0)).unwrap();
                    let seen = of(&after);
                    prop_assert!(seen <= bounds.high + 1e-12 && seen >= bounds.low - 1e-12);
                }
            }
        }
    }
}
