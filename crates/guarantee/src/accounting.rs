//! What mechanisms cost together. Every result is rounded against the person who spends it: costs
//! up, what a budget allows down.

use random::{Error, bisect};

/// Half a unit in the last place of 1.
const U: f64 = f64::EPSILON / 2.0;

/// An (epsilon, delta) guarantee, seen as a cost.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
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

/// What one release takes out of a budget, told in both currencies of the ledger (see `ledger.md`).
///
/// Made by the plan of a mechanism, added up by the ledger.
#[derive(Debug, Clone, Copy, PartialEq)]
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
            rho: Some((epsilon * epsilon / 2.0).next_up()),
            rest: Cost::default(),
        }
    }

    /// The charge for someone who owns up to `rows` rows, if this one protects a single row: rho
    /// grows with the square. A delta beside rho does not add up along the rows: then only (epsilon,
    /// delta) is known.
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

/// What charges have taken of a budget together. Made by the ledger, which adds them up.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct Spent {
    pub whole: Cost,
    pub rho: f64,
    pub rest: Cost,
}

impl Spent {
    /// With one more charge.
    pub fn plus(self, charge: &Charge) -> Self {
        Spent {
            whole: self.whole.plus(charge.whole),
            rho: add_up(self.rho, charge.rho.unwrap_or(0.0)),
            rest: self.rest.plus(charge.rest),
        }
    }

    /// The least epsilon of a budget with this `delta` that has room for all of it, by the rule of
    /// `ledger.md`; infinite if no epsilon has. The budget allows the next charge if it is at most
    /// the budget's epsilon with that charge.
    pub fn epsilon(&self, delta: f64) -> f64 {
        let basic = self.whole.delta <= delta * BASIC;
        let basic = if basic { self.whole.epsilon } else { f64::INFINITY };
        let concentrated = concentrated_epsilon(self.rho, self.rest, delta);
        concentrated.map_or(basic, |epsilon| epsilon.min(basic))
    }
}

/// Shares of a budget's delta (see `ledger.md`). For basic composition.
const BASIC: f64 = 1.0 / 2.0;
/// For what may go wrong outright in the concentrated branches.
pub const REST: f64 = 3.0 / 16.0;
/// For the tail of rho if there is nothing beside it.
const CONCENTRATED: f64 = 1.0 / 4.0;
/// For the tail of rho with epsilons beside it, over all orders.
const MIXED: f64 = 1.0 / 16.0;
/// Rényi orders for that: 1 + 2^i. They are fixed, because an analyst who could choose one after the
/// answers would choose the one that was exceeded.
const ORDERS: std::ops::Range<i32> = -3..13;

/// The epsilon that charges have taken of a budget with this `delta`, by the concentrated branches of
/// the ledger's rule: zcdp_epsilon(rho, delta/4) if `rest` has no epsilon; otherwise the least over
/// fixed orders. `None` if the rest has used its share of delta: then these branches allow nothing.
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

/// The sum rounded up; exact if one of the two is 0.
pub fn add_up(a: f64, b: f64) -> f64 {
    let sum = a + b;
    // The rounding error of a sum, exactly (Knuth).
    let part = sum - a;
    let error = (a - (sum - part)) + (b - part);
    if error > 0.0 { sum.next_up() } else { sum }
}

/// What is left of `total` after `part`: the largest number with which it adds up to no more.
pub fn rest_of(total: f64, part: f64) -> f64 {
    let rest = total - part;
    if add_up(part, rest) > total { rest.next_down() } else { rest }
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
    // The means and the logarithm of equal parts are exact: nothing to round up then.
    let delta = mean((r, s)).max(mean(backward));
    let bound = first.delta.max(second.delta);
    Cost {
        epsilon: (epsilon + 8.0 * U * (1.0 + top)).min(top),
        delta: (delta * (1.0 + 16.0 * U)).min(bound),
    }
}

/// The delta at which rho-zCDP gives (epsilon, delta)-DP.
///
/// min over a > 1 of exp((a-1)(a rho - epsilon)) (1 - 1/a)^a / (a - 1), proposition 12 of Canonne,
/// Kamath and Steinke, The Discrete Gaussian for Differential Privacy. Every a gives a valid delta,
/// so the search for the best one needs no proof.
pub fn zcdp_delta(rho: f64, epsilon: f64) -> f64 {
    if rho <= 0.0 {
        return 0.0;
    }
    // The derivative of the exponent, up to terms that do not change its sign's place much.
    let rises = |a: f64| (2.0 * a - 1.0) * rho - epsilon + (-1.0 / a).ln_1p() > 0.0;
    let (mut low, mut high) = (1.0 + 1e-9, (epsilon + 1.0) / (2.0 * rho) + 2.0);
    for _ in 0..200 {
        let middle = if high > 4.0 * low { (low * high).sqrt() } else { 0.5 * (low + high) };
        if middle <= low || middle >= high {
            break;
        }
        if rises(middle) { high = middle } else { low = middle }
    }
    let exponent = |a: f64| {
        let ln = (a - 1.0) * (a * rho - epsilon) + (a - 1.0) * (-1.0 / a).ln_1p() - a.ln();
        ln + 8.0 * U * ((a - 1.0) * (a * rho + epsilon) + a.ln() + 2.0)
    };
    let best = exponent(low).min(exponent(high));
    if best.is_nan() { 1.0 } else { (best.exp() * (1.0 + 4.0 * U)).clamp(f64::MIN_POSITIVE, 1.0) }
}

/// The smallest epsilon found at which rho-zCDP gives (epsilon, delta)-DP: never above
/// rho + 2 sqrt(rho ln(1/delta)), and below it by some per cent.
pub fn zcdp_epsilon(rho: f64, delta: f64) -> Result<f64, Error> {
    check_approximate(delta)?;
    if !(rho >= 0.0 && rho.is_finite()) {
        return Err(Error::argument("rho", rho, "it must be a finite number of at least 0"));
    }
    if zcdp_delta(rho, 0.0) <= delta {
        return Ok(0.0);
    }
    let mut high = rho + 2.0 * (rho * -delta.ln()).sqrt();
    while zcdp_delta(rho, high) > delta && high.is_finite() {
        high *= 2.0;
    }
    Ok(bisect(0.0, high, |epsilon| zcdp_delta(rho, epsilon) > delta).1)
}

/// The largest rho found for which rho-zCDP gives (epsilon, delta)-DP.
pub fn zcdp_rho(epsilon: f64, delta: f64) -> Result<f64, Error> {
    check_approximate(delta)?;
    check_epsilon(epsilon)?;
    // The inverse of epsilon = rho + 2 sqrt(rho ln(1/delta)) without cancellation is within reach.
    let l = -delta.ln();
    let simple = (epsilon / ((epsilon + l).sqrt() + l.sqrt())).powi(2);
    let mut high = simple.max(f64::MIN_POSITIVE);
    while zcdp_delta(high, epsilon) <= delta && high.is_finite() {
        high *= 2.0;
    }
    let rho = bisect(0.0, high, |rho| zcdp_delta(rho, epsilon) <= delta).0;
    if rho > 0.0 {
        return Ok(rho);
    }
    Err(Error::argument("epsilon", epsilon, "it is too small for this delta"))
}

/// Refuses what is no epsilon.
pub fn check_epsilon(epsilon: f64) -> Result<(), Error> {
    if epsilon > 0.0 && epsilon.is_finite() {
        return Ok(());
    }
    Err(Error::argument("epsilon", epsilon, "it must be a finite number above 0"))
}

fn check_approximate(delta: f64) -> Result<(), Error> {
    if delta > 0.0 && delta < 1.0 {
        return Ok(());
    }
    Err(Error::argument("delta", delta, "Gaussian noise needs one above 0 and below 1"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn known_conversions() {
        // The minimum over a fine grid of a, computed elsewhere.
        for (rho, epsilon, delta) in [
            (0.5, 3.0, 0.005143184113027972),
            (0.1, 2.0, 4.325211017004228e-6),
            (0.005, 0.5, 3.4493091811337545e-8),
        ] {
            let found = zcdp_delta(rho, epsilon);
            assert!((found / delta - 1.0).abs() < 1e-7, "{rho} {epsilon}: {found}");
        }
    }

    #[test]
    fn the_gaussian_itself_stays_below_the_conversion() {
        // The exact delta of a Gaussian of one coordinate, by summing the discrete law.
        for (sigma2, epsilon) in [(1.0f64, 1.0f64), (4.0, 0.5), (25.0, 0.3), (100.0, 0.2)] {
            let density = |x: i64| (-(x as f64).powi(2) / (2.0 * sigma2)).exp();
            let total: f64 = (-400..=400).map(density).sum();
            let exact: f64 = (-400..=400)
                .map(|x| ((density(x) - epsilon.exp() * density(x - 1)) / total).max(0.0))
                .sum();
            let bound = zcdp_delta(1.0 / (2.0 * sigma2), epsilon);
            assert!(bound >= exact, "{sigma2} {epsilon}: {bound} < {exact}");
            assert!(bound <= 12.0 * exact, "{sigma2} {epsilon}: {bound} far above {exact}");
        }
    }

    proptest! {
        #[test]
        fn conversions_agree_and_round_safely(ln_rho in -14.0f64..3.0, exponent in 1.0f64..12.0) {
            let (rho, delta) = (ln_rho.exp(), 10f64.powf(-exponent));
            let epsilon = zcdp_epsilon(rho, delta).unwrap();
            prop_assert!(epsilon <= rho + 2.0 * (rho * -delta.ln()).sqrt() * (1.0 + 1e-8));
            prop_assert!(zcdp_delta(rho, epsilon) <= delta);
            prop_assume!(epsilon > 0.0);
            let back = zcdp_rho(epsilon, delta).unwrap();
            prop_assert!((back / rho - 1.0).abs() < 1e-6, "{} {}", back, rho);
            prop_assert!(zcdp_delta(back, epsilon) <= delta);
        }

        #[test]
        fn more_rho_costs_more(rho in 1e-6f64..2.0, delta in 1e-12f64..0.1) {
            let epsilon = zcdp_epsilon(rho, delta).unwrap();
            prop_assume!(epsilon > 0.0);
            prop_assert!(zcdp_epsilon(rho * 1.01, delta).unwrap() > epsilon);
            prop_assert!(zcdp_epsilon(rho, delta / 1.5).unwrap() > epsilon);
            prop_assert!(zcdp_delta(rho, epsilon * 1.01) <= zcdp_delta(rho, epsilon));
        }

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

    #[test]
    fn extremes_never_fail() {
        for rho in [0.0, 1e-300, 1e-9, 1.0, 1e9, 1e300] {
            for delta in [1e-300, 1e-9, 0.999] {
                let epsilon = zcdp_epsilon(rho, delta).unwrap();
                assert!(epsilon.is_finite() && epsilon >= 0.0, "{rho} {delta}");
            }
        }
        for epsilon in [1e-300, 1e-9, 1.0, 1e9, 1e300] {
            for delta in [1e-300, 1e-9, 0.999] {
                if let Ok(rho) = zcdp_rho(epsilon, delta) {
                    assert!(rho > 0.0 && zcdp_delta(rho, epsilon) <= delta, "{epsilon} {delta}");
                }
            }
        }
        for bad in [0.0, 1.0, -1.0, f64::NAN] {
            assert!(zcdp_epsilon(1.0, bad).is_err() && zcdp_rho(1.0, bad).is_err());
        }
    }
}
