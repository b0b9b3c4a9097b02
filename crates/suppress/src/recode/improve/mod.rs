//! Better classes for rows that have one.

mod alike;
mod anneal;
mod join;
mod near;
mod partition;
mod price;
mod region;
mod swap;

pub(crate) use partition::Partition;

use super::assign::Form;
use near::Near;
use region::Regions;
use swap::Swaps;
use table::{Stop, Watch};

/// Looks at all rows, at most; fewer the larger the table.
const PASSES: usize = 4;

/// Cells of the rows that are looked at in all passes.
const CELLS: usize = 1 << 21;

/// In the same way for regions: rounds, and the cells of the rows in all of them.
const ROUNDS: usize = 8;
const REGION_CELLS: usize = 3 << 17;

/// Up to this k ten classes have room in a region of 128 rows.
const SMALL: u64 = 12;

/// Classes that are improved in one round.
const FEW: u64 = 8;

/// The bytes that classes take, and what is known of them while rows are moved.
pub(crate) fn bytes(rows: usize, width: usize) -> u64 {
    Near::bytes(rows) + rows as u64 * (2 * width as u64 + 160)
}

/// Finds better classes for all rows by their prices, then for the rows of a few that are near each other;
/// if the table is large or more than k is asked for, rows move and change places with rows that are like
/// them while less is lost by it. `forms` are those in which like rows are looked for.
pub(crate) fn improve(
    partition: &mut Partition<'_>,
    forms: &[Vec<Form>],
    watch: &Watch,
) -> Result<(), Stop> {
    let cells = partition.people.len() * partition.people.width();
    let passes = (CELLS / cells.max(1)).min(PASSES);
    if passes == 0 {
        return Ok(());
    }
    let plain = partition.rule.is_plain() && partition.rule.k > 1;
    if plain && let Some(better) = price::repriced(partition, watch)? {
        *partition = better;
    }
    let near = Near::new(partition.people, forms, watch)?;
    let rounds = if plain { (REGION_CELLS / cells.max(1)).min(ROUNDS) } else { 0 };
    let mut swaps = Swaps::new(partition);
    // Regions find what single rows do.
    for _ in 0..if rounds > 1 { 0 } else { passes } {
        let changed = swaps.pass(&near, watch)?;
        if changed * 1000 < near.len() {
            break;
        }
    }
    // Small classes are nearly as good after one round as after two, which takes a quarter of the time.
    let rounds = if partition.rule.k < FEW { rounds.min(1) } else { rounds };
    for round in 0..rounds as u64 {
        match partition.rule.k {
            ..=SMALL => Regions::<2>::new(partition, &near).pass(round, watch)?,
            _ => Regions::<4>::new(partition, &near).pass(round, watch)?,
        }
    }
    Ok(())
}
