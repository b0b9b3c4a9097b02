//! What noisy aggregates promise: coverage, no bias, and no more epsilon than was charged.

use guarantee::{Cost, Spent, zcdp_rho};
use pg_sanitize_aggregate::{
    Answer, Bounded, Measure, MeasureKind, NO_VALUE, NoisePlan, Query, Range, Step, UnitRows,
};
use random::{Coins, Noise};

/// Fewer without optimisation, where a run takes ten times as long.
const RUNS: usize = if cfg!(debug_assertions) { 1_500 } else { 10_000 };
/// One per cent, or the precision of that number of runs: three standard errors.
const SLACK: f64 = if cfg!(debug_assertions) { 0.017 } else { 0.01 };

fn assert_covers(what: &str, share: f64) {
    assert!((0.95 - SLACK..=0.95 + SLACK).contains(&share), "{what}: coverage {share}");
}

fn range(low: i64, high: i64) -> Range {
    Range::new(low, high, Step::ONE).unwrap()
}

fn plan(kinds: &[MeasureKind], rows_per_unit: u64, epsilon: f64, delta: f64) -> NoisePlan {
    let measures = kinds
        .iter()
        .enumerate()
        .map(|(i, kind)| Measure {
            name: format!("m{i}"),
            kind: kind.clone(),
            weight: 1.0,
            per_unit: false,
        })
        .collect();
    let query = Query {
        measures,
        rows_per_unit,
        groups_per_unit: 1,
        private_groups: false,
        min_units: None,
    };
    NoisePlan::new(query, epsilon, delta).unwrap()
}

/// The integers of the only group.
fn one_total(plan: &NoisePlan, rows: &mut Bounded, coins: &mut Coins) -> Vec<i128> {
    let (units, mut totals) = (UnitRows::new(plan.unit_width()), Vec::new());
    let visit = |_, slots: &[i128], _: &mut Coins| {
        totals = slots.to_vec();
        Ok::<(), ()>(())
    };
    plan.totals(rows, &units, 1, u64::MAX, coins, visit).unwrap();
    totals
}

/// The integers of one group of units with one row each.
fn totals(plan: &NoisePlan, width: usize, values: impl Iterator<Item = i64>) -> Vec<i128> {
    let mut coins = Coins::seeded(0);
    let mut rows = Bounded::new(1, 1, width);
    for value in values {
        rows.row_of_new_unit(0, &vec![value; width], &mut coins);
    }
    one_total(plan, &mut rows, &mut coins)
}

fn number(answer: &Answer) -> f64 {
    answer.value.as_ref().unwrap().parse().unwrap()
}

/// Values with mean 44.5, spread over 0..=89.
fn ages(n: i64) -> impl Iterator<Item = i64> {
    (0..n).map(|i| (i * 37) % 90)
}

fn check(kind: MeasureKind, epsilon: f64, delta: f64, truths: &[f64], width: usize, n: i64) {
    let plan = plan(std::slice::from_ref(&kind), 1, epsilon, delta);
    let slots = totals(&plan, width, ages(n));
    let mut coins = Coins::seeded(7);
    let mut covered = vec![0; truths.len()];
    let mut sums = vec![0.0; truths.len()];
    let mut squares = vec![0.0; truths.len()];
    for _ in 0..RUNS {
        let answers = plan.answers(&slots, &mut coins);
        assert_eq!(answers.len(), truths.len());
        for (i, (answer, truth)) in answers.iter().zip(truths).enumerate() {
            covered[i] += usize::from(answer.low <= *truth && *truth <= answer.high);
            let error = number(answer) - truth;
            sums[i] += error;
            squares[i] += error * error;
        }
    }
    for i in 0..truths.len() {
        let share = covered[i] as f64 / RUNS as f64;
        assert_covers(&format!("{kind:?} {i}"), share);
        let (bias, error) = (sums[i] / RUNS as f64, (squares[i] / RUNS as f64).sqrt());
        // Four standard errors of a mean over the runs; quantiles are rounded to leaves.
        let slack = if matches!(kind, MeasureKind::Quantiles(..)) {
            0.5
        } else {
            4.0 / (RUNS as f64).sqrt()
        };
        assert!(bias.abs() < slack * error, "{kind:?} {i}: bias {bias}, error {error}");
    }
}

#[test]
fn counts_cover() {
    check(MeasureKind::Count, 1.0, 0.0, &[5000.0], 0, 5000);
    check(MeasureKind::Units, 0.5, 0.0, &[5000.0], 0, 5000);
    check(MeasureKind::CountOf, 0.1, 0.0, &[5000.0], 1, 5000);
}

#[test]
fn sums_cover() {
    let sum = ages(5000).sum::<i64>() as f64;
    check(MeasureKind::Sum(range(0, 120)), 1.0, 0.0, &[sum], 1, 5000);
    // Clamped: the truth is the sum of the clamped values.
    let clamped = ages(5000).map(|age| age.clamp(20, 50)).sum::<i64>() as f64;
    check(MeasureKind::Sum(range(20, 50)), 1.0, 0.0, &[clamped], 1, 5000);
}

#[test]
fn means_cover() {
    let mean = ages(5000).sum::<i64>() as f64 / 5000.0;
    check(MeasureKind::Mean(range(0, 120)), 1.0, 0.0, &[mean], 1, 5000);
    check(MeasureKind::Mean(range(0, 120)), 0.1, 0.0, &[mean], 1, 5000);
}

#[test]
fn variances_cover() {
    let mean = ages(5000).sum::<i64>() as f64 / 5000.0;
    let variance = ages(5000).map(|age| (age as f64 - mean).powi(2)).sum::<f64>() / 5000.0;
    check(MeasureKind::Variance(range(0, 120)), 1.0, 0.0, &[variance], 1, 5000);
}

#[test]
fn histograms_cover() {
    let mut truth = [0.0; 4];
    for age in ages(5000) {
        truth[(age as usize * 4 / 100).min(3)] += 1.0;
    }
    check(MeasureKind::Histogram(range(0, 100), 4), 1.0, 0.0, &truth, 1, 5000);
}

#[test]
fn quantiles_cover() {
    // 160 people of each of 256 values: between two values the quantile moves evenly.
    let values = (0..40_960).map(|i| i % 256);
    let plan = plan(&[MeasureKind::Quantiles(range(0, 255), vec![0.5, 0.9])], 1, 0.2, 0.0);
    let slots = totals(&plan, 1, values);
    // Half way between the two values in the middle, and one of those of 230.
    let truths = [127.5, 230.0];
    let mut coins = Coins::seeded(7);
    let mut covered = [0; 2];
    for _ in 0..RUNS {
        for (i, answer) in plan.answers(&slots, &mut coins).iter().enumerate() {
            covered[i] += usize::from(answer.low <= truths[i] && truths[i] <= answer.high);
        }
    }
    // At least: an interval ends where a leaf does.
    for covered in covered {
        assert!(covered as f64 / RUNS as f64 > 0.95 - SLACK, "{covered} of {RUNS}");
    }
}

#[test]
fn many_measures_take_gaussian_noise_and_cover() {
    let kinds = vec![MeasureKind::Count; 40];
    let plan = plan(&kinds, 1, 1.0, 1e-6);
    assert_eq!((plan.charge().whole.epsilon, plan.charge().whole.delta), (1.0, 1e-6));
    let laplace = self::plan(&kinds, 1, 1.0, 0.0);
    let slots = totals(&plan, 0, ages(1000));
    let mut coins = Coins::seeded(3);
    let (mut covered, mut all) = (0, 0);
    let laplace_stddev = laplace.answers(&slots, &mut coins)[0].stddev.unwrap();
    for _ in 0..RUNS / 40 {
        for answer in plan.answers(&slots, &mut coins) {
            assert!(answer.stddev.unwrap() < 0.8 * laplace_stddev);
            covered += usize::from(answer.low <= 1000.0 && 1000.0 <= answer.high);
            all += 1;
        }
    }
    let share = covered as f64 / f64::from(all);
    assert_covers("Gaussian", share);
}

/// Compares the answers for a table and for the same table with one more unit of `rows` rows: the ratio of the
/// probabilities of any event never exceeds e^epsilon.
fn empirical_epsilon(kind: &MeasureKind, limit: u64, rows: usize, value: i64, epsilon: f64) -> f64 {
    let plan = plan(std::slice::from_ref(kind), limit, epsilon, 0.0);
    let width = usize::from(kind.has_value());
    let runs = 4 * RUNS;
    let mut coins = Coins::seeded(11);
    let mut draws = |with: bool| -> Vec<f64> {
        let mut drawn = Vec::with_capacity(runs);
        for _ in 0..runs {
            let mut table = Bounded::new(limit, 1, width);
            for unit in 0..3 {
                table.row_of_number(unit, 0, &vec![1; width], &mut coins);
            }
            for _ in 0..if with { rows } else { 0 } {
                table.row_of_number(99, 0, &vec![value; width], &mut coins);
            }
            let totals = one_total(&plan, &mut table, &mut coins);
            drawn.push(plan.answers(&totals, &mut coins)[0].low);
        }
        drawn.sort_by(f64::total_cmp);
        drawn
    };
    let (with, without) = (draws(true), draws(false));
    let above =
        |sorted: &[f64], cut: f64| (sorted.len() - sorted.partition_point(|&x| x < cut)) as f64;
    let mut worst: f64 = 0.0;
    for place in 1..40 {
        let cut = with[runs * place / 40];
        let (a, b) = (above(&with, cut), above(&without, cut));
        for (a, b) in [(a, b), (runs as f64 - a, runs as f64 - b), (b, a)] {
            if a >= 100.0 && b >= 100.0 {
                // Less three standard errors of the logarithm of the ratio.
                worst = worst.max((a / b).ln() - 3.0 * (1.0 / a + 1.0 / b).sqrt());
            }
        }
    }
    worst
}

#[test]
fn a_unit_with_many_rows_costs_no_more_than_was_charged() {
    for (kind, value) in [
        (MeasureKind::Count, 0),
        (MeasureKind::Sum(range(-5, 10)), 1_000_000),
        (MeasureKind::Units, 0),
    ] {
        for limit in [1, 3] {
            let found = empirical_epsilon(&kind, limit, 50, value, 1.0);
            assert!(found <= 1.0, "{kind:?} {limit}: {found}");
            // The test must be able to see a loss: a full contribution shows most of it.
            assert!(found > 0.6 || kind == MeasureKind::Units, "{kind:?} {limit}: only {found}");
        }
    }
}

#[test]
fn small_groups_are_shown_with_probability_below_delta() {
    let measures =
        vec![Measure { name: "n".into(), kind: MeasureKind::Count, weight: 1.0, per_unit: false }];
    let query = Query {
        measures,
        rows_per_unit: 2,
        groups_per_unit: 2,
        private_groups: true,
        min_units: None,
    };
    assert!(NoisePlan::new(query.clone(), 1.0, 0.0).is_err());
    let delta = 0.02;
    let plan = NoisePlan::new(query, 1.0, delta).unwrap();
    assert_eq!(plan.charge().whole.delta, delta);
    let mut coins = Coins::seeded(5);
    let runs = 50_000;
    // A person alone in two groups: either of them shown with probability at most delta.
    let shown = (0..runs).filter(|_| {
        let first = plan.shows(1, &mut coins);
        plan.shows(1, &mut coins) || first
    });
    let share = shown.count() as f64 / f64::from(runs);
    let shown = plan.charge().rest.delta;
    assert!(shown <= delta && share <= shown * 1.05 && share > shown / 2.0, "{share}");
    assert!((0..1000).all(|_| plan.shows(500, &mut coins)));
    assert!((0..1000).all(|_| !plan.shows(0, &mut coins)));
}

#[test]
fn weights_and_errors() {
    let measure =
        |weight| Measure { name: "n".into(), kind: MeasureKind::Count, weight, per_unit: false };
    let query = |measures| Query {
        measures,
        rows_per_unit: 1,
        groups_per_unit: 1,
        private_groups: false,
        min_units: None,
    };
    let plan = NoisePlan::new(query(vec![measure(3.0), measure(1.0)]), 1.0, 0.0).unwrap();
    let stddevs = plan.stddevs();
    assert!((stddevs[1].1[0].1 / stddevs[0].1[0].1 - 3.0).abs() < 1e-3);
    for bad in [0.0, -1.0, f64::NAN, f64::INFINITY] {
        assert!(NoisePlan::new(query(vec![measure(bad)]), 1.0, 0.0).is_err());
        assert!(NoisePlan::new(query(vec![measure(1.0)]), bad, 0.0).is_err());
    }
    assert!(NoisePlan::new(query(vec![]), 1.0, 0.0).is_err());
}

fn measure(name: &str, kind: MeasureKind, per_unit: bool) -> Measure {
    Measure { name: name.into(), kind, weight: 1.0, per_unit }
}

fn query(measures: Vec<Measure>, rows_per_unit: u64, groups_per_unit: u64) -> Query {
    Query { measures, rows_per_unit, groups_per_unit, private_groups: false, min_units: None }
}

/// All that `totals` visits.
fn visited(
    plan: &NoisePlan,
    rows: &mut Bounded,
    units: &UnitRows,
    groups: usize,
    room: u64,
) -> Vec<(u32, Vec<i128>)> {
    let mut found = Vec::new();
    let visit = |group, slots: &[i128], _: &mut Coins| {
        found.push((group, slots.to_vec()));
        Ok::<(), ()>(())
    };
    plan.totals(rows, units, groups, room, &mut Coins::seeded(9), visit).unwrap();
    found
}

#[test]
fn totals_are_those_of_single_values() {
    let kinds = [
        MeasureKind::Count,
        MeasureKind::CountOf,
        MeasureKind::Units,
        MeasureKind::Distinct,
        MeasureKind::Sum(range(0, 50)),
        MeasureKind::Mean(range(-9, 50)),
        MeasureKind::Variance(range(-9, 50)),
        MeasureKind::Quantiles(range(0, 99), vec![0.5]),
        MeasureKind::Histogram(range(0, 50), 7),
    ];
    let mut measures: Vec<Measure> =
        kinds.into_iter().map(|kind| measure("m", kind, false)).collect();
    measures.push(measure("own sum", MeasureKind::Sum(range(0, 70)), true));
    measures.push(measure("own count", MeasureKind::CountOf, true));
    let plan = NoisePlan::new(query(measures.clone(), 4, 4), 1.0, 0.0).unwrap();
    assert_eq!((plan.row_width(), plan.unit_width()), (7, 2));
    let mut coins = Coins::seeded(1);
    let mut rows = Bounded::new(4, 4, 7);
    let mut own = UnitRows::new(2);
    let mut expected = vec![vec![0i128; plan.slots()]; 5];
    let mut seen = std::collections::HashSet::new();
    for unit in 0..20i64 {
        for row in 0..4 {
            // Two rows of each group: a unit is in two groups.
            let group = ((unit + row / 2) % 5) as usize;
            let value = if row == 3 { NO_VALUE } else { (unit * 7 + row) % 60 };
            rows.row_of_number(unit as u64, group as u32, &[value; 7], &mut coins);
            for (i, measure) in plan.measures().filter(|(_, measure)| !measure.per_unit) {
                let once = match measure.kind {
                    MeasureKind::Units => row % 2 == 0,
                    MeasureKind::Distinct => seen.insert((group, value)),
                    _ => true,
                };
                if once {
                    plan.add(&mut expected[group], i, value);
                }
            }
        }
        let group = (unit % 5) as usize;
        let values = [unit * 10, if unit % 3 == 0 { NO_VALUE } else { 1 }];
        own.push(group as u32, &values);
        for (i, value) in [9, 10].into_iter().zip(values) {
            plan.add(&mut expected[group], i, value);
        }
    }
    assert!(own.memory() > 0);
    let expected: Vec<(u32, Vec<i128>)> = (0..).zip(expected).collect();
    // Whether all groups are held at once, two, or one at a time.
    let group = 16 * plan.slots() as u64;
    for room in [u64::MAX, 2 * group, group - 1, 0] {
        assert_eq!(visited(&plan, &mut rows, &own, 5, room), expected);
    }
    // An error of the visitor ends the walk.
    let stopped = plan.totals(&mut rows, &own, 5, 0, &mut coins, |group, _, _| {
        if group == 2 { Err("enough") } else { Ok(()) }
    });
    assert_eq!(stopped, Err("enough"));
}

#[test]
fn many_values_at_once_are_single_values() {
    let kinds = [
        MeasureKind::Count,
        MeasureKind::CountOf,
        MeasureKind::Sum(range(5, 60)),
        MeasureKind::Mean(range(-3, 60)),
    ];
    for kind in kinds {
        let plan = plan(std::slice::from_ref(&kind), 1, 1.0, 0.0);
        let (mut one, mut many) = (vec![0; plan.slots()], vec![0; plan.slots()]);
        for value in 10..50 {
            plan.add(&mut one, 0, value);
        }
        assert!(plan.add_many(&mut many, 0, 40, (10..50).sum()));
        assert_eq!(one, many, "{kind:?}");
    }
    let plan = plan(&[MeasureKind::Variance(range(0, 9))], 1, 1.0, 0.0);
    assert!(!plan.add_many(&mut [0; 3], 0, 1, 1));
}

#[test]
fn few_units_are_not_answered_for() {
    for counted in [false, true] {
        let mut measures = vec![measure("n", MeasureKind::Count, false)];
        if counted {
            measures.insert(0, measure("u", MeasureKind::Units, false));
        }
        let least = Query { min_units: Some(30), ..query(measures, 1, 1) };
        let plan = NoisePlan::new(least, 1.0, 0.0).unwrap();
        // One more measure counts units if none of the query does.
        let names: Vec<&str> = plan.measures().map(|(_, measure)| measure.name.as_str()).collect();
        assert_eq!(names, if counted { ["u", "n"] } else { ["n", ""] });
        assert_eq!(plan.stddevs().len(), 1 + usize::from(counted));
        let mut coins = Coins::seeded(2);
        let answered = |units: i128, coins: &mut Coins| -> usize {
            let slots = [units; 2];
            let answers = (0..200).map(|_| plan.answers(&slots, coins));
            answers.filter(|answers| !answers.is_empty()).count()
        };
        assert_eq!(answered(5, &mut coins), 0);
        assert_eq!(answered(70, &mut coins), 200);
        assert!((60..150).contains(&answered(30, &mut coins)));
        let answers = plan.answers(&[70, 70], &mut coins);
        assert_eq!(answers.len(), 1 + usize::from(counted));
        // The number that is reported is the number that decides.
        for _ in 0..500 {
            let answers = plan.answers(&[30, 30], &mut coins);
            if let Some(units) = answers.iter().find(|answer| answer.measure == "u") {
                assert!(number(units) >= 30.0);
            }
        }
    }
}

#[test]
fn groups_are_chosen_with_the_lower_threshold() {
    let choosing = |groups: u64, delta: f64| {
        let private_groups = true;
        let query = Query {
            private_groups,
            ..query(vec![measure("n", MeasureKind::Count, false)], 100, groups)
        };
        let plan = NoisePlan::new(query, 1.0, delta).unwrap();
        let charge = plan.charge();
        assert_eq!(charge.whole, Cost { epsilon: 1.0, delta });
        assert!(charge.rest.delta > 0.0 && charge.rest.delta <= delta && charge.rho.unwrap() > 0.0);
        plan.selection().unwrap().clone()
    };
    let (one, many) = (choosing(1, 1e-6), choosing(100, 1e-6));
    assert!(matches!(one.noise, Noise::Laplace { .. }));
    assert!(matches!(many.noise, Noise::Gaussian { .. }));
    // A hundred groups need about ten times the threshold of one, not a hundred times.
    assert!(many.threshold / one.threshold < 20.0, "{} {}", many.threshold, one.threshold);
    // The choice costs the measures only its share.
    assert!(many.threshold > 1024.0 && choosing(100, 1e-3).threshold < many.threshold);
}

#[test]
fn the_number_of_groups_matters_where_it_should() {
    let stddev = |kind: MeasureKind, per_unit: bool, rows: u64, groups: u64| {
        let plan =
            NoisePlan::new(query(vec![measure("m", kind, per_unit)], rows, groups), 1.0, 0.0);
        plan.unwrap().stddevs()[0].1[0].1
    };
    let sum = || MeasureKind::Sum(range(0, 10));
    let near = |a: f64, b: f64| (a / b - 1.0).abs() < 1e-3;
    assert!(near(
        stddev(MeasureKind::Units, false, 9, 3),
        3.0 * stddev(MeasureKind::Units, false, 9, 1)
    ));
    assert!(near(
        stddev(MeasureKind::Units, false, 2, 3),
        2.0 * stddev(MeasureKind::Units, false, 2, 1)
    ));
    assert!(near(stddev(MeasureKind::Count, false, 9, 3), stddev(MeasureKind::Count, false, 9, 1)));
    assert!(near(stddev(sum(), true, 9, 3), 3.0 * stddev(sum(), true, 1, 1)));
    assert!(near(stddev(sum(), false, 9, 3), 9.0 * stddev(sum(), false, 1, 1)));
}

#[test]
fn what_makes_no_sense_is_refused() {
    for kind in [MeasureKind::Count, MeasureKind::Units, MeasureKind::Distinct] {
        assert!(NoisePlan::new(query(vec![measure("m", kind, true)], 1, 1), 1.0, 0.0).is_err());
    }
    for (rows, groups) in [(0, 1), (1, 0)] {
        let query = query(vec![measure("n", MeasureKind::Count, false)], rows, groups);
        assert!(NoisePlan::new(query, 1.0, 0.0).is_err());
    }
}

#[test]
fn gaussian_noise_is_as_narrow_as_its_law_allows() {
    let stddev = |epsilon: f64, delta: f64| {
        let plan = plan(&vec![MeasureKind::Count; 64], 1, epsilon, delta);
        assert_eq!(plan.charge().whole, Cost { epsilon, delta });
        plan.stddevs()[0].1[0].1
    };
    // sqrt(64) / mu, where Phi(mu/2 - epsilon/mu) - e^epsilon Phi(-mu/2 - epsilon/mu) = delta.
    let expected = 8.0 / 0.2367;
    assert!((stddev(1.0, 1e-6) / expected - 1.0).abs() < 1e-3, "{}", stddev(1.0, 1e-6));
    // Small calls take the noise that zCDP allows, so that a hundred of them cost about a tenth of their sum.
    let small = 8.0 / (2.0 * zcdp_rho(0.1, 1e-8).unwrap()).sqrt();
    assert!((stddev(0.1, 1e-8) / small - 1.0).abs() < 1e-6);
    let plan = plan(&vec![MeasureKind::Count; 64], 1, 0.1, 1e-8);
    let spent = (0..100).fold(Spent::default(), |spent, _| spent.plus(&plan.charge()));
    assert!(spent.epsilon(1e-6) < 1.0, "{}", spent.epsilon(1e-6));
}
