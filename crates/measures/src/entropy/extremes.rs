//! The likelihood of a released minimum or maximum for each value of a record, by products of distribution functions.

use super::Refused;
use super::prior::Prior;
use super::release::{Release, Statistic};
use crate::Rational;
use std::cmp::Ordering;

/// For each group and each value of the domain the log-likelihood of the release, up to a constant of the group.
///
/// For the maximum: no record lies after the window, and not all lie before it. If the record lies before it, the
/// likelihood is 1 - Π F(before) / F(before or in it) over the others; if it lies in it, 1. The minimum is the
/// maximum with before and after exchanged.
pub(super) fn likelihoods(
    domain: &[Rational],
    priors: &[Prior],
    release: &Release,
) -> Result<Vec<Vec<f64>>, Refused> {
    let places: Vec<Ordering> = domain
        .iter()
        .map(|value| match release.statistic {
            Statistic::Min => release.window.place(value).reverse(),
            _ => release.window.place(value),
        })
        .collect();
    // The logarithm of F(before) / F(before or in the window) for a record of each group.
    let mut shares = Vec::with_capacity(priors.len());
    for prior in priors {
        let mass = |of: Ordering| -> f64 {
            let pairs = places.iter().zip(&prior.probabilities);
            pairs.filter(|(place, _)| **place == of).map(|(_, p)| p).sum()
        };
        let (before, inside) = (mass(Ordering::Less), mass(Ordering::Equal));
        if before + inside == 0.0 {
            return Err(Refused::Impossible);
        }
        shares.push(if before == 0.0 {
            f64::NEG_INFINITY
        } else {
            (-inside / (before + inside)).ln_1p()
        });
    }
    let power = |share: f64, n: u64| if n == 0 { 0.0 } else { share * n as f64 };
    let of_group = |g: usize| {
        let others = priors.iter().zip(&shares).enumerate();
        let others: f64 = others
            .map(|(i, (prior, &share))| power(share, prior.records - u64::from(i == g)))
            .sum();
        let likelihood = |place: &Ordering| match place {
            Ordering::Less => (-others.exp_m1()).ln(),
            Ordering::Equal => 0.0,
            Ordering::Greater => f64::NEG_INFINITY,
        };
        places.iter().map(likelihood).collect()
    };
    Ok((0..priors.len()).map(of_group).collect())
}
