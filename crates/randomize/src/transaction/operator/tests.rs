use super::*;
use crate::transaction::keep;
use proptest::prelude::*;
use random::Coins;
use random::testing::assert_fits;

/// Every set of the universe as bits: item i is bit i - 1.
fn bits_of(items: &[u32]) -> usize {
    items.iter().map(|item| 1 << (item - 1)).sum()
}

fn items_of(bits: usize) -> Vec<u32> {
    (1..=usize::BITS).filter(|item| bits >> (item - 1) & 1 == 1).collect()
}

fn choose(n: usize, k: usize) -> UBig {
    (0..k).fold(UBig::ONE, |c, i| c * (n - i) / (i + 1))
}

/// The law of the output by definition, as integers over one denominator: all parts that a transaction may
/// be cut to, all sets of kept places among its items and the dummies, all false items.
fn law(operator: &SizeOperator, transaction: usize, universe: usize) -> Vec<UBig> {
    let size = operator.size();
    let items = transaction.count_ones() as usize;
    let common = (0..=size).fold(UBig::ONE, |all, j| all * choose(size, j));
    let (rho, rest) = (UBig::from(operator.rho), UBig::from(ONE - operator.rho));
    let mut law = vec![UBig::ZERO; 1 << universe];
    let parts: Vec<usize> = (0..1usize << universe)
        .filter(|part| part & !transaction == 0)
        .filter(|part| part.count_ones() as usize == items.min(size))
        .collect();
    for &part in &parts {
        let places = items_of(part);
        for kept in 0usize..1 << size {
            let j = kept.count_ones() as usize;
            let chance = UBig::from(operator.weights[j]) * &common / choose(size, j);
            let of_part = (0..places.len()).filter(|place| kept >> place & 1 == 1);
            let kept = bits_of(&of_part.map(|place| places[place]).collect::<Vec<_>>());
            for (output, total) in law.iter_mut().enumerate() {
                if output & part == kept {
                    let others = (output & !part).count_ones() as usize;
                    let absent = universe - places.len() - others;
                    // Larger parts leave fewer others: the same power of 2^63 for all.
                    let scale = UBig::from(ONE).pow(places.len());
                    *total += &chance * rho.pow(others) * rest.pow(absent) * scale;
                }
            }
        }
    }
    // One part for transactions that are not cut, several for others.
    let scale = (0..=universe).fold(UBig::ONE, |all, n| all * choose(n.max(size), size));
    law.into_iter().map(|total| total * &scale / parts.len()).collect()
}

/// No output is more than gamma times as likely for one transaction as for another, whatever their sizes: all pairs
/// of transactions and all outputs, in integers.
#[test]
fn no_output_tells_more_than_gamma() {
    for (rho, keep) in [
        (0.25, vec![0.3, 0.7]),
        (0.5, vec![0.1, 0.3, 0.6]),
        (0.3, vec![0.4, 0.3, 0.3]),
        (0.7, keep(2, 0.7, 19.0, 0).unwrap()),
        (0.1, keep(3, 0.1, 5.0, 1).unwrap()),
    ] {
        let operator = SizeOperator::new(rho, &keep).unwrap();
        let gamma = operator.amplification().unwrap();
        let universe = 4;
        let laws: Vec<_> = (0..1 << universe).map(|t| law(&operator, t, universe)).collect();
        let sums: Vec<UBig> = laws.iter().map(|law| law.iter().sum()).collect();
        assert!(sums.iter().all(|sum| *sum == sums[0]), "laws over one denominator");
        let mut is_reached = false;
        for a in &laws {
            for b in &laws {
                for (p, q) in a.iter().zip(b) {
                    let order = (p * gamma.denom()).cmp(&(q * gamma.numer()));
                    assert!(order.is_le(), "{} times as likely", p / q);
                    is_reached |= order.is_eq();
                }
            }
        }
        assert!(is_reached, "gamma is the least that holds");
    }
}

/// Draws compared with the law by definition: shorter, fitting and longer transactions.
#[test]
fn draws_follow_the_law() {
    let universe = 4;
    for (seed, rho, keep, transaction) in [
        (1, 0.5, vec![0.1, 0.3, 0.6], vec![]),
        (2, 0.5, vec![0.1, 0.3, 0.6], vec![3]),
        (3, 0.3, vec![0.1, 0.3, 0.6], vec![2, 4]),
        (4, 0.3, vec![0.1, 0.3, 0.6], vec![1, 2, 4]),
        (5, 0.8, vec![0.7, 0.3], vec![1, 2, 3, 4]),
        (6, 0.1, vec![0.25; 4], vec![1, 3]),
    ] {
        let operator = SizeOperator::new(rho, &keep).unwrap();
        let exact = law(&operator, bits_of(&transaction), universe);
        let sum: UBig = exact.iter().sum();
        let share = |p: &UBig| Ratio::new(p.clone(), sum.clone()).unwrap().to_f64();
        let exact: Vec<f64> = exact.iter().map(share).collect();
        let mut coins = Coins::seeded(seed);
        assert_fits(&exact, 50_000, || {
            bits_of(&operator.randomize(&transaction, universe as u32, &mut coins)) as i64
        });
    }
}

/// Large universes: each false item is added with probability rho, wherever it lies.
#[test]
fn false_items_come_by_chance() {
    for (seed, rho) in [(1, 0.5), (2, 0.51160788573931), (3, 0.001), (4, 0.9)] {
        let operator = SizeOperator::new(rho, &[0.1, 0.1, 0.8]).unwrap();
        let mut coins = Coins::seeded(seed);
        let mut seen = [0u32; 130];
        let draws = 4000;
        for _ in 0..draws {
            for item in operator.randomize(&[1, 130], 130, &mut coins) {
                seen[item as usize - 1] += 1;
            }
        }
        let deviation = (f64::from(draws) * rho * (1.0 - rho)).sqrt();
        for &count in &seen[1..129] {
            assert!((f64::from(count) - f64::from(draws) * rho).abs() < 5.0 * deviation, "{count}");
        }
    }
}

#[test]
fn what_makes_no_sense_is_refused() {
    let fair = [0.5, 0.5];
    for (rho, keep) in [
        (0.0, &fair[..]),
        (1.0, &fair),
        (-0.5, &fair),
        (f64::NAN, &fair),
        (f64::INFINITY, &fair),
        (0.5, &[]),
        (0.5, &[1.0]),
        (0.5, &[0.0, 1.0]),
        (0.5, &[0.5, 0.4]),
        (0.5, &[0.5, f64::NAN]),
        (0.5, &[f64::INFINITY, 0.5]),
        (0.5, &[-0.5, 1.5]),
        (0.5, &[1.0 / 66.0; 66]),
    ] {
        assert!(SizeOperator::new(rho, keep).is_err(), "{rho} {keep:?}");
    }
    assert_eq!(transaction_of(&[3, 1, 3], 3), Ok(vec![1, 3]));
    for bad in [0, -1, 4, i32::MIN, i32::MAX] {
        let error = transaction_of(&[1, bad], 3).unwrap_err();
        assert!(error.to_string().contains(&bad.to_string()), "{error}");
    }
}

proptest! {
    #[test]
    fn weights_add_up_and_are_those_given(
        weights in proptest::collection::vec(1e-12f64..1.0, 2..=65),
        rho in 1e-9f64..1.0,
    ) {
        let sum: f64 = weights.iter().sum();
        let keep: Vec<f64> = weights.iter().map(|w| w / sum).collect();
        let operator = SizeOperator::new(rho, &keep).unwrap();
        prop_assert_eq!(operator.weights.iter().map(|&w| u128::from(w)).sum::<u128>(), 1 << 63);
        for (&weight, &p) in operator.weights.iter().zip(&keep) {
            prop_assert!(weight >= 1);
            prop_assert!((weight as f64 / ONE as f64 - p).abs() < 1e-12);
        }
        prop_assert!(operator.gamma() >= 1.0);
        prop_assert!(operator.epsilon() >= operator.gamma().ln());
    }

    #[test]
    fn a_transaction_is_marked_as_far_as_it_fits(
        items in proptest::collection::btree_set(1u32..50, 0..20),
        size in 1usize..10,
        seed in 0i64..1000,
    ) {
        let operator = SizeOperator::new(0.5, &vec![1.0 / (size + 1) as f64; size + 1]).unwrap();
        let items: Vec<u32> = items.into_iter().collect();
        let marked = operator.mark(&items, &mut Coins::seeded(seed));
        prop_assert_eq!(marked.len(), items.len().min(size));
        prop_assert!(marked.is_sorted_by_key(|marked| marked.item));
        prop_assert!(marked.iter().all(|marked| items.contains(&marked.item)));
    }
}
