//! Better classes for rows that have one.

mod candidates;
mod chain;
mod join;
mod near;
mod partition;
mod prices;
mod swap;

pub(crate) use join::DROP;
pub(crate) use partition::Partition;

use super::search::Form;
use candidates::CandidateGroups;
use near::Near;
use swap::Swaps;
use table::{Stop, Watch};

/// Looks at all rows in a round, at most; fewer the larger the table.
const PASSES: usize = 4;

/// Cells of the rows that are looked at in all passes.
const CELLS: usize = 1 << 21;

/// In the same way: rounds, and the cells of the rows in all of them. Small tables can have more.
const ROUNDS: usize = 4;
const ROUND_CELLS: usize = 3 << 17;

/// Forms near those of classes whose groups prices choose from, and chains.
const PRICED: usize = 192;
const CHAINED: usize = 1 << 12;

/// How often chains ask a class whether it should be replaced.
const REPLACINGS: u32 = 6;

/// The bytes that classes take, and what is known of them while rows are moved.
pub(crate) fn bytes(rows: usize, width: usize) -> u64 {
    Near::bytes(rows) + rows as u64 * (2 * width as u64 + 160)
}

/// Finds better classes for all rows by their prices, then rows move and change places with rows that are like
/// them while less is lost by it, at last all gain by chains; several times if the table is small. If more than k
/// is asked for rows only move. `forms` are those in which like rows are looked for.
pub(crate) fn improve(
    partition: &mut Partition<'_>,
    forms: &[Vec<Form>],
    watch: &Watch,
) -> Result<(), Stop> {
    let cells = (partition.people.len() * partition.people.width()).max(1);
    let passes = (CELLS / cells).min(PASSES);
    if passes == 0 {
        return Ok(());
    }
    let near = Near::new(partition.people, forms, watch)?;
    if !partition.rule.is_plain() || partition.rule.k < 2 {
        return move_rows(partition, &near, passes, watch);
    }
    let mut groups = CandidateGroups::new(partition, PRICED, watch)?;
    let mut held = watch.hold(0)?;
    for _ in 0..(ROUND_CELLS / cells).clamp(1, ROUNDS) {
        let before = partition.total();
        if let Some(groups) = &mut groups {
            held.raise(groups.bytes())?;
            if let Some(better) = prices::repriced(partition, groups, watch)? {
                *partition = better;
            }
        }
        move_rows(partition, &near, passes, watch)?;
        if let Some(groups) = &mut groups
            && groups.extend(partition, CHAINED, watch)?
        {
            held.raise(groups.bytes())?;
            if let Some(better) = chain::chained(partition, groups, REPLACINGS, watch)? {
                *partition = better;
            }
        }
        if partition.total() >= before {
            break;
        }
    }
    Ok(())
}

/// Moves rows until few find a better place.
fn move_rows(
    partition: &mut Partition<'_>,
    near: &Near,
    passes: usize,
    watch: &Watch,
) -> Result<(), Stop> {
    let mut swaps = Swaps::new(partition);
    for _ in 0..passes {
        let changed = swaps.pass(near, watch)?;
        if changed * 1000 < near.len() {
            break;
        }
    }
    Ok(())
}
