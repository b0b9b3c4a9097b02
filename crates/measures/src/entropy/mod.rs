//! Entropy privacy loss (Chirayath, Longpré, Kreinovich, *Measuring Privacy Loss in Statistical Databases*): what a
//! released statistic reveals about single records, in bits.
//!
//! The records are independent, each with a prior over the same values. A release says in which window the statistic
//! lies, and changes the prior of each record into a posterior:
//! 1. [`Release`] is the statistic and its window, [`Prior`] the distribution of some equal records;
//! 2. `lattice` turns values and window into integers;
//! 3. `sums` finds the likelihood of the release for each value of a record: `polynomial_sums` multiplies polynomials
//!    where that is affordable, `fourier` adds up characteristic functions where it is not, both of distributions
//!    that `tilting` has moved to the release. `extremes` does it for min and max;
//! 4. `bits` compares each posterior with its prior: a [`Loss`].
//!
//! Also: `binary` has Theorems 1 and 2, `interval` the measure of privacy by intervals.

mod binary;
mod bits;
mod extremes;
mod fourier;
mod interval;
mod lattice;
mod polynomial_sums;
mod prior;
mod release;
mod sums;
#[cfg(test)]
mod tests;
mod tilting;

pub use binary::{binary_entropy_loss, expected_binary_entropy_loss};
pub use bits::Loss;
pub use interval::interval_privacy;
pub use prior::Prior;
pub use release::{Release, Statistic, Window};

use crate::Rational;
use table::{Stop, Watch};

/// The reasons why no loss is reported.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Refused {
    /// No database with these priors gives this release.
    Impossible,
    /// There are too many records, values or steps between them.
    TooLarge,
}

/// The largest loss of any record by a release; `None` if there are no records.
///
/// `domain` are the different values of a record, in the order of the priors' probabilities. Cost: with n records of
/// k values that lie within K steps, O(n² K k) where that is below a billion, else O(√n K k).
pub fn entropy_loss(
    domain: &[Rational],
    priors: &[Prior],
    release: &Release,
    watch: &Watch,
) -> Result<Result<Option<Loss>, Refused>, Stop> {
    let priors = prior::grouped(priors);
    if priors.is_empty() {
        return Ok(Ok(None));
    }
    let likelihoods = match release.statistic {
        Statistic::Min | Statistic::Max => extremes::likelihoods(domain, &priors, release),
        _ => sums::likelihoods(domain, &priors, release, watch)?,
    };
    Ok(likelihoods.and_then(|likelihoods| {
        let losses = priors.iter().zip(&likelihoods);
        let losses: Option<Vec<Loss>> =
            losses.map(|(prior, likelihood)| Loss::of(&prior.probabilities, likelihood)).collect();
        losses.map(|losses| losses.into_iter().reduce(Loss::worst)).ok_or(Refused::Impossible)
    }))
}
