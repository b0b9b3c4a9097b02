use super::*;
use crate::seed::{Code, Shape};
use crate::transaction::{SizeOperator, keep};
use proptest::prelude::*;
use random::Coins;

/// All itemsets by definition: every itemset whose subsets grow, observed transaction by transaction.
fn reference(mining: &Mining, transactions: &[Vec<u32>]) -> Vec<(Vec<u32>, f64)> {
    let items: Vec<u32> =
        (1..=20).filter(|item| transactions.iter().any(|t| t.contains(item))).collect();
    let observe = |itemset: &[u32]| {
        let mut observed = vec![0; itemset.len() + 1];
        for transaction in transactions {
            observed[itemset.iter().filter(|item| transaction.contains(item)).count()] += 1;
        }
        observed
    };
    let grows = |itemset: &[u32]| {
        let estimate = mining.estimators[itemset.len() - 1].support(&observe(itemset));
        let limit = mining.min_share - mining.margin * estimate.stddev;
        (estimate.support >= limit).then_some(estimate.support)
    };
    let mut found = Vec::new();
    for chosen in 1u32..1 << items.len() {
        let part = |chosen: u32| -> Vec<u32> {
            (0..items.len()).filter(|i| chosen >> i & 1 == 1).map(|i| items[i]).collect()
        };
        if chosen.count_ones() as usize > mining.estimators.len() {
            continue;
        }
        let mut smaller = (chosen - 1) & chosen;
        let mut all_grow = true;
        while smaller > 0 {
            all_grow &= grows(&part(smaller)).is_some();
            smaller = (smaller - 1) & chosen;
        }
        if let Some(support) = grows(&part(chosen)).filter(|_| all_grow)
            && support >= mining.min_share
        {
            found.push((part(chosen), support));
        }
    }
    found.sort_by(|a, b| a.0.cmp(&b.0));
    found
}

fn listed(transactions: &[Vec<u32>]) -> Listed {
    let mut listed = Listed::new(u64::MAX);
    for transaction in transactions {
        listed.push(transaction.iter().map(|&item| item as i32)).unwrap();
    }
    listed
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn itemsets_are_those_of_the_definition(
        transactions in proptest::collection::vec(
            proptest::collection::btree_set(1u32..8, 0..6), 1..200),
        min_share in 0.01f64..0.6,
        margin in 0.0f64..2.0,
        max_itemset in 1usize..4,
    ) {
        let transactions: Vec<Vec<u32>> =
            transactions.into_iter().map(|items| items.into_iter().collect()).collect();
        let keep = keep(4, 0.3, 50.0, 2).unwrap();
        let mining = Mining::new(0.3, &keep, min_share, max_itemset, margin).unwrap();
        let watch = Watch::unlimited();
        let found = mining.run(&listed(&transactions), &watch).unwrap();
        prop_assert_eq!(watch.memory(), 0);
        prop_assert!(found.is_sorted_by_key(|one| (one.items.len(), -one.estimate.support)));
        let mut found: Vec<_> =
            found.into_iter().map(|one| (one.items, one.estimate.support)).collect();
        found.sort_by(|a, b| a.0.cmp(&b.0));
        prop_assert_eq!(found, reference(&mining, &transactions));
    }
}

/// Planted itemsets are found, by lists and by seeds, whatever the number of threads.
#[test]
fn planted_itemsets_are_found() {
    let shape = Shape { universe: 60, size: 4, itemset: 3, a: 1, b: 2 };
    let code = Code::new(shape).unwrap();
    let keep = keep(4, 0.25, 200.0, 2).unwrap();
    let operator = code.operator(&keep).unwrap();
    assert_eq!(operator, SizeOperator::new(0.25, &keep).unwrap());
    let mut coins = Coins::seeded(3);
    let (mut lists, mut seeds) = (Listed::new(u64::MAX), Seeded::new(code.clone()));
    for i in 0..40_000u32 {
        let other = |n: u32| 1 + (i.wrapping_mul(2_654_435_761) >> n) % 60;
        let mut transaction = match i % 4 {
            0 => vec![5, 17, 40, other(3)],
            1 => vec![17, 40, other(3), other(9)],
            _ => vec![other(3), other(9), other(14), other(19)],
        };
        transaction.sort_unstable();
        transaction.dedup();
        let randomised = operator.randomize(&transaction, 60, &mut coins);
        lists.push(randomised.into_iter().map(|item| item as i32)).unwrap();
        let seed = code.draw(&operator, &transaction, &mut coins);
        seeds.push(&code.write(&seed)).unwrap();
    }
    let mining = Mining::new(0.25, &keep, 0.15, 3, 2.0).unwrap();
    let run = |transactions: &dyn Transactions, threads: usize| {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
        pool.install(|| mining.run(transactions, &Watch::unlimited()).unwrap())
    };
    for transactions in [&lists as &dyn Transactions, &seeds] {
        let found = run(transactions, 1);
        assert_eq!(run(transactions, 3), found);
        let mut itemsets: Vec<Vec<u32>> = found.iter().map(|one| one.items.clone()).collect();
        itemsets.sort();
        let expected =
            [vec![5], vec![5, 17], vec![5, 17, 40], vec![5, 40], vec![17], vec![17, 40], vec![40]];
        assert_eq!(itemsets, expected);
        for Found { items, estimate } in &found {
            let truth = match items[..] {
                [17] | [40] | [17, 40] => 0.5,
                _ => 0.25,
            };
            // Other transactions bring single items now and then.
            let more = if items.len() == 1 { 0.05 } else { 0.01 };
            let error = estimate.support - truth;
            assert!(
                error > -5.0 * estimate.stddev && error < more + 5.0 * estimate.stddev,
                "{items:?} {error}"
            );
        }
    }
}

#[test]
fn what_makes_no_sense_is_refused() {
    let keep = [0.1, 0.3, 0.6];
    for (rho, min_share, max_itemset, margin) in [
        (0.0, 0.1, 2, 1.0),
        (0.5, 0.0, 2, 1.0),
        (0.5, f64::NAN, 2, 1.0),
        (0.5, 1.5, 2, 1.0),
        (0.5, 0.1, 0, 1.0),
        (0.5, 0.1, 17, 1.0),
        (0.5, 0.1, 2, -1.0),
        (0.5, 0.1, 2, f64::NAN),
        (0.5, 0.1, 2, f64::INFINITY),
    ] {
        assert!(Mining::new(rho, &keep, min_share, max_itemset, margin).is_err());
    }
    let mut listed = Listed::new(u64::MAX);
    for bad in [0, -3, 1 << 20] {
        assert!(listed.push([bad]).is_err());
    }
    // A bitmap takes a kilobyte for each item.
    let mut listed = Listed::new(10_000);
    assert_eq!(listed.push(1..=1000), Err(Stop::Memory { limit: 10_000 }.into()));
}

#[test]
fn mining_stops_when_it_is_told_to() {
    let transactions: Vec<Vec<u32>> = vec![(1..10).collect(); 100];
    let listed = listed(&transactions);
    let mining = Mining::new(0.5, &[0.1, 0.3, 0.6], 0.01, 2, 3.0).unwrap();
    let watch = Watch::new(u64::MAX, 3);
    assert_eq!(mining.run(&listed, &watch), Err(Stop::Itemsets { limit: 3 }));
    let watch = Watch::new(1000, u64::MAX);
    assert_eq!(mining.run(&listed, &watch), Err(Stop::Memory { limit: 1000 }));
    let watch = Watch::unlimited();
    watch.cancel();
    assert_eq!(mining.run(&listed, &watch), Err(Stop::Cancelled));
    assert_eq!(mining.run(&Listed::new(u64::MAX), &Watch::unlimited()), Ok(vec![]));
}
