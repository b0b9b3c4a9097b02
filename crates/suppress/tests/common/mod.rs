//! What the tests share: tables, vectors and data files.
#![allow(dead_code)]

pub mod bound;

use proptest::prelude::*;
use serde_json::Value;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use table::{Bag, NONE, Release};

pub type Row = Vec<Option<String>>;

/// Up to `most` rows of `width` cells with `values` values each, NULL now and then.
pub fn rows(width: usize, values: u8, most: usize) -> impl Strategy<Value = Vec<Row>> {
    let cell = prop::option::weighted(0.9, (0..values).prop_map(|v| v.to_string()));
    prop::collection::vec(prop::collection::vec(cell, width), 0..=most)
}

/// The vectors whose id begins with `prefix`.
pub fn vectors(prefix: &str) -> Vec<Value> {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/data/suppress_vectors.json");
    let file: Value = serde_json::from_str(&std::fs::read_to_string(path).unwrap()).unwrap();
    let all = file["vectors"].as_array().unwrap().iter();
    all.filter(|v| v["id"].as_str().unwrap().starts_with(prefix)).cloned().collect()
}

/// Rows of text, numbers or null as JSON gives them.
pub fn rows_of(value: &Value) -> Vec<Row> {
    let cell = |cell: &Value| match cell {
        Value::Null => None,
        Value::String(text) => Some(text.clone()),
        other => Some(other.to_string()),
    };
    let row = |row: &Value| row.as_array().unwrap().iter().map(cell).collect();
    value.as_array().unwrap().iter().map(row).collect()
}

/// The cells of distinct row `i` as text.
pub fn texts(bag: &Bag, i: usize) -> Row {
    let text = |(column, &code): (usize, &u32)| {
        (code != NONE).then(|| String::from_utf8(bag.domain(column).value(code).to_vec()).unwrap())
    };
    bag.row(i).iter().enumerate().map(text).collect()
}

/// A file of the data folder: `$PG_SANITIZE_DATA`, or `shared/data` beside the repository. Says
/// so if there is none.
pub fn data(name: &str) -> Option<PathBuf> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../..");
    let folder = std::env::var_os("PG_SANITIZE_DATA")
        .map_or_else(|| root.join("shared/data"), PathBuf::from);
    let path = folder.join(name);
    if path.exists() {
        return Some(path);
    }
    println!("skipped: {name} is not there");
    None
}

/// Lines of cells separated by spaces: those of the most common length, position = column.
pub fn modal_rows(path: &Path) -> Bag {
    let text = std::fs::read_to_string(path).unwrap();
    let rows: Vec<Vec<&str>> = text.lines().map(|l| l.split_whitespace().collect()).collect();
    let mut lengths: BTreeMap<usize, usize> = BTreeMap::new();
    rows.iter().for_each(|row| *lengths.entry(row.len()).or_default() += 1);
    let width = lengths.into_iter().max_by_key(|&(_, n)| n).unwrap().0;
    let rows = rows.into_iter().filter(|row| row.len() == width);
    Bag::from_text(width, rows.map(|row| row.into_iter().map(Some)))
}

/// Lines of cells separated by `separator`, the first one being the header.
pub fn separated(path: &Path, separator: char) -> Bag {
    let text = std::fs::read_to_string(path).unwrap();
    let width = text.lines().next().unwrap().split(separator).count();
    let rows = text.lines().skip(1).filter(|line| !line.is_empty());
    Bag::from_text(width, rows.map(|line| line.split(separator).map(Some)))
}

/// How much of a table is released.
pub struct Counts {
    /// Rows of the release.
    pub kept: u64,
    /// Their cells that were not NULL and are blanked.
    pub suppressed: u64,
    rows: u64,
    cells: u64,
}

impl Counts {
    pub fn of(release: &Release, bag: &Bag) -> Self {
        let (mut kept, mut suppressed) = (0, 0);
        for piece in release.pieces() {
            let cells = bag.row(piece.row as usize).iter().enumerate();
            let blanked =
                cells.filter(|&(c, &code)| code != NONE && release.suppresses(piece.form, c));
            kept += piece.weight;
            suppressed += blanked.count() as u64 * piece.weight;
        }
        Counts { kept, suppressed, rows: bag.row_count(), cells: kept * bag.width() as u64 }
    }

    /// The share of the rows that is kept.
    pub fn kept_share(&self) -> f64 {
        self.kept as f64 / self.rows as f64
    }

    /// The share of the kept rows' cells that is suppressed.
    pub fn suppressed_share(&self) -> f64 {
        self.suppressed as f64 / self.cells as f64
    }
}
