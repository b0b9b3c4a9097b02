//! The joint law of the output of `dp_frequent_itemsets`, which itemsets and their noisy supports, on neighbouring
//! tables: compared with the label, and with the charge for people with several rows.

use super::reference::{all_itemsets, bag, support};
use super::top_itemsets::TopItemsets;
use proptest::prelude::*;
use random::testing::assert_fits;
use random::{Coins, Noise};
use table::{Bag, Item, Watch};

/// Two columns of two values: four itemsets of one item, four of two.
const SIZES: [usize; 2] = [2, 2];
const MAX_LENGTH: usize = 2;
/// Noise beyond this is left out of sums, and bounded.
const REACH: i64 = 80;

type Rows = Vec<Vec<Option<u32>>>;

/// The inputs of the law.
struct OutputLaw {
    itemsets: Vec<Vec<Item>>,
    supports: Vec<i64>,
    /// The probability of each set of two itemsets, by their positions.
    pairs: Vec<((usize, usize), f64)>,
}

impl OutputLaw {
    fn new(top: &TopItemsets, bag: &Bag) -> Self {
        let itemsets = all_itemsets(bag, MAX_LENGTH);
        let supports: Vec<i64> = itemsets.iter().map(|items| support(bag, items) as i64).collect();
        let c = top.parts().0.to_f64();
        let weights: Vec<f64> = supports.iter().map(|&supp| (c * supp as f64).exp()).collect();
        let sum: f64 = weights.iter().sum();
        // One after the other, the second among the remaining ones; the order is not shown.
        let in_order = |a: usize, b: usize| weights[a] / sum * weights[b] / (sum - weights[a]);
        let mut pairs = Vec::new();
        for b in 0..itemsets.len() {
            pairs.extend((0..b).map(|a| ((a, b), in_order(a, b) + in_order(b, a))));
        }
        OutputLaw { itemsets, supports, pairs }
    }
}

/// Probabilities of noise from -REACH to REACH, and of everything beyond.
fn noise(noise: &Noise) -> (Vec<f64>, f64) {
    let weight = |x: i64| match noise {
        Noise::Laplace { scale } => (-(x.abs() as f64) / scale.to_f64()).exp(),
        Noise::Gaussian { sigma2 } => (-((x * x) as f64) / (2.0 * sigma2.to_f64())).exp(),
    };
    let all: f64 = (-100_000..=100_000).map(weight).sum();
    let near: Vec<f64> = (-REACH..=REACH).map(|x| weight(x) / all).collect();
    let beyond = 1.0 - near.iter().sum::<f64>();
    (near, beyond.max(0.0) + 1e-12)
}

/// Calls `with` with the probabilities, on both tables, of every output within reach.
fn each(top: &TopItemsets, one: &OutputLaw, other: &OutputLaw, mut with: impl FnMut(f64, f64)) {
    let (near, _) = noise(top.parts().1);
    let at = |x: i64| usize::try_from(x + REACH).ok().and_then(|place| near.get(place)).copied();
    // The probabilities of a shown support on both tables.
    let shown = |itemset: usize| -> Vec<(f64, f64)> {
        let (mine, theirs) = (one.supports[itemset], other.supports[itemset]);
        (-REACH..=REACH).filter_map(|x| Some((at(x)?, at(x + mine - theirs)?))).collect()
    };
    let shown: Vec<Vec<(f64, f64)>> = (0..one.supports.len()).map(shown).collect();
    for (&((a, b), p), &(_, q)) in one.pairs.iter().zip(&other.pairs) {
        for &(first, first_q) in &shown[a] {
            for &(second, second_q) in &shown[b] {
                with(p * first * second, q * first_q * second_q);
            }
        }
    }
}

/// The delta at `epsilon`: hockey-stick divergence, with everything beyond the reach counted fully.
fn delta(top: &TopItemsets, one: &OutputLaw, other: &OutputLaw, epsilon: f64) -> f64 {
    let (factor, mut sum, mut near) = (epsilon.exp(), 0.0, 0.0);
    each(top, one, other, |p, q| {
        near += p;
        sum += (p - factor * q).max(0.0);
    });
    sum + (1.0 - near).max(0.0)
}

fn any_rows(rows: std::ops::Range<usize>) -> impl Strategy<Value = Rows> {
    let cell = || prop::option::weighted(0.8, 0u32..2);
    prop::collection::vec((cell(), cell()).prop_map(|(a, b)| vec![a, b]), rows)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(12))]

    /// By epsilon alone: no result is more than e^(g epsilon) times as likely on one of the tables.
    #[test]
    fn pure_results_keep_the_label(
        rows in any_rows(0..6), unit in any_rows(1..4), epsilon in 0.3f64..4.0,
    ) {
        let top = TopItemsets::new(2, epsilon, 0.0, MAX_LENGTH).unwrap();
        let with: Rows = rows.iter().chain(&unit).cloned().collect();
        let [one, other] = [&rows, &with].map(|rows| OutputLaw::new(&top, &bag(&SIZES, rows)));
        let charged = top.charge().of_rows(unit.len() as u64).whole;
        prop_assert!(charged.delta == 0.0);
        let mut most = 0.0f64;
        each(&top, &one, &other, |p, q| most = most.max((p / q).ln().abs()));
        prop_assert!(most <= charged.epsilon * (1.0 + 1e-9), "{} {}", most, charged.epsilon);
    }

    /// With delta, either way round.
    #[test]
    fn gaussian_results_keep_the_label(
        rows in any_rows(0..6), unit in any_rows(1..4), epsilon in 1.0f64..3.0,
        asked in prop::sample::select(vec![1e-2, 1e-3, 1e-5]),
    ) {
        let top = TopItemsets::new(2, epsilon, asked, MAX_LENGTH).unwrap();
        let with: Rows = rows.iter().chain(&unit).cloned().collect();
        let [one, other] = [&rows, &with].map(|rows| OutputLaw::new(&top, &bag(&SIZES, rows)));
        let charged = top.charge().of_rows(unit.len() as u64).whole;
        for (p, q) in [(&one, &other), (&other, &one)] {
            let found = delta(&top, p, q, charged.epsilon);
            prop_assert!(found <= charged.delta + 1e-9, "{} {:?}", found, charged);
        }
    }

    /// In rho, as charged: Rényi divergences of every order stay below rho times the order.
    #[test]
    fn results_are_as_concentrated_as_charged(
        rows in any_rows(0..6), unit in any_rows(1..2), epsilon in 1.0f64..3.0,
        asked in prop::sample::select(vec![0.0, 1e-3]),
    ) {
        let top = TopItemsets::new(2, epsilon, asked, MAX_LENGTH).unwrap();
        let with: Rows = rows.iter().chain(&unit).cloned().collect();
        let [one, other] = [&rows, &with].map(|rows| OutputLaw::new(&top, &bag(&SIZES, rows)));
        let rho = top.charge().rho.unwrap();
        for order in [1.2, 2.0, 8.0] {
            let mut sum = 0.0;
            each(&top, &one, &other, |p, q| sum += q * (p / q).powf(order));
            let divergence = sum.ln() / (order - 1.0);
            prop_assert!(divergence <= rho * order + 1e-9, "{} {} {}", order, divergence, rho);
        }
    }
}

/// No epsilon is wasted: a row with a value of its own changes the law by half of what the label allows.
#[test]
fn a_row_reaches_half_of_the_label() {
    let rows: Rows = vec![vec![Some(0), Some(0)]; 40];
    let with: Rows = rows.iter().cloned().chain([vec![Some(0), Some(0)]]).collect();
    let top = TopItemsets::new(2, 1.0, 0.0, MAX_LENGTH).unwrap();
    let [one, other] = [&rows, &with].map(|rows| OutputLaw::new(&top, &bag(&SIZES, rows)));
    let mut most = 0.0f64;
    each(&top, &one, &other, |p, q| most = most.max((p / q).ln().abs()));
    assert!((0.5..=1.0 + 1e-9).contains(&most), "{most}");
}

/// The output follows this law: which itemsets, and whether the noise of each is above 0.
#[test]
fn what_is_found_has_the_joint_law() {
    let rows: Rows =
        [[0, 0], [0, 0], [0, 1], [1, 0], [0, 0]].map(|row| row.map(Some).to_vec()).into();
    let (bag, watch) = (bag(&SIZES, &rows), Watch::unlimited());
    for (seed, delta) in [(1, 0.0), (2, 1e-2)] {
        let top = TopItemsets::new(2, 4.0, delta, MAX_LENGTH).unwrap();
        let shown = OutputLaw::new(&top, &bag);
        let (near, beyond) = noise(top.parts().1);
        let above = near[REACH as usize + 1..].iter().sum::<f64>() + beyond / 2.0;
        let chance = |is_above: bool| if is_above { above } else { 1.0 - above };
        let mut law = Vec::new();
        for &(_, p) in &shown.pairs {
            law.extend((0..4).map(|signs| p * chance(signs & 1 == 1) * chance(signs & 2 == 2)));
        }
        let mut coins = Coins::seeded(seed);
        assert_fits(&law, 20_000, || {
            let mut found = top.find(&bag, &mut coins, &watch).unwrap();
            let place = |items: &Vec<Item>| shown.itemsets.iter().position(|known| known == items);
            found.sort_by_key(|found| place(&found.items));
            let places: Vec<usize> = found.iter().filter_map(|found| place(&found.items)).collect();
            let pair = (places[0], places[1]);
            let number = shown.pairs.iter().position(|known| known.0 == pair).unwrap();
            let sign = |i: usize| found[i].support > i128::from(shown.supports[places[i]]);
            (number * 4 + usize::from(sign(0)) + 2 * usize::from(sign(1))) as i64
        });
    }
}
