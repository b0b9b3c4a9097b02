//! The lowest discoverable support: the least support that lies four standard deviations above 0.

use super::estimate::Estimator;
use table::Choice;

/// The number of standard deviations between a support and 0 that count as significant.
const SIGMAS: f64 = 4.0;

/// What other transactions share with an itemset that some transactions contain. The paper does not say.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Convention {
    /// A transaction has all items of the itemset or none.
    #[default]
    AllOrNothing,
    /// No transaction has any: the deviation for an itemset that does not occur.
    Null,
}

impl Choice for Convention {
    const NAMES: &'static [(&'static str, Self)] =
        &[("allornothing", Convention::AllOrNothing), ("null", Convention::Null)];
}

impl Estimator {
    /// The lowest discoverable support among this number of transactions.
    pub fn lowest_discoverable(&self, transactions: u64, convention: Convention) -> f64 {
        let variances = self.variances();
        let (none, all) = (variances[0], variances[self.itemset()]);
        let factor = SIGMAS * SIGMAS / transactions as f64;
        match convention {
            Convention::Null => (factor * none).sqrt(),
            // s^2 = factor ((1 - s) none + s all)
            Convention::AllOrNothing => {
                let half = factor * (none - all) / 2.0;
                (half * half + factor * none).sqrt() - half
            }
        }
    }
}
