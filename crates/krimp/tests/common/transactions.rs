//! Transactions from a file as a bag: a line is a row, its item numbers separated by white space.

use std::collections::{BTreeMap, BTreeSet};
use table::Bag;

/// The bag of the transactions in `text`.
///
/// In files of discretised tables, the rows of the most common length are complete and their
/// items ascend with the columns: the position is the column. A shorter row lacks some columns;
/// an item's column is the one it has in the complete rows, or one that its neighbours leave.
/// If items do not fit columns in this way, each item is a column of its own.
pub fn read(text: &str) -> Bag {
    let rows: Vec<Vec<u32>> = text
        .lines()
        .map(|line| line.split_whitespace().filter_map(|item| item.parse().ok()).collect())
        .collect();
    let columns = columns(&rows).unwrap_or_else(|| {
        let items: BTreeSet<u32> = rows.iter().flatten().copied().collect();
        items.into_iter().zip(0..).collect()
    });
    let width = columns.values().max().map_or(0, |c| c + 1);
    Bag::from_text(
        width,
        rows.iter().map(|row| {
            let mut cells = vec![None; width];
            // Padded to one length, so that the order of values is the order of numbers.
            row.iter().for_each(|item| cells[columns[item]] = Some(format!("{item:06}")));
            cells
        }),
    )
}

/// The column of each item, if every row has at most one item of each column.
fn columns(rows: &[Vec<u32>]) -> Option<BTreeMap<u32, usize>> {
    let mut lengths: BTreeMap<usize, usize> = BTreeMap::new();
    rows.iter().for_each(|row| *lengths.entry(row.len()).or_default() += 1);
    let width = lengths.into_iter().max_by_key(|&(_, n)| n)?.0;
    let mut columns: BTreeMap<u32, usize> = BTreeMap::new();
    for row in rows.iter().filter(|row| row.len() == width) {
        for (column, &item) in row.iter().enumerate() {
            if *columns.entry(item).or_insert(column) != column {
                return None;
            }
        }
    }
    let mut between: BTreeMap<u32, (usize, usize)> = BTreeMap::new();
    for row in rows {
        for (i, item) in row.iter().enumerate().filter(|(_, item)| !columns.contains_key(item)) {
            let before = row[..i].iter().rev().find_map(|item| columns.get(item));
            let after = row[i..].iter().find_map(|item| columns.get(item));
            let range = between.entry(*item).or_insert((0, width));
            range.0 = range.0.max(before.map_or(0, |c| c + 1));
            range.1 = range.1.min(after.map_or(width, |&c| c));
        }
    }
    columns.extend(between.into_iter().map(|(item, (first, _))| (item, first)));
    let fits = |row: &Vec<u32>| {
        let taken: BTreeSet<usize> = row.iter().map(|item| columns[item]).collect();
        taken.len() == row.len()
    };
    rows.iter().all(fits).then_some(columns)
}
