//! Frequent itemsets of randomised transactions, level by level: supports are estimated, and an itemset
//! grows as long as its support may be large enough.
//!
//! * `transactions`: the transactions as bitmaps by item: [`Listed`] keeps them, [`Seeded`] computes them from seeds
//!   when they are needed.
//! * `count`: the number of transactions that contain each of many itemsets.
//! * `candidates`: the itemsets of the next level.
//! * [`Mining`] goes through the levels.

mod candidates;
mod count;
mod transactions;

pub use transactions::{Listed, Reader, Seeded, Transactions};

use super::matrix::choose;
use super::{Estimate, Estimator};
use candidates::CandidateLevel;
use random::Error;
use std::collections::HashMap;
use table::{Reservation, Stop, Watch};

/// The size of the largest itemsets: each needs the counts of all its subsets.
const MAX_ITEMSET: usize = 16;

/// The parameters of a search.
#[derive(Debug, Clone)]
pub struct Mining {
    /// By size, from 1 on.
    estimators: Vec<Estimator>,
    min_share: f64,
    margin: f64,
}

/// An itemset and the estimate of its support.
#[derive(Debug, Clone, PartialEq)]
pub struct Found {
    pub items: Vec<u32>,
    pub estimate: Estimate,
}

/// Itemsets that may still grow, with the number of randomised transactions that contain all their items.
type SupportCounts = HashMap<Vec<u32>, u64>;

impl Mining {
    /// Looks for itemsets of at most `max_itemset` items whose estimated share is at least `min_share`, in
    /// transactions randomised by an operator with this rho and keep. Itemsets at most `margin` standard deviations
    /// below `min_share` may grow.
    pub fn new(
        rho: f64,
        keep: &[f64],
        min_share: f64,
        max_itemset: usize,
        margin: f64,
    ) -> Result<Self, Error> {
        let range = "it must be a share of the transactions: above 0 and at most 1";
        Error::require(min_share > 0.0 && min_share <= 1.0, "min_share", min_share, range)?;
        let range = "it must be a finite number of standard deviations of at least 0";
        Error::require(margin >= 0.0 && margin.is_finite(), "margin", margin, range)?;
        Error::require(
            (1..=MAX_ITEMSET).contains(&max_itemset),
            "max_itemset",
            max_itemset,
            "it must be from 1 to 16 items",
        )?;
        let sizes = 1..=max_itemset.min(keep.len().saturating_sub(1)).max(1);
        let estimators =
            sizes.map(|size| Estimator::new(size, rho, keep)).collect::<Result<_, _>>()?;
        Ok(Mining { estimators, min_share, margin })
    }

    /// The itemsets, by length, then by descending support, then by items.
    pub fn run(
        &self,
        transactions: &(impl Transactions + ?Sized),
        watch: &Watch,
    ) -> Result<Vec<Found>, Stop> {
        let mut found: Vec<Found> = Vec::new();
        let mut held = Reservation::new(watch);
        if transactions.count() == 0 {
            return Ok(found);
        }
        let mut counts = SupportCounts::new();
        let mut level = CandidateLevel::of_items(transactions.items());
        for estimator in &self.estimators {
            if level.is_empty() {
                break;
            }
            let supports = count::count(transactions, &level, watch)?;
            let before = found.len();
            let mut grown = Vec::new();
            for (i, (items, &support)) in level.itemsets().zip(&supports).enumerate() {
                watch.poll(i)?;
                let observed = observed(items, support, &counts, transactions.count());
                let estimate = estimator.support(&observed);
                if estimate.support >= self.min_share {
                    watch.found(1)?;
                    found.push(Found { items: items.to_vec(), estimate });
                }
                if estimate.support >= self.min_share - self.margin * estimate.stddev {
                    // The items twice, once for each list, and the overhead of lists and maps.
                    held.add(8 * items.len() as u64 + 128)?;
                    grown.push((items.to_vec(), support));
                }
            }
            let order = |a: &Found, b: &Found| {
                b.estimate
                    .support
                    .total_cmp(&a.estimate.support)
                    .then_with(|| a.items.cmp(&b.items))
            };
            found[before..].sort_by(order);
            let itemsets: Vec<Vec<u32>> = grown.iter().map(|(items, _)| items.clone()).collect();
            counts.extend(grown);
            level = CandidateLevel::above(&itemsets, |items| counts.contains_key(items), watch)?;
        }
        Ok(found)
    }
}

/// The number of transactions by the number of items that they share with an itemset, from the numbers that contain
/// each of its subsets: transactions with exactly l of its items are the sum over subsets of j >= l items of (-1)^(j
/// - l) C(j, l) times their count.
fn observed(items: &[u32], support: u64, counts: &SupportCounts, all: u64) -> Vec<u64> {
    let k = items.len();
    let mut by_size = vec![0i128; k + 1];
    by_size[0] = i128::from(all);
    by_size[k] = i128::from(support);
    let mut part = Vec::with_capacity(k);
    for chosen in 1..(1u32 << k) - 1 {
        part.clear();
        part.extend((0..k).filter(|i| chosen >> i & 1 == 1).map(|i| items[i]));
        // All subsets were counted, because an itemset grows only if they all do.
        by_size[part.len()] += counts.get(&part).map_or(0, |&count| i128::from(count));
    }
    let exactly = |l: usize| {
        let term = |j: usize| {
            let sign = if (j - l).is_multiple_of(2) { 1 } else { -1 };
            sign * choose(j, l) as i128 * by_size[j]
        };
        (l..=k).map(term).sum::<i128>()
    };
    (0..=k).map(|l| u64::try_from(exactly(l)).unwrap_or(0)).collect()
}

#[cfg(test)]
mod tests;
