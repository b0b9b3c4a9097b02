//! Hidden itemsets against their definition, and against the fewest cells that can hide them.

mod common;

use common::Counts;
use pg_sanitize_suppress::hide_itemsets;
use proptest::prelude::*;
use std::collections::{BTreeMap, BTreeSet};
use table::{Bag, Item, NONE, Release, Stop, Watch};

const WIDTH: usize = 4;

/// What a release shows, copy by copy.
fn shown(release: &Release, bag: &Bag) -> Vec<Vec<u32>> {
    let mut rows = Vec::new();
    for piece in release.pieces() {
        let mut row = vec![NONE; bag.width()];
        release.write(bag, piece, &mut row);
        rows.extend(std::iter::repeat_n(row, piece.weight as usize));
    }
    rows
}

fn contains(row: &[u32], items: &[Item]) -> bool {
    items.iter().all(|item| row[item.column as usize] == item.code)
}

fn blanked(release: &Release, bag: &Bag) -> u64 {
    Counts::of(release, bag).suppressed
}

/// The fewest cells, by trying all ways to blank each row: after each row, the fewest cells for every
/// number of rows in which the itemsets are hidden, counted up to what is needed.
fn fewest(bag: &Bag, itemsets: &[Vec<Item>], keep: &[usize], min_support: u64) -> u64 {
    let rows = (0..bag.distinct()).flat_map(|i| vec![bag.row(i); bag.weight(i) as usize]);
    let rows: Vec<&[u32]> = rows.collect();
    let needed: Vec<u64> = itemsets
        .iter()
        .map(|items| rows.iter().filter(|row| contains(row, items)).count() as u64)
        .map(|support| (support + 1).saturating_sub(min_support))
        .collect();
    let mut best: BTreeMap<Vec<u64>, u64> = BTreeMap::from([(vec![0; itemsets.len()], 0)]);
    for row in rows {
        let mut next: BTreeMap<Vec<u64>, u64> = BTreeMap::new();
        let options: BTreeSet<(u32, Vec<bool>)> = (0u32..1 << WIDTH)
            .filter(|mask| keep.iter().all(|column| mask >> column & 1 == 0))
            .map(|mask| {
                let hides = |items: &Vec<Item>| {
                    contains(row, items) && items.iter().any(|i| mask >> i.column & 1 == 1)
                };
                (mask.count_ones(), itemsets.iter().map(hides).collect())
            })
            .collect();
        for (hidden, cells) in &best {
            for (more, hides) in &options {
                let then = hidden.iter().zip(hides).zip(&needed);
                let then = then.map(|((&h, &hides), &n)| n.min(h + u64::from(hides))).collect();
                let cost = next.entry(then).or_insert(u64::MAX);
                *cost = (*cost).min(cells + u64::from(*more));
            }
        }
        best = next;
    }
    best[&needed]
}

/// Rows, sensitive itemsets and kept columns; every itemset has an item that may be blanked.
fn case() -> impl Strategy<Value = (Bag, Vec<Vec<Item>>, Vec<usize>)> {
    let cell = prop::option::weighted(0.9, 0u32..2);
    let rows = prop::collection::vec(prop::collection::vec(cell, WIDTH), 1..14);
    let items = prop::collection::btree_map(0u32..WIDTH as u32, 0u32..2, 1..=3);
    let keep = prop_oneof![3 => Just(vec![]), 1 => (0..WIDTH).prop_map(|column| vec![column])];
    (rows, prop::collection::vec(items, 1..5), keep).prop_map(|(rows, sets, keep)| {
        let text = |row: Vec<Option<u32>>| row.into_iter().map(|c| c.map(|c| c.to_string()));
        let bag = Bag::from_text(WIDTH, rows.into_iter().map(text));
        let item = |(column, value): (u32, u32)| {
            let code = bag.domain(column as usize).find(value.to_string().as_bytes())?;
            Some(Item { column, code })
        };
        let sets = sets.into_iter().filter_map(|set| set.into_iter().map(item).collect());
        let free = |set: &Vec<Item>| set.iter().any(|i| !keep.contains(&(i.column as usize)));
        let sets: Vec<Vec<Item>> = sets.filter(free).collect();
        (bag, sets, keep)
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(1000))]

    #[test]
    fn itemsets_are_hidden_by_few_cells((bag, itemsets, keep) in case(), min_support in 1u64..8) {
        let watch = Watch::unlimited();
        let release = hide_itemsets(&bag, None, &itemsets, &keep, min_support, &watch).unwrap();
        prop_assert_eq!(watch.memory(), 0);
        let rows = shown(&release, &bag);
        for items in &itemsets {
            let support = rows.iter().filter(|row| contains(row, items)).count() as u64;
            prop_assert!(support < min_support);
        }
        // Nothing else changes: no row is lost, no value made up, no kept column touched.
        let mut copies = vec![0; bag.distinct()];
        let mut cells = vec![NONE; WIDTH];
        for piece in release.pieces() {
            copies[piece.row as usize] += piece.weight;
            release.write(&bag, piece, &mut cells);
            for (column, (&now, &before)) in
                cells.iter().zip(bag.row(piece.row as usize)).enumerate()
            {
                prop_assert!(now == before || (now == NONE && !keep.contains(&column)));
            }
        }
        prop_assert_eq!(copies.as_slice(), bag.weights());
        prop_assert!(release.pieces().is_sorted_by_key(|piece| piece.row));
        // Few cells go: never more than Wolsey's factor, and none that could stay alone.
        let (cells, least) = (blanked(&release, &bag), fewest(&bag, &itemsets, &keep, min_support));
        prop_assert!(cells >= least);
        let sharing = |set: &Vec<Item>, item: &Item| set.contains(item);
        let shared = itemsets.iter().flatten().map(|item| {
            itemsets.iter().collect::<BTreeSet<_>>().iter().filter(|set| sharing(set, item)).count()
        });
        let factor: f64 = (1..=shared.max().unwrap_or(1)).map(|m| 1.0 / m as f64).sum();
        prop_assert!(cells as f64 <= factor * least as f64 + 1e-9, "{cells} of {least}");
        if factor == 1.0 {
            prop_assert_eq!(cells, least);
        }
    }
}

/// Numbers that look random enough, the same every time.
fn draws(mut state: u64) -> impl FnMut(u64) -> u64 {
    move |n| {
        state =
            state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        ((u128::from(state >> 11) * u128::from(n)) >> 53) as u64
    }
}

/// Over many small tables with several itemsets that share items, hardly more cells go than must.
#[test]
fn few_cells_more_than_the_fewest_go() {
    let mut draw = draws(1);
    let (mut cells, mut least, mut worse, mut cases) = (0, 0, 0, 0);
    for _ in 0..1500 {
        let rows: Vec<Vec<Option<String>>> = (0..12)
            .map(|_| (0..WIDTH).map(|_| Some((draw(5) / 3).to_string())).collect())
            .collect();
        let bag = Bag::from_text(WIDTH, rows);
        let sets = 2 + draw(3);
        let itemsets: Vec<Vec<Item>> = (0..sets)
            .map(|_| {
                let mask = 1 + draw(14) as u32;
                let columns = (0..WIDTH as u32).filter(|column| mask >> column & 1 == 1);
                columns.map(|column| Item { column, code: 0 }).collect()
            })
            .collect();
        let min_support = 1 + draw(4);
        let found =
            hide_itemsets(&bag, None, &itemsets, &[], min_support, &Watch::unlimited()).unwrap();
        let (one, other) = (blanked(&found, &bag), fewest(&bag, &itemsets, &[], min_support));
        cells += one;
        least += other;
        worse += u64::from(one > other);
        cases += u64::from(other > 0);
    }
    assert!(
        cells * 1000 <= least * 1001,
        "{cells} cells, {least} at least; worse in {worse} of {cases}"
    );
}

fn item(bag: &Bag, column: u32, value: &str) -> Item {
    Item { column, code: bag.domain(column as usize).find(value.as_bytes()).unwrap() }
}

/// Columns and values.
type Named = Vec<(u32, &'static str)>;

/// A table of people of ninety ages, half of them smokers, and a few itemsets of it.
fn people(rows: usize) -> (Vec<[String; 3]>, Vec<Named>) {
    let rows = (0..rows).map(|i| {
        let (age, ward) = (10 + i * 7 % 90, ["N", "S", "E"][i % 3]);
        [age.to_string(), ["yes", "no"][i / 3 % 2].to_string(), ward.to_string()]
    });
    let itemsets = vec![
        vec![(1, "yes"), (2, "N")],
        vec![(1, "yes"), (2, "S")],
        vec![(0, "17"), (1, "no")],
        vec![(1, "yes"), (2, "N")],
    ];
    (rows.collect(), itemsets)
}

fn hidden(
    rows: &[[String; 3]],
    itemsets: &[Named],
    min_support: u64,
    watch: &Watch,
) -> Result<Vec<Vec<Option<String>>>, pg_sanitize_suppress::Error> {
    let bag = Bag::from_text(3, rows.iter().map(|row| row.each_ref().map(Some)));
    let itemsets: Vec<Vec<Item>> = itemsets
        .iter()
        .map(|set| set.iter().map(|&(column, value)| item(&bag, column, value)).collect())
        .collect();
    let release = hide_itemsets(&bag, None, &itemsets, &[], min_support, watch)?;
    let text = |(column, &code): (usize, &u32)| {
        (code != NONE).then(|| String::from_utf8(bag.domain(column).value(code).to_vec()).unwrap())
    };
    let mut shown: Vec<Vec<Option<String>>> = shown(&release, &bag)
        .iter()
        .map(|row| row.iter().enumerate().map(text).collect())
        .collect();
    shown.sort();
    Ok(shown)
}

#[test]
fn the_orders_of_rows_and_itemsets_change_nothing() {
    let (mut rows, mut itemsets) = people(900);
    let watch = Watch::unlimited();
    let found = hidden(&rows, &itemsets, 20, &watch).unwrap();
    rows.reverse();
    itemsets.reverse();
    assert_eq!(hidden(&rows, &itemsets, 20, &watch).unwrap(), found);
    itemsets.dedup();
    itemsets.iter_mut().for_each(|items| items.reverse());
    rows.swap(3, 700);
    assert_eq!(hidden(&rows, &itemsets, 20, &watch).unwrap(), found);
}

/// The itemset must be hidden in 75 of 150 rows: in every other one, in each group of ages.
#[test]
fn blanks_are_spread_over_the_rows() {
    let (rows, _) = people(900);
    let watch = Watch::unlimited();
    let found = hidden(&rows, &[vec![(1, "yes"), (2, "N")]], 76, &watch).unwrap();
    let with = |age: std::ops::Range<u32>, blank: bool| {
        let in_range = |row: &&Vec<Option<String>>| {
            age.contains(&row[0].as_ref().unwrap().parse::<u32>().unwrap())
        };
        let itemset = |row: &&Vec<Option<String>>| match blank {
            true => row[1].is_none() || row[2].is_none(),
            false => row[1].as_deref() == Some("yes") && row[2].as_deref() == Some("N"),
        };
        found.iter().filter(in_range).filter(itemset).count()
    };
    assert_eq!((with(0..100, true), with(0..100, false)), (75, 75));
    for low in [10, 40, 70] {
        let (blank, left) = (with(low..low + 30, true), with(low..low + 30, false));
        assert!(blank.abs_diff(left) <= 2, "{low}: {blank} {left}");
    }
}

#[test]
fn nothing_frequent_is_left_alone_and_nothing_is_not() {
    let (rows, itemsets) = people(90);
    let watch = Watch::unlimited();
    let mut sorted: Vec<Vec<Option<String>>> =
        rows.iter().map(|row| row.iter().cloned().map(Some).collect()).collect();
    sorted.sort();
    assert_eq!(hidden(&rows, &itemsets, 91, &watch).unwrap(), sorted);
    assert_ne!(hidden(&rows, &itemsets, 15, &watch).unwrap(), sorted);
    let empty = Bag::from_text(1, [[Some("a")]; 0]);
    assert!(hide_itemsets(&empty, None, &[], &[], 1, &watch).unwrap().pieces().is_empty());
}

#[test]
fn any_budget_gives_the_result_or_an_error() {
    let (rows, itemsets) = people(900);
    let whole = hidden(&rows, &itemsets, 20, &Watch::unlimited()).unwrap();
    let mut refused = 0;
    for limit in (0..60_000).step_by(997) {
        match hidden(&rows, &itemsets, 20, &Watch::new(limit, u64::MAX)) {
            Ok(found) => assert_eq!(found, whole),
            Err(error) => {
                assert_eq!(error, Stop::Memory { limit }.into());
                refused += 1;
            }
        }
    }
    assert!((1..60).contains(&refused), "{refused}");
    let watch = Watch::unlimited();
    watch.cancel();
    assert_eq!(hidden(&rows, &itemsets, 20, &watch), Err(Stop::Cancelled.into()));
}
