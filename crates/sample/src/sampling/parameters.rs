//! The sampling rate that a budget allows, and the threshold that goes with it.

use super::{Rate, delta};
use guarantee::DeltaMethod;
use random::Error;

/// A sampling rate with its threshold and deltas.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Parameters {
    /// The probability with which a row is kept.
    pub beta: Rate,
    /// The support up to which an itemset is infrequent in the part of the rows that the scheme counts.
    pub theta1: u64,
    /// The smallest delta at this rate, rounded up.
    pub delta: f64,
    /// Li's bound at this rate, rounded up.
    pub delta_li: f64,
}

/// The largest rate found with (epsilon, delta) and classes of `k`, by bisection on multiples of 2^-32.
///
/// The limit 1 - exp(-epsilon) is tried first. The lower end of the bisection always meets delta, and that end is
/// returned. Li's bound is a saw-tooth in beta, so with it the rate is where one of its teeth crosses delta. theta1 =
/// ceil(k r / (beta (1 - r))) for r = `split`: the support in a share r of the rows at which about k sampled rows are
/// expected in the rest.
pub fn parameters(
    epsilon: f64,
    delta: f64,
    k: u64,
    split: f64,
    method: DeltaMethod,
) -> Result<Parameters, Error> {
    delta::check_arguments(k, epsilon)?;
    check_delta(delta)?;
    check_split(split)?;
    let cost = |beta: Rate| match method {
        DeltaMethod::Exact => delta::exact(k, beta.get(), epsilon),
        DeltaMethod::Li => delta::li(k, beta.get(), epsilon),
    };
    let feasible = |beta: &Rate| cost(*beta) <= delta;
    let infeasible = || Error::Infeasible { epsilon, delta, k };

    let limit = Rate::at_most(-(-epsilon).exp_m1()).ok_or_else(infeasible)?;
    let beta = if feasible(&limit) {
        limit
    } else {
        let (mut low, mut high) = (0, limit.numer());
        while high - low > 1 {
            let middle = low + (high - low) / 2;
            match Rate::new(middle) {
                Some(rate) if feasible(&rate) => low = middle,
                _ => high = middle,
            }
        }
        Rate::new(low).ok_or_else(infeasible)?
    };
    Ok(Parameters {
        beta,
        theta1: (k as f64 * split / (beta.get() * (1.0 - split))).ceil() as u64,
        delta: delta::exact(k, beta.get(), epsilon),
        delta_li: delta::li(k, beta.get(), epsilon),
    })
}

pub(crate) fn check_delta(delta: f64) -> Result<(), Error> {
    Error::require((0.0..1.0).contains(&delta), "delta", delta, "it must be at least 0 and below 1")
}

pub(crate) fn check_split(split: f64) -> Result<(), Error> {
    Error::require(split > 0.0 && split < 1.0, "split", split, "it must be above 0 and below 1")
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(64))]
        #[test]
        fn what_is_returned_meets_the_budget(
            epsilon in 0.001f64..5.0,
            exponent in 0.5f64..12.0,
            k in 1u64..200,
            split in 0.01f64..0.99,
            exact: bool,
        ) {
            let delta = 10f64.powf(-exponent);
            let method = if exact { DeltaMethod::Exact } else { DeltaMethod::Li };
            let Ok(found) = parameters(epsilon, delta, k, split, method) else {
                // A single row is shown with a probability of at least the rate, and rates are at least 2^-32.
                prop_assert!(k == 1 && delta < 2f64.powi(-31), "{epsilon} {delta} {k}");
                return Ok(());
            };
            let cost = if exact { found.delta } else { found.delta_li };
            prop_assert!(cost <= delta);
            prop_assert!(-(-found.beta.get()).ln_1p() <= epsilon);
            prop_assert!(found.delta <= found.delta_li * (1.0 + 1e-9));
            // For the exact delta, which is continuous, the next rate would cost too much.
            let next = Rate::new(found.beta.numer() + 1).unwrap().get();
            if exact && -(-next).ln_1p() <= epsilon * (1.0 - 1e-12) {
                prop_assert!(delta::exact(k, next, epsilon) > delta);
            }
        }
    }

    #[test]
    fn impossible_budgets_are_refused() {
        let run = |epsilon, delta| parameters(epsilon, delta, 5, 0.1, DeltaMethod::Exact);
        assert!(matches!(run(1.0, 0.0), Err(Error::Infeasible { .. })));
        assert!(matches!(run(1e-12, 0.1), Err(Error::Infeasible { .. })));
        assert!(matches!(run(1.0, 1e-300), Err(Error::Infeasible { .. })));
        for bad in [-0.1, 1.0, f64::NAN] {
            assert!(matches!(run(1.0, bad), Err(Error::Argument { name: "delta", .. })));
        }
        for split in [0.0, 1.0, -1.0, f64::NAN] {
            assert!(parameters(1.0, 0.1, 5, split, DeltaMethod::Li).is_err());
        }
    }

    #[test]
    fn an_enormous_epsilon_keeps_almost_everything() {
        let found = parameters(1e6, 1.0 - 1e-12, 40, 0.5, DeltaMethod::Exact).unwrap();
        assert_eq!(found.beta.numer(), u32::MAX);
    }
}
