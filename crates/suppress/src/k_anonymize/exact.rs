//! The best classes of a table with few rows, by trying everything.

use super::improve::DROP;
use super::prepare::People;
use table::{Bag, bits};

/// Tables of at most this many rows are solved exactly: 3^13 steps, a few milliseconds.
pub(super) const ROWS: u64 = 13;

/// The best that a set of rows can cost: (cost, rows dropped), and how that is reached.
#[derive(Clone, Copy)]
struct Best {
    cost: (u64, u32),
    /// The class of the set's first row; 0 if it is dropped.
    class: u32,
}

/// The classes of at least `k` rows with the least loss, each row as often as it has copies in the class; dropped rows
/// are in none. Among equally good choices one that drops fewest rows.
///
/// Dynamic programming over sets of rows: the first row of a set is dropped or shares a class
/// with some others of it. Classes of 2k rows or more need not be tried: two halves show at
/// least as much.
pub(super) fn classes(bag: &Bag, people: &People, k: u64) -> Vec<Vec<u32>> {
    let mut rows: Vec<u32> = (0..people.len() as u32)
        .flat_map(|row| (0..people.weights[row as usize]).map(move |_| row))
        .collect();
    // Among equally good releases the choice must not depend on the order of reading.
    rows.sort_by_key(|&row| bag.row(people.rows[row as usize] as usize));
    let members = |set: u32| bits::ones(set.into()).map(|place| rows[place]);
    let mut levels = vec![0; people.width()];
    let mut cost = |set: u32| -> u64 {
        levels.fill(0);
        let first = rows[set.trailing_zeros() as usize];
        members(set).for_each(|row| people.raise(&mut levels, first, row));
        members(set).map(|row| people.loss(row, &levels)).sum()
    };
    let full = (1u32 << rows.len()) - 1;
    let fits = |set: u32| (k..2 * k).contains(&set.count_ones().into());
    let costs: Vec<u64> = (0..=full).map(|set| if fits(set) { cost(set) } else { 0 }).collect();
    let mut best = vec![Best { cost: (0, 0), class: 0 }];
    for set in 1..=full {
        let row = set.trailing_zeros();
        let others = set & (set - 1);
        let (without, dropped) = best[others as usize].cost;
        let without = without + DROP * people.worth(rows[row as usize]);
        let mut found = Best { cost: (without, dropped + 1), class: 0 };
        // All subsets of the others, each with the row.
        let mut subset = others;
        loop {
            let class = subset | 1 << row;
            if fits(class) {
                let (rest, dropped) = best[(set & !class) as usize].cost;
                let cost = (rest + costs[class as usize], dropped);
                if cost < found.cost {
                    found = Best { cost, class };
                }
            }
            if subset == 0 {
                break;
            }
            subset = (subset - 1) & others;
        }
        best.push(found);
    }
    let mut classes = Vec::new();
    let mut set = full;
    while set != 0 {
        let class = best[set as usize].class;
        if class != 0 {
            classes.push(members(class).collect());
        }
        set &= if class == 0 { set - 1 } else { !class };
    }
    classes
}
