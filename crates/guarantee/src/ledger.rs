//! The rule by which a budget admits the next release. The proof is in `ledger.md`.

use crate::cost::{Charge, Cost, U, add_up};
use crate::zcdp::zcdp_epsilon;

/// The sum of all charges to a budget, as the ledger keeps it.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct Spent {
    pub whole: Cost,
    pub rho: f64,
    pub rest: Cost,
}

impl Spent {
    /// The sum with one more charge.
    pub fn plus(self, charge: &Charge) -> Self {
        Spent {
            whole: self.whole.plus(charge.whole),
            rho: add_up(self.rho, charge.rho.unwrap_or(0.0)),
            rest: self.rest.plus(charge.rest),
        }
    }

    /// The least epsilon that a budget with this `delta` needs to admit all charges, by the rule of `ledger.md`;
    /// infinite if no epsilon is enough. A budget admits the next charge if the sum with it needs at most the
    /// budget's epsilon.
    pub fn epsilon(&self, delta: f64) -> f64 {
        let basic = self.whole.delta <= delta * BASIC;
        let basic = if basic { self.whole.epsilon } else { f64::INFINITY };
        let concentrated = concentrated_epsilon(self.rho, self.rest, delta);
        concentrated.map_or(basic, |epsilon| epsilon.min(basic))
    }
}

/// Shares of a budget's delta (see `ledger.md`). This one is for basic composition.
const BASIC: f64 = 1.0 / 2.0;
/// For events that break the guarantee outright, in the concentrated branches.
pub const REST: f64 = 3.0 / 16.0;
/// For the tail of rho if there is no epsilon beside it.
const CONCENTRATED: f64 = 1.0 / 4.0;
/// For the tail of rho with epsilons beside it, over all orders.
const MIXED: f64 = 1.0 / 16.0;
/// The Rényi orders of that branch: 1 + 2^i. They are fixed, because an analyst who could choose one after the
/// answers would choose the order whose bound was exceeded.
const ORDERS: std::ops::Range<i32> = -3..13;

/// The epsilon that charges have taken of a budget with this `delta`, by the concentrated branches of the ledger's
/// rule: zcdp_epsilon(rho, delta/4) if `rest` has no epsilon; otherwise the least over fixed orders. `None` if `rest`
/// has used up its share of delta: then these branches admit nothing.
pub fn concentrated_epsilon(rho: f64, rest: Cost, delta: f64) -> Option<f64> {
    if !(delta > 0.0 && delta < 1.0 && rest.delta <= delta * REST && rho.is_finite()) {
        return None;
    }
    if rest.epsilon == 0.0 && rho == 0.0 {
        return Some(0.0);
    }
    if rest.epsilon == 0.0 {
        let epsilon = zcdp_epsilon(rho, delta * CONCENTRATED).ok();
        return epsilon.filter(|epsilon| epsilon.is_finite());
    }
    let tail = delta * MIXED / ORDERS.len() as f64;
    let at_order = |i: i32| {
        let beyond = 2f64.powi(i);
        let order = 1.0 + beyond;
        // The conversion of `zcdp_delta`, solved for epsilon.
        let gain = order.ln() / beyond - (-1.0 / order).ln_1p();
        let epsilon = order * rho + rest.epsilon - tail.ln() / beyond - gain;
        epsilon + 16.0 * U * (order * rho + rest.epsilon - tail.ln() / beyond + gain)
    };
    let least = ORDERS.map(at_order).fold(f64::INFINITY, f64::min);
    Some(least.max(0.0)).filter(|epsilon| epsilon.is_finite())
}
