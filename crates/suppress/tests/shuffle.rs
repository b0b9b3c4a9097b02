//! Groups in orders of their own: the law of the orders, and that nothing is lost.

use pg_sanitize_suppress::shuffle_groups;
use proptest::prelude::*;
use random::Coins;
use random::testing::{assert_fits, uniform};
use std::collections::BTreeMap;
use table::{Bag, NONE, Stop, Watch};

fn shuffled(bag: &Bag, groups: &[Vec<usize>], coins: &mut Coins) -> Vec<Vec<u32>> {
    let shuffled = shuffle_groups(bag, groups.len(), coins, &Watch::unlimited()).unwrap();
    assert_eq!(shuffled.len() as u64, bag.row_count());
    let row = |row| {
        let mut cells = vec![NONE; bag.width()];
        shuffled.write(bag, groups, row, &mut cells);
        cells
    };
    (0..shuffled.len()).map(row).collect()
}

/// The cells of some columns, and how often each combination occurs.
fn counts<'a>(
    rows: impl Iterator<Item = (&'a [u32], u64)>,
    columns: &[usize],
) -> BTreeMap<Vec<u32>, u64> {
    let mut counts = BTreeMap::new();
    for (row, weight) in rows {
        let cells = columns.iter().map(|&column| row[column]).collect();
        *counts.entry(cells).or_default() += weight;
    }
    counts
}

/// Three rows, the place of each known by its values: of three groups, the orders of the second
/// and the third beside the first are one of 36, all equally likely, and so is that of the first.
#[test]
fn orders_are_uniform_and_independent() {
    let rows = [["a", "x", "1"], ["b", "y", "2"], ["c", "z", "3"]];
    let bag = Bag::from_text(3, rows.map(|row| row.map(Some)));
    let groups = [vec![0], vec![1], vec![2]];
    let mut coins = Coins::seeded(1);
    let permutation = |order: [u32; 3]| {
        let all = [[0, 1, 2], [0, 2, 1], [1, 0, 2], [1, 2, 0], [2, 0, 1], [2, 1, 0]];
        all.iter().position(|one| *one == order).unwrap() as i64
    };
    assert_fits(&uniform(216), 60_000, || {
        let rows = shuffled(&bag, &groups, &mut coins);
        let of = |column: usize| permutation([rows[0][column], rows[1][column], rows[2][column]]);
        (of(0) * 6 + of(1)) * 6 + of(2)
    });
}

/// Two equal rows of four: which of the others a row meets is as likely as its copies say.
#[test]
fn copies_count_as_rows() {
    let rows = [["a", "x"], ["a", "x"], ["b", "y"], ["c", "y"]];
    let bag = Bag::from_text(2, rows.map(|row| row.map(Some)));
    let groups = [vec![0], vec![1]];
    let mut coins = Coins::seeded(2);
    // In the first row: a with probability 1/2, b and c with 1/4 each; x and y with 1/2 each.
    let law = [0.25, 0.25, 0.125, 0.125, 0.125, 0.125];
    assert_fits(&law, 20_000, || {
        let row = &shuffled(&bag, &groups, &mut coins)[0];
        i64::from(row[0] * 2 + row[1])
    });
}

#[test]
fn equal_tables_in_other_orders_are_shuffled_alike() {
    let rows = [["a", "x"], ["b", "y"], ["a", "x"], ["c", "z"]];
    let other = [rows[3], rows[0], rows[2], rows[1]];
    let bags = [rows, other].map(|rows| Bag::from_text(2, rows.map(|row| row.map(Some))));
    let [one, two] = bags.map(|bag| shuffled(&bag, &[vec![0], vec![1]], &mut Coins::seeded(3)));
    assert_eq!(one, two);
}

#[test]
fn memory_is_limited_and_work_stops() {
    let bag = Bag::from_text(1, (0..100).map(|i| [Some((i % 7).to_string())]));
    let mut coins = Coins::seeded(4);
    let stop = shuffle_groups(&bag, 2, &mut coins, &Watch::new(800, 0)).err();
    assert_eq!(stop, Some(Stop::Memory { limit: 800 }));
    let watch = Watch::unlimited();
    watch.cancel();
    assert_eq!(shuffle_groups(&bag, 2, &mut coins, &watch).err(), Some(Stop::Cancelled));
}

proptest! {
    #[test]
    fn every_group_keeps_its_rows(
        rows in prop::collection::vec(prop::array::uniform4(prop::option::of(0..3u8)), 0..30),
        split in 1..4usize,
        seed in any::<i64>(),
    ) {
        let cells = |row: &[Option<u8>; 4]| row.map(|cell| cell.map(|n| n.to_string()));
        let bag = Bag::from_text(4, rows.iter().map(cells));
        let groups = [(0..split).collect::<Vec<_>>(), (split..4).rev().collect()];
        let made = shuffled(&bag, &groups, &mut Coins::seeded(seed));
        for columns in groups {
            let original = (0..bag.distinct()).map(|row| (bag.row(row), bag.weight(row)));
            let made = made.iter().map(|row| (row.as_slice(), 1));
            prop_assert_eq!(counts(original, &columns), counts(made, &columns));
        }
    }
}
