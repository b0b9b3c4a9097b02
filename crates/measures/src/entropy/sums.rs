//! The likelihood of a released sum, mean or count for each value of a record.

use super::lattice::Lattice;
use super::prior::Prior;
use super::release::Release;
use super::tilting::Tilted;
use super::{Refused, fourier, polynomial_sums};
use crate::Rational;
use table::{Stop, Watch};

/// The largest number of multiplications for which polynomials are multiplied; about a second.
const DIRECT: f64 = 1e9;

/// For each group and each value of the domain the log-likelihood of the release, up to a constant of the group.
pub(super) fn likelihoods(
    domain: &[Rational],
    priors: &[Prior],
    release: &Release,
    watch: &Watch,
) -> Result<Result<Vec<Vec<f64>>, Refused>, Stop> {
    let mut lattice = match Lattice::new(domain, priors, release) {
        Ok(lattice) => lattice,
        Err(refused) => return Ok(Err(refused)),
    };
    // Sums above the window do not matter: the shorter the distance to it, the less work.
    if lattice.total() - lattice.low < lattice.high {
        lattice = lattice.flipped();
    }
    let tilted = Tilted::new(&lattice, watch)?;
    let weights = if polynomial_sums::cost(&lattice) <= DIRECT {
        polynomial_sums::weights(&lattice, &tilted, watch)?
    } else {
        match fourier::Sums::new(&lattice, &tilted) {
            Some(sums) => sums.weights(watch)?,
            None => return Ok(Err(Refused::TooLarge)),
        }
    };
    let of_group = |(group, weights): (&super::lattice::Steps, Vec<f64>)| {
        let likelihood = |step: &Option<u64>| {
            let Some(step) = *step else { return f64::NEG_INFINITY };
            // Every step of a value is a step of the law.
            let place = group.law.partition_point(|&(other, _)| other < step);
            tilted.theta * step as f64 + weights[place].ln()
        };
        group.of_value.iter().map(likelihood).collect()
    };
    Ok(Ok(lattice.groups.iter().zip(weights).map(of_group).collect()))
}
