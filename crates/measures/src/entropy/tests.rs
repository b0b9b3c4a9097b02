//! Losses compared with those found by enumerating every database, and vectors.

use super::*;
use proptest::prelude::*;

fn numbers(values: &[i64]) -> Vec<Rational> {
    values.iter().map(|&value| Rational::from(value)).collect()
}

fn release(statistic: Statistic, low: &str, high: &str) -> Release {
    let end = |text| Rational::decimal(text).unwrap();
    Release { statistic, window: Window::closed(end(low), end(high)) }
}

fn loss(domain: &[Rational], priors: &[Prior], release: &Release) -> Result<Loss, Refused> {
    entropy_loss(domain, priors, release, &Watch::unlimited()).unwrap().map(Option::unwrap)
}

fn close(found: f64, expected: f64) -> bool {
    found == expected || (found - expected).abs() <= 1e-9 * expected.abs().max(1e-6)
}

#[track_caller]
fn assert_loss(found: Loss, loss: f64, kl: f64, max_log_ratio: f64) {
    assert!(close(found.loss, loss), "loss {} is not {loss}", found.loss);
    assert!(close(found.kl, kl), "kl {} is not {kl}", found.kl);
    assert!(close(found.max_log_ratio, max_log_ratio), "{}", found.max_log_ratio);
    assert!(close(found.entropy_before - found.entropy_after, found.loss));
}

/// Vectors 004-case-0 and 004-case-2, and the example of section 3.3 between them, for which the paper
/// prints 0.146.
#[test]
fn three_salaries() {
    let domain = numbers(&[100, 200, 300]);
    let priors = [Prior::uniform(3, 3)];
    let all = 3f64.log2();
    for end in ["100", "300"] {
        let found = loss(&domain, &priors, &release(Statistic::Mean, end, end)).unwrap();
        assert_loss(found, all, all, f64::INFINITY);
        assert_eq!(found.share(), Some(1.0));
    }
    let found = loss(&domain, &priors, &release(Statistic::Mean, "200", "200")).unwrap();
    // Seven databases: 2/7, 3/7, 2/7.
    let entropy = -(4.0 / 7.0 * (2f64 / 7.0).log2() + 3.0 / 7.0 * (3f64 / 7.0).log2());
    assert_loss(found, all - entropy, all - entropy, (9f64 / 7.0).log2());
    assert!((found.loss - 0.0283058).abs() < 5e-8);
}

/// Vectors 004-case-4 and 004-case-6.
#[test]
fn records_with_different_priors() {
    let bernoulli = |p: f64| Prior::new(vec![1.0 - p, p], 1).unwrap();
    let priors = [bernoulli(0.01), bernoulli(0.5), bernoulli(0.01)];
    let at = |sum| loss(&numbers(&[0, 1]), &priors, &release(Statistic::Sum, sum, sum)).unwrap();
    assert_loss(at("1"), 0.859672729009407, 0.859672729009407, 4.65821148275179);
    assert_loss(at("3"), 1.0, 6.64385618977472, f64::INFINITY);
}

/// Vector 004-case-8.
#[test]
fn a_rounded_mean() {
    let domain = numbers(&[0, 1, 2, 3, 4]);
    let window = Window::rounded(&Rational::new(9, 4).unwrap(), 0);
    let release = Release { statistic: Statistic::Mean, window };
    let found = loss(&domain, &[Prior::uniform(5, 4)], &release).unwrap();
    assert_loss(found, 0.0112726576094182, 0.0112726576094182, 0.353380907930048);
}

#[test]
fn a_release_is_impossible_or_none() {
    let domain = numbers(&[0, 2]);
    let uniform = |n| [Prior::uniform(2, n)];
    let sum = |low, high| release(Statistic::Sum, low, high);
    for (low, high) in [("1", "1"), ("-1", "-1"), ("7", "9"), ("2", "0")] {
        assert_eq!(loss(&domain, &uniform(3), &sum(low, high)), Err(Refused::Impossible));
    }
    let none = entropy_loss(&domain, &uniform(0), &sum("0", "0"), &Watch::unlimited());
    assert_eq!(none, Ok(Ok(None)));
    for statistic in [Statistic::Min, Statistic::Max] {
        let outside = release(statistic, "3", "4");
        assert_eq!(loss(&domain, &uniform(3), &outside), Err(Refused::Impossible));
    }
    // The release reveals nothing.
    let all = loss(&domain, &uniform(3), &sum("0", "6")).unwrap();
    assert_eq!((all.loss, all.kl, all.max_log_ratio), (0.0, 0.0, 0.0));
}

/// A record that alone is odd, among a million that are even: its value follows from the sum.
#[test]
fn one_among_a_million_is_told_by_its_parity() {
    let domain = numbers(&[0, 1, 2]);
    let even = Prior { probabilities: vec![0.5, 0.0, 0.5], records: 1_000_000 };
    let odd = Prior { probabilities: vec![0.5, 0.5, 0.0], records: 1 };
    let found = loss(&domain, &[even, odd], &release(Statistic::Sum, "999001", "999001")).unwrap();
    assert!(close(found.loss, 1.0) && found.max_log_ratio == f64::INFINITY, "{found:?}");
}

/// A million records: theorem 1 again, in the middle and far from it, and near certainty.
#[test]
fn a_million_records() {
    let n = 1_000_000u64;
    let domain = numbers(&[0, 1]);
    for k in [0, 1, 3, 1000, 123_456, 500_001, 700_000, 999_998, 1_000_000u64] {
        let at = k.to_string();
        let found = loss(&domain, &[Prior::uniform(2, n)], &release(Statistic::Sum, &at, &at));
        let expected = binary_entropy_loss(n, k).unwrap();
        let found = found.unwrap();
        assert!((found.loss - expected).abs() < 1e-12 + 1e-9 * expected, "{k}: {found:?}");
        if k > 0 && k < n {
            let share = k.min(n - k) as f64 / n as f64;
            assert!(close(found.max_log_ratio, (2.0 * share).log2().abs()), "{k}: {found:?}");
        }
    }
    // A fair die: the mean 3.5 reveals almost nothing, the mean 2 makes low faces likely.
    let die = numbers(&[1, 2, 3, 4, 5, 6]);
    let at = |low, high| {
        loss(&die, &[Prior::uniform(6, n)], &release(Statistic::Mean, low, high)).unwrap()
    };
    assert!(at("3.5", "3.5").kl < 1e-11);
    let (exact, window) = (at("2", "2"), at("1.9", "2"));
    // The limit is the tilted die with mean 2.
    let theta = {
        let mean = |t: f64| {
            let w = |x: i32| (t * f64::from(x)).exp();
            (1..=6).map(|x| f64::from(x) * w(x)).sum::<f64>() / (1..=6).map(w).sum::<f64>()
        };
        let (mut low, mut high) = (-5.0, 0.0);
        for _ in 0..100 {
            let middle = 0.5 * (low + high);
            if mean(middle) < 2.0 { low = middle } else { high = middle }
        }
        low
    };
    let weights: Vec<f64> = (1..=6).map(|x| (theta * f64::from(x)).exp()).collect();
    let sum: f64 = weights.iter().sum();
    let entropy: f64 = weights.iter().map(|w| -(w / sum) * (w / sum).log2()).sum();
    assert!((exact.loss - (6f64.log2() - entropy)).abs() < 1e-5, "{exact:?}");
    assert!((window.loss / exact.loss - 1.0).abs() < 1e-4, "{window:?}");
}

/// The loss by enumerating every database.
fn by_enumeration(domain: &[i64], priors: &[Prior], release: &Release) -> Option<Loss> {
    let records: Vec<&Vec<f64>> = priors
        .iter()
        .flat_map(|prior| (0..prior.records).map(move |_| &prior.probabilities))
        .collect();
    let (k, n) = (domain.len(), records.len());
    let mut posteriors = vec![vec![0.0; k]; n];
    for database in 0..k.pow(n as u32) {
        let codes: Vec<usize> = (0..n).map(|i| database / k.pow(i as u32) % k).collect();
        let values = || codes.iter().map(|&code| domain[code]);
        let statistic = match release.statistic {
            Statistic::Sum => Rational::from(values().sum::<i64>()),
            Statistic::Mean => Rational::new(values().sum::<i64>(), n as i64)?,
            Statistic::Count => Rational::from(values().filter(|&v| v != 0).count() as i64),
            Statistic::Min => Rational::from(values().min()?),
            Statistic::Max => Rational::from(values().max()?),
        };
        if release.window.place(&statistic).is_eq() {
            let chance: f64 =
                codes.iter().zip(&records).map(|(&code, prior)| prior[code]).product();
            codes.iter().zip(&mut posteriors).for_each(|(&code, of)| of[code] += chance);
        }
    }
    let entropy =
        |law: &[f64]| -> f64 { law.iter().filter(|p| **p > 0.0).map(|p| -p * p.log2()).sum() };
    let mut worst: Option<Loss> = None;
    for (prior, posterior) in records.iter().zip(&posteriors) {
        let total: f64 = posterior.iter().sum();
        if total == 0.0 {
            return None;
        }
        let posterior: Vec<f64> = posterior.iter().map(|p| p / total).collect();
        let (before, after) = (entropy(prior), entropy(&posterior));
        let pairs = || prior.iter().zip(&posterior).filter(|(p, _)| **p > 0.0);
        let one = Loss {
            entropy_before: before,
            entropy_after: after,
            loss: before - after,
            kl: pairs().filter(|(_, q)| **q > 0.0).map(|(p, q)| q * (q / p).log2()).sum(),
            max_log_ratio: pairs().map(|(p, q)| (q / p).log2().abs()).fold(0.0, f64::max),
        };
        worst = Some(worst.map_or(one, |worst| worst.worst(one)));
    }
    worst
}

fn statistic() -> impl Strategy<Value = Statistic> {
    prop::sample::select(vec![
        Statistic::Sum,
        Statistic::Mean,
        Statistic::Count,
        Statistic::Min,
        Statistic::Max,
    ])
}

/// Probabilities with zeros among them.
fn prior(values: usize) -> impl Strategy<Value = Prior> {
    let weights = prop::collection::vec(prop_oneof![Just(0u32), 1..9u32], values);
    (weights.prop_filter("some", |w| w.iter().any(|&w| w > 0)), 0..4u64).prop_map(|(w, records)| {
        let sum: u32 = w.iter().sum();
        Prior::new(w.iter().map(|&w| f64::from(w) / f64::from(sum)).collect(), records).unwrap()
    })
}

fn cases() -> impl Strategy<Value = (Vec<i64>, Vec<Prior>, Statistic, i64, i64)> {
    let values = prop::collection::btree_set(-6i64..12, 1..5).prop_map(Vec::from_iter);
    values.prop_flat_map(|values| {
        let priors = prop::collection::vec(prior(values.len()), 1..4);
        (Just(values), priors, statistic(), -20..60i64, 0..12i64)
    })
}

fn records(priors: &[Prior]) -> u64 {
    priors.iter().map(|prior| prior.records).sum()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(400))]

    #[test]
    fn losses_are_those_of_all_databases((values, priors, statistic, low, width) in cases()) {
        prop_assume!((1..7).contains(&records(&priors)));
        let ends = (Rational::new(low, 2).unwrap(), Rational::new(low + width, 2).unwrap());
        let release = Release { statistic, window: Window::closed(ends.0, ends.1) };
        let found = loss(&numbers(&values), &priors, &release).ok();
        let expected = by_enumeration(&values, &priors, &release);
        prop_assert_eq!(found.is_some(), expected.is_some());
        if let (Some(found), Some(expected)) = (found, expected) {
            for (a, b) in [
                (found.loss, expected.loss),
                (found.kl, expected.kl),
                (found.max_log_ratio, expected.max_log_ratio),
            ] {
                prop_assert!(a == b || (a - b).abs() < 1e-9, "{:?} is not {:?}", found, expected);
            }
        }
    }

    /// Both methods for the weights, where both are possible.
    #[test]
    fn fourier_sums_are_the_products((values, priors, statistic, low, width) in cases(), times in 1..60u64) {
        let statistic = if matches!(statistic, Statistic::Min | Statistic::Max) { Statistic::Sum } else { statistic };
        let priors: Vec<Prior> = priors.into_iter().map(|prior| Prior { records: prior.records * times, ..prior }).collect();
        let priors = prior::grouped(&priors);
        prop_assume!(!priors.is_empty());
        let ends = (Rational::from(low * times as i64 / 4), Rational::from((low + width) * times as i64 / 4));
        let release = Release { statistic, window: Window::closed(ends.0, ends.1) };
        let Ok(lattice) = lattice::Lattice::new(&numbers(&values), &priors, &release) else { return Ok(()) };
        let watch = Watch::unlimited();
        let tilted = tilting::Tilted::new(&lattice, &watch).unwrap();
        let direct = polynomial_sums::weights(&lattice, &tilted, &watch).unwrap();
        let fourier = fourier::Sums::new(&lattice, &tilted).unwrap().weights(&watch).unwrap();
        let largest = direct.iter().flatten().copied().fold(0.0, f64::max);
        for (direct, fourier) in direct.iter().flatten().zip(fourier.iter().flatten()) {
            prop_assert!((direct - fourier).abs() <= 1e-11 * largest, "{} is not {}", fourier, direct);
            prop_assert!(*direct > 0.0 || *fourier == 0.0 || largest == 0.0);
        }
    }
}

/// Different priors for each of a thousand records, and their order, make no difference to the time.
#[test]
fn a_thousand_different_records() {
    let bernoulli =
        |i: u64| Prior::new(vec![1.0 - i as f64 / 1001.0, i as f64 / 1001.0], 1).unwrap();
    let priors: Vec<Prior> = (1..=1000).map(bernoulli).collect();
    let at = release(Statistic::Sum, "480", "500");
    let found = loss(&numbers(&[0, 1]), &priors, &at).unwrap();
    let reversed: Vec<Prior> = priors.iter().rev().cloned().collect();
    assert_eq!(loss(&numbers(&[0, 1]), &reversed, &at).unwrap(), found);
    assert!(found.kl > 0.0 && found.max_log_ratio < 1.0);
}

#[test]
fn priors_in_groups_and_one_by_one_are_the_same() {
    let domain = numbers(&[1, 4, 9]);
    let at = release(Statistic::Sum, "30", "40");
    let single: Vec<Prior> = (0..9).map(|_| Prior::uniform(3, 1)).collect();
    assert_eq!(loss(&domain, &single, &at), loss(&domain, &[Prior::uniform(3, 9)], &at));
    assert_eq!(prior::grouped(&single).len(), 1);
}

#[test]
fn too_much_work_is_refused() {
    let domain: Vec<Rational> =
        (0..2000).map(|i: i64| Rational::from(i * i * 1_000_003 + i % 7)).collect();
    let at = release(Statistic::Sum, "5000000000000", "5000000000000");
    assert_eq!(loss(&domain, &[Prior::uniform(2000, 10)], &at), Err(Refused::TooLarge));
}
