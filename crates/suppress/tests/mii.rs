//! MII-suppress and k-MII against their definitions, published vectors and real tables.

mod common;

use common::{Counts, data, modal_rows, rows_of, vectors};
use pg_sanitize_suppress::{Error, k_mii, mii_suppress};
use proptest::prelude::*;
use std::collections::BTreeMap;
use table::{Bag, NONE, Release, Watch};

/// List all MIIs, then blank them row by row.
fn mine_then_suppress(bag: &Bag, theta: u64, max_length: Option<usize>) -> Vec<Vec<u32>> {
    let miis = mining::reference::miis(bag, theta, max_length);
    (0..bag.distinct())
        .map(|i| {
            let row = bag.row(i);
            let mut left = row.to_vec();
            for items in miis.keys() {
                if items.iter().all(|item| row[item.column as usize] == item.code) {
                    items.iter().for_each(|item| left[item.column as usize] = NONE);
                }
            }
            left
        })
        .collect()
}

fn released(release: &Release, bag: &Bag) -> Vec<Vec<u32>> {
    release
        .pieces()
        .iter()
        .map(|piece| {
            let mut row = vec![NONE; bag.width()];
            release.write(bag, piece, &mut row);
            row
        })
        .collect()
}

#[test]
fn vectors_pass() {
    let mut seen = 0;
    for vector in vectors("003-suppress") {
        let rows = rows_of(&vector["input"]["rows"]);
        let bag = Bag::from_text(rows[0].len(), rows);
        let theta = vector["input"]["theta"].as_u64().unwrap();
        let watch = Watch::unlimited();
        let texts = |release: &Release| {
            let bag = release.to_bag(&bag, &watch).unwrap();
            let mut texts: Vec<Vec<Option<String>>> = (0..bag.distinct())
                .flat_map(|i| vec![common::texts(&bag, i); bag.weight(i) as usize])
                .collect();
            texts.sort();
            texts
        };
        let expected = |name: &str| {
            let mut rows = rows_of(&vector["expected"][name]);
            rows.sort();
            rows
        };
        let release = mii_suppress(&bag, None, theta, None, &watch).unwrap();
        assert_eq!(texts(&release), expected("suppressed"), "{}", vector["id"]);
        let cells = vector["expected"]["suppressed_cells"].as_u64().unwrap();
        assert_eq!(Counts::of(&release, &bag).suppressed, cells, "{}", vector["id"]);
        let release = k_mii(&bag, None, theta + 1, None, 1.0, &watch).unwrap();
        assert_eq!(texts(&release), expected("kmii_exact_classes"), "{}", vector["id"]);
        seen += 1;
    }
    assert!(seen >= 3);
}

proptest! {
    #[test]
    fn suppression_without_a_list_is_mine_then_suppress(
        rows in common::rows(5, 4, 60),
        theta in 0u64..6,
        max_length in prop::option::of(1usize..5),
    ) {
        let bag = Bag::from_text(5, rows);
        let watch = Watch::unlimited();
        let release = mii_suppress(&bag, None, theta, max_length, &watch);
        if bag.row_count() > 0 && theta >= bag.row_count() {
            let left = Error::NothingLeft { class: theta + 1, rows: bag.row_count() };
            prop_assert_eq!(release.err(), Some(left));
        } else {
            let release = release.unwrap();
            prop_assert_eq!(released(&release, &bag), mine_then_suppress(&bag, theta, max_length));
            prop_assert_eq!(Counts::of(&release, &bag).kept, bag.row_count());
        }
    }

    #[test]
    fn k_mii_keeps_exactly_the_classes_of_k(
        rows in common::rows(4, 3, 60),
        k in 1u64..6,
        max_length in prop::option::of(1usize..4),
    ) {
        let bag = Bag::from_text(4, rows);
        prop_assume!(k <= bag.row_count());
        let watch = Watch::unlimited();
        let release = k_mii(&bag, None, k, max_length, 1.0, &watch).unwrap();
        let mut classes: BTreeMap<Vec<u32>, u64> = BTreeMap::new();
        for (i, row) in mine_then_suppress(&bag, k - 1, max_length).into_iter().enumerate() {
            *classes.entry(row).or_default() += bag.weight(i);
        }
        classes.retain(|_, rows| *rows >= k);
        let shown = release.to_bag(&bag, &watch).unwrap();
        let shown: BTreeMap<Vec<u32>, u64> =
            (0..shown.distinct()).map(|i| (shown.row(i).to_vec(), shown.weight(i))).collect();
        prop_assert_eq!(shown, classes);
    }
}

#[test]
fn the_thread_count_does_not_matter() {
    let rows = (0..3000u32).map(|i| {
        let x = i.wrapping_mul(2_654_435_761) >> 8;
        (0..6).map(move |c| Some((x >> (c * 4) & 7).pow(2).div_euclid(7).to_string()))
    });
    let bag = Bag::from_text(6, rows);
    let run = |threads| {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
        let release =
            pool.install(|| mii_suppress(&bag, None, 2, None, &Watch::unlimited())).unwrap();
        released(&release, &bag)
    };
    assert_eq!(run(1), run(4));
}

/// The deterministic tables of the paper, as its definition gives them.
#[test]
fn published_tables_are_reproduced() {
    let mut expected = vec![
        ("breast.D20.N699.C2", 1, 680, 0.29),
        ("breast.D20.N699.C2", 5, 668, 2.94),
        ("breast.D20.N699.C2", 10, 666, 6.18),
    ];
    if !cfg!(debug_assertions) {
        expected.push(("adult.D97.N48842.C2", 1, 44_367, 6.66));
        expected.push(("chessKRvK.D58.N28056.C18", 1, 28_045, 94.21));
    }
    for (name, theta, kept, share) in expected {
        let Some(path) = data(&format!("lucs/{name}.num")) else { continue };
        let bag = modal_rows(&path);
        let release = k_mii(&bag, None, theta + 1, None, 1.0, &Watch::unlimited()).unwrap();
        let counts = Counts::of(&release, &bag);
        assert_eq!(counts.kept, kept, "{name}, theta {theta}");
        let percent = 100.0 * counts.suppressed_share();
        // The paper cuts after two digits.
        assert_eq!((100.0 * percent).floor() / 100.0, share, "{name}, theta {theta}");
    }
}
