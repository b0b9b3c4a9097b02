//! The measures of utility by definition, for tests.

use proptest::prelude::*;
use std::collections::BTreeMap;

pub type Row = [Option<String>; 4];

/// Some rows, few values, some NULL.
pub fn rows() -> impl Strategy<Value = Vec<Row>> {
    let cell = || prop::option::weighted(0.9, "[a-d]");
    prop::collection::vec([cell(), cell(), cell(), cell()], 0..25)
}

type Key = Vec<Option<String>>;

fn counts(rows: &[Row], columns: &[usize]) -> BTreeMap<Key, f64> {
    let mut counts = BTreeMap::new();
    for row in rows {
        *counts.entry(columns.iter().map(|&c| row[c].clone()).collect()).or_default() += 1.0;
    }
    counts
}

/// Half of the sum of |o - r| over all combinations of these columns.
pub fn total_variation(original: &[Row], released: &[Row], columns: &[usize]) -> f64 {
    let (ours, theirs) = (counts(original, columns), counts(released, columns));
    let mut keys: Vec<&Key> = ours.keys().chain(theirs.keys()).collect();
    keys.sort();
    keys.dedup();
    let share = |counts: &BTreeMap<Key, f64>, key, rows: &[Row]| {
        counts.get(key).unwrap_or(&0.0) / rows.len() as f64
    };
    let apart = |key| (share(&ours, key, original) - share(&theirs, key, released)).abs();
    keys.into_iter().map(apart).sum::<f64>() / 2.0
}

/// Cramér's V from the table of observed and expected counts.
pub fn cramers_v(rows: &[Row], a: usize, b: usize) -> f64 {
    let (both, ones, others) = (counts(rows, &[a, b]), counts(rows, &[a]), counts(rows, &[b]));
    let fewer = ones.len().min(others.len());
    if fewer < 2 {
        return 0.0;
    }
    let n = rows.len() as f64;
    let mut chi_squared = 0.0;
    for (one, x) in &ones {
        for (other, y) in &others {
            let observed = both.get(&[one.clone(), other.clone()].concat()).unwrap_or(&0.0);
            let expected = x * y / n;
            chi_squared += (observed - expected).powi(2) / expected;
        }
    }
    (chi_squared / n / (fewer - 1) as f64).sqrt()
}
