//! 95 % intervals hold on awkward data: ties, round numbers, constants, skewed money, few values, many.
//!
//! `cargo test --release -p pg_sanitize_aggregate --test coverage -- --ignored` takes more runs and cases.

use pg_sanitize_aggregate::{
    Answer, Bounded, Measure, MeasureKind, NoisePlan, Query, Range, Step, UnitRows,
};
use random::{Coins, below};

/// The promised coverage, less what the tails of a continuous law on a grid may take.
const LEAST: f64 = 0.94;
const SHARES: [f64; 5] = [0.0, 0.1, 0.5, 0.95, 1.0];

struct Data {
    name: &'static str,
    range: Range,
    values: fn(usize, &mut Coins) -> Vec<i64>,
}

fn range(low: i64, high: i64) -> Range {
    Range::new(low, high, Step::ONE).unwrap()
}

/// From 0 up to 1.
fn uniform(coins: &mut Coins) -> f64 {
    below(coins, 1 << 53) as f64 / (1u64 << 53) as f64
}

/// e^(8 + 1.2 Z) for a normal Z: half of the values are below 2981, a few above 100,000.
fn money(coins: &mut Coins) -> i64 {
    let (u, v) = (1.0 - uniform(coins), uniform(coins));
    let normal = (-2.0 * u.ln()).sqrt() * (2.0 * std::f64::consts::PI * v).cos();
    (8.0 + 1.2 * normal).exp() as i64
}

fn ties() -> Data {
    let values = |n, coins: &mut Coins| {
        let tie =
            |i: usize, coins: &mut Coins| if i % 5 < 4 { 40 } else { below(coins, 101) as i64 };
        (0..n).map(|i| tie(i, coins)).collect()
    };
    Data { name: "ties", range: range(0, 100), values }
}

fn thousands() -> Data {
    let values = |n, coins: &mut Coins| (0..n).map(|_| 1000 * below(coins, 100) as i64).collect();
    Data { name: "multiples of 1000", range: range(0, 100_000), values }
}

fn ages() -> Data {
    let values = |n, coins: &mut Coins| {
        (0..n).map(|_| (below(coins, 60) + below(coins, 40)) as i64).collect()
    };
    Data { name: "ages", range: range(0, 120), values }
}

fn constants() -> Data {
    Data { name: "constants", range: range(0, 120), values: |n, _| vec![42; n] }
}

fn skewed() -> Data {
    let values = |n, coins: &mut Coins| (0..n).map(|_| money(coins)).collect();
    Data { name: "money", range: range(0, 200_000), values }
}

fn measures(range: Range) -> Vec<Measure> {
    let kinds = [
        MeasureKind::Count,
        MeasureKind::CountOf,
        MeasureKind::Units,
        MeasureKind::Distinct,
        MeasureKind::Sum(range),
        MeasureKind::Mean(range),
        MeasureKind::Variance(range),
        MeasureKind::Quantiles(range, SHARES.to_vec()),
        MeasureKind::Histogram(range, 4),
    ];
    let measure = |(i, kind)| Measure { name: format!("m{i}"), kind, weight: 1.0, per_unit: false };
    kinds.into_iter().enumerate().map(measure).collect()
}

/// The true values that each answer should cover; for quantiles by two definitions, of which one may lie between two
/// values.
fn truths(range: Range, values: &[i64]) -> Vec<Vec<f64>> {
    let n = values.len() as f64;
    let mut sorted: Vec<f64> =
        values.iter().map(|value| (*value).clamp(range.low, range.high) as f64).collect();
    sorted.sort_by(f64::total_cmp);
    let mut distinct = values.to_vec();
    distinct.sort_unstable();
    distinct.dedup();
    let sum: f64 = sorted.iter().sum();
    let mean = sum / n;
    let variance = sorted.iter().map(|value| (value - mean).powi(2)).sum::<f64>() / n;
    let mut truths = vec![n, n, n, distinct.len() as f64, sum, mean, variance];
    let mut truths: Vec<Vec<f64>> = truths.drain(..).map(|truth| vec![truth]).collect();
    for q in SHARES {
        let place = q * (n - 1.0);
        let (below, above) = (sorted[place.floor() as usize], sorted[place.ceil() as usize]);
        let discrete = sorted[((q * n).ceil() as usize).max(1) - 1];
        truths.push(vec![below + (above - below) * place.fract(), discrete]);
    }
    for bin in 0..4 {
        let span = (range.high - range.low) as f64;
        let of = |value: f64| ((value - range.low as f64) * 4.0 / span).min(3.0) as i32;
        truths.push(vec![sorted.iter().filter(|value| of(**value) == bin).count() as f64]);
    }
    truths
}

/// Checks the coverage of the true values by the answers' intervals.
fn check(data: &Data, n: usize, epsilon: f64, delta: f64, runs: usize) {
    let measures = measures(data.range);
    let query = Query {
        measures,
        rows_per_unit: 1,
        groups_per_unit: 1,
        private_groups: false,
        min_units: None,
    };
    let plan = NoisePlan::new(query, epsilon, delta).unwrap();
    assert_eq!(plan.charge().whole.delta > 0.0, delta > 0.0, "the other noise was chosen");
    let mut coins = Coins::seeded(n as i64);
    let values = (data.values)(n, &mut coins);
    let mut rows = Bounded::new(1, 1, plan.row_width());
    for &value in &values {
        rows.row_of_new_unit(0, &vec![value; plan.row_width()], &mut coins);
    }
    let mut slots = Vec::new();
    let visit = |_, found: &[i128], _: &mut Coins| {
        slots = found.to_vec();
        Ok::<(), ()>(())
    };
    plan.totals(&mut rows, &UnitRows::new(0), 1, u64::MAX, &mut coins, visit).unwrap();
    let truths = truths(data.range, &values);
    let mut covered: Vec<Vec<usize>> = truths.iter().map(|list| vec![0; list.len()]).collect();
    for _ in 0..runs {
        let answers: Vec<Answer> = plan.answers(&slots, &mut coins);
        assert_eq!(answers.len(), truths.len());
        for ((answer, truths), covered) in answers.iter().zip(&truths).zip(&mut covered) {
            assert!(answer.low <= answer.high, "{answer:?}");
            for (truth, covered) in truths.iter().zip(covered) {
                // Sums of floats are not exact.
                let hair = 1e-9 * truth.abs();
                let inside = answer.low <= truth + hair && truth - hair <= answer.high;
                *covered += usize::from(inside);
            }
        }
    }
    // Three standard errors of a share over the runs.
    let slack = 3.0 * (0.05 * 0.95 / runs as f64).sqrt();
    let names = plan.answers(&slots, &mut coins);
    for (answer, covered) in names.iter().zip(&covered) {
        for &covered in covered {
            let share = covered as f64 / runs as f64;
            let case = format!("{} n {n} epsilon {epsilon} delta {delta}", data.name);
            assert!(share >= LEAST - slack, "{case}: {} covers {share}", answer.measure);
        }
    }
}

/// Both noises, where they are wide beside the data and where they are narrow.
const PRICES: [(f64, f64); 4] = [(1.0, 0.0), (1.0, 1e-3), (30.0, 0.0), (4.0, 0.01)];

fn quick(data: &Data, runs: usize) {
    for (i, n) in [20, 200, 2000, 100_000].into_iter().enumerate() {
        for price in [PRICES[i % 2], PRICES[2 + (i + 1) % 2]] {
            check(data, n, price.0, price.1, runs);
        }
    }
}

/// Fewer without optimisation, where a run takes ten times as long.
const RUNS: usize = if cfg!(debug_assertions) { 300 } else { 1000 };

#[test]
fn intervals_hold_on_ties() {
    quick(&ties(), RUNS);
}

#[test]
fn intervals_hold_on_round_numbers() {
    quick(&thousands(), RUNS / 2);
}

#[test]
fn intervals_hold_on_ages() {
    quick(&ages(), RUNS);
}

#[test]
fn intervals_hold_on_constants() {
    quick(&constants(), RUNS);
}

#[test]
fn intervals_hold_on_skewed_money() {
    quick(&skewed(), RUNS / 2);
}

#[test]
#[ignore = "takes minutes"]
fn intervals_hold_on_everything() {
    for data in [ties(), thousands(), ages(), constants(), skewed()] {
        for n in [20, 50, 200, 2000, 20_000, 100_000] {
            for (epsilon, delta) in PRICES {
                check(&data, n, epsilon, delta, 3000);
            }
        }
    }
}
