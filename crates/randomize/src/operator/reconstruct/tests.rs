//! Estimates against brute force, their errors against their standard deviations.

use super::*;
use proptest::prelude::*;
use rand::Rng;
use random::{Coins, below};

fn run(operator: &Operator, observed: &[u64], method: Method) -> Vec<Estimate> {
    reconstruct(operator, observed, method, &Watch::unlimited()).unwrap()
}

fn message(operator: &Operator, observed: &[u64], method: Method) -> String {
    reconstruct(operator, observed, method, &Watch::unlimited()).unwrap_err().to_string()
}

#[test]
fn names_come_back() {
    for &(name, method) in Method::NAMES {
        assert_eq!((Method::named(name), method.name()), (Some(method), name));
    }
}

#[test]
fn two_values_by_hand() {
    // Kept with 3/4: a share s of ones means (s - 1/4) / (1/2).
    let operator = Operator::randomised_response(2, 0.75).unwrap();
    for method in [Method::Inverse, Method::Em] {
        let found = run(&operator, &[40, 60], method);
        assert!((found[0].probability - 0.3).abs() < 1e-12);
        assert!((found[1].probability - 0.7).abs() < 1e-12);
        // p(1-p) / (n (2p-1)^2) around the share; s(1-s) / (n (2p-1)^2) around the probability.
        let of_share = (0.75f64 * 0.25 / (100.0 * 0.25)).sqrt();
        let of_law = (0.4f64 * 0.6 / (100.0 * 0.25)).sqrt();
        for one in found {
            assert!((one.stddev_of_share.unwrap() - of_share).abs() < 1e-12);
            assert!((one.stddev.unwrap() - of_law).abs() < 1e-12);
        }
    }
    // Fewer zeros than the operator makes of ones: the inverse goes below 0, the maximum likelihood does not.
    let inverse = run(&operator, &[20, 80], Method::Inverse);
    assert!((inverse[0].probability + 0.1).abs() < 1e-12);
    let em = run(&operator, &[20, 80], Method::Em);
    assert!(em[0].probability < 1e-4 && em[0].probability >= 0.0);
}

#[test]
fn what_cannot_be_is_refused() {
    let operator = Operator::new(vec![0.5, 0.5, 0.0, 0.25, 0.75, 0.0], 3).unwrap();
    for method in [Method::Inverse, Method::Em] {
        assert!(message(&operator, &[1, 2], method).contains("observed is an array of length 2"));
        assert!(message(&operator, &[0, 0, 0], method).contains("zeros only"));
        assert!(message(&operator, &[1, 2, 3], method).contains("3 at [3]"));
        assert_eq!(run(&operator, &[1, 2, 0], method).len(), 2);
    }
    let same = Operator::new(vec![0.5, 0.5, 0.5, 0.5], 2).unwrap();
    assert!(message(&same, &[1, 2], Method::Inverse).contains("cannot be inverted"));
    let found = run(&same, &[1, 2], Method::Em);
    assert!(found.iter().all(|one| one.stddev.is_none() && (one.probability - 0.5).abs() < 1e-9));
    let fewer = Operator::new(vec![1.0, 1.0], 1).unwrap();
    assert!(message(&fewer, &[5], Method::Inverse).contains("cannot be inverted"));
    assert_eq!(run(&fewer, &[5], Method::Em)[0].stddev, None);
}

/// The largest likelihood on a grid of laws of three inputs.
fn brute(operator: &Operator, observed: &[u64]) -> f64 {
    let steps = 200;
    let laws = (0..=steps).flat_map(|a| (0..=steps - a).map(move |b| (a, b)));
    laws.map(|(a, b)| {
        let law = [a, b, steps - a - b].map(|n| f64::from(n) / f64::from(steps));
        likelihood(operator, observed, &law)
    })
    .fold(f64::NEG_INFINITY, f64::max)
}

fn likelihood(operator: &Operator, observed: &[u64], law: &[f64]) -> f64 {
    let fitted = operator.output_law(law);
    observed.iter().zip(fitted).filter(|one| *one.0 > 0).map(|(&n, p)| n as f64 * p.ln()).sum()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]

    /// No law of a fine grid has a larger likelihood, with fewer, as many and more outputs.
    #[test]
    fn em_finds_the_likeliest_law(
        outputs in 2usize..6,
        weights in prop::collection::vec(1u32..50, 15),
        observed in prop::collection::vec(0u64..60, 5),
    ) {
        let cells = weights.chunks(5).flat_map(|row| {
            let row = &row[..outputs];
            let total: u32 = row.iter().sum();
            row.iter().map(|&w| f64::from(w) / f64::from(total)).collect::<Vec<_>>()
        }).collect();
        let operator = Operator::new(cells, outputs).unwrap();
        let observed = &observed[..outputs];
        prop_assume!(observed.iter().sum::<u64>() > 0);
        let law: Vec<f64> = run(&operator, observed, Method::Em).iter().map(|one| one.probability).collect();
        prop_assert!((law.iter().sum::<f64>() - 1.0).abs() < 1e-9 && law.iter().all(|&p| p >= 0.0));
        prop_assert!(likelihood(&operator, observed, &law) >= brute(&operator, observed) - 1e-4);
    }
}

/// Outputs of `count` inputs drawn from `law`, counted, and the inputs, counted.
fn observe<R: Rng>(
    rng: &mut R,
    law: &[u64],
    operator: &[Vec<u64>],
    count: u32,
) -> (Vec<u64>, Vec<u64>) {
    let mut pick = |weights: &[u64]| {
        let mut left = below(rng, weights.iter().sum());
        weights
            .iter()
            .position(|&w| {
                if left < w {
                    true
                } else {
                    left -= w;
                    false
                }
            })
            .unwrap()
    };
    let (mut seen, mut inputs) = (vec![0; operator[0].len()], vec![0; law.len()]);
    for _ in 0..count {
        let x = pick(law);
        inputs[x] += 1;
        seen[pick(&operator[x])] += 1;
    }
    (seen, inputs)
}

/// 95 % intervals hold the truth in 94 to 96 % of 10,000 runs, and the mean of all estimates is the truth.
#[test]
fn intervals_cover_what_they_say() {
    const RUNS: u32 = 10_000;
    let law = [4, 3, 2, 1u64];
    let square = vec![vec![5, 2, 2, 1], vec![1, 6, 2, 1], vec![2, 1, 5, 2], vec![1, 1, 1, 7u64]];
    let wide =
        vec![vec![5, 2, 1, 1, 1], vec![1, 6, 1, 1, 1], vec![1, 1, 5, 2, 1], vec![1, 1, 1, 2, 5]];
    for (seed, (weights, method)) in
        [(&square, Method::Inverse), (&square, Method::Em), (&wide, Method::Inverse)]
            .into_iter()
            .enumerate()
    {
        let cells = weights.iter().flatten().map(|&w| w as f64 / 10.0).collect();
        let operator = Operator::new(cells, weights[0].len()).unwrap();
        let mut coins = Coins::seeded(seed as i64);
        let (mut held, mut held_shares, mut sums) = ([0; 4], [0; 4], [0.0; 4]);
        for _ in 0..RUNS {
            let (seen, inputs) = observe(&mut coins, &law, weights, 400);
            for (x, one) in run(&operator, &seen, method).iter().enumerate() {
                let is_within = |truth: f64, stddev: Option<f64>| {
                    u32::from((one.probability - truth).abs() <= 1.959964 * stddev.unwrap())
                };
                held[x] += is_within(law[x] as f64 / 10.0, one.stddev);
                held_shares[x] += is_within(inputs[x] as f64 / 400.0, one.stddev_of_share);
                sums[x] += one.probability;
            }
        }
        for x in 0..4 {
            for held in [held[x], held_shares[x]] {
                assert!((9_400..=9_600).contains(&held), "{method:?} {x}: {held} of {RUNS}");
            }
            let mean = sums[x] / f64::from(RUNS);
            assert!((mean - law[x] as f64 / 10.0).abs() < 2e-3, "{method:?} {x}: {mean}");
        }
    }
}

#[test]
fn a_thousand_values_are_cancelled_in_time() {
    let operator = Operator::randomised_response(300, 0.2).unwrap();
    let watch = Watch::unlimited();
    watch.cancel();
    for method in [Method::Inverse, Method::Em] {
        assert!(reconstruct(&operator, &[1; 300], method, &watch).is_err());
    }
}
