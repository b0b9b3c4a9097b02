//! The law of the sampler, and its privacy.

use super::reference::{Law, all_itemsets, any_bag, any_table, bag, law, support, weights};
use super::sampler::Sampler;
use super::{Constants, ItemsetDraws, SamplerPurpose, TopItemsets, Weights};
use guarantee::Neighbours;
use proptest::prelude::*;
use random::Coins;
use random::enclosure::Real;
use random::testing::assert_fits;
use std::collections::BTreeMap;
use table::{Bag, Item, Stop, Watch};

/// Vectors 000-itemset-A and 000-itemset-C: rows, and supports of all itemsets.
fn public_bag() -> Bag {
    let rows = [[0, 0], [0, 0], [0, 1], [0, 2], [1, 0], [0, 0]];
    bag(&[2, 3], &rows.map(|row| row.map(Some).to_vec()))
}

fn itemset(codes: [Option<u32>; 2]) -> Vec<Item> {
    let items = codes.into_iter().enumerate();
    items.filter_map(|(c, code)| Some(Item { column: c as u32, code: code? })).collect()
}

/// (itemset, its probability in A, its probability in C).
const PUBLIC: [([Option<u32>; 2], f64, f64); 11] = [
    ([None, Some(0)], 0.131857982041868, 0.237192653011053),
    ([None, Some(1)], 0.0799759088362311, 0.0529248346523871),
    ([None, Some(2)], 0.0799759088362311, 0.0529248346523871),
    ([Some(0), None], 0.131857982041868, 0.237192653011053),
    ([Some(0), Some(0)], 0.131857982041868, 0.143864616309783),
    ([Some(0), Some(1)], 0.0799759088362311, 0.0529248346523871),
    ([Some(0), Some(2)], 0.0799759088362311, 0.0529248346523871),
    ([Some(1), None], 0.0799759088362311, 0.0529248346523871),
    ([Some(1), Some(0)], 0.0799759088362311, 0.0529248346523871),
    ([Some(1), Some(1)], 0.062285300428504, 0.0321005348768944),
    ([Some(1), Some(2)], 0.062285300428504, 0.0321005348768944),
];
/// c and theta.
const A: (f64, u64) = (0.25, 3);
const C: (f64, u64) = (0.5, 4);

/// The supports from which itemsets may be mined.
const MINED_FROM: [u64; 7] = [1, 2, 3, 4, 5, 6, u64::MAX];

fn vector((c, theta): (f64, u64)) -> Law {
    let of = |&(codes, a, c)| (itemset(codes), if theta == A.1 { a } else { c });
    assert!((c, theta) == A || (c, theta) == C);
    PUBLIC.iter().map(of).collect()
}

fn assert_equal(found: &Law, expected: &Law) {
    assert!(found.keys().eq(expected.keys()), "{found:?} {expected:?}");
    for (items, p) in expected {
        assert!((found[items] - p).abs() <= 1e-9 * p, "{items:?}: {} {p}", found[items]);
    }
}

/// The law of a draw by enumerating everything that a sampler can do: every number of every branch.
fn law_of(sampler: &Sampler<'_>, gone: &[Vec<Item>]) -> (Law, f64) {
    let (levels, space, subsets, supports) = sampler.parts();
    let mass = |(low, high): &(_, _)| 0.5 * (float(low) + float(high));
    let masses: Vec<f64> = sampler.enclosed(300).unwrap().iter().map(mass).collect();
    let mut law = Law::new();
    let mut add = |items: Vec<Item>, mass: f64| *law.entry(items).or_default() += mass;
    for (i, level) in levels.all().iter().enumerate() {
        for number in 0..level.left {
            add(levels.itemset(i, number).to_vec(), masses[i] / level.left as f64);
        }
    }
    let count = u32::try_from(space.count()).unwrap();
    let all = (0..count).map(|number| space.itemset(number.into()));
    let left: Vec<Vec<Item>> = all.filter(|items| !gone.contains(items)).collect();
    for items in &left {
        add(items.clone(), masses[levels.all().len()] / left.len() as f64);
    }
    if let Some(mass) = masses.get(levels.all().len() + 1) {
        let pairs = u32::try_from(subsets.total()).unwrap();
        for items in (0..pairs).map(|number| subsets.itemset(number.into())) {
            let support = supports.of(&items);
            if !sampler.is_mined(support) && !gone.contains(&items) {
                let (low, high) = sampler.acceptance(support).enclose(60);
                let p = 0.5 * (float(&low) + float(&high)) / 2f64.powi(60);
                assert!(p <= 1.0 + 1e-15, "an acceptance of {p}");
                add(items, mass * p / f64::from(pairs));
            }
        }
    }
    let accepted: f64 = law.values().sum();
    law.values_mut().for_each(|p| *p /= accepted);
    (law, accepted / masses.iter().sum::<f64>())
}

fn float(number: &dashu_int::UBig) -> f64 {
    number.to_f64().value()
}

#[test]
fn the_definition_gives_the_public_vectors() {
    for (c, theta) in [A, C] {
        assert_equal(&law(&public_bag(), &weights(c, theta), 2), &vector((c, theta)));
    }
}

#[test]
fn the_sampler_has_the_law_and_the_acceptance_of_the_public_vectors() {
    let (bag, watch) = (public_bag(), Watch::unlimited());
    for ((c, theta), rate) in [(A, 0.9069682781358878), (C, 0.7836865210376981)] {
        for from in MINED_FROM {
            let sampler = Sampler::mined_from(&bag, weights(c, theta), 2, (from, 128), &watch);
            let (law, accepted) = law_of(&sampler, &[]);
            assert_equal(&law, &vector((c, theta)));
            if from == u64::MAX {
                assert!((accepted / rate - 1.0).abs() < 1e-9);
            }
            assert!(from > 1 || accepted > 1.0 - 1e-9);
        }
    }
}

#[test]
fn draws_follow_the_public_vectors() {
    let (bag, watch) = (public_bag(), Watch::unlimited());
    for (c, theta) in [A, C] {
        let expected = vector((c, theta));
        let (itemsets, law): (Vec<_>, Vec<f64>) = expected.into_iter().unzip();
        // Few bits at first, so that choices need more.
        for (seed, from) in MINED_FROM.into_iter().enumerate() {
            for bits in [1, 128] {
                let sampler = Sampler::mined_from(&bag, weights(c, theta), 2, (from, bits), &watch);
                let mut coins = Coins::seeded(seed as i64);
                assert_fits(&law, 5_000, || {
                    let items = sampler.draw(&mut coins).unwrap();
                    itemsets.iter().position(|known| *known == items).unwrap() as i64
                });
            }
        }
    }
}

#[test]
fn what_is_taken_is_not_drawn_again() {
    let (bag, watch) = (public_bag(), Watch::unlimited());
    let weights = weights(0.5, u64::MAX);
    let whole = law(&bag, &weights, 2);
    let itemsets: Vec<&Vec<Item>> = whole.keys().collect();
    // Both of the first two, in order.
    let mut pairs = Vec::new();
    for (i, (first, p)) in whole.iter().enumerate() {
        for (j, q) in whole.values().enumerate() {
            pairs.push(if i == j { 0.0 } else { p * q / (1.0 - whole[first]) });
        }
    }
    for (seed, from) in [1, 4, u64::MAX].into_iter().enumerate() {
        let mut coins = Coins::seeded(seed as i64);
        assert_fits(&pairs, 4_000, || {
            let place = |items: &Vec<Item>| itemsets.iter().position(|known| *known == items);
            let mut sampler = Sampler::mined_from(&bag, weights.clone(), 2, (from, 100), &watch);
            let (first, supp) = sampler.take(&mut coins).unwrap();
            assert_eq!(supp, support(&bag, &first));
            let (second, _) = sampler.take(&mut coins).unwrap();
            (place(&first).unwrap() * 11 + place(&second).unwrap()) as i64
        });
    }
}

#[test]
fn all_can_be_taken() {
    let (bag, watch) = (public_bag(), Watch::unlimited());
    for c in [1e-300, 0.5, 1e300] {
        let mut sampler =
            Sampler::new(&bag, weights(c, u64::MAX), 2, SamplerPurpose::Distinct(11), &watch)
                .unwrap();
        let mut coins = Coins::seeded(7);
        let taken: BTreeMap<Vec<Item>, u64> =
            (0..11).map(|_| sampler.take(&mut coins).unwrap()).collect();
        assert_eq!(taken.len(), 11);
    }
    assert!(Sampler::new(&bag, weights(1.0, 3), 2, SamplerPurpose::Distinct(12), &watch).is_err());
}

#[test]
fn ends_of_the_range() {
    let watch = Watch::unlimited();
    let mut coins = Coins::seeded(3);
    let empty = bag(&[2, 3], &[]);
    for (bag, theta) in [(&empty, 5), (&public_bag(), 0)] {
        let uniform = law(bag, &weights(0.0, 0), 2);
        let (itemsets, law): (Vec<_>, Vec<f64>) = uniform.into_iter().unzip();
        let sampler =
            Sampler::new(bag, weights(1.0, theta), 2, SamplerPurpose::Draws(1), &watch).unwrap();
        assert_fits(&law, 5_000, || {
            let items = sampler.draw(&mut coins).unwrap();
            itemsets.iter().position(|known| *known == items).unwrap() as i64
        });
    }
    // Sixty columns, all rows equal: 2^60 itemsets of the same support.
    let wide = bag(&[1; 60], &vec![vec![Some(0); 60]; 50]);
    for (c, theta, max_length) in [(1e-9, 10, 60), (1.0, 50, 4), (1e12, 1 << 62, 1000)] {
        let wanted = SamplerPurpose::Draws(5);
        let sampler = Sampler::new(&wide, weights(c, theta), max_length, wanted, &watch).unwrap();
        for _ in 0..5 {
            assert!((1..=max_length).contains(&sampler.draw(&mut coins).unwrap().len()));
        }
    }
    let none = bag(&[0], &[]);
    assert!(Sampler::new(&none, weights(1.0, 1), 1, SamplerPurpose::Draws(1), &watch).is_err());
}

#[test]
fn too_many_itemsets_are_no_error() {
    // Two hundred thousand frequent itemsets, and room for a few.
    let rows: Vec<Vec<Option<u32>>> =
        (0..60).map(|i| (0..18).map(|c| Some(u32::from(c == i % 18))).collect()).collect();
    let bag = bag(&[2; 18], &rows);
    let narrow = Watch::new(2 << 20, 100);
    let mut coins = Coins::seeded(4);
    let sampler = Sampler::new(&bag, weights(0.5, 40), 18, SamplerPurpose::Draws(100_000), &narrow);
    assert!(!sampler.unwrap().draw(&mut coins).unwrap().is_empty());
    let cancelled = Watch::unlimited();
    cancelled.cancel();
    let sampler = Sampler::new(&bag, weights(0.5, 40), 18, SamplerPurpose::Draws(1), &cancelled);
    assert_eq!(sampler.err(), Some(random::Error::Stop(Stop::Cancelled)));
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(150))]

    /// NULLs, values that no row has, any theta, any constant, any way of mining.
    #[test]
    fn the_sampler_has_the_law_of_the_definition(
        bag in any_bag(), c in 0.001f64..3.0, theta in 0u64..9, max_length in 1usize..5,
        from in prop::sample::select(&MINED_FROM[..]),
    ) {
        let watch = Watch::unlimited();
        let weights = weights(c, theta);
        let sampler = Sampler::mined_from(&bag, weights.clone(), max_length, (from, 64), &watch);
        assert_equal(&law_of(&sampler, &[]).0, &law(&bag, &weights, max_length));
    }

    /// After each itemset that is taken, the law is that of the others.
    #[test]
    fn taking_leaves_the_law_of_the_others(
        bag in any_bag(), c in 0.001f64..3.0, from in prop::sample::select(&MINED_FROM[..]), seed: i64,
    ) {
        let watch = Watch::unlimited();
        let weights = weights(c, u64::MAX);
        let mut expected = law(&bag, &weights, 3);
        let mut sampler = Sampler::mined_from(&bag, weights, 3, (from, 128), &watch);
        let (mut coins, mut gone) = (Coins::seeded(seed), Vec::new());
        for _ in 0..expected.len().min(4) - 1 {
            let (items, _) = sampler.take(&mut coins).unwrap();
            let rest = 1.0 - expected.remove(&items).unwrap();
            // The rest must not be lost in rounding.
            prop_assume!(rest > 1e-3);
            expected.values_mut().for_each(|p| *p /= rest);
            gone.push(items);
            let total: f64 = expected.values().sum();
            expected.values_mut().for_each(|p| *p /= total);
            assert_equal(&law_of(&sampler, &gone).0, &expected);
        }
    }

    /// Neighbours differ by at most epsilon.
    #[test]
    fn tight_constants_keep_epsilon(
        (sizes, mut rows) in any_table(), epsilon in 0.01f64..4.0, theta in 0u64..9,
        max_length in 1usize..4, at: prop::sample::Index, with: prop::sample::Index,
    ) {
        let base = law_for(&sizes, &rows, epsilon, theta, max_length);
        let mut other = rows.clone();
        if !rows.is_empty() {
            let one = other.remove(at.index(rows.len()));
            let fewer = law_for(&sizes, &other, epsilon, theta, max_length);
            prop_assert!(loss(&base[1], &fewer[1]) <= epsilon * (1.0 + 1e-12));
            let row: Vec<Option<u32>> = sizes.iter().enumerate()
                .map(|(c, &size)| with.index(4).checked_sub(1).map(|code| ((code + c) % size) as u32))
                .collect();
            rows = other;
            rows.push(row);
            let changed = law_for(&sizes, &rows, epsilon, theta, max_length);
            prop_assert!(loss(&base[0], &changed[0]) <= epsilon * (1.0 + 1e-12), "{one:?}");
        }
    }
}

/// The law of a tight draw for replaced and for added rows.
fn law_for(
    sizes: &[usize],
    rows: &[Vec<Option<u32>>],
    epsilon: f64,
    theta: u64,
    max_length: usize,
) -> [Law; 2] {
    [Neighbours::Replace, Neighbours::AddRemove].map(|neighbours| {
        let constants = Constants::Tight;
        let draws = ItemsetDraws { epsilon, draws: 1, theta, max_length, neighbours, constants };
        law(&bag(sizes, rows), &draws.weights().unwrap(), max_length)
    })
}

/// The largest logarithm of a ratio of probabilities.
fn loss(a: &Law, b: &Law) -> f64 {
    a.iter().map(|(items, p)| (p / b[items]).ln().abs()).fold(0.0, f64::max)
}

/// No epsilon is wasted: many rows of one value, and one row that may change to another value.
#[test]
fn tight_constants_reach_epsilon() {
    let rows = |values: &[(u32, usize)]| -> Vec<Vec<Option<u32>>> {
        values.iter().flat_map(|&(code, n)| vec![vec![Some(code)]; n]).collect()
    };
    for epsilon in [0.5, 2.0] {
        let law = |values: &[(u32, usize)]| law_for(&[2], &rows(values), epsilon, 1000, 1);
        let base = law(&[(0, 100), (1, 1)]);
        let replaced = loss(&base[0], &law(&[(0, 101)])[0]);
        let added = loss(&base[1], &law(&[(0, 101), (1, 1)])[1]);
        for reached in [replaced, added] {
            assert!(reached <= epsilon * (1.0 + 1e-12) && reached >= 0.99 * epsilon, "{reached}");
        }
    }
}

/// Vector 000-itemset-actual-eps.
#[test]
fn the_papers_constant_gives_what_was_found() {
    let cells = [[0, 0], [0, 1], [1, 0], [1, 1]].map(|row| row.map(Some).to_vec());
    let weights = Weights { c: random::Ratio::new(1u8, 4u8).unwrap(), theta: 10 };
    let law_of = |rows: &[usize]| {
        let rows: Vec<_> = rows.iter().map(|&row| cells[row].clone()).collect();
        law(&bag(&[2, 2], &rows), &weights, 2)
    };
    let (mut replaced, mut removed) = (0.0f64, 0.0f64);
    for rows in (0..64).map(|i| [i / 16, i / 4 % 4, i % 4]) {
        let base = law_of(&rows);
        removed = removed.max(loss(&base, &law_of(&rows[..2])));
        for other in 0..4 {
            replaced = replaced.max(loss(&base, &law_of(&[rows[0], rows[1], other])));
        }
    }
    assert!((replaced / 0.299922686519698 - 1.0).abs() < 1e-9, "{replaced}");
    assert!((removed / 0.167803766661625 - 1.0).abs() < 1e-9, "{removed}");
}

#[test]
fn the_most_frequent_are_found_if_epsilon_is_large() {
    let (bag, watch) = (public_bag(), Watch::unlimited());
    for delta in [0.0, 1e-6] {
        let top = TopItemsets::new(3, 500.0, delta, 2).unwrap();
        let found = top.find(&bag, &mut Coins::seeded(1), &watch).unwrap();
        let supports: Vec<i128> = found.iter().map(|found| found.support).collect();
        assert_eq!(supports, [5, 4, 3]);
        assert_eq!(found[0].items, itemset([Some(0), None]));
    }
    let all = TopItemsets::new(11, 0.01, 0.0, 2).unwrap();
    assert_eq!(all.find(&bag, &mut Coins::seeded(2), &watch).unwrap().len(), 11);
    assert!(
        TopItemsets::new(12, 1.0, 0.0, 2)
            .unwrap()
            .find(&bag, &mut Coins::seeded(2), &watch)
            .is_err()
    );
}

#[test]
fn itemsets_that_no_row_has_can_come_out() {
    let (bag, watch) = (public_bag(), Watch::unlimited());
    let top = TopItemsets::new(1, 0.001, 0.0, 2).unwrap();
    let absent = itemset([Some(1), Some(2)]);
    let mut coins = Coins::seeded(5);
    let drawn = (0..300).map(|_| top.find(&bag, &mut coins, &watch).unwrap().remove(0));
    let seen = drawn.filter(|found| found.items == absent).count();
    assert!((10..50).contains(&seen), "{seen}");
    assert_eq!(all_itemsets(&bag, 2).len(), 11);
}
