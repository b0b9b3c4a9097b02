//! Audits of privacy claims from two neighbouring tables: the exact delta where the law of the output is known, and
//! otherwise a lower bound on epsilon from repeated runs. A label must not promise less epsilon than such a bound.

use crate::Share;
use std::collections::BTreeMap;

/// The probability of each result.
pub type Law<T> = BTreeMap<T, f64>;

/// The smallest delta for which `p` is within a factor e^epsilon of `q` (the hockey-stick divergence): the sum over
/// all results of max(0, p - e^epsilon q). A mechanism is (epsilon, delta)-DP if this is at most delta for every two
/// neighbouring tables, in both directions.
pub fn divergence<T: Ord>(p: &Law<T>, q: &Law<T>, epsilon: f64) -> f64 {
    let factor = epsilon.exp();
    p.iter().map(|(result, p)| (p - factor * q.get(result).unwrap_or(&0.0)).max(0.0)).sum()
}

/// The largest epsilon that these two shares of an event refute, given delta:
/// ln((p - delta) / q), wrong with probability at most `alpha`.
fn refuted(p: Share, q: Share, delta: f64, alpha: f64) -> f64 {
    let (p, q) = (p.lower(alpha / 2.0), q.upper(alpha / 2.0));
    if p > delta { ((p - delta) / q).ln().max(0.0) } else { 0.0 }
}

/// A lower bound on the epsilon of a mechanism at `delta`, from what it showed on two neighbouring
/// tables; too high with probability at most `alpha`.
///
/// The first half of the runs chooses the event and the direction, the second half is tested.
pub fn epsilon_bound<T: Ord + Clone>(one: &[T], other: &[T], delta: f64, alpha: f64) -> f64 {
    let (train_one, test_one) = one.split_at(one.len() / 2);
    let (train_other, test_other) = other.split_at(other.len() / 2);
    let there = event(train_one, train_other, delta, alpha);
    let back = event(train_other, train_one, delta, alpha);
    let share = |runs: &[T], event: &[T]| Share {
        hits: runs.iter().filter(|seen| event.binary_search(seen).is_ok()).count() as u64,
        runs: runs.len() as u64,
    };
    if there.0 >= back.0 {
        refuted(share(test_one, &there.1), share(test_other, &there.1), delta, alpha)
    } else {
        refuted(share(test_other, &back.1), share(test_one, &back.1), delta, alpha)
    }
}

/// The event that refutes the largest epsilon on these runs. It holds the results that speak most for `p`, as long as
/// adding one raises the bound, in ascending order.
fn event<T: Ord + Clone>(p: &[T], q: &[T], delta: f64, alpha: f64) -> (f64, Vec<T>) {
    let mut counts: BTreeMap<&T, (u64, u64)> = BTreeMap::new();
    p.iter().for_each(|seen| counts.entry(seen).or_default().0 += 1);
    q.iter().for_each(|seen| counts.entry(seen).or_default().1 += 1);
    let mut order: Vec<(&T, (u64, u64))> = counts.into_iter().collect();
    order.sort_by(|(_, a), (_, b)| (b.0 * (a.1 + 1)).cmp(&(a.0 * (b.1 + 1))));
    let (mut hits, mut best) = ((0, 0), (0.0, 0));
    for (taken, (_, (in_p, in_q))) in order.iter().enumerate() {
        hits = (hits.0 + in_p, hits.1 + in_q);
        let share = |hits, runs: &[T]| Share { hits, runs: runs.len() as u64 };
        let bound = refuted(share(hits.0, p), share(hits.1, q), delta, alpha);
        if bound > best.0 {
            best = (bound, taken + 1);
        }
    }
    let mut event: Vec<T> = order[..best.1].iter().map(|(seen, _)| (*seen).clone()).collect();
    event.sort();
    (best.0, event)
}

#[cfg(test)]
mod tests {
    use super::*;
    use random::{Coins, Noise};

    /// Laplace noise on neighbouring counts: its epsilon is known and attained.
    fn laplace(epsilon: f64, runs: usize) -> [Vec<i128>; 2] {
        let noise = Noise::laplace(1, epsilon).unwrap();
        let mut coins = Coins::seeded(11);
        [5, 6].map(|count| (0..runs).map(|_| noise.add(&mut coins, count)).collect())
    }

    #[test]
    fn the_bound_stays_below_a_true_epsilon_and_comes_close() {
        let [one, other] = laplace(1.0, 8000);
        let bound = epsilon_bound(&one, &other, 0.0, 0.001);
        assert!(bound <= 1.0 && bound > 0.75, "{bound}");
    }

    #[test]
    fn divergences_are_those_of_known_laws() {
        // Randomised response: ratio 3, so nothing is left beyond ln 3, and half before.
        let law = |p: f64| Law::from([(0, p), (1, 1.0 - p)]);
        let (one, other) = (law(0.75), law(0.25));
        assert!((divergence(&one, &other, 0.0) - 0.5).abs() < 1e-15);
        assert!(divergence(&one, &other, 3f64.ln()) < 1e-15);
        assert!((divergence(&one, &other, 2f64.ln()) - 0.25).abs() < 1e-15);
        // A result that one table can never show counts with its whole probability.
        assert_eq!(divergence(&law(1.0), &Law::from([(1, 1.0)]), 100.0), 1.0);
    }

    #[test]
    fn a_broken_mechanism_is_found_guilty() {
        // Half of the noise that epsilon 0.5 needs.
        let [one, other] = laplace(1.0, 8000);
        assert!(epsilon_bound(&one, &other, 0.01, 0.001) > 0.5);
    }

    #[test]
    fn equal_laws_refute_nothing() {
        let [one, _] = laplace(1.0, 4000);
        let (a, b) = one.split_at(2000);
        assert_eq!(epsilon_bound(a, b, 0.0, 0.001), 0.0);
        assert_eq!(epsilon_bound::<i128>(&[], &[], 0.0, 0.001), 0.0);
    }
}
