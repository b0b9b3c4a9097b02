//! The private part and its loop: measure columns, then choose pairs that the law predicts badly,
//! measure them, fit, and again until rho is spent.
//!
//! After AIM (McKenna, Mullins, Sheldon and Miklau, AIM: an adaptive and iterative mechanism for
//! differentially private synthetic data), with these differences: pairs are chosen in batches, so that
//! the law is fitted and asked a tenth as often; fitting stops when it has reached the noise. What the
//! numbers below were chosen by is the census table of the example at epsilon .1, 1, 3 and 10.

use crate::choose::Rate;
use crate::counts::Counts;
use crate::descent::{Descent, Measured, total};
use crate::junction::cliques;
use crate::model::{Marginal, Model, order};
use crate::network::Network;
use crate::pairs::{Pairs, predict};
use crate::request::{Candidates, Request};
use crate::schema::limits;
use crate::score::{self, SENSITIVITY};
use crate::spend::{Charge, Spending};
use random::{Coins, Error, Noise};
use table::{Bag, Reservation, Watch};

/// Rho is planned for so many measurements per column. Fewer leave pairs out, more measure them too
/// coarsely; later batches take more rho if they teach too little.
const ROUNDS: f64 = 8.0;
/// Rounds that the measurement of one column is worth.
const COLUMN: f64 = 2.0;
/// The share of a round that its choice may cost.
const CHOICE: f64 = 0.1;
/// A batch that moved the law by no more than noise does lets the next take so many times its rho: noise
/// of half the deviation.
const ANNEAL: f64 = 4.0;
/// Steps of fitting after a batch, and at the end.
const STEPS: usize = 50;
const LAST_STEPS: usize = 200;
/// Progress is told in such parts of rho.
const PARTS: f64 = 1000.0;

/// Fits a law of rows to a bag whose rows are in public codes: `row[c] < sizes[c]`, and NULL is the last
/// code of its column. Costs `request.rho` of zero-concentrated differential privacy, where neighbours
/// differ in all rows of one unit, at most `request.rows_per_unit` many; `proof.md` says why.
///
/// Takes one core, about a second for fifteen columns, and memory for the tables of
/// [`limits`](crate::schema::limits) whatever the number of rows.
pub fn fit(
    bag: &Bag,
    sizes: &[u32],
    request: &Request,
    coins: &mut Coins,
    watch: &Watch,
) -> Result<Model, Error> {
    request.check(bag.width(), sizes)?;
    let order = order(sizes);
    let ranked: Vec<u32> = order.iter().map(|&column| sizes[column]).collect();
    let Candidates { columns, weights } = request.candidates(&order, &ranked);
    let mut held = Reservation::new(watch);
    held.add(request.memory(&ranked, &columns))?;
    let pairs = Pairs::new(&ranked, columns);
    watch.begin(bag.distinct() as u64);
    let counts = Counts::new(bag, &order, &ranked, &pairs, watch)?;
    watch.begin(PARTS as u64);
    let mut fitter = Fitter {
        sizes: ranked,
        pairs,
        weights,
        counts,
        rows_per_unit: request.rows_per_unit,
        spending: Spending::new(request.rho),
        measured: vec![],
        descent: Descent::new(),
        held: Reservation::new(watch),
        watch,
    };
    fitter.run(coins)?;
    Ok(fitter.model(sizes, &order))
}

struct Fitter<'w> {
    /// Sizes in ascending order; columns are numbered by it.
    sizes: Vec<u32>,
    /// The candidates.
    pairs: Pairs,
    /// What they are worth, in units of [`score`].
    weights: Vec<u64>,
    counts: Counts,
    rows_per_unit: u64,
    spending: Spending,
    measured: Vec<Measured>,
    descent: Descent,
    /// Memory of the law.
    held: Reservation<'w>,
    watch: &'w Watch,
}

impl Fitter<'_> {
    fn run(&mut self, coins: &mut Coins) -> Result<(), Error> {
        let width = self.sizes.len();
        let mut round = self.spending.left() / (ROUNDS * width as f64);
        for column in 0..width {
            self.measure(&[column], COLUMN * (1.0 - CHOICE) * round, coins)?;
        }
        let mut network = self.refit(STEPS)?;
        let mut laws = vec![0.0; self.pairs.cells()];
        loop {
            let rounds = (self.spending.left() / round).min(self.pairs.columns.len() as f64);
            let batch = (width / 2).max(1).min(rounds as usize);
            if batch == 0 {
                break;
            }
            // What would not be enough for another round is spent in this batch.
            if self.spending.left() < (batch + 1) as f64 * round {
                round = self.spending.left() / batch as f64 * (1.0 - 1e-9);
            }
            predict(&network, &self.pairs, &mut laws, self.watch)?;
            let noise = self.noise((1.0 - CHOICE) * round)?;
            let chosen = self.choose(batch, &laws, CHOICE * round, &noise, coins)?;
            if chosen.is_empty() {
                break;
            }
            network = self.refit(STEPS)?;
            if !self.taught(&chosen, &laws, &network, &noise) {
                round *= ANNEAL;
            }
        }
        // No pair fits or there are none: what is left makes the columns more precise.
        let rest = self.spending.left() / width as f64 * (1.0 - 1e-9);
        if rest > round {
            for column in 0..width {
                self.measure(&[column], rest, coins)?;
            }
        }
        self.refit(LAST_STEPS)?;
        Ok(())
    }

    /// Noise that makes the counts of one marginal cost `rho`.
    fn noise(&self, rho: f64) -> Result<Noise, Error> {
        let rows = self.rows_per_unit as f64;
        Noise::gaussian(rows * rows, rho)
    }

    /// Chooses and measures up to `batch` different pairs.
    fn choose(
        &mut self,
        batch: usize,
        laws: &[f64],
        rho: f64,
        noise: &Noise,
        coins: &mut Coins,
    ) -> Result<Vec<usize>, Error> {
        let sensitivity = self.rows_per_unit * SENSITIVITY;
        let rate = Rate::new(sensitivity, rho)?;
        let rows = total(&self.measured).max(0.0);
        let predicted = |pair: usize| &laws[self.pairs.range(pair)];
        let counts = |pair: usize| &self.counts.pairs[self.pairs.range(pair)];
        let mut scores = Vec::with_capacity(self.weights.len());
        for (pair, &weight) in self.weights.iter().enumerate() {
            self.watch.poll_every(64, pair)?;
            let score = score::score(counts(pair), predicted(pair), rows, noise.stddev(), weight);
            scores.push((pair, score));
        }
        let mut chosen: Vec<usize> = vec![];
        let limits = limits(&self.sizes);
        for _ in 0..batch {
            if !self.spending.take(Charge::Choice { rho: rate.rho(sensitivity) }) {
                break;
            }
            let fits = |pair: usize| {
                let sets = self.measured.iter().map(|marginal| marginal.columns.as_slice());
                let sets = sets.chain([self.pairs.columns[pair].as_slice()]);
                cliques(&self.sizes, sets, limits).is_some()
            };
            let Some(pair) = rate.choose(coins, &scores, fits, self.watch)? else {
                break;
            };
            scores.retain(|&(other, _)| other != pair);
            if !self.add_noise(&self.pairs.columns[pair].clone(), noise, coins)? {
                break;
            }
            chosen.push(pair);
        }
        Ok(chosen)
    }

    /// Measures a marginal for at most `rho`.
    fn measure(&mut self, columns: &[usize], rho: f64, coins: &mut Coins) -> Result<bool, Error> {
        let noise = self.noise(rho)?;
        self.add_noise(columns, &noise, coins)
    }

    /// Releases the counts of one or two columns with noise; false if rho is spent.
    fn add_noise(
        &mut self,
        columns: &[usize],
        noise: &Noise,
        coins: &mut Coins,
    ) -> Result<bool, Error> {
        let charge = Charge::measurement(columns, self.rows_per_unit, noise);
        let before = self.spending.left();
        let variance = noise.stddev().powi(2);
        if !self.spending.take(charge) {
            return Ok(false);
        }
        let counts: &[u64] = match *columns {
            [column] => &self.counts.columns[column],
            [a, b] => match self.pairs.number(a, b) {
                Some(pair) => &self.counts.pairs[self.pairs.range(pair)],
                None => return Ok(false),
            },
            _ => return Ok(false),
        };
        let mut noisy = Vec::with_capacity(counts.len());
        for (cell, &count) in counts.iter().enumerate() {
            self.watch.poll(cell)?;
            noisy.push(noise.add(coins, count.into()) as f64);
        }
        match self.measured.iter_mut().find(|marginal| marginal.columns == columns) {
            Some(marginal) => marginal.merge(&noisy, variance),
            None => self.measured.push(Measured::new(columns, noisy, variance)),
        }
        let (rho, left) = (self.spending.rho(), self.spending.left());
        self.watch.advance((PARTS * (before - left) / rho) as u64);
        Ok(true)
    }

    fn refit(&mut self, steps: usize) -> Result<Network, Error> {
        let Fitter { sizes, measured, descent, held, watch, .. } = self;
        Ok(descent.run(sizes, measured, steps, held, watch)?)
    }

    /// Whether a batch moved the law of its pairs by more than noise alone would.
    fn taught(&self, chosen: &[usize], before: &[f64], network: &Network, noise: &Noise) -> bool {
        let (mut moved, mut expected) = (0.0, 0.0);
        for &pair in chosen {
            let columns = self.pairs.columns[pair];
            let known = self.measured.iter().position(|marginal| marginal.columns == columns);
            let Some(number) = known else {
                continue;
            };
            let law = network.marginal(number).iter().zip(&before[self.pairs.range(pair)]);
            moved += law.map(|(new, old)| (new - old).abs()).sum::<f64>();
            expected += score::expected_noise(noise.stddev(), self.pairs.range(pair).len());
        }
        moved * total(&self.measured).max(1.0) > expected
    }

    fn model(self, sizes: &[u32], order: &[usize]) -> Model {
        let total = total(&self.measured).round().max(0.0) as u64;
        let named = |columns: &[usize]| columns.iter().map(|&column| order[column]).collect();
        let marginal = |measured: &Measured| Marginal {
            columns: named(&measured.columns),
            deviation: measured.variance.sqrt(),
            logs: measured.logs.clone(),
        };
        Model {
            sizes: sizes.to_vec(),
            total: total.min(i64::MAX as u64),
            marginals: self.measured.iter().map(marginal).collect(),
            charges: self.spending.charges.into_iter().map(|c| c.renamed(order)).collect(),
        }
    }
}
