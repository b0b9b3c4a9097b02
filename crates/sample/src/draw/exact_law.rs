//! The exact law of a sample of a tiny table, by enumerating all coins of the real code, and the audit that this
//! allows: no label may be refuted, and a wrong constant must be.

use super::column_scores::{self, Subset};
use super::random_choices::RandomChoices;
use super::rare_cells::Verdict;
use super::{Draw, Public, Rule, Rules};
use crate::{Design, Rate, SampleRequest, Scheme};
use guarantee::audit::{Law, divergence};
use random::testing::binomial;
use random::{Coins, Noise, Ratio, below};
use std::collections::BTreeMap;
use std::sync::{Arc, Mutex};
use table::{Bag, NONE, Stop, Watch};

type Row = Vec<Option<&'static str>>;
/// The rows that come out, with their copies.
type Output = BTreeMap<Vec<Option<Vec<u8>>>, u64>;
/// Columns and codes of a combination.
type Combination = (Vec<u32>, Vec<u32>);

/// P(X > t) of the noise.
fn tail(noise: &Noise, t: i64) -> f64 {
    let weight = |x: i64| match noise {
        Noise::Laplace { scale } => (-x.abs() as f64 / scale.to_f64()).exp(),
        Noise::Gaussian { sigma2 } => (-(x as f64).powi(2) / (2.0 * sigma2.to_f64())).exp(),
    };
    // The probability beyond this point is below 1e-20.
    let end = (50.0 * noise.stddev()) as i64 + 50;
    let sum = |from: i64| (from..=end).map(weight).sum::<f64>();
    sum(t.max(-end - 1) + 1) / sum(-end)
}

/// Verdicts that are fixed in advance. The first combination without one is remembered with the probability that it
/// is frequent.
#[derive(Clone)]
struct Oracle {
    noise: Option<Noise>,
    theta: u64,
    known: Arc<BTreeMap<Combination, bool>>,
    asked: Arc<Mutex<BTreeMap<Combination, f64>>>,
}

impl Verdict for Oracle {
    type Columns = Vec<u32>;

    fn columns(&self, columns: &[u32]) -> Vec<u32> {
        columns.to_vec()
    }

    fn frequent(&self, columns: &Vec<u32>, codes: &[u32], count: u64) -> bool {
        let combination = (columns.clone(), codes.to_vec());
        self.known.get(&combination).copied().unwrap_or_else(|| {
            let p = tail(self.noise.as_ref().unwrap(), self.theta as i64 - count as i64);
            self.asked.lock().unwrap().insert(combination, p);
            false
        })
    }
}

/// Random choices that take the next path with each run.
struct Every {
    /// The outcome of each decision and the number of outcomes it has.
    path: Vec<(usize, usize)>,
    at: usize,
    probability: f64,
    oracle: Oracle,
}

impl Every {
    fn new() -> Self {
        let oracle = Oracle { noise: None, theta: 0, known: Arc::default(), asked: Arc::default() };
        Every { path: Vec::new(), at: 0, probability: 1.0, oracle }
    }

    /// Starts another run with the same coins.
    fn again(&mut self, known: BTreeMap<Combination, bool>) {
        self.at = 0;
        self.probability = 1.0;
        self.oracle.known = Arc::new(known);
        self.oracle.asked = Arc::default();
    }

    fn decide(&mut self, law: &[f64]) -> usize {
        if self.at == self.path.len() {
            self.path.push((0, law.len()));
        }
        let chosen = self.path[self.at].0;
        self.at += 1;
        self.probability *= law[chosen];
        chosen
    }

    /// Goes on to the next path; false if there is none.
    fn advance(&mut self) -> bool {
        while let Some((chosen, outcomes)) = self.path.pop() {
            if chosen + 1 < outcomes {
                self.path.push((chosen + 1, outcomes));
                return true;
            }
        }
        false
    }
}

impl RandomChoices for Every {
    type Noisy = Oracle;

    fn thin(&mut self, rate: Rate, weights: &[u64], _: &Watch) -> Result<Vec<u64>, Stop> {
        Ok(weights.iter().map(|&n| self.decide(&binomial(n as usize, rate.get())) as u64).collect())
    }

    fn noisy(&mut self, noise: &Noise, theta: u64) -> Oracle {
        Oracle { noise: Some(noise.clone()), theta, ..self.oracle.clone() }
    }

    fn family(&mut self, columns: usize) -> Vec<Subset> {
        column_scores::family(columns, &mut Coins::seeded(0))
    }

    fn choose(&mut self, exponents: &[Ratio], _: &Watch) -> Result<usize, Stop> {
        let weights: Vec<f64> = exponents.iter().map(|x| (-x.to_f64()).exp()).collect();
        let total: f64 = weights.iter().sum();
        let law: Vec<f64> = weights.iter().map(|weight| weight / total).collect();
        Ok(self.decide(&law))
    }
}

/// The law of the released rows.
fn law(rows: &[Row], design: &Design, public: Public) -> Law<Output> {
    let bag = Bag::from_text(design.request.columns, rows.iter().cloned());
    let watch = Watch::unlimited();
    let draw = Draw { bag: &bag, design, watch: &watch };
    let mut every = Every::new();
    let mut law = Law::new();
    loop {
        // All combinations of verdicts that matter for these coins.
        let mut open = vec![(BTreeMap::new(), 1.0)];
        while let Some((known, verdicts)) = open.pop() {
            every.again(known);
            let released = draw.sample(public, &mut every).unwrap();
            let asked = every.oracle.asked.lock().unwrap().pop_first();
            if let Some((combination, frequent)) = asked {
                for (verdict, p) in [(true, frequent), (false, 1.0 - frequent)] {
                    let mut known = (*every.oracle.known).clone();
                    known.insert(combination.clone(), verdict);
                    open.push((known, verdicts * p));
                }
                continue;
            }
            let shown = released.to_bag(&bag, &watch).unwrap();
            let output = (0..shown.distinct())
                .map(|i| {
                    let value = |(c, &code): (usize, &u32)| {
                        (code != NONE).then(|| shown.domain(c).value(code).to_vec())
                    };
                    (shown.row(i).iter().enumerate().map(value).collect(), shown.weight(i))
                })
                .collect();
            *law.entry(output).or_default() += every.probability * verdicts;
        }
        if !every.advance() {
            return law;
        }
    }
}

/// The largest divergence, either way, over neighbouring tables, and that of the label.
struct Finding {
    worst: f64,
    delta: f64,
}

/// Compares the laws of a design on neighbouring tables at the epsilon and delta of `label`.
fn audit(design: &Design, label: &Design, tables: &[(Vec<Row>, Row)], public: Public) -> Finding {
    let total = label.total.unwrap();
    let mut worst = 0.0f64;
    for (rows, row) in tables {
        let mut more = rows.clone();
        more.push(row.clone());
        let (without, with) = (law(rows, design, public), law(&more, design, public));
        for law in [&without, &with] {
            let sum: f64 = law.values().sum();
            assert!((sum - 1.0).abs() < 1e-9, "{sum}");
        }
        worst = worst.max(divergence(&with, &without, total.epsilon)).max(divergence(
            &without,
            &with,
            total.epsilon,
        ));
    }
    Finding { worst, delta: total.delta }
}

/// Pairs of neighbouring tables: rows of one form up to a number, and random ones.
fn tables(columns: usize, largest: usize, random: usize) -> Vec<(Vec<Row>, Row)> {
    let same: Row = vec![Some("a"); columns];
    let mut tables: Vec<(Vec<Row>, Row)> =
        (0..=largest).map(|n| (vec![same.clone(); n], same.clone())).collect();
    let mut coins = Coins::seeded(17);
    let values = [Some("a"), Some("a"), Some("b"), None];
    let mut row =
        || -> Row { (0..columns).map(|_| values[below(&mut coins, 4) as usize]).collect() };
    for n in 0..random {
        let rows = (0..1 + n % 4).map(|_| row()).collect();
        tables.push((rows, row()));
    }
    tables
}

fn request(scheme: Scheme, epsilon: f64, columns: usize) -> SampleRequest {
    SampleRequest {
        scheme,
        epsilon,
        delta: 1e-3,
        k: 2,
        split: 0.5,
        max_length: scheme.usual_length(),
        columns,
        theta1: Some(1),
    }
}

/// Most rows are counted, so that the effect of a counted row shows best.
fn counting(epsilon: f64) -> SampleRequest {
    SampleRequest { k: 3, split: 0.9, theta1: Some(6), ..request(Scheme::DpSplit, epsilon, 1) }
}

const EPSILONS: [f64; 2] = [0.7, 2.0];

fn assert_holds(request: SampleRequest, tables: &[(Vec<Row>, Row)], public: Public) {
    let design = Design::new(request).unwrap();
    let Finding { worst, delta } = audit(&design, &design, tables, public);
    assert!(worst <= delta * (1.0 + 1e-9), "{request:?}: {worst} > {delta}");
}

/// Audits the scheme at both epsilons on tables of one and two columns.
fn assert_scheme_holds(scheme: Scheme, public: [Public; 2], sizes: [(usize, usize); 2]) {
    for epsilon in EPSILONS {
        for (columns, (public, (largest, random))) in (1..).zip(public.into_iter().zip(sizes)) {
            let tables = tables(columns, largest, random);
            assert_holds(request(scheme, epsilon, columns), &tables, public);
        }
    }
}

fn public_tables() -> [Bag; 2] {
    let rows = [["a", "a"], ["a", "a"], ["a", "b"], ["b", "a"], ["b", "a"]].map(|r| r.map(Some));
    [Bag::from_text(1, rows.map(|row| [row[0]])), Bag::from_text(2, rows)]
}

#[test]
fn public_schemes_keep_their_label_exactly() {
    let tables = public_tables();
    let public = tables.each_ref().map(|table| Public { table: Some(table), rules: None });
    assert_scheme_holds(Scheme::Public, public, [(6, 12), (3, 12)]);
}

#[test]
fn rules_keep_their_label_exactly() {
    let both = Rules::new([Rule::Columns(vec![0, 1])]);
    let one = Rules::new([Rule::Columns(vec![0])]);
    let public = [&one, &both].map(|rules| Public { table: None, rules: Some(rules) });
    assert_scheme_holds(Scheme::Public, public, [(6, 8), (3, 12)]);
}

#[test]
fn noisy_counts_keep_their_label_exactly() {
    assert_scheme_holds(Scheme::DpCounts, [Public::default(); 2], [(12, 16), (4, 16)]);
    // With more delta the noise is Gaussian.
    let generous = SampleRequest { delta: 0.05, ..request(Scheme::DpCounts, 0.7, 2) };
    assert!(matches!(Design::new(generous).unwrap().noise, Some(Noise::Gaussian { .. })));
    assert_holds(generous, &tables(2, 4, 8), Public::default());
}

#[test]
fn noisy_counts_of_a_part_keep_their_label_exactly() {
    assert_scheme_holds(Scheme::DpSplit, [Public::default(); 2], [(6, 8), (3, 6)]);
    for epsilon in EPSILONS {
        assert_holds(counting(epsilon), &tables(1, 11, 0), Public::default());
    }
}

#[test]
fn chosen_columns_keep_their_label_exactly() {
    assert_scheme_holds(Scheme::DpSelect, [Public::default(); 2], [(6, 8), (4, 12)]);
}

#[test]
fn the_label_of_a_public_scheme_is_tight() {
    let [table, _] = public_tables();
    let public = Public { table: Some(&table), rules: None };
    for epsilon in EPSILONS {
        let design = Design::new(request(Scheme::Public, epsilon, 1)).unwrap();
        let found = audit(&design, &design, &tables(1, 8, 0), public);
        assert!(found.worst > found.delta * (1.0 - 1e-9), "{} {}", found.worst, found.delta);
    }
}

/// The divergence at `epsilon` between noisy counts and the same counts with 1 more in each.
fn noise_divergence(noise: &Noise, counts: u64, epsilon: f64) -> f64 {
    let beyond = |loss: f64| (1.0 - (epsilon - loss).exp()).max(0.0);
    match noise {
        // A count on the far side of both has e^(1/scale) less, the others e^(1/scale) more.
        Noise::Laplace { scale } => {
            let far = binomial(counts as usize, tail(noise, 0)).into_iter().enumerate();
            let loss = |far: usize| (counts as f64 - 2.0 * far as f64) / scale.to_f64();
            far.map(|(far, p)| p * beyond(loss(far))).sum()
        }
        // The ratio depends on the sum of the noises alone.
        Noise::Gaussian { sigma2 } => {
            let end = (12.0 * noise.stddev()) as i64 + 12;
            let one: Vec<f64> = (-end..=end).map(|x| tail(noise, x - 1) - tail(noise, x)).collect();
            let mut sum = vec![1.0];
            for _ in 0..counts {
                let mut next = vec![0.0; sum.len() + one.len() - 1];
                for (i, p) in sum.iter().enumerate() {
                    one.iter().enumerate().for_each(|(j, q)| next[i + j] += p * q);
                }
                sum = next;
            }
            let middle = counts as f64 * end as f64;
            let loss =
                |i: usize| (counts as f64 - 2.0 * (i as f64 - middle)) / (2.0 * sigma2.to_f64());
            sum.iter().enumerate().map(|(i, p)| p * beyond(loss(i))).sum()
        }
    }
}

/// In a whole sample the coins of other rows hide a part of the loss. Here the noisy counts alone cost what the
/// design says.
#[test]
fn noisy_counts_alone_cost_what_the_design_says() {
    let mut gaussian = 0;
    for scheme in [Scheme::DpCounts, Scheme::DpSplit] {
        for epsilon in EPSILONS {
            for (columns, counts) in [(1, 1), (2, 3), (4, 10)] {
                for delta in [1e-3, 0.05] {
                    let request = SampleRequest { delta, ..request(scheme, epsilon, columns) };
                    let design = Design::new(request).unwrap();
                    let (noise, cost) = (design.noise.unwrap(), design.scheme_cost);
                    let found = noise_divergence(&noise, counts, cost.epsilon);
                    assert!(found <= cost.delta + 1e-12, "{request:?}: {found} {cost:?}");
                    // And not much less: half the noise would be detected.
                    let twice = noise_divergence(&noise, counts, cost.epsilon / 2.0);
                    assert!(twice > cost.delta + 1e-6, "{request:?}: {twice} {cost:?}");
                    gaussian += usize::from(matches!(noise, Noise::Gaussian { .. }));
                }
            }
        }
    }
    assert!(gaussian > 2, "{gaussian}");
}

/// The law of the columns that `dp_select` chooses.
fn choice(rows: &[Row], design: &Design) -> Law<Subset> {
    let bag = Bag::from_text(design.request.columns, rows.iter().cloned());
    let watch = Watch::unlimited();
    let draw = Draw { bag: &bag, design, watch: &watch };
    let mut every = Every::new();
    let mut law = Law::new();
    loop {
        every.again(BTreeMap::new());
        let chosen = draw.choose(&mut every).unwrap();
        *law.entry(chosen).or_default() += every.probability;
        if !every.advance() {
            return law;
        }
    }
}

/// The largest |ln P/Q| of the choices with and without a row, and max ln P/Q - min ln P/Q.
fn loss(rows: &[Row], row: &Row, design: &Design) -> (f64, f64) {
    let mut more = rows.to_vec();
    more.push(row.clone());
    let (without, with) = (choice(rows, design), choice(&more, design));
    let losses: Vec<f64> = without.iter().map(|(set, q)| (with[set] / q).ln()).collect();
    let (low, high) = losses.iter().fold((0f64, 0f64), |(l, h), &x| (l.min(x), h.max(x)));
    let range = losses.iter().fold(f64::MIN, |h, &x| h.max(x))
        - losses.iter().fold(f64::MAX, |l, &x| l.min(x));
    (high.max(-low), range)
}

/// One row brings its form above the threshold, while each of its values is frequent already.
fn form_at_the_threshold() -> (Vec<Row>, Row) {
    let own: Row = vec![Some("a"); 2];
    let mut rows = vec![own.clone(); 7];
    for other in ["b", "c", "d", "e", "f", "g", "h", "i", "j", "k", "l", "m"] {
        rows.extend([vec![Some("a"), Some(other)], vec![Some(other), Some("a")]]);
    }
    (rows, own)
}

/// The choice is epsilon1-DP, and of bounded range, which `Design::charge` relies on.
#[test]
fn the_choice_alone_costs_what_the_design_says() {
    for epsilon in EPSILONS {
        for theta1 in [Some(1), Some(7), None] {
            let request = SampleRequest { theta1, ..request(Scheme::DpSelect, epsilon, 2) };
            let design = Design::new(request).unwrap();
            let allowed = design.scheme_cost.epsilon * (1.0 + 1e-12);
            let mut pairs = tables(2, 9, 60);
            pairs.push(form_at_the_threshold());
            for (rows, row) in &pairs {
                let (largest, range) = loss(rows, row, &design);
                assert!(largest <= allowed && range <= allowed, "{request:?}: {largest} {range}");
            }
        }
        // And not much less: twice the weight would be detected.
        let request = SampleRequest { theta1: Some(7), ..request(Scheme::DpSelect, epsilon, 2) };
        let design = Design::new(request).unwrap();
        let (rows, row) = form_at_the_threshold();
        let (largest, range) = loss(&rows, &row, &design);
        assert!(largest > 0.6 * design.scheme_cost.epsilon, "{epsilon}: {largest}");
        assert!(range > 0.9 * design.scheme_cost.epsilon, "{epsilon}: {range}");
    }
}

/// A label that promises more than the mechanism keeps is refuted by the same tables.
#[test]
fn wrong_constants_are_refuted() {
    let [table, _] = public_tables();
    let public = Public { table: Some(&table), rules: None };
    let refuted = |label: &Design, wrong: &Design| {
        let found = audit(wrong, label, &tables(1, 12, 0), public);
        assert!(found.worst > found.delta, "{:?}: {}", label.request, found.worst);
    };
    for epsilon in EPSILONS {
        let label = Design::new(request(Scheme::DpCounts, epsilon, 1)).unwrap();
        let mut wrong = label.clone();
        wrong.noise = Some(Noise::laplace(1, 2.0 * label.scheme_cost.epsilon).unwrap());
        refuted(&label, &wrong);
        for scheme in [Scheme::Public, Scheme::DpCounts, Scheme::DpSplit, Scheme::DpSelect] {
            let label = Design::new(request(scheme, epsilon, 1)).unwrap();
            let mut wrong = label.clone();
            wrong.request.k -= 1;
            refuted(&label, &wrong);
        }
    }
}
