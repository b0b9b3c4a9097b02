//! The cost of one mechanism, and of several together, as (epsilon, delta) and as rho. Rounding never favours the
//! spender: costs are rounded up, and what a budget allows is rounded down. The proofs are in `cost.md`.

use crate::zcdp::pure_rho;
use random::Error;
use serde::{Deserialize, Serialize};

/// Half a unit in the last place of 1.
pub(crate) const U: f64 = f64::EPSILON / 2.0;

/// An (epsilon, delta) guarantee, seen as a cost.
#[derive(Debug, Clone, Copy, PartialEq, Default, Serialize, Deserialize)]
pub struct Cost {
    pub epsilon: f64,
    pub delta: f64,
}

impl Cost {
    /// Both guarantees together, by basic composition: epsilons and deltas add.
    pub fn plus(self, other: Cost) -> Cost {
        Cost {
            epsilon: add_up(self.epsilon, other.epsilon),
            delta: add_up(self.delta, other.delta).min(1.0),
        }
    }

    /// The guarantee for someone who owns up to `rows` rows, if this one protects a single row:
    /// epsilon g and delta (e^(g epsilon) - 1) / (e^epsilon - 1).
    pub fn of_rows(self, rows: u64) -> Cost {
        if rows <= 1 {
            return self;
        }
        let epsilon = self.epsilon * rows as f64;
        let factor = if self.epsilon > 0.0 {
            // The ratio as e^(epsilon (g-1)) (1 - e^(-g epsilon)) / (1 - e^-epsilon): no overflow
            // before the result overflows.
            (self.epsilon * (rows as f64 - 1.0)).exp() * (-epsilon).exp_m1()
                / (-self.epsilon).exp_m1()
        } else {
            rows as f64
        };
        let delta = if self.delta == 0.0 { 0.0 } else { self.delta * factor * (1.0 + 1e-12) };
        Cost { epsilon: epsilon.next_up(), delta: delta.min(1.0) }
    }
}

/// What one release takes out of a budget, in both currencies of the ledger (see `ledger.md`).
///
/// A mechanism makes it before it looks at data; the ledger adds charges up.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Charge {
    /// All of it as (epsilon, delta), for basic composition.
    pub whole: Cost,
    /// The part that is zero-concentrated; `None` if there is no such part.
    pub rho: Option<f64>,
    /// What is not covered by `rho`: a delta of choosing groups, or all of a mechanism without rho.
    pub rest: Cost,
}

impl Charge {
    /// A guarantee of which only (epsilon, delta) is known.
    pub fn plain(cost: Cost) -> Self {
        Charge { whole: cost, rho: None, rest: cost }
    }

    /// Pure epsilon-DP, which is epsilon^2 / 2 - zCDP.
    pub fn pure(epsilon: f64) -> Self {
        Charge {
            whole: Cost { epsilon, delta: 0.0 },
            rho: Some(pure_rho(epsilon)),
            rest: Cost::default(),
        }
    }

    /// The charge for someone who owns up to `rows` rows, if this one protects a single row: rho grows with the
    /// square. A delta beside rho does not add up along the rows; in that case only (epsilon, delta) is known.
    pub fn of_rows(self, rows: u64) -> Self {
        if rows <= 1 {
            return self;
        }
        let whole = self.whole.of_rows(rows);
        let squared = (rows as f64 * rows as f64).next_up();
        match self.rho {
            Some(rho) if self.rest == Cost::default() => {
                Charge { whole, rho: Some((rho * squared).next_up()), rest: self.rest }
            }
            _ => Charge::plain(whole),
        }
    }
}

/// The guarantee when a coin of probability `r` sends each row to a mechanism of cost `first` or,
/// with the remaining probability, to one of cost `second`.
///
/// epsilon = ln(r e^epsilon1 + (1-r) e^epsilon2); delta is the larger of the means of the two deltas
/// with the weights (r, 1-r) and with the weights (r e^-epsilon1, (1-r) e^-epsilon2).
pub fn mixture(r: f64, first: Cost, second: Cost) -> Cost {
    let s = 1.0 - r;
    let (top, low) = (first.epsilon.max(second.epsilon), first.epsilon.min(second.epsilon));
    let epsilon = top + (r * (first.epsilon - top).exp() + s * (second.epsilon - top).exp()).ln();
    let backward = (r * (low - first.epsilon).exp(), s * (low - second.epsilon).exp());
    let mean = |(a, b): (f64, f64)| (a * first.delta + b * second.delta) / (a + b);
    // The means and the logarithm of equal parts are exact and need no rounding up.
    let delta = mean((r, s)).max(mean(backward));
    let bound = first.delta.max(second.delta);
    Cost {
        epsilon: (epsilon + 8.0 * U * (1.0 + top)).min(top),
        delta: (delta * (1.0 + 16.0 * U)).min(bound),
    }
}

/// The sum rounded up; exact if one of the two is 0.
pub fn add_up(a: f64, b: f64) -> f64 {
    let sum = a + b;
    // The rounding error of a sum, exactly (Knuth).
    let part = sum - a;
    let error = (a - (sum - part)) + (b - part);
    if error > 0.0 { sum.next_up() } else { sum }
}

/// What is left of `total` after `part`: the largest number whose sum with `part` is at most `total`.
pub fn rest_of(total: f64, part: f64) -> f64 {
    let rest = total - part;
    if add_up(part, rest) > total { rest.next_down() } else { rest }
}

/// Refuses a number that is not a valid epsilon.
pub fn check_epsilon(epsilon: f64) -> Result<(), Error> {
    let range = "it must be a finite number above 0";
    Error::require(epsilon > 0.0 && epsilon.is_finite(), "epsilon", epsilon, range)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn sums_are_rounded_up(a in 0f64..10.0, b in 0f64..10.0) {
            let sum = add_up(a, b);
            prop_assert!(sum >= a + b && sum - a >= b.next_down() && sum <= (a + b).next_up());
            prop_assert_eq!(add_up(a, 0.0), a);
            let (part, total) = (a.min(b), a.max(b));
            prop_assert!(add_up(part, rest_of(total, part)) <= total);
            prop_assert!(add_up(part, rest_of(total, part).next_up().next_up()) >= total);
        }

        #[test]
        fn a_mixture_lies_between_its_parts(
            r in 0.001f64..0.999,
            e1 in 0f64..5.0, d1 in 0f64..0.1,
            e2 in 0f64..5.0, d2 in 0f64..0.1,
        ) {
            let (a, b) = (Cost { epsilon: e1, delta: d1 }, Cost { epsilon: e2, delta: d2 });
            let mix = mixture(r, a, b);
            prop_assert!(mix.epsilon >= e1.min(e2) && mix.epsilon <= e1.max(e2));
            prop_assert!(mix.delta >= d1.min(d2) && mix.delta <= d1.max(d2));
            prop_assert_eq!(mixture(r, a, a), a);
        }
    }

    #[test]
    fn owning_more_rows_costs_more() {
        let cost = Cost { epsilon: 0.5, delta: 1e-6 };
        assert_eq!(cost.of_rows(1), cost);
        let three = cost.of_rows(3);
        assert!((three.epsilon - 1.5).abs() < 1e-15);
        let exact = 1e-6 * (1.5f64.exp() - 1.0) / (0.5f64.exp() - 1.0);
        assert!((three.delta / exact - 1.0).abs() < 1e-9 && three.delta >= exact);
        assert_eq!(Cost { epsilon: 1000.0, delta: 1e-9 }.of_rows(5).delta, 1.0);
        assert_eq!(Cost { epsilon: 1000.0, delta: 0.0 }.of_rows(5).delta, 0.0);
        assert_eq!(Cost { epsilon: 0.0, delta: 0.1 }.of_rows(2).delta.round(), 0.0);
    }
}
