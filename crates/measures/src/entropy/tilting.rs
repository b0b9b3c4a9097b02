//! Exponential tilting, which moves distributions to the release.
//!
//! Given the sum, the records have the same distribution whether each has the law p(x) or the law p(x) exp(θ x) / Z.
//! With θ chosen so that the expected sum lies in the window, all numbers have an ordinary size, however unlikely the
//! release is.

use super::lattice::Lattice;
use table::{Stop, Watch};

/// A tilt, and the laws of all groups under it.
pub(super) struct Tilted {
    pub theta: f64,
    /// The expected sum: in the window, or half a step from an end of all sums.
    pub centre: f64,
    /// For each group its steps with probabilities, which add up to 1.
    pub laws: Vec<Vec<(u64, f64)>>,
}

impl Tilted {
    /// Tilts to the end of the window that is nearest to the expected sum, if that is outside.
    pub fn new(lattice: &Lattice, watch: &Watch) -> Result<Self, Stop> {
        let total = lattice.total() as f64;
        let plain = mean(lattice, 0.0);
        let (low, high) = (lattice.low as f64, lattice.high as f64);
        let nearest = plain.clamp(low, high);
        if nearest == plain || total < 1.0 {
            return Ok(Tilted { theta: 0.0, centre: plain, laws: laws(lattice, 0.0) });
        }
        // Only an infinite tilt reaches the ends of all sums.
        let centre = nearest.clamp(0.5, total - 0.5);
        let (mut less, mut more) = (-2000.0, 2000.0);
        for _ in 0..100 {
            watch.check()?;
            let middle = 0.5 * (less + more);
            if mean(lattice, middle) < centre { less = middle } else { more = middle }
        }
        let theta = 0.5 * (less + more);
        Ok(Tilted { theta, centre: mean(lattice, theta), laws: laws(lattice, theta) })
    }

    /// The variance of the sum.
    pub fn variance(&self, lattice: &Lattice) -> f64 {
        let of = |law: &Vec<(u64, f64)>| {
            let mean: f64 = law.iter().map(|&(step, p)| step as f64 * p).sum();
            law.iter().map(|&(step, p)| p * (step as f64 - mean).powi(2)).sum::<f64>()
        };
        self.laws
            .iter()
            .zip(&lattice.groups)
            .map(|(law, group)| of(law) * group.records as f64)
            .sum()
    }
}

fn tilted(law: &[(u64, f64)], theta: f64) -> Vec<(u64, f64)> {
    let log = |&(step, p): &(u64, f64)| p.ln() + theta * step as f64;
    let largest = law.iter().map(log).fold(f64::NEG_INFINITY, f64::max);
    let weights: Vec<f64> = law.iter().map(|one| (log(one) - largest).exp()).collect();
    let sum: f64 = weights.iter().sum();
    law.iter().zip(&weights).map(|(&(step, _), weight)| (step, weight / sum)).collect()
}

fn laws(lattice: &Lattice, theta: f64) -> Vec<Vec<(u64, f64)>> {
    lattice.groups.iter().map(|group| tilted(&group.law, theta)).collect()
}

/// The expected sum under a tilt.
fn mean(lattice: &Lattice, theta: f64) -> f64 {
    let of = |law: Vec<(u64, f64)>| law.iter().map(|&(step, p)| step as f64 * p).sum::<f64>();
    let groups = lattice.groups.iter();
    groups.map(|group| group.records as f64 * of(tilted(&group.law, theta))).sum()
}
