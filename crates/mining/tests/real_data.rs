//! Known numbers on public data sets, which are not part of the repository. They are expected in the folder that
//! PG_SANITIZE_DATA names, or beside the checkout. Missing ones are named and skipped.

use pg_sanitize_mining::{closed, frequent, miis};
use std::collections::BTreeMap;
use std::path::PathBuf;
use table::{Bag, Itemsets, Watch};

fn path(file: &str) -> Option<PathBuf> {
    let folder = std::env::var_os("PG_SANITIZE_DATA").map_or_else(
        || [env!("CARGO_MANIFEST_DIR"), "../../../shared/data"].iter().collect(),
        PathBuf::from,
    );
    let path = folder.join(file);
    if !path.exists() {
        println!("skipped: {} is not there", path.display());
        return None;
    }
    Some(path)
}

/// The rows of the most common length; the position is the column.
fn modal(file: &str) -> Option<Bag> {
    let text = std::fs::read_to_string(path(file)?).unwrap();
    let rows: Vec<Vec<&str>> = text.lines().map(|line| line.split_whitespace().collect()).collect();
    let mut lengths: BTreeMap<usize, usize> = BTreeMap::new();
    rows.iter().for_each(|row| *lengths.entry(row.len()).or_default() += 1);
    let width = lengths.into_iter().max_by_key(|&(_, rows)| rows)?.0;
    let rows = rows.into_iter().filter(|row| row.len() == width);
    Some(Bag::from_text(width, rows.map(|row| row.into_iter().map(Some))))
}

fn lengths(list: &Itemsets) -> Vec<u64> {
    let mut lengths: BTreeMap<usize, u64> = BTreeMap::new();
    list.iter().for_each(|(items, _)| *lengths.entry(items.len()).or_default() += 1);
    lengths.into_values().collect()
}

fn assert_miis(file: &str, theta: u64, expected: &[u64]) {
    if let Some(bag) = modal(file) {
        let list = miis(&bag, None, theta, None, &Watch::unlimited()).unwrap();
        assert_eq!(lengths(&list), expected, "{file}, theta {theta}");
    }
}

#[test]
fn adult_has_the_published_miis() {
    let expected = [2, 284, 4127, 13204, 13276, 6386, 1769, 350, 59, 7];
    assert_miis("lucs/adult.D97.N48842.C2.num", 1, &expected);
}

#[test]
fn breast_has_the_published_miis() {
    assert_miis("lucs/breast.D20.N699.C2.num", 5, &[3, 1, 8, 6]);
}

#[test]
fn chess_has_the_published_miis() {
    assert_miis("lucs/chessKRvK.D58.N28056.C18.num", 1, &[7, 331, 4298, 25375, 33945]);
}

#[test]
fn mushroom_has_the_known_closed_itemsets() {
    // Other programs find 238,708, because they do not count the item that every row has.
    if let Some(bag) = modal("fimi/mushroom.dat") {
        let list = closed(&bag, None, 1, None, &Watch::unlimited()).unwrap();
        assert_eq!(list.len(), 238_709);
    }
}

#[test]
fn adult_has_the_known_frequent_itemsets() {
    if let Some(bag) = modal("lucs/adult.D97.N48842.C2.num") {
        let list = frequent(&bag, None, 4522, None, &Watch::unlimited()).unwrap();
        // The number that pyfim's sam finds.
        assert_eq!(list.len(), 27_933);
    }
}
