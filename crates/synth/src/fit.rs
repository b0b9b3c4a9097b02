//! The loop of a fit: measure columns, then choose pairs that the law predicts badly,
//! measure them, fit, and again until rho is spent.
//!
//! After AIM (McKenna, Mullins, Sheldon and Miklau, AIM: an adaptive and iterative mechanism for
//! differentially private synthetic data), with these differences: pairs are chosen in batches, so that
//! the law is fitted and asked a tenth as often; fitting stops when it has reached the noise. What the
//! numbers below were chosen by is the census table of the example at epsilon .1, 1, 3 and 10.

use crate::counts::Counts;
use crate::curator::Curator;
use crate::descent::{Descent, Measured, total};
use crate::junction::cliques;
use crate::model::{Marginal, Model, order};
use crate::network::Network;
use crate::pairs::{Pairs, predict};
use crate::request::{Candidates, Request};
use crate::schema::limits;
use crate::score::expected_noise;
use random::{Coins, Error};
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
/// The most rows that a model says: more can only be noise.
const MOST_ROWS: f64 = 1e15;
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
    let curator =
        Curator::new(counts, pairs, weights, request.rows_per_unit, request.rho, coins, watch);
    let mut fitter = Fitter {
        sizes: ranked,
        curator,
        rho: request.rho,
        measured: vec![],
        descent: Descent::new(),
        held: Reservation::new(watch),
        watch,
    };
    fitter.run()?;
    Ok(fitter.model(sizes, &order))
}

/// What a fit knows: answers of the curator, and what follows from them.
struct Fitter<'w> {
    /// Sizes in ascending order; columns are numbered by it.
    sizes: Vec<u32>,
    curator: Curator<'w>,
    /// What may be spent in all.
    rho: f64,
    measured: Vec<Measured>,
    descent: Descent,
    /// Memory of the law.
    held: Reservation<'w>,
    watch: &'w Watch,
}

impl Fitter<'_> {
    fn run(&mut self) -> Result<(), Error> {
        let width = self.sizes.len();
        let candidates = self.curator.pairs.columns.len();
        let mut round = self.curator.left() / (ROUNDS * width as f64);
        self.measure_columns(COLUMN * (1.0 - CHOICE) * round)?;
        let mut network = self.refit(STEPS)?;
        let mut laws = vec![0.0; self.curator.pairs.cells()];
        loop {
            let rounds = (self.curator.left() / round).min(candidates as f64) as usize;
            let batch = (width / 2).max(1).min(rounds);
            if batch == 0 {
                break;
            }
            // What would not be enough for another round is spent in this batch.
            if self.curator.left() < (batch + 1) as f64 * round {
                round = self.share(batch);
            }
            predict(&network, &self.curator.pairs, &mut laws, self.watch)?;
            let chosen = self.measure_batch(batch, &laws, round)?;
            if chosen.is_empty() {
                break;
            }
            network = self.refit(STEPS)?;
            if !self.taught(&chosen, &laws, &network, round)? {
                round *= ANNEAL;
            }
        }
        // There are no pairs, or none fits: what is left makes the columns more precise.
        if self.share(width) > round {
            self.measure_columns(self.share(width))?;
        }
        self.refit(LAST_STEPS)?;
        Ok(())
    }

    /// A part of what is left, a little less so that rounding leaves enough for the last.
    fn share(&self, parts: usize) -> f64 {
        self.curator.left() / parts as f64 * (1.0 - 1e-9)
    }

    fn measure_columns(&mut self, rho: f64) -> Result<(), Error> {
        for column in 0..self.sizes.len() {
            self.measure(&[column], rho)?;
        }
        Ok(())
    }

    /// Measures a marginal for at most `rho`; false if less is left.
    fn measure(&mut self, columns: &[usize], rho: f64) -> Result<bool, Error> {
        let before = self.curator.left();
        let Some(answer) = self.curator.measure(columns, rho)? else {
            return Ok(false);
        };
        match self.measured.iter_mut().find(|marginal| marginal.columns == columns) {
            Some(marginal) => marginal.merge(&answer.counts, answer.variance),
            None => self.measured.push(Measured::new(columns, answer.counts, answer.variance)),
        }
        let spent = before - self.curator.left();
        self.watch.advance((PARTS * spent / self.rho) as u64);
        Ok(true)
    }

    /// Chooses and measures up to `batch` different pairs, for at most `round` each.
    fn measure_batch(
        &mut self,
        batch: usize,
        laws: &[f64],
        round: f64,
    ) -> Result<Vec<usize>, Error> {
        let rows = total(&self.measured).max(0.0);
        let deviation = self.curator.deviation((1.0 - CHOICE) * round)?;
        let mut ballot = self.curator.ballot(laws, rows, deviation, CHOICE * round)?;
        let pairs = self.curator.pairs.columns.clone();
        let limits = limits(&self.sizes);
        let mut chosen = vec![];
        for _ in 0..batch {
            let fits = |pair: usize| {
                let sets = self.measured.iter().map(|marginal| marginal.columns.as_slice());
                cliques(&self.sizes, sets.chain([pairs[pair].as_slice()]), limits).is_some()
            };
            let Some(pair) = self.curator.choose(&mut ballot, fits)? else {
                break;
            };
            if !self.measure(&pairs[pair], (1.0 - CHOICE) * round)? {
                break;
            }
            chosen.push(pair);
        }
        Ok(chosen)
    }

    fn refit(&mut self, steps: usize) -> Result<Network, Error> {
        let Fitter { sizes, measured, descent, held, watch, .. } = self;
        Ok(descent.run(sizes, measured, steps, held, watch)?)
    }

    /// Whether a batch moved the law of its pairs by more than noise alone would.
    fn taught(
        &self,
        chosen: &[usize],
        before: &[f64],
        network: &Network,
        round: f64,
    ) -> Result<bool, Error> {
        let deviation = self.curator.deviation((1.0 - CHOICE) * round)?;
        let (mut moved, mut expected) = (0.0, 0.0);
        for &pair in chosen {
            let (columns, cells) =
                (self.curator.pairs.columns[pair], self.curator.pairs.range(pair));
            let known = self.measured.iter().position(|marginal| marginal.columns == columns);
            expected += expected_noise(deviation, cells.len());
            if let Some(number) = known {
                let law = network.marginal(number).iter().zip(&before[cells]);
                moved += law.map(|(new, old)| (new - old).abs()).sum::<f64>();
            }
        }
        Ok(moved * total(&self.measured).max(1.0) > expected)
    }

    fn model(self, sizes: &[u32], order: &[usize]) -> Model {
        let total = total(&self.measured).round().clamp(0.0, MOST_ROWS) as u64;
        let marginal = |measured: Measured| Marginal {
            columns: measured.columns.iter().map(|&column| order[column]).collect(),
            deviation: measured.variance.sqrt(),
            logs: measured.logs,
        };
        Model {
            sizes: sizes.to_vec(),
            total,
            marginals: self.measured.into_iter().map(marginal).collect(),
            charges: self.curator.charges().into_iter().map(|c| c.renamed(order)).collect(),
        }
    }
}
