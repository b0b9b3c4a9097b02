//! Chooses the support from which itemsets are mined, so that few draws are rejected.
//!
//! The law of a draw does not depend on this choice; only the time does. A trial is accepted with the probability
//! (weight of all) / (itemsets + excess of the mined + G pairs), where G is the excess over the support of the
//! largest support that is not mined. Mining from a lower support makes G smaller, and takes longer.

use super::itemset_space::ln;
use super::sampler::Weights;
use super::subsets::Subsets;
use super::support::Supports;
use super::support_levels::SupportLevels;
use dashu_int::UBig;
use random::{Coins, below_big};
use table::{Bag, Itemsets, Stop, Watch};

/// The purpose of a sampler.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SamplerPurpose {
    /// This number of independent draws.
    Draws(u64),
    /// This number of different itemsets.
    Distinct(u64),
}

impl SamplerPurpose {
    fn number(self) -> u64 {
        match self {
            SamplerPurpose::Draws(number) | SamplerPurpose::Distinct(number) => number,
        }
    }

    /// The number of itemsets of largest support that may be removed before the last draw.
    fn gone(self) -> u64 {
        match self {
            SamplerPurpose::Draws(_) => 0,
            SamplerPurpose::Distinct(number) => number,
        }
    }
}

/// The number of trials that cost about as much as mining: in total, and at least for each draw.
const TRIALS: u64 = 10_000;
const TRIALS_PER_DRAW: f64 = 4.0;
/// Pairs that are tried to find out whether mining is needed, and the largest numbers of trials, in total and for
/// each draw, at which mining is not worth it: mining may take many seconds.
const PILOT: usize = 256;
const TRIALS_WITHOUT: u64 = 300_000;
const TRIALS_WITHOUT_PER_DRAW: f64 = 32.0;
/// The largest number of itemsets that are mined; takes some seconds.
const MINED: u64 = 1_000_000;
/// The largest number of bytes of a mined itemset, including temporary memory while it is mined and sorted.
const BYTES: u64 = 256;
/// A cap on numbers: above it they make no difference, and logarithms stay finite.
const LARGE: f64 = 1e300;

/// The facts that are known before anything is mined.
pub(super) struct Facts<'a> {
    pub(super) weights: &'a Weights,
    /// The number of itemsets.
    pub(super) itemsets: &'a UBig,
    pub(super) subsets: &'a Subsets<'a>,
    pub(super) supports: &'a Supports<'a>,
    /// The largest support.
    pub(super) most: u64,
    pub(super) wanted: SamplerPurpose,
}

impl Facts<'_> {
    /// Mines the itemsets from some support on, and returns them with that support. Too many itemsets are not an
    /// error: then fewer are mined, and more draws rejected.
    pub(super) fn mine(
        &self,
        bag: &Bag,
        max_length: usize,
        watch: &Watch,
    ) -> Result<(u64, SupportLevels), Stop> {
        let theta = self.weights.theta;
        let levels = |itemsets| SupportLevels::new(itemsets, theta, watch);
        if self.needed(f64::NEG_INFINITY) > self.most || self.is_quick_without(watch)? {
            return Ok((u64::MAX, levels(Itemsets::new())?));
        }
        let room = watch.memory_limit().saturating_sub(watch.memory());
        let limit = MINED.min(room / BYTES);
        let mut found: Option<(u64, Itemsets)> = None;
        let mut too_many = 0;
        let mut from = theta.min(self.most).max(1);
        loop {
            let held = watch.hold(room / 2)?;
            let mined =
                mining::frequent(bag, None, from, Some(max_length), &watch.part(room / 2, limit));
            drop(held);
            match mined {
                Ok(itemsets) => {
                    let needed = self.needed(self.ln_excess(&itemsets));
                    found = Some((from, itemsets));
                    let next = needed.max(from / 2).max(too_many + 1);
                    if from <= needed || next >= from {
                        break;
                    }
                    from = next;
                }
                Err(Stop::Cancelled) => return Err(Stop::Cancelled),
                Err(_) => {
                    too_many = from;
                    let (next, end) = match &found {
                        Some((found, _)) => (from + (found - from) / 2, *found),
                        None => (from.saturating_mul(2), self.most + 1),
                    };
                    if next >= end || next - from <= next / 16 {
                        break;
                    }
                    from = next;
                }
            }
        }
        let (from, itemsets) = found.unwrap_or((u64::MAX, Itemsets::new()));
        Ok((from, levels(itemsets)?))
    }

    /// Whether few trials are rejected without mining, by a pilot with coins of its own.
    fn is_quick_without(&self, watch: &Watch) -> Result<bool, Stop> {
        if self.wanted.gone() > 0 {
            return Ok(false);
        }
        let ln_share = |support: u64| {
            self.ln_excess_of(support.min(self.weights.theta)) - (support as f64).ln()
        };
        let most = ln_share(self.most.min(self.weights.theta));
        let (mut coins, mut accepted) = (Coins::seeded(0), 0.0);
        for i in 0..PILOT {
            watch.poll_every(16, i)?;
            let items = self.subsets.itemset(below_big(&mut coins, self.subsets.total()));
            accepted += (ln_share(self.supports.of(&items)) - most).exp();
        }
        let trials = self.trials(TRIALS_WITHOUT).min(TRIALS_WITHOUT_PER_DRAW);
        Ok(accepted * trials >= PILOT as f64)
    }

    /// The number of trials that a draw may take if all draws together may take `all`.
    fn trials(&self, all: u64) -> f64 {
        ((all / self.wanted.number().max(1)) as f64).max(TRIALS_PER_DRAW)
    }

    /// The largest support to mine from that makes rejections few enough, if the excess of the mined itemsets that
    /// stay is at least exp(`ln_excess`); above the largest support if no mining is needed.
    fn needed(&self, ln_excess: f64) -> u64 {
        let gone = UBig::from(self.wanted.gone());
        let itemsets = ln(&(self.itemsets - (&gone).min(self.itemsets)));
        let high = itemsets.max(ln_excess);
        let whole = high + ((itemsets - high).exp() + (ln_excess - high).exp()).ln();
        let allowed =
            if high == f64::NEG_INFINITY { high } else { whole + self.trials(TRIALS).ln() };
        let fits = |from: u64| self.ln_pairs(from - 1) <= allowed;
        // The condition holds from 1 on up to some support, so bisection finds it.
        let (mut low, mut high) = (1, self.most.saturating_add(2));
        while high - low > 1 {
            let middle = low + (high - low) / 2;
            if fits(middle) { low = middle } else { high = middle }
        }
        low
    }

    /// ln(G pairs) if the largest support that is not mined is `most`.
    fn ln_pairs(&self, most: u64) -> f64 {
        let most = most.min(self.weights.theta);
        if most == 0 {
            return f64::NEG_INFINITY;
        }
        self.ln_excess_of(most) - (most as f64).ln() + ln(self.subsets.total())
    }

    /// ln(exp(c support) - 1).
    fn ln_excess_of(&self, support: u64) -> f64 {
        let x = (self.weights.c.to_f64() * support as f64).min(LARGE);
        x + (-(-x).exp_m1()).ln()
    }

    /// The logarithm of the excess of itemsets, without those of the largest supports, which may be removed.
    fn ln_excess(&self, itemsets: &Itemsets) -> f64 {
        let supports = itemsets.iter().map(|(_, support)| support.min(self.weights.theta));
        let mut supports: Vec<u64> = supports.collect();
        supports.sort_unstable_by(|a, b| b.cmp(a));
        let stay = supports.get(self.wanted.gone() as usize..).unwrap_or_default();
        let Some(&largest) = stay.first() else { return f64::NEG_INFINITY };
        let largest = self.ln_excess_of(largest);
        let shares = stay.iter().map(|&support| (self.ln_excess_of(support) - largest).exp());
        largest + shares.sum::<f64>().ln()
    }
}
