//! The loop of a fit: measures columns, then chooses pairs that the law predicts badly, measures them and fits, until
//! rho is spent.
//!
//! After AIM (McKenna, Mullins, Sheldon and Miklau, AIM: an adaptive and iterative mechanism for differentially
//! private synthetic data), with two differences: pairs are chosen in batches, so that the law is fitted and
//! evaluated less often, and fitting stops when it has reached the noise. The constants below were chosen on the
//! census table of the example at epsilon .1, 1, 3 and 10.

use crate::counts::MarginalCounts;
use crate::curator::Curator;
use crate::descent::{Descent, Measured, total};
use crate::junction::cliques;
use crate::model::{Marginal, SynthesisModel, order};
use crate::network::Network;
use crate::pairs::{Pairs, predict};
use crate::request::{Candidates, SynthesisRequest};
use crate::schema::limits;
use crate::score::expected_noise;
use random::{Coins, Error};
use table::{Bag, Reservation, Watch};

/// The number of measurements per column for which rho is planned. Fewer leave pairs out, more measure them too
/// coarsely. Later batches take more rho if earlier ones changed the law too little.
const ROUNDS: f64 = 8.0;
/// The number of rounds that the measurement of one column costs.
const COLUMN: f64 = 2.0;
/// The share of a round that its choice may cost.
const CHOICE: f64 = 0.1;
/// If a batch moved the law by no more than noise does, the next one gets this many times its rho: noise of half the
/// deviation.
const ANNEAL: f64 = 4.0;
/// A share of rho that is too small to measure anything; rounding leaves such a rest.
const LEAST: f64 = 1e-6;
/// Steps of fitting after a batch, and at the end.
const STEPS: usize = 50;
const LAST_STEPS: usize = 200;
/// The largest number of rows of a model: more can only be noise.
const MOST_ROWS: f64 = 1e15;
/// The number of parts of rho in which progress is reported.
const PARTS: f64 = 1000.0;

/// Fits a law of rows to a bag whose rows are in public codes: `row[c] < sizes[c]`, and NULL is the last code of its
/// column. Costs `request.rho` of zero-concentrated differential privacy, where neighbours differ in all rows of one
/// unit, at most `request.rows_per_unit` of them. The proof is in `proof.md`.
///
/// Takes one core, about a second for fifteen columns, and memory for the tables of
/// [`limits`](crate::schema::limits), whatever the number of rows.
pub fn fit(
    bag: &Bag,
    sizes: &[u32],
    request: &SynthesisRequest,
    coins: &mut Coins,
    watch: &Watch,
) -> Result<SynthesisModel, Error> {
    request.check(bag.width(), sizes)?;
    let order = order(sizes);
    let mut fitter = Fitter::new(bag, sizes, &order, request, coins, watch)?;
    fitter.run()?;
    Ok(fitter.model(sizes, &order))
}

/// The state of a fit: the curator's answers, and what was computed from them.
struct Fitter<'w> {
    /// Sizes in ascending order; columns are numbered by it.
    sizes: Vec<u32>,
    curator: Curator<'w>,
    /// The whole budget.
    rho: f64,
    measured: Vec<Measured>,
    /// Candidates that may be chosen.
    open: Vec<usize>,
    descent: Descent,
    /// Memory of the law.
    held: Reservation<'w>,
    /// Memory of the curator's counts.
    _counts: Reservation<'w>,
    watch: &'w Watch,
}

/// Whether the tree of all measured marginals and a pair is small enough.
fn fits(sizes: &[u32], measured: &[Measured], pair: &[usize]) -> bool {
    let sets = measured.iter().map(|marginal| marginal.columns.as_slice());
    cliques(sizes, sets.chain([pair]), limits(sizes)).is_some()
}

impl<'w> Fitter<'w> {
    /// Starts before any question. `order` has the columns by their sizes.
    fn new(
        bag: &Bag,
        sizes: &[u32],
        order: &[usize],
        request: &SynthesisRequest,
        coins: &'w mut Coins,
        watch: &'w Watch,
    ) -> Result<Self, Error> {
        let ranked: Vec<u32> = order.iter().map(|&column| sizes[column]).collect();
        let Candidates { columns, weights } = request.candidates(order, &ranked);
        let mut held = Reservation::new(watch);
        held.add(request.memory(&ranked, &columns))?;
        let pairs = Pairs::new(&ranked, columns);
        watch.begin(bag.distinct() as u64);
        let counts = MarginalCounts::new(bag, order, &ranked, &pairs, watch)?;
        watch.begin(PARTS as u64);
        let curator =
            Curator::new(counts, pairs, weights, request.rows_per_unit, request.rho, coins, watch);
        Ok(Fitter {
            sizes: ranked,
            open: (0..curator.pairs.columns.len()).collect(),
            curator,
            rho: request.rho,
            measured: vec![],
            descent: Descent::new(),
            held: Reservation::new(watch),
            _counts: held,
            watch,
        })
    }

    fn run(&mut self) -> Result<(), Error> {
        let width = self.sizes.len();
        let mut round = self.curator.left() / (ROUNDS * width as f64);
        self.measure_columns(COLUMN * (1.0 - CHOICE) * round)?;
        let mut network = self.refit(STEPS)?;
        let mut laws = vec![0.0; self.curator.pairs.cells()];
        while self.curator.left() > LEAST * self.rho {
            self.close_candidates()?;
            let open = self.open.len();
            if open == 0 {
                break;
            }
            let rounds = (self.curator.left() / round).clamp(1.0, open as f64) as usize;
            let batch = (width / 2).max(1).min(rounds);
            // A rest that is too small for another round is spent in this batch.
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
        // There are no pairs, or none fits: the rest makes the columns more precise.
        if self.curator.left() > LEAST * self.rho {
            self.measure_columns(self.share(width))?;
        }
        self.refit(LAST_STEPS)?;
        Ok(())
    }

    /// A part of what is left, slightly less so that rounding leaves enough for the last part.
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
        let mut ballot = self.curator.ballot(&self.open, laws, rows, deviation, CHOICE * round)?;
        let mut chosen = vec![];
        for _ in 0..batch {
            // A pair that was open before this batch need not fit together with the pairs of this batch.
            let candidates = self.curator.pairs.columns.clone();
            let fits = |pair: usize| fits(&self.sizes, &self.measured, &candidates[pair]);
            let Some(pair) = self.curator.choose(&mut ballot, fits)? else {
                break;
            };
            if !self.measure(&candidates[pair], (1.0 - CHOICE) * round)? {
                break;
            }
            chosen.push(pair);
        }
        Ok(chosen)
    }

    /// Closes candidates that no longer fit into the tree, permanently. All candidates are tested, not only those
    /// that a ballot drew, so that the result depends on noisy answers alone.
    fn close_candidates(&mut self) -> Result<(), Error> {
        let mut open = vec![];
        for &pair in &self.open {
            self.watch.check()?;
            if fits(&self.sizes, &self.measured, &self.curator.pairs.columns[pair]) {
                open.push(pair);
            }
        }
        self.open = open;
        Ok(())
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

    fn model(self, sizes: &[u32], order: &[usize]) -> SynthesisModel {
        let total = total(&self.measured).round().clamp(0.0, MOST_ROWS) as u64;
        let marginal = |measured: Measured| Marginal {
            columns: measured.columns.iter().map(|&column| order[column]).collect(),
            deviation: measured.variance.sqrt(),
            logs: measured.logs,
        };
        SynthesisModel {
            sizes: sizes.to_vec(),
            total,
            marginals: self.measured.into_iter().map(marginal).collect(),
            charges: self.curator.charges().into_iter().map(|c| c.renamed(order)).collect(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::RowDrawer;
    use crate::reference::bag;
    use random::below;
    use table::Stop;

    fn request(rho: f64) -> SynthesisRequest {
        SynthesisRequest { rho, rows_per_unit: 1, workload: vec![] }
    }

    /// Rows in which each column is mostly the one before.
    fn rows(sizes: &[u32], count: usize) -> Vec<Vec<u32>> {
        let mut coins = Coins::seeded(9);
        let mut row = |_| {
            let mut code = 0;
            let mut cell = |&size: &u32| {
                if below(&mut coins, 3) == 0 {
                    code = below(&mut coins, u64::from(size)) as u32;
                }
                code % size
            };
            sizes.iter().map(&mut cell).collect()
        };
        (0..count).map(&mut row).collect()
    }

    /// The largest total variation of a pair between the rows and as many drawn rows.
    fn distance(sizes: &[u32], rows: &[Vec<u32>], model: &SynthesisModel) -> f64 {
        let watch = Watch::unlimited();
        let key = Coins::seeded(3).key();
        let drawn =
            RowDrawer::new(model, &watch).unwrap().rows(0, rows.len(), &key, &watch).unwrap();
        let mut most = 0.0f64;
        for b in 0..sizes.len() {
            for a in 0..b {
                let mut counts = vec![0.0; (sizes[a] * sizes[b]) as usize];
                let mut count =
                    |row: &[u32], by: f64| counts[(row[a] * sizes[b] + row[b]) as usize] += by;
                rows.iter().for_each(|row| count(row, 1.0));
                drawn.chunks_exact(sizes.len()).for_each(|row| count(row, -1.0));
                let sum: f64 = counts.iter().map(|count| count.abs()).sum();
                most = most.max(sum / 2.0 / rows.len() as f64);
            }
        }
        most
    }

    #[test]
    fn without_noise_the_pairs_are_those_of_the_rows() {
        let (sizes, watch) = ([4, 2, 5, 3, 1, 4], Watch::unlimited());
        let rows = rows(&sizes, 5000);
        let model =
            fit(&bag(&sizes, &rows), &sizes, &request(1e6), &mut Coins::seeded(1), &watch).unwrap();
        assert_eq!(model.total(), 5000);
        let far = distance(&sizes, &rows, &model);
        assert!(far < 0.01, "{far}");
        // With too little rho for anything but noise, the result is still a law.
        let model = fit(&bag(&sizes, &rows), &sizes, &request(1e-9), &mut Coins::seeded(1), &watch)
            .unwrap();
        assert!(distance(&sizes, &rows, &model) > 0.05);
        assert_eq!(watch.memory(), 0);
    }

    #[test]
    fn tables_of_every_shape_have_models() {
        let watch = Watch::unlimited();
        let shapes: [&[u32]; 7] =
            [&[1], &[1, 1, 1], &[7], &[2, 2], &[1, 300], &[5000, 900, 3], &[3, 3, 3, 3, 3, 3, 3]];
        for sizes in shapes {
            for count in [0, 1, 50] {
                let rows: Vec<Vec<u32>> =
                    (0..count).map(|i| sizes.iter().map(|size| i % size).collect()).collect();
                for (rho, per_unit) in [(1e-300, 1), (1e-9, 1 << 40), (0.1, 3), (1e6, 1)] {
                    let request =
                        SynthesisRequest { rho, rows_per_unit: per_unit, workload: vec![] };
                    let mut coins = Coins::seeded(count.into());
                    let model =
                        fit(&bag(sizes, &rows), sizes, &request, &mut coins, &watch).unwrap();
                    model.check().unwrap();
                    assert!(
                        model.marginals.iter().all(|m| m.logs.iter().all(|log| log.is_finite()))
                    );
                    let drawer = RowDrawer::new(&model, &watch).unwrap();
                    for count in [0, 1, 100] {
                        let drawn = drawer.rows(0, count, &coins.key(), &watch).unwrap();
                        assert_eq!(drawn.len(), count * sizes.len());
                        let inside =
                            |row: &[u32]| row.iter().zip(sizes).all(|(code, size)| code < size);
                        assert!(drawn.chunks_exact(sizes.len()).all(inside));
                    }
                }
            }
        }
    }

    #[test]
    fn all_rho_is_spent() {
        let (sizes, watch) = ([4, 2, 5], Watch::unlimited());
        for sizes in [&sizes[..], &[6]] {
            let rows = rows(sizes, 100);
            for rho in [1e-6, 0.01, 3.0] {
                let model =
                    fit(&bag(sizes, &rows), sizes, &request(rho), &mut Coins::seeded(1), &watch)
                        .unwrap();
                let spent: f64 = model.charges().iter().map(|charge| charge.rho()).sum();
                assert!(spent > 0.9999 * rho, "{spent} {rho}");
            }
        }
    }

    #[test]
    fn a_column_of_many_values_leaves_the_others_their_pairs() {
        let (sizes, watch) = ([4, 20_000, 5, 3], Watch::unlimited());
        let rows: Vec<Vec<u32>> = rows(&[4, 4, 5, 3], 500);
        let model =
            fit(&bag(&sizes, &rows), &sizes, &request(1.0), &mut Coins::seeded(1), &watch).unwrap();
        let pairs = model.marginals.iter().filter(|marginal| marginal.columns.len() == 2);
        assert_eq!(pairs.filter(|marginal| !marginal.columns.contains(&1)).count(), 3);
        model.check().unwrap();
    }

    /// Whether a candidate is open depends on the measurements, not on which candidates a ballot drew: that depends
    /// on the counts.
    #[test]
    fn candidates_are_closed_by_noisy_answers_alone() {
        // Any three of the columns exceed the limits of a tree.
        let (sizes, watch) = ([100; 5], Watch::unlimited());
        let (order, mut coins) = (order(&sizes), Coins::seeded(5));
        let bag = bag(&sizes, &rows(&sizes, 200));
        let mut fitter =
            Fitter::new(&bag, &sizes, &order, &request(1.0), &mut coins, &watch).unwrap();
        let laws = vec![0.0; fitter.curator.pairs.cells()];
        for measured in 0..4 {
            fitter.close_candidates().unwrap();
            let candidates = &fitter.curator.pairs.columns;
            let fits = |&pair: &usize| fits(&fitter.sizes, &fitter.measured, &candidates[pair]);
            let expected: Vec<usize> = (0..candidates.len()).filter(fits).collect();
            assert_eq!(fitter.open, expected, "after {measured} pairs");
            assert_eq!(fitter.measure_batch(1, &laws, 0.01).unwrap().len(), 1);
        }
        fitter.close_candidates().unwrap();
        assert!(fitter.open.len() < 10);
    }

    #[test]
    fn a_seed_gives_the_same_model() {
        let (sizes, watch) = ([4, 2, 5], Watch::unlimited());
        let bag = bag(&sizes, &rows(&sizes, 300));
        let with =
            |seed| fit(&bag, &sizes, &request(0.1), &mut Coins::seeded(seed), &watch).unwrap();
        assert_eq!(with(1), with(1));
        assert_ne!(with(1), with(2));
    }

    #[test]
    fn what_makes_no_sense_is_refused_before_rows_are_read() {
        let (sizes, watch) = ([4, 2, 5], Watch::unlimited());
        let bag = bag(&sizes, &rows(&sizes, 10));
        let refused = |request: SynthesisRequest, sizes: &[u32]| {
            let error = fit(&bag, sizes, &request, &mut Coins::seeded(1), &watch).err().unwrap();
            error.to_string()
        };
        for bad in [0.0, -1.0, f64::NAN, f64::INFINITY] {
            assert!(refused(request(bad), &sizes).starts_with("rho is"));
        }
        let units = |rows_per_unit| SynthesisRequest { rows_per_unit, ..request(1.0) };
        assert!(refused(units(0), &sizes).starts_with("rows_per_unit is 0"));
        assert!(refused(units(u64::MAX), &sizes).contains("2^40"));
        let workload = |columns, weight| SynthesisRequest {
            workload: vec![(columns, weight)],
            ..request(1.0)
        };
        assert!(refused(workload(vec![3], 1.0), &sizes).starts_with("workload is 3"));
        assert!(refused(workload(vec![0], f64::NAN), &sizes).contains("above 0"));
        assert!(refused(request(1.0), &[4, 2]).starts_with("sizes is 2"));
        assert!(refused(request(1.0), &[4, 2, 0]).contains("no value"));
    }

    #[test]
    fn a_fit_stops_when_it_is_told_to() {
        let sizes = [4, 2, 5];
        let bag = bag(&sizes, &rows(&sizes, 10));
        let watch = Watch::unlimited();
        watch.cancel();
        let stopped = fit(&bag, &sizes, &request(1.0), &mut Coins::seeded(1), &watch);
        assert_eq!(stopped.err(), Some(Error::Stop(Stop::Cancelled)));
        let watch = Watch::new(1000, 0);
        let stopped = fit(&bag, &sizes, &request(1.0), &mut Coins::seeded(1), &watch);
        assert_eq!(stopped.err(), Some(Error::Stop(Stop::Memory { limit: 1000 })));
        assert_eq!(watch.memory(), 0);
    }

    #[test]
    fn pairs_that_matter_more_are_chosen_first() {
        // Columns 0 and 1 agree as often as 2 and 3; there is rho for little more than one of the pairs.
        let (sizes, watch) = ([3; 4], Watch::unlimited());
        let rows: Vec<Vec<u32>> =
            (0..900).map(|i| vec![i % 3, i % 3, i / 3 % 3, i / 3 % 3]).collect();
        let bag = bag(&sizes, &rows);
        let first = |columns: Vec<usize>, seed| {
            let request = SynthesisRequest { workload: vec![(columns, 9.0)], ..request(0.02) };
            let model = fit(&bag, &sizes, &request, &mut Coins::seeded(seed), &watch).unwrap();
            model.marginals[4].columns.clone()
        };
        assert!((0..5).all(|seed| first(vec![0, 1], seed) == [0, 1]));
        assert!((0..5).all(|seed| first(vec![3, 2], seed) == [2, 3]));
    }
}
