//! Trees and laws compared with their definitions, and rows with their laws.

use super::reference::{self, Paths, Rows};
use super::*;
use crate::tree::backoff::Backoff;
use crate::tree::counted_frequencies::{CountedFrequencies, shares};
use crate::{Nulls, Options, Progress, fit};
use chacha20::ChaCha20Rng;
use proptest::prelude::*;
use rand::SeedableRng;
use std::collections::BTreeMap;
use table::{Bag, Item, NONE, Stop, Watch};

fn stream(seed: u64) -> impl Fn(u64) -> ChaCha20Rng {
    move |chunk| {
        let mut rng = ChaCha20Rng::seed_from_u64(seed);
        rng.set_stream(chunk);
        rng
    }
}

/// The tree of a bag and some elements.
fn grown(bag: &Bag, elements: &[Vec<Item>], threshold: f64) -> CodeTree {
    let watch = Watch::unlimited();
    let elements: Vec<&[Item]> = elements.iter().map(Vec::as_slice).collect();
    let counted = CountedFrequencies::new(bag, elements.iter().copied().flatten(), &watch).unwrap();
    let nulls = vec![None; bag.width()];
    let tree = CodeTree::new(&elements, shares(bag, &nulls), &counted, threshold, &watch).unwrap();
    drop(counted);
    assert_eq!(watch.memory(), 0);
    tree
}

/// The law of the generator, by enumerating all values.
fn law(tree: &CodeTree) -> Rows {
    let watch = Watch::unlimited();
    let generator = Backoff::new(tree, &watch).unwrap();
    let mut rows: Rows = BTreeMap::from([(Vec::new(), 1.0)]);
    for _ in 0..tree.width() {
        let mut next = Rows::new();
        for (row, p) in rows {
            for (code, q) in generator.law(&row) {
                *next.entry([&row[..], &[code]].concat()).or_default() += p * q;
            }
        }
        rows = next;
    }
    rows.retain(|_, p| *p > 0.0);
    rows
}

fn drawn(tree: &CodeTree, walk: Walk, rows: usize, seed: u64) -> Vec<u32> {
    let watch = Watch::unlimited();
    let generator = TreeGenerator::new(tree, walk, &watch).unwrap();
    generator.rows(0, rows, stream(seed), &watch).unwrap()
}

fn assert_same_law(found: &Rows, expected: &Rows) {
    let likely = |rows: &Rows| rows.iter().filter(|&(_, &p)| p > 1e-12).count();
    assert_eq!(likely(found), likely(expected));
    for (row, p) in expected.iter().filter(|&(_, &p)| p > 1e-12) {
        let found = found.get(row).copied().unwrap_or(0.0);
        assert!((found - p).abs() < 1e-12, "{row:?}: {found} instead of {p}");
    }
}

/// Fails if rows do not look like draws from a law: chi-square exceeds its mean by six standard deviations or more.
fn assert_fits(law: &Rows, cells: &[u32], width: usize) {
    let rows = cells.len() / width;
    let mut counts: BTreeMap<&[u32], f64> = BTreeMap::new();
    cells.chunks(width).for_each(|row| *counts.entry(row).or_default() += 1.0);
    assert!(counts.keys().all(|row| law.contains_key(*row)), "a row of probability 0");
    // Rare rows are pooled, so that chi-square has its law.
    let mut cells = vec![(0.0, 0.0)];
    for (row, p) in law {
        let (expected, found) = (p * rows as f64, counts.get(row.as_slice()).unwrap_or(&0.0));
        match expected < 5.0 {
            true => cells[0] = (cells[0].0 + expected, cells[0].1 + found),
            false => cells.push((expected, *found)),
        }
    }
    cells.retain(|&(expected, _)| expected > 0.0);
    let chi_square: f64 =
        cells.iter().map(|(expected, found)| (found - expected).powi(2) / expected).sum();
    let freedom = (cells.len() as f64 - 1.0).max(1.0);
    assert!(chi_square < freedom + 6.0 * (2.0 * freedom).sqrt() + 6.0, "chi-square {chi_square}");
}

fn domains(bag: &Bag) -> Vec<usize> {
    bag.domains().iter().map(|domain| domain.len()).collect()
}

fn missing(bag: &Bag) -> Vec<f64> {
    shares(bag, &vec![None; bag.width()]).iter().map(|shares| shares.missing).collect()
}

/// The vector 000-dct_acbd.
#[test]
fn the_tree_and_the_law_of_the_vector() {
    let rows = [
        "ace", "ace", "ace", "ace", "ace", "acf", "acf", "acf", "bde", "bde", "bde", "bde", "bdf",
        "bdf", "ade", "bcf",
    ];
    let bag = Bag::from_text(3, rows.map(|row| row.chars().map(|c| Some(c.to_string()))));
    let item = |letter: char| {
        let number = letter as u32 - 'a' as u32;
        Item { column: number / 2, code: number % 2 }
    };
    let set = |letters: &str| letters.chars().map(item).collect::<Vec<Item>>();
    let tree = grown(&bag, &[set("ac"), set("bd")], 1.0 / 20.0);
    let expected: Paths = [
        ("", 1.0),
        ("a", 9.0 / 16.0),
        ("ac", 1.0 / 2.0),
        ("b", 7.0 / 16.0),
        ("bd", 3.0 / 8.0),
        ("c", 9.0 / 16.0),
        ("d", 7.0 / 16.0),
        ("e", 5.0 / 8.0),
        ("f", 3.0 / 8.0),
    ]
    .map(|(letters, p)| (set(letters), p))
    .into();
    assert_eq!(reference::paths(&tree), expected);
    let law_expected: Rows = [
        ("ace", 5.0 / 16.0),
        ("acf", 3.0 / 16.0),
        ("ade", 5.0 / 128.0),
        ("adf", 3.0 / 128.0),
        ("bce", 5.0 / 128.0),
        ("bcf", 3.0 / 128.0),
        ("bde", 15.0 / 64.0),
        ("bdf", 9.0 / 64.0),
    ]
    .map(|(letters, p)| (set(letters).iter().map(|item| item.code).collect(), p))
    .into();
    assert_same_law(&law(&tree), &law_expected);
    assert_fits(&law_expected, &drawn(&tree, Walk::Backoff, 50_000, 1), 3);
}

/// Rows of four columns with values that depend on each other, NULLs among them.
fn rows() -> impl Strategy<Value = Vec<Vec<Option<u8>>>> {
    let row = (0u8..3, prop::collection::vec(prop::option::weighted(0.9, 0u8..3), 4), 0u8..8);
    let row = row.prop_map(|(leader, mut cells, follows)| {
        for (i, cell) in cells.iter_mut().enumerate() {
            if follows >> (i % 3) & 1 == 1 {
                *cell = Some(leader);
            }
        }
        cells
    });
    prop::collection::vec(row, 1..40)
}

fn bag(rows: &[Vec<Option<u8>>]) -> Bag {
    Bag::from_text(4, rows.iter().map(|row| row.iter().map(|cell| cell.map(|c| c.to_string()))))
}

/// Some of the itemsets of two items or more that rows contain.
fn elements(bag: &Bag, chosen: &[(usize, u32)]) -> Vec<Vec<Item>> {
    let mut elements: Vec<Vec<Item>> = chosen
        .iter()
        .map(|&(row, columns)| {
            let items = Bag::row_items(bag.row(row % bag.distinct()));
            items.filter(|item| columns >> item.column & 1 == 1).collect()
        })
        .filter(|items: &Vec<Item>| items.len() > 1)
        .collect();
    elements.sort();
    elements.dedup();
    elements
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(96))]

    #[test]
    fn trees_and_laws_are_those_of_the_definition(
        rows in rows(),
        chosen in prop::collection::vec((0usize..40, 1u32..16), 0..8),
        threshold in prop_oneof![Just(0.0), 0.0f64..0.3],
        reversed in any::<bool>(),
    ) {
        let bag = bag(&rows);
        let mut elements = elements(&bag, &chosen);
        if reversed {
            // The result does not depend on the order of elements.
            elements.reverse();
        }
        let tree = grown(&bag, &elements, threshold);
        let paths = reference::paths(&tree);
        prop_assert_eq!(&paths, &reference::tree(&bag, &elements, threshold));
        let expected = reference::backoff(&paths, &domains(&bag), &missing(&bag));
        assert_same_law(&law(&tree), &expected);
        assert_fits(&expected, &drawn(&tree, Walk::Backoff, 2000, 8), 4);
        let expected = reference::literal(&paths, &domains(&bag), &missing(&bag));
        assert_fits(&expected, &drawn(&tree, Walk::Literal, 2000, 9), 4);
    }
}

/// A tree with several levels, and its bag.
fn deep() -> (Bag, CodeTree) {
    let rows: Vec<Vec<Option<u8>>> = (0..300u32)
        .map(|i| {
            let a = (i % 3) as u8;
            let b = if i % 5 == 0 { (i / 7 % 3) as u8 } else { a };
            let c = (i % 11 > 1).then_some(if i % 7 < 4 { b } else { (i / 3 % 3) as u8 });
            vec![Some(a), Some(b), c, Some(if i % 4 == 0 { 2 - a } else { b })]
        })
        .collect();
    let bag = bag(&rows);
    let table = fit(&bag, &Options::new(10), &Watch::unlimited(), &Progress::new()).unwrap();
    let tree = code_tree(&bag, &table, Nulls::Missing, 0.02, &Watch::unlimited()).unwrap();
    (bag, tree)
}

#[test]
fn rows_follow_the_law_of_each_walk() {
    let (bag, tree) = deep();
    let paths = reference::paths(&tree);
    assert!(paths.keys().any(|path| path.len() == 4));
    let laws = [
        (Walk::Backoff, reference::backoff(&paths, &domains(&bag), &missing(&bag))),
        (Walk::Literal, reference::literal(&paths, &domains(&bag), &missing(&bag))),
    ];
    assert!((laws[0].1.values().sum::<f64>() - 1.0).abs() < 1e-9);
    for (walk, law) in laws {
        assert_fits(&law, &drawn(&tree, walk, 60_000, 2), 4);
    }
}

#[test]
fn null_is_an_item_if_the_fit_says_so() {
    let rows = (0..200usize).map(|i| {
        let a = i % 2;
        [Some(a), (a == 1 || i % 10 == 0).then_some(7)].map(|cell| cell.map(|n| n.to_string()))
    });
    let bag = Bag::from_text(2, rows);
    let options = Options { nulls: Nulls::Value, ..Options::new(10) };
    let table = fit(&bag, &options, &Watch::unlimited(), &Progress::new()).unwrap();
    let tree = code_tree(&bag, &table, Nulls::Value, 0.01, &Watch::unlimited()).unwrap();
    assert_eq!((tree.null_code(0), tree.null_code(1)), (None, Some(1)));
    let null_path = [Item { column: 0, code: 0 }, Item { column: 1, code: 1 }];
    assert_eq!(reference::paths(&tree)[&null_path[..]], 0.4);
    for walk in [Walk::Backoff, Walk::Literal] {
        let rows = drawn(&tree, walk, 20_000, 3);
        let nulls = rows.chunks(2).filter(|row| row[1] == NONE).count() as f64 / 20_000.0;
        assert!((nulls - 0.4).abs() < 0.02, "{nulls}");
        let wrong = rows.chunks(2).filter(|row| row == &[1, NONE]).count();
        assert_eq!(wrong == 0, walk == Walk::Backoff);
    }
}

#[test]
fn rows_do_not_depend_on_threads_or_batches() {
    let (_, tree) = deep();
    for walk in [Walk::Backoff, Walk::Literal] {
        let watch = Watch::unlimited();
        let generator = TreeGenerator::new(&tree, walk, &watch).unwrap();
        let rows = |start, n, threads| {
            let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
            pool.install(|| generator.rows(start, n, stream(4), &Watch::unlimited()).unwrap())
        };
        let all = rows(0, 10_000, 1);
        assert_eq!(all, rows(0, 10_000, 3));
        assert_eq!(all[5000 * 4..6000 * 4], rows(5000, 1000, 2));
        assert!(rows(7, 0, 1).is_empty());
    }
}

/// A column with many values, of which few are in patterns.
#[test]
fn rare_values_of_large_domains_keep_their_shares() {
    let rows = (0..4000usize).map(|i| {
        let a = i % 2;
        let b = if i % 4 < 2 { 1000 + a } else { 1000 + i / 4 % 200 };
        [Some(a), Some(b), Some(a)].map(|cell| cell.map(|n| n.to_string()))
    });
    let bag = Bag::from_text(3, rows);
    let pattern = |a: u32| vec![Item { column: 0, code: a }, Item { column: 1, code: a }];
    let tree = grown(&bag, &[pattern(0), pattern(1)], 0.1);
    let expected = reference::backoff(&reference::paths(&tree), &domains(&bag), &missing(&bag));
    assert_same_law(&law(&tree), &expected);
    assert_fits(&expected, &drawn(&tree, Walk::Backoff, 100_000, 5), 3);
}

#[test]
fn limits_are_obeyed() {
    let row = |i: usize| (0..16).map(move |c| Some((if c < 14 { c } else { i % 2 }).to_string()));
    let bag = Bag::from_text(16, (0..64).map(row));
    let pairs: Vec<Vec<Item>> = (1..14)
        .map(|column| vec![Item { column: column - 1, code: 0 }, Item { column, code: 0 }])
        .collect();
    let pairs: Vec<&[Item]> = pairs.iter().map(Vec::as_slice).collect();
    let tree = |watch: &Watch| {
        let counted = CountedFrequencies::new(&bag, pairs.iter().copied().flatten(), watch)?;
        CodeTree::new(&pairs, shares(&bag, &[None; 16]), &counted, 0.1, watch).map(|_| ())
    };
    assert_eq!(tree(&Watch::unlimited()), Ok(()));
    assert_eq!(tree(&Watch::new(u64::MAX, 100)), Err(Stop::Itemsets { limit: 100 }));
    assert_eq!(tree(&Watch::new(2000, u64::MAX)), Err(Stop::Memory { limit: 2000 }));
    let cancelled = Watch::unlimited();
    cancelled.cancel();
    assert_eq!(tree(&cancelled), Err(Stop::Cancelled));
}

mod randomised {
    use super::*;
    use crate::tree::estimated_frequencies::{Bounds, Estimates};
    use crate::tree::frequencies::Frequencies;

    fn channel(epsilon: f64, values: usize) -> Channel {
        let (keep, other) = probabilities(epsilon, values);
        let apart = keep - other;
        Channel { shown: (1.0 - other) / apart, not_shown: -other / apart }
    }

    /// The probability that a cell is kept, and that it becomes any one other value.
    fn probabilities(epsilon: f64, values: usize) -> (f64, f64) {
        let other = 1.0 / (epsilon.exp() + values as f64 - 1.0);
        (epsilon.exp() * other, other)
    }

    /// The estimate by definition.
    fn estimate(bag: &Bag, channels: &[Channel], items: &[Item]) -> f64 {
        let factor = |row: &[u32], item: &Item| {
            let channel = channels[item.column as usize];
            let is_shown = row[item.column as usize] == item.code;
            if is_shown { channel.shown } else { channel.not_shown }
        };
        let product = |row: &[u32]| items.iter().map(|item| factor(row, item)).product::<f64>();
        let sum: f64 =
            (0..bag.distinct()).map(|i| bag.weight(i) as f64 * product(bag.row(i))).sum();
        sum / bag.row_count() as f64
    }

    const EVERYTHING: Bounds = Bounds { least: f64::NEG_INFINITY, noise: f64::INFINITY };

    fn observed() -> Bag {
        let rows = ["012", "010", "112", "001", "122", "012", "100", "021"];
        Bag::from_text(3, rows.map(|row| row.chars().map(|c| Some(c.to_string()))))
    }

    /// The vectors 000-prodest-0 and 000-prodest-2.
    #[test]
    fn estimates_are_those_of_the_vectors() {
        let bag = observed();
        for (items, epsilon, expected) in [
            (&[(0, 0)][..], 1.0, 0.770494176717332),
            (&[(0, 0), (1, 1), (2, 2)][..], 2.0, 0.445660759989441),
        ] {
            let channels: Vec<Channel> =
                domains(&bag).into_iter().map(|values| channel(epsilon, values)).collect();
            let items: Vec<Item> =
                items.iter().map(|&(column, code)| Item { column, code }).collect();
            assert!((estimate(&bag, &channels, &items) - expected).abs() < 1e-9);
            let watch = Watch::unlimited();
            let found = Estimates::new(&bag, &channels, &[None; 3], EVERYTHING, &watch).unwrap();
            let subsets = (1u32..1 << items.len()).map(|subset| {
                let chosen = items.iter().enumerate().filter(|(i, _)| subset >> i & 1 == 1);
                estimate(&bag, &channels, &chosen.map(|(_, item)| *item).collect::<Vec<_>>())
            });
            let least = subsets.fold(1.0, f64::min);
            assert!((found.share(&Vec::new(), &items) - least).abs() < 1e-9);
        }
    }

    fn some(rows: &[Vec<Option<u8>>]) -> Bag {
        let full =
            rows.iter().map(|row| row.iter().map(|cell| Some(cell.unwrap_or(0).to_string())));
        Bag::from_text(4, full)
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(48))]

        #[test]
        fn what_is_frequent_has_frequent_subsets_and_no_more_than_they(
            rows in rows(),
            epsilon in 0.5f64..6.0,
            least in 0.0f64..0.5,
        ) {
            let bag = some(&rows);
            let channels: Vec<Channel> =
                domains(&bag).into_iter().map(|values| channel(epsilon, values)).collect();
            let watch = Watch::unlimited();
            let bounds = Bounds { least, ..EVERYTHING };
            let found = Estimates::new(&bag, &channels, &[None; 4], bounds, &watch).unwrap();
            // All itemsets, shortest first.
            let mut all: Vec<Vec<Item>> = vec![Vec::new()];
            for column in 0..4 {
                for items in all.clone() {
                    for code in 0..bag.domain(column).len() as u32 {
                        all.push([&items[..], &[Item { column: column as u32, code }]].concat());
                    }
                }
            }
            all.sort_by_key(Vec::len);
            let mut expected = BTreeMap::from([(Vec::new(), 1.0)]);
            for items in &all[1..] {
                let subsets = (0..items.len()).map(|i| [&items[..i], &items[i + 1..]].concat());
                let most = subsets.map(|subset| expected.get(&subset).copied());
                let most = most.collect::<Option<Vec<f64>>>();
                let estimate = estimate(&bag, &channels, items);
                if let Some(most) = most && estimate >= least {
                    expected.insert(items.clone(), most.into_iter().fold(estimate, f64::min));
                }
            }
            for items in &all[1..] {
                let found = found.share(&Vec::new(), items);
                let expected = expected.get(items).copied().unwrap_or(0.0);
                prop_assert!((found - expected).abs() < 1e-9, "{items:?}: {found} {expected}");
            }
        }

        #[test]
        fn rows_that_were_not_randomised_give_the_plain_tree(
            rows in rows(),
            min_share in 0.05f64..0.5,
        ) {
            let bag = some(&rows);
            let certain = vec![Channel { shown: 1.0, not_shown: 0.0 }; 4];
            let watch = Watch::unlimited();
            let sanitised = Sanitised::new(&bag, &[false; 4], certain, &watch).unwrap();
            let progress = Progress::new();
            let found = sanitised.tree(min_share, min_share, None, &watch, &progress).unwrap();
            let least = (min_share * bag.row_count() as f64).ceil() as u64;
            let table = fit(&bag, &Options::new(least), &watch, &progress).unwrap();
            let plain = code_tree(&bag, &table, Nulls::Missing, min_share, &watch).unwrap();
            prop_assert_eq!(reference::paths(&found), reference::paths(&plain));
            prop_assert_eq!(watch.memory(), 0);
        }
    }

    #[test]
    fn trees_of_noise_have_values_only_and_draw_rows_of_the_domain() {
        let bag = observed();
        let channels: Vec<Channel> =
            domains(&bag).into_iter().map(|values| channel(0.01, values)).collect();
        let watch = Watch::unlimited();
        let nullable = [false, true, false];
        let sanitised = Sanitised::new(&bag, &nullable, channels.clone(), &watch).unwrap();
        let tree = sanitised.tree(0.1, 0.1, None, &watch, &Progress::new()).unwrap();
        assert_eq!(tree.nodes().len(), 1 + 2 + 4 + 3);
        assert!(Sanitised::pair_noise(&channels, 8).unwrap() > 0.05);
        let rows = drawn(&tree, Walk::Backoff, 1000, 6);
        assert!(
            rows.chunks(3).all(|row| row[0] < 2 && (row[1] < 3 || row[1] == NONE) && row[2] < 3)
        );
        // No rows at all: all values are equally likely.
        let none = sanitised.class(0, 7, &watch).unwrap();
        let tree = none.tree(0.1, 0.1, None, &watch, &Progress::new()).unwrap();
        let rows = drawn(&tree, Walk::Backoff, 9000, 7);
        let law = (0..4).flat_map(|a| (0..3).map(move |b| vec![if a == 3 { NONE } else { a }, b]));
        assert_fits(&law.map(|row| (row, 1.0 / 12.0)).collect(), &rows, 2);
    }

    #[test]
    fn classes_are_the_rows_with_the_randomised_label() {
        let bag = observed();
        let channels: Vec<Channel> =
            domains(&bag).into_iter().map(|values| channel(1.0, values)).collect();
        let watch = Watch::unlimited();
        let sanitised = Sanitised::new(&bag, &[false; 3], channels, &watch).unwrap();
        let shares = sanitised.shares(0, &watch).unwrap();
        assert!((shares[0] - 0.770494176717332).abs() < 1e-9);
        assert!((shares.iter().sum::<f64>() - 1.0).abs() < 1e-9);
        let class = sanitised.class(0, 1, &watch).unwrap();
        assert_eq!((class.row_count(), class.width()), (3, 2));
    }
}
