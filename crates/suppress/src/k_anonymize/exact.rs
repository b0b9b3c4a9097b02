//! The best release of a table of a few rows.

use super::prepare::DROP;
use table::{Bag, NONE, Release};

/// Tables of at most this many rows are solved exactly: 3^13 steps, a few milliseconds.
pub(super) const ROWS: u64 = 13;

/// What a set of rows costs at best: (cost, rows dropped), and how that is reached.
#[derive(Clone, Copy)]
struct Best {
    cost: f64,
    dropped: u32,
    /// The class of the set's first row; 0 if it is dropped.
    class: u32,
}

/// The release of least cost among all with classes of at least `k` rows; of several the one
/// that drops fewest rows.
///
/// Dynamic programming over sets of rows: the first row of a set is dropped or shares a class
/// with some others of it. Classes of 2k rows or more need not be tried: two halves show at
/// least as much.
pub(super) fn exact(bag: &Bag, k: u64, weights: &[f64]) -> Release {
    let mut rows: Vec<u32> = (0..bag.distinct() as u32)
        .flat_map(|row| (0..bag.weight(row as usize)).map(move |_| row))
        .collect();
    // Among equally good releases the choice must not depend on the order of reading.
    rows.sort_by_key(|&row| bag.row(row as usize));
    let cells: Vec<&[u32]> = rows.iter().map(|&row| bag.row(row as usize)).collect();
    let shown = |set: u32, column: usize| {
        let mut codes = bits(set).map(|row| cells[row][column]);
        let first = codes.next().unwrap_or(NONE);
        first != NONE && codes.all(|code| code == first)
    };
    let worth = |row: usize| -> f64 {
        cells[row].iter().zip(weights).filter(|(code, _)| **code != NONE).map(|(_, w)| w).sum()
    };
    let cost = |set: u32| -> f64 {
        let hidden = (0..bag.width()).filter(|&column| !shown(set, column));
        let hidden = hidden
            .map(|c| weights[c] * bits(set).filter(|&row| cells[row][c] != NONE).count() as f64);
        hidden.sum()
    };
    let full = (1u32 << rows.len()) - 1;
    let least = k.max(1) as u32;
    let fits = |set: u32| set.count_ones() >= least && set.count_ones() < 2 * least;
    let costs: Vec<f64> = (0..=full).map(|set| if fits(set) { cost(set) } else { 0.0 }).collect();
    let mut best = vec![Best { cost: 0.0, dropped: 0, class: 0 }];
    for set in 1..=full {
        let row = set.trailing_zeros();
        let others = set & (set - 1);
        let without = best[others as usize];
        let mut found = Best {
            cost: without.cost + DROP as f64 * worth(row as usize),
            dropped: without.dropped + 1,
            class: 0,
        };
        // All subsets of the others, each with the row.
        let mut subset = others;
        loop {
            let class = subset | 1 << row;
            if fits(class) {
                let rest = best[(set & !class) as usize];
                let cost = rest.cost + costs[class as usize];
                if (cost, rest.dropped) < (found.cost, found.dropped) {
                    found = Best { cost, dropped: rest.dropped, class };
                }
            }
            if subset == 0 {
                break;
            }
            subset = (subset - 1) & others;
        }
        best.push(found);
    }
    let mut pieces: Vec<(u32, Vec<u64>)> = Vec::new();
    let mut set = full;
    while set != 0 {
        let class = best[set as usize].class;
        let mut mask = vec![0; table::bits::words(bag.width())];
        for column in (0..bag.width()).filter(|&column| !shown(class, column)) {
            table::bits::insert(&mut mask, column);
        }
        pieces.extend(bits(class).map(|row| (rows[row], mask.clone())));
        set &= if class == 0 { set - 1 } else { !class };
    }
    pieces.sort_unstable();
    let mut release = Release::new(bag.width());
    for same in pieces.chunk_by(|a, b| a == b) {
        release.push(same[0].0, &same[0].1, same.len() as u64);
    }
    release
}

/// The members of a set.
fn bits(set: u32) -> impl Iterator<Item = usize> {
    table::bits::ones(set.into())
}
