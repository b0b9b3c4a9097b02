//! Exact audits: compares the changes between neighbouring tables with the charges, in integers and fractions, and
//! the curator's draws with the laws that its charges allow.

use crate::counts::MarginalCounts;
use crate::curator::Curator;
use crate::pairs::Pairs;
use crate::reference::{Owned, OwnedRows, all_pairs, bag};
use crate::score::SENSITIVITY;
use crate::spending::FitCharge;
use crate::units::{UnitBag, keep_of_units};
use crate::{SynthesisRequest, fit};
use dashu_int::UBig;
use guarantee::{zcdp_epsilon, zcdp_rho};
use proptest::prelude::*;
use random::testing::{assert_fits, assert_fits_integers};
use random::{Coins, Ratio};
use table::Watch;

const SIZES: [u32; 3] = [2, 3, 4];

type Rows = Vec<Vec<u32>>;

fn counts(rows: &[Vec<u32>], pairs: &Pairs) -> MarginalCounts {
    MarginalCounts::new(&bag(&SIZES, rows), &[0, 1, 2], &SIZES, pairs, &Watch::unlimited()).unwrap()
}

/// Rows of a table, and rows of a unit that only one of two neighbours has.
fn neighbours() -> impl Strategy<Value = (Rows, Rows)> {
    let row = || (0u32..2, 0u32..4, 0u32..4).prop_map(|(a, b, c)| vec![a, b, c]);
    (prop::collection::vec(row(), 0..40), prop::collection::vec(row(), 1..5))
}

fn exact(value: f64) -> Ratio {
    Ratio::exact("x", value).unwrap()
}

/// Whether `squares` <= 2 * variance * rho.
fn noise_pays(squares: u64, variance: f64, rho: f64) -> bool {
    let (variance, rho) = (exact(variance), exact(rho));
    UBig::from(squares) * variance.denom() * rho.denom()
        <= UBig::from(2u8) * variance.numer() * rho.numer()
}

fn squares(a: &[u64], b: &[u64]) -> u64 {
    a.iter().zip(b).map(|(&a, &b)| a.abs_diff(b).pow(2)).sum()
}

/// All rho of a transcript, exactly, over one denominator.
fn sum(charges: &[FitCharge]) -> (UBig, UBig) {
    let (mut numer, mut denom) = (UBig::ZERO, UBig::ONE);
    for charge in charges {
        let rho = exact(charge.rho());
        numer = numer * rho.denom() + rho.numer() * &denom;
        denom *= rho.denom();
        let reduced = Ratio::new(numer, denom).unwrap();
        (numer, denom) = (reduced.numer().clone(), reduced.denom().clone());
    }
    (numer, denom)
}

/// Checks for each measurement that its charge covers the change from the first rows to the second, in all pairs of
/// columns, and that the charges add up to the requested rho.
fn check_transcript(charges: &[FitCharge], less: &[Vec<u32>], more: &[Vec<u32>], rho: f64) {
    let pairs = all_pairs(&SIZES);
    let (less, more) = (counts(less, &pairs), counts(more, &pairs));
    let (mut choices, mut measured_pairs) = (0, 0);
    for charge in charges {
        let FitCharge::Measurement { columns, variance, rho } = charge else {
            choices += 1;
            continue;
        };
        let change = match columns[..] {
            [column] => squares(&less.columns[column], &more.columns[column]),
            [a, b] => {
                measured_pairs += 1;
                let cells = pairs.range(pairs.number(a, b).unwrap());
                squares(&less.pairs[cells.clone()], &more.pairs[cells])
            }
            _ => unreachable!(),
        };
        assert!(noise_pays(change, *variance, *rho), "{change} {variance} {rho}");
    }
    // Every measured pair was chosen and paid for.
    assert!(choices >= measured_pairs && measured_pairs > 0);
    let ((numer, denom), rho) = (sum(charges), exact(rho));
    assert!(numer * rho.denom() <= rho.numer() * denom);
}

/// Rows of some units. Unit 0 may have more rows than are kept, most of them equal.
fn owned() -> impl Strategy<Value = Vec<Owned>> {
    let cells = || (0u32..2, 0u32..3, 0u32..4).prop_map(|(a, b, c)| vec![a, b, c]);
    let others = prop::collection::vec((cells(), prop::option::of(1u32..6)), 0..30);
    let alike = (cells(), 1usize..9);
    let further = prop::collection::vec(cells(), 0..3);
    (others, alike, further).prop_map(|(mut rows, (row, copies), further)| {
        rows.extend(vec![(row, Some(0)); copies]);
        rows.extend(further.into_iter().map(|row| (row, Some(0))));
        rows
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    /// From a bag with units to a transcript and its label. Neighbours differ by all rows of a unit, however many.
    /// The rows kept of other units have the same law in both (see `units`), so the test takes the same rows; the
    /// rows kept of the unit are at most as many as were charged for.
    #[test]
    fn a_unit_changes_what_was_charged(
        rows in owned(), most in 1u64..5, epsilon in 0.01f64..5.0, seed in 0i64..1000,
    ) {
        let (table, watch, delta) = (OwnedRows::new(&SIZES, &rows), Watch::unlimited(), 1e-9);
        // The price follows from the label as in dp_synthesize.
        let rho = zcdp_rho(epsilon, delta).unwrap();
        prop_assert!(zcdp_epsilon(rho, delta).unwrap() <= epsilon * (1.0 + 1e-12));
        let request = SynthesisRequest { rho, rows_per_unit: most, workload: vec![] };
        let units =
            UnitBag { bag: &table.bag, recoding: &table.recoding, domains: &table.domains };
        let model = units.fit(&SIZES, &request, &mut Coins::seeded(seed), &watch).unwrap();
        let kept = keep_of_units(&table.bag, most, &mut Coins::seeded(seed), &watch).unwrap();
        let copies = |(i, &copies): (usize, &u64)| vec![table.row(i); copies as usize];
        let kept: Vec<Owned> = kept.iter().enumerate().flat_map(copies).collect();
        let cells = |rows: &mut dyn Iterator<Item = &Owned>| -> Rows {
            rows.map(|(row, _)| row.clone()).collect()
        };
        let with = cells(&mut kept.iter());
        let without = cells(&mut kept.iter().filter(|row| row.1 != Some(0)));
        check_transcript(model.charges(), &without, &with, rho);
    }

    /// Runs a fit, then computes how far the unit changes each of its measurements.
    #[test]
    fn measurements_of_neighbours_differ_by_what_was_charged(
        (rows, unit) in neighbours(),
        ln_rho in -9.0f64..3.0,
        seed in 0i64..1000,
    ) {
        let request = SynthesisRequest {
            rho: ln_rho.exp(),
            rows_per_unit: unit.len() as u64,
            workload: vec![(vec![0, 2], 3.0)],
        };
        let watch = Watch::unlimited();
        let model = fit(&bag(&SIZES, &rows), &SIZES, &request, &mut Coins::seeded(seed), &watch).unwrap();
        let with: Rows = rows.iter().chain(&unit).cloned().collect();
        check_transcript(model.charges(), &rows, &with, request.rho);
    }

    /// The scores of neighbouring tables, for any prediction, differ little enough that the choice costs what is
    /// charged: its squared range over 8.
    #[test]
    fn choices_of_neighbours_differ_by_what_was_charged(
        (rows, unit) in neighbours(),
        predicted in prop::collection::vec(0.0f64..1.0, 26),
        weights in prop::collection::vec(1u64..=1024, 3),
        (total, deviation) in (0.0f64..100.0, 0.0f64..1e6),
        ln_rho in -20.0f64..3.0,
    ) {
        let (pairs, watch) = (all_pairs(&SIZES), Watch::unlimited());
        let with: Rows = rows.iter().chain(&unit).cloned().collect();
        let (mut coins, mut other_coins) = (Coins::seeded(1), Coins::seeded(1));
        let (per_unit, rho) = (unit.len() as u64, ln_rho.exp());
        let (less, more) = (counts(&rows, &pairs), counts(&with, &pairs));
        let curator = Curator::new(less, all_pairs(&SIZES), weights.clone(), per_unit, rho, &mut coins, &watch);
        let other = Curator::new(more, pairs, weights, per_unit, rho, &mut other_coins, &watch);
        let ballot = curator.ballot(&[0, 1, 2], &predicted, total, deviation, rho).unwrap();
        let other = other.ballot(&[0, 1, 2], &predicted, total, deviation, rho).unwrap();
        let changes = ballot.scores().iter().zip(other.scores()).map(|(a, b)| b.1 - a.1);
        let most = changes.clone().max().unwrap();
        prop_assert!(changes.clone().all(|change| change.unsigned_abs() <= u128::from(per_unit * SENSITIVITY)));
        let range = UBig::from(most.abs_diff(changes.min().unwrap()));
        let (rate, charged) = (ballot.rate(), exact(ballot.rho()));
        let squared = (range * rate.numer()).pow(2);
        prop_assert!(squared * charged.denom() <= UBig::from(8u8) * charged.numer() * rate.denom().pow(2));
        prop_assert!(ballot.rho() <= rho);
    }
}

/// Charges are taken before the answer, and noise has the law that was charged.
#[test]
fn noise_has_the_variance_that_was_charged() {
    let (pairs, watch) = (all_pairs(&SIZES), Watch::unlimited());
    let rows = vec![vec![0, 1, 2]; 50];
    for (seed, per_unit, rho) in [(1, 1, 0.05), (2, 3, 0.2), (3, 10, 1.0)] {
        let mut coins = Coins::seeded(seed);
        let mut curator = Curator::new(
            counts(&rows, &pairs),
            all_pairs(&SIZES),
            vec![1024; 3],
            per_unit,
            1e5,
            &mut coins,
            &watch,
        );
        let variance = per_unit as f64 * per_unit as f64 / (2.0 * rho);
        let weight = |x: i64| (-(x as f64).powi(2) / (2.0 * variance)).exp();
        let total: f64 = (-2000..=2000).map(weight).sum();
        for (columns, cell, count) in [(&[1][..], 1, 50), (&[0, 2][..], 2, 50), (&[0, 2][..], 3, 0)]
        {
            let draw = || {
                let before = curator.left();
                let answer = curator.measure(columns, rho).unwrap().unwrap();
                let spent = before - curator.left();
                assert!(spent >= 0.999_99 * rho && spent <= 1.000_01 * rho, "{spent} {rho}");
                assert!((answer.variance / variance - 1.0).abs() < 1e-6);
                answer.counts[cell] as i64 - count
            };
            assert_fits_integers(|x| weight(x) / total, 4_000, draw);
        }
    }
}

/// A choice among three pairs of known scores follows the exponential mechanism at the rate that was charged.
#[test]
fn choices_have_the_rate_that_was_charged() {
    let (pairs, watch) = (all_pairs(&SIZES), Watch::unlimited());
    let rows = vec![vec![0, 1, 2]; 4];
    for (seed, per_unit, rho) in [(1, 1, 0.01f64), (2, 2, 0.03)] {
        let mut coins = Coins::seeded(seed);
        let weights = vec![1024, 512, 100];
        let mut curator = Curator::new(
            counts(&rows, &pairs),
            all_pairs(&SIZES),
            weights.clone(),
            per_unit,
            1e5,
            &mut coins,
            &watch,
        );
        // The prediction is 0, so the distance is the number of rows, in 64ths.
        let nothing = vec![0.0; pairs.cells()];
        let rate = (2.0 * rho).sqrt() / (per_unit * SENSITIVITY) as f64;
        let weight: Vec<f64> =
            weights.iter().map(|&weight| (rate * (4 * 64 * weight) as f64).exp()).collect();
        let sum: f64 = weight.iter().sum();
        let law: Vec<f64> = weight.iter().map(|weight| weight / sum).collect();
        assert_fits(&law, 40_000, || {
            let before = curator.left();
            let mut ballot = curator.ballot(&[0, 1, 2], &nothing, 0.0, 0.0, rho).unwrap();
            let chosen = curator.choose(&mut ballot, |_| true).unwrap().unwrap();
            let spent = before - curator.left();
            assert!(spent >= 0.999_99 * rho && spent <= 1.000_01 * rho, "{spent} {rho}");
            chosen as i64
        });
    }
}

/// A curator without rho refuses to answer.
#[test]
fn a_curator_without_rho_says_nothing() {
    let (pairs, watch, mut coins) = (all_pairs(&SIZES), Watch::unlimited(), Coins::seeded(1));
    let counts = counts(&[vec![0, 0, 0]], &pairs);
    let mut curator = Curator::new(counts, pairs, vec![1024; 3], 1, 0.1, &mut coins, &watch);
    assert!(curator.measure(&[0], 0.2).unwrap().is_none());
    assert!(curator.measure(&[0], 0.099).unwrap().is_some());
    let mut ballot = curator.ballot(&[0, 1, 2], &[0.0; 26], 1.0, 1.0, 0.01).unwrap();
    assert!(curator.choose(&mut ballot, |_| true).unwrap().is_none());
    assert!(curator.measure(&[0, 1, 2], 0.0001).unwrap().is_none());
}
