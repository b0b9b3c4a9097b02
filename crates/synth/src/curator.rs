//! The curator holds the true counts and answers two questions about them, each for its price: which pair of columns
//! is predicted worst, and the counts of a marginal, both with noise.
//!
//! A fit sees nothing but these answers, so everything it does is post-processing. The proof is in `proof.md`.

use crate::counts::MarginalCounts;
use crate::exponential::ExponentialRate;
use crate::pairs::Pairs;
use crate::score::{SENSITIVITY, score};
use crate::spending::{FitCharge, Spending};
use random::{Coins, Error, Noise};
use table::Watch;

/// Holds the counts and answers for a fit. [`Curator::new`] gets the whole budget.
pub struct Curator<'c> {
    counts: MarginalCounts,
    /// The candidates.
    pub pairs: Pairs,
    /// The weight of each candidate, in units of [`score`].
    weights: Vec<u64>,
    rows_per_unit: u64,
    spending: Spending,
    coins: &'c mut Coins,
    watch: &'c Watch,
}

/// The scores of the candidates for a choice. Only [`Curator::choose`] reveals anything about them.
pub struct Ballot {
    scores: Vec<(usize, i128)>,
    rate: ExponentialRate,
    /// What each choice costs.
    rho: f64,
}

#[cfg(test)]
impl Ballot {
    pub fn scores(&self) -> &[(usize, i128)] {
        &self.scores
    }

    pub fn rate(&self) -> &random::Ratio {
        self.rate.get()
    }

    pub fn rho(&self) -> f64 {
        self.rho
    }
}

/// A marginal's counts with noise, and the variance of that noise.
pub struct Answer {
    pub counts: Vec<f64>,
    pub variance: f64,
}

impl<'c> Curator<'c> {
    /// A curator of some counts, who may spend `rho`.
    pub fn new(
        counts: MarginalCounts,
        pairs: Pairs,
        weights: Vec<u64>,
        rows_per_unit: u64,
        rho: f64,
        coins: &'c mut Coins,
        watch: &'c Watch,
    ) -> Self {
        let spending = Spending::new(rho);
        Curator { counts, pairs, weights, rows_per_unit, spending, coins, watch }
    }

    /// The rho that is left.
    pub fn left(&self) -> f64 {
        self.spending.left()
    }

    /// The standard deviation of noise that costs `rho`.
    pub fn deviation(&self, rho: f64) -> Result<f64, Error> {
        Ok(self.noise(rho)?.stddev())
    }

    /// Noise on the counts of one marginal. A unit changes the counts by `rows_per_unit` in total, so the squared
    /// Euclidean sensitivity is the square of that.
    fn noise(&self, rho: f64) -> Result<Noise, Error> {
        let rows = self.rows_per_unit as f64;
        Noise::gaussian(rows * rows, rho)
    }

    /// The counts of a column or of a candidate with noise, for at most `rho`; `None` if less is left.
    pub fn measure(&mut self, columns: &[usize], rho: f64) -> Result<Option<Answer>, Error> {
        let counts: &[u64] = match *columns {
            [column] => &self.counts.columns[column],
            [a, b] => match self.pairs.number(a, b) {
                Some(pair) => &self.counts.pairs[self.pairs.range(pair)],
                None => return Ok(None),
            },
            _ => return Ok(None),
        };
        let noise = self.noise(rho)?;
        let charge = FitCharge::measurement(columns, self.rows_per_unit, &noise);
        let variance = charge.variance();
        if !self.spending.take(charge) {
            return Ok(None);
        }
        let mut noisy = Vec::with_capacity(counts.len());
        for (cell, &count) in counts.iter().enumerate() {
            self.watch.poll(cell)?;
            noisy.push(noise.add(self.coins, count.into()) as f64);
        }
        Ok(Some(Answer { counts: noisy, variance }))
    }

    /// Prepares choices among some candidates that cost at most `rho` each. The scores say how badly `laws` times
    /// `rows` predict the counts, given the standard deviation `deviation` of the noise of a later measurement.
    pub fn ballot(
        &self,
        candidates: &[usize],
        laws: &[f64],
        rows: f64,
        deviation: f64,
        rho: f64,
    ) -> Result<Ballot, Error> {
        let mut scores = Vec::with_capacity(candidates.len());
        for (done, &pair) in candidates.iter().enumerate() {
            self.watch.poll_every(64, done)?;
            let (cells, weight) = (self.pairs.range(pair), self.weights[pair]);
            let counts = &self.counts.pairs[cells.clone()];
            scores.push((pair, score(counts, &laws[cells], rows, deviation, weight)));
        }
        let sensitivity = self.rows_per_unit * SENSITIVITY;
        let rate = ExponentialRate::new(sensitivity, rho)?;
        Ok(Ballot { scores, rho: rate.rho(sensitivity), rate })
    }

    /// Chooses a candidate that `fits` and removes it from the ballot; `None` if there is none or rho is spent.
    /// `fits` must not depend on the counts.
    pub fn choose(
        &mut self,
        ballot: &mut Ballot,
        fits: impl FnMut(usize) -> bool,
    ) -> Result<Option<usize>, Error> {
        if !self.spending.take(FitCharge::Choice { rho: ballot.rho }) {
            return Ok(None);
        }
        let chosen = ballot.rate.choose(self.coins, &ballot.scores, fits, self.watch)?;
        ballot.scores.retain(|&(pair, _)| Some(pair) != chosen);
        Ok(chosen)
    }

    /// The releases in order, with their prices.
    pub fn charges(self) -> Vec<FitCharge> {
        self.spending.charges
    }
}
