//! Estimates supports from randomised transactions.

use super::linear::{inverse, norm};
use super::matrix::{check_itemset, transitions};
use super::operator::{check_keep, check_rho};
use random::Error;

/// The condition number above which rounding errors dominate the inverse.
const LARGEST_CONDITION: f64 = 1e10;

/// Inverts the randomisation of the number of shared items: made once for a size of itemsets, used for each of them.
#[derive(Debug, Clone)]
pub struct Estimator {
    transitions: Vec<Vec<f64>>,
    /// The last row of the inverse: the support is its product with the observed shares.
    row: Vec<f64>,
}

/// A support, as a share of the transactions.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Estimate {
    pub support: f64,
    pub stddev: f64,
}

impl Estimator {
    /// For itemsets of `itemset` items. Refuses sizes that no transaction contains, and operators after which
    /// itemsets of that size cannot be distinguished from others.
    pub fn new(itemset: usize, rho: f64, keep: &[f64]) -> Result<Self, Error> {
        check_rho(rho)?;
        check_keep(keep)?;
        check_itemset(itemset)?;
        let range =
            "it must be at most the size of a transaction: no larger one is contained in any";
        Error::require(itemset < keep.len(), "the size of the itemset", itemset, range)?;
        Estimator::with(itemset, rho, keep).ok_or_else(|| {
            let range = "with this keep the operator wipes out what itemsets of this size say: its matrix \
                         has no inverse";
            Error::argument("rho", rho, range)
        })
    }

    /// For parameters that were checked; `None` if the randomisation cannot be inverted.
    pub(super) fn with(itemset: usize, rho: f64, keep: &[f64]) -> Option<Self> {
        let transitions = transitions(itemset, rho, keep);
        let mut inverse = inverse(&transitions)?;
        let condition = norm(&transitions) * norm(&inverse);
        (condition <= LARGEST_CONDITION)
            .then(|| Some(Estimator { transitions, row: inverse.pop()? }))
            .flatten()
    }

    /// The number of items.
    pub fn itemset(&self) -> usize {
        self.row.len() - 1
    }

    /// The unbiased support, and its standard deviation given the transactions. `observed` has the number of
    /// randomised transactions by the number of items that they share with the itemset.
    pub fn support(&self, observed: &[u64]) -> Estimate {
        let all = observed.iter().sum::<u64>() as f64;
        if all == 0.0 {
            return Estimate { support: f64::NAN, stddev: f64::NAN };
        }
        let shares = || self.row.iter().zip(observed).map(|(q, &n)| (q, n as f64 / all));
        let support: f64 = shares().map(|(q, share)| q * share).sum();
        let squares: f64 = shares().map(|(q, share)| q * q * share).sum();
        Estimate { support, stddev: ((squares - support) / all).max(0.0).sqrt() }
    }

    /// The variance that one transaction with l shared items adds to the sum, by l.
    pub fn variances(&self) -> Vec<f64> {
        let last = self.itemset();
        let variance = |l: usize| {
            let squares: f64 =
                self.row.iter().zip(&self.transitions).map(|(q, row)| q * q * row[l]).sum();
            squares - f64::from(u8::from(l == last))
        };
        (0..=last).map(variance).collect()
    }
}

#[cfg(test)]
mod tests;
