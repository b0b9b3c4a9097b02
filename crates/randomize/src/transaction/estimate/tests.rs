use super::*;
use crate::transaction::{SizeOperator, keep, matrix};
use random::Coins;

fn assert_close(found: f64, expected: f64) {
    assert!((found - expected).abs() <= 1e-8 * expected.abs(), "{found} {expected}");
}

/// 002-sas-est-0, -2, -4: the transition matrix, the row of the inverse, variances and the deviation.
#[test]
fn public_vectors() {
    struct Vector {
        keep: Vec<f64>,
        rho: f64,
        truth: &'static [f64],
        transactions: f64,
        transitions: &'static [&'static [f64]],
        row: &'static [f64],
        variances: &'static [f64],
        variance: f64,
    }
    for vector in [
        Vector {
            keep: keep(5, 0.5, 19.0, 4).unwrap(),
            rho: 0.5,
            truth: &[0.9, 0.07, 0.03],
            transactions: 100_000.0,
            transitions: &[&[0.25, 0.16, 0.16], &[0.5, 0.5, 0.32], &[0.25, 0.34, 0.52]],
            row: &[2.7777777777777795, -2.777777777777779, 2.777777777777778],
            variances: &[7.716049382716055, 7.716049382716056, 6.716049382716054],
            variance: 7.686049382716055e-05,
        },
        Vector {
            keep: keep(3, 0.125, 9.0, 1).unwrap(),
            rho: 0.125,
            truth: &[0.7, 0.3],
            transactions: 1000.0,
            transitions: &[&[0.875, 0.7325581395348837], &[0.125, 0.2674418604651163]],
            row: &[-0.877551020408163, 6.1428571428571415],
            variances: &[5.390670553935856, 9.655976676384837],
            variance: 0.00667026239067055,
        },
        Vector {
            keep: keep(2, 0.5, 6.0, 0).unwrap(),
            rho: 0.5,
            truth: &[0.5, 0.3, 0.2],
            transactions: 1000.0,
            transitions: &[
                &[0.25, 0.18421052631578946, 0.05263157894736842],
                &[0.5, 0.5, 0.631578947368421],
                &[0.25, 0.3157894736842105, 0.3157894736842105],
            ],
            row: &[-3.8000000000000003, 3.7999999999999994, -3.7999999999999985],
            variances: &[14.439999999999994, 14.439999999999994, 13.439999999999994],
            variance: 0.014239999999999996,
        },
    ] {
        let itemset = vector.truth.len() - 1;
        let found = matrix(itemset, vector.rho, &vector.keep).unwrap();
        for (found, expected) in
            found.iter().flatten().zip(vector.transitions.iter().copied().flatten())
        {
            assert_close(*found, *expected);
        }
        let estimator = Estimator::new(itemset, vector.rho, &vector.keep).unwrap();
        for (found, expected) in estimator.row.iter().zip(vector.row) {
            assert_close(*found, *expected);
        }
        let variances = estimator.variances();
        for (found, expected) in variances.iter().zip(vector.variances) {
            assert_close(*found, *expected);
        }
        let variance = variances.iter().zip(vector.truth).map(|(v, s)| v * s).sum::<f64>();
        assert_close(variance / vector.transactions, vector.variance);
    }
}

/// 002-sas-est-0: the expected numbers of transactions give the true support and the deviation of the law.
#[test]
fn expected_counts_give_the_truth() {
    let keep = keep(5, 0.5, 19.0, 4).unwrap();
    let found = Estimator::new(2, 0.5, &keep).unwrap().support(&[24_100, 49_460, 26_440]);
    assert_close(found.support, 0.03);
    assert_close(found.stddev, 0.008767011681705492);
}

#[test]
fn supports_that_cannot_be_told_are_refused() {
    // As many items are kept as chance alone would add: the output reveals nothing.
    assert!(Estimator::new(1, 0.5, &[0.25, 0.5, 0.25]).is_err());
    assert!(Estimator::new(3, 0.5, &[0.1, 0.3, 0.6]).is_err());
    assert!(Estimator::new(0, 0.5, &[0.1, 0.3, 0.6]).is_err());
    let estimator = Estimator::new(1, 0.5, &[0.1, 0.3, 0.6]).unwrap();
    assert!(estimator.support(&[0, 0]).support.is_nan());
}

/// 10,000 runs of 200 transactions: estimates are right on average, and 95 % intervals cover the truth in
/// 94 to 96 % of them.
#[test]
fn estimates_are_unbiased_and_intervals_cover() {
    let keep = keep(3, 0.4, 30.0, 1).unwrap();
    let operator = SizeOperator::new(0.4, &keep).unwrap();
    // The itemset is {1, 2}; a fifth of the transactions contains it, others one of its items or none.
    let transactions: [(u32, &[u32]); 4] =
        [(40, &[1, 2, 5]), (60, &[2, 4, 6]), (60, &[4, 5, 6]), (40, &[1, 3])];
    let estimator = Estimator::new(2, 0.4, &keep).unwrap();
    let mut coins = Coins::seeded(11);
    let (runs, truth) = (10_000, 0.2);
    let (mut covered, mut sum, mut squares, mut variances) = (0, 0.0, 0.0, 0.0);
    for _ in 0..runs {
        let mut observed = [0; 3];
        for (copies, transaction) in transactions {
            for _ in 0..copies {
                let randomised = operator.randomize(transaction, 6, &mut coins);
                observed[randomised.iter().filter(|&&item| item <= 2).count()] += 1;
            }
        }
        let Estimate { support, stddev } = estimator.support(&observed);
        covered += i32::from((support - truth).abs() <= 1.959964 * stddev);
        sum += support;
        squares += (support - truth).powi(2);
        variances += stddev * stddev;
    }
    let runs = f64::from(runs);
    let (mean, variance) = (sum / runs, squares / runs);
    assert!((mean - truth).abs() < 4.0 * (variance / runs).sqrt(), "{mean}");
    // A variance from 10,000 runs has a deviation of 1.4 %.
    assert!((variances / runs / variance - 1.0).abs() < 0.06, "{} {variance}", variances / runs);
    let covered = f64::from(covered) / runs;
    assert!((0.94..=0.96).contains(&covered), "{covered}");
    // The variance given the transactions equals the computed one.
    let by_law = estimator.variances();
    let by_law = (0.3 * by_law[0] + 0.5 * by_law[1] + 0.2 * by_law[2]) / 200.0;
    assert!((by_law / variance - 1.0).abs() < 0.06, "{by_law} {variance}");
}
