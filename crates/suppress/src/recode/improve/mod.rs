//! Better classes for rows that have one.

mod alike;
mod anneal;
mod chain;
mod groups;
mod join;
mod near;
mod partition;
mod price;
mod region;
mod swap;

pub(crate) use partition::Partition;

use super::assign::Form;
use groups::Groups;
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

/// Forms near those of classes whose groups prices choose from, and chains.
const PRICED: usize = 192;
const CHAINED: usize = 1 << 12;

/// The bytes that classes take, and what is known of them while rows are moved.
pub(crate) fn bytes(rows: usize, width: usize) -> u64 {
    Near::bytes(rows) + rows as u64 * (2 * width as u64 + 160)
}

/// Finds better classes for all rows by their prices, then for the rows of a few that are near each other,
/// at last for all by chains; if the table is large or more than k is asked for, rows move and change places
/// with rows that are like them while less is lost by it. `forms` are those in which like rows are looked for.
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
    let mut groups = if plain { Groups::new(partition, PRICED, watch)? } else { None };
    let bytes = groups.as_ref().map_or(0, Groups::bytes);
    let _held = watch.hold(bytes)?;
    if let Some(groups) = &mut groups
        && let Some(better) = price::repriced(partition, groups, watch)?
    {
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
    // Where chains go on, half of the rounds do nearly as well: Adult at k = 25 loses .0001 more than with two.
    let rounds = if groups.is_some() { rounds.div_ceil(2) } else { rounds };
    for round in 0..rounds as u64 {
        match partition.rule.k {
            ..=SMALL => Regions::<2>::new(partition, &near).pass(round, watch)?,
            _ => Regions::<4>::new(partition, &near).pass(round, watch)?,
        }
    }
    // Large classes gain from more.
    let passes = if partition.rule.k <= SMALL { 2 } else { 4 };
    if let Some(groups) = &mut groups
        && groups.extend(partition, CHAINED, watch)?
    {
        let _held = watch.hold(groups.bytes().saturating_sub(bytes))?;
        if let Some(better) = chain::chained(partition, groups, passes, watch)? {
            *partition = better;
        }
    }
    Ok(())
}
