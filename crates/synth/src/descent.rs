//! Fits the factors of a law to noisy counts: mirror descent with momentum.
//!
//! The loss is the sum over all measured counts of (noisy - expected)^2 / variance, where the law gives the expected
//! count. Each step moves the logarithm of a count's factor along the slope of the loss in that count, which is
//! mirror descent of the law under relative entropy (McKenna, Sheldon and Miklau, Graphical-model based estimation
//! and inference for differential privacy).
//!
//! Measured on the census table of the example, mean two-way error at epsilon 3: .0042 with 50 plain steps after each
//! batch, .0030 with Nesterov's momentum instead. When the loss rises, momentum restarts and the step is halved; no
//! step is undone.

use crate::junction::{Junction, cliques};
use crate::network::{Network, Potential};
use crate::schema::limits;
use crate::{SynthesisModel, schema};
use table::{Reservation, Stop, Watch};

/// A measured marginal while the model is fitted: its noisy counts and its factor so far.
pub struct Measured {
    /// Ascending columns.
    pub columns: Vec<usize>,
    /// The mean of all measurements of each count, weighted by their precision.
    pub counts: Vec<f64>,
    /// The variance of those means.
    pub variance: f64,
    /// The logarithm of each count's factor.
    pub logs: Vec<f64>,
}

impl Measured {
    /// A first measurement.
    pub fn new(columns: &[usize], counts: Vec<f64>, variance: f64) -> Self {
        let logs = vec![0.0; counts.len()];
        Measured { columns: columns.to_vec(), counts, variance, logs }
    }

    /// Adds a measurement of the same marginal.
    pub fn merge(&mut self, counts: &[f64], variance: f64) {
        let share = self.variance / (self.variance + variance);
        for (mean, count) in self.counts.iter_mut().zip(counts) {
            *mean += share * (count - *mean);
        }
        self.variance *= variance / (self.variance + variance);
    }
}

/// The number of rows by all measurements together, weighted by the precision of their sums.
pub fn total(measured: &[Measured]) -> f64 {
    let (mut sum, mut weights) = (0.0, 0.0);
    for marginal in measured {
        let weight = 1.0 / (marginal.variance * marginal.counts.len() as f64);
        sum += weight * marginal.counts.iter().sum::<f64>();
        weights += weight;
    }
    if weights > 0.0 { sum / weights } else { 0.0 }
}

/// Fitting stops when the loss is this share of the number of counts. For the true counts the loss would be about the
/// number of counts, so a much smaller loss means that noise is being fitted. The model cannot follow all of the
/// noise, so the best share is below 1. At epsilon .1 the mean error is .0284 without stopping, .0268 with .7 and
/// .0295 with 1.
const ENOUGH: f64 = 0.7;
/// Cells below this probability are not made less likely: their factor would leave the range of floats.
const LEAST: f64 = 1e-12;
/// The largest change of a factor's logarithm in one step.
const REACH: f64 = 2.0;

/// The step size, kept between fits: the right size for the last batch is nearly right for the next.
pub struct Descent {
    step: f64,
}

impl Descent {
    pub fn new() -> Self {
        Descent { step: 1.0 }
    }

    /// Moves the factors of all measured marginals in at most `steps` steps, and returns the law.
    pub fn run<'w>(
        &mut self,
        sizes: &[u32],
        measured: &mut [Measured],
        steps: usize,
        held: &mut Reservation<'w>,
        watch: &'w Watch,
    ) -> Result<Network, Stop> {
        let sets = measured.iter().map(|marginal| marginal.columns.as_slice());
        let junction =
            Junction::new(sizes, cliques(sizes, sets, limits(sizes)).unwrap_or_default());
        let cells: u64 = junction.cliques.iter().map(|clique| schema::cells(sizes, clique)).sum();
        // Beliefs, and the smaller tables to which they are summed, which are less than three times as many.
        held.raise(cells.saturating_mul(32))?;
        let potentials = measured.iter().map(|m| Potential { columns: &m.columns, logs: &m.logs });
        let mut network = Network::new(sizes, junction, &potentials.collect::<Vec<_>>());
        let rows = total(measured).max(1.0);
        let finest = measured.iter().map(|m| m.variance).fold(f64::INFINITY, f64::min);
        let count: usize = measured.iter().map(|m| m.counts.len()).sum();
        let zeros = || measured.iter().map(|m| vec![0.0; m.counts.len()]).collect::<Vec<_>>();
        let (mut moves, mut factors) = (zeros(), zeros());
        let (mut last, mut age) = (f64::INFINITY, 0.0);
        for _ in 0..steps {
            watch.check()?;
            let mut loss = 0.0;
            for (number, marginal) in measured.iter().enumerate() {
                let off = network.marginal(number).iter().zip(&marginal.counts);
                loss += off.map(|(p, y)| (y - p * rows).powi(2)).sum::<f64>() / marginal.variance;
            }
            if loss.is_nan() || loss <= ENOUGH * count as f64 {
                break;
            }
            if loss > last {
                self.step = (self.step * 0.5).max(1e-9);
                age = 0.0;
            } else {
                self.step = (self.step * 1.02).min(1e3);
            }
            last = loss;
            let drag = age / (age + 3.0);
            age += 1.0;
            for (number, marginal) in measured.iter_mut().enumerate() {
                let rate = self.step * (finest / marginal.variance) / rows;
                let cells = network.marginal(number).iter().zip(&marginal.counts);
                let state =
                    marginal.logs.iter_mut().zip(&mut moves[number]).zip(&mut factors[number]);
                for ((&p, &y), ((log, moved), factor)) in cells.zip(state) {
                    let wanted = (rate * (y - p * rows) + drag * *moved).clamp(-REACH, REACH);
                    *moved = if wanted < 0.0 && p < LEAST { 0.0 } else { wanted };
                    *moved =
                        (*log + *moved).clamp(-SynthesisModel::LOG, SynthesisModel::LOG) - *log;
                    *log += *moved;
                    *factor = moved.exp();
                }
            }
            network.multiply(&factors);
        }
        Ok(network)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::reference::{assert_close, factors, joint, marginal};
    use proptest::prelude::*;

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(32))]

        #[test]
        fn without_noise_the_law_comes_to_what_was_measured((sizes, factors) in factors(1.0)) {
            prop_assume!(!factors.is_empty());
            let (law, watch) = (joint(&sizes, &factors), Watch::unlimited());
            let all: Vec<usize> = (0..sizes.len()).collect();
            let exact = |set: &[usize]| -> Vec<f64> {
                marginal(&sizes, &law, &all, set).iter().map(|p| p * 1e4).collect()
            };
            let mut measured: Vec<Measured> =
                factors.iter().map(|(set, _)| Measured::new(set, exact(set), 1e-6)).collect();
            let mut held = Reservation::new(&watch);
            let network =
                Descent::new().run(&sizes, &mut measured, 2000, &mut held, &watch).unwrap();
            for (number, (set, _)) in factors.iter().enumerate() {
                let truth = exact(set);
                for (p, y) in network.marginal(number).iter().zip(&truth) {
                    prop_assert!((p * 1e4 - y).abs() < 1.0, "{} {}", p * 1e4, y);
                }
            }
        }
    }

    #[test]
    fn measurements_are_merged_by_precision() {
        let mut measured = Measured::new(&[0], vec![10.0, 0.0], 4.0);
        measured.merge(&[15.0, 5.0], 1.0);
        assert_close(&measured.counts, &[14.0, 4.0]);
        assert_close(&[measured.variance], &[0.8]);
        // Sums of 18 with variance 1.6 and of 10 with variance 8.
        let other = Measured::new(&[1], vec![10.0], 8.0);
        assert_close(
            &[total(&[measured, other])],
            &[(18.0 / 1.6 + 10.0 / 8.0) / (1.0 / 1.6 + 1.0 / 8.0)],
        );
        assert_eq!(total(&[]), 0.0);
    }
}
