//! Improves the classes of rows.

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

/// The most passes over all rows in a round; fewer for larger tables.
const PASSES: usize = 4;

/// Limit of the cells of rows examined in all passes.
const CELLS: usize = 1 << 21;

/// The most rounds, and the limit of cells in all of them. Small tables get more rounds.
const ROUNDS: usize = 4;
const ROUND_CELLS: usize = 3 << 17;

/// The numbers of forms near those of classes that are added for prices and for chains.
const PRICED: usize = 192;
const CHAINED: usize = 1 << 12;

/// How often chains try to replace a class.
const REPLACINGS: u32 = 6;

/// The bytes that classes and the data about them take while rows are moved.
pub(crate) fn bytes(rows: usize, width: usize) -> u64 {
    Near::bytes(rows) + rows as u64 * (2 * width as u64 + 160)
}

/// Finds better classes for all rows by prices; then rows move, or change places with similar rows, as long as this
/// reduces the loss; then chains. Small tables go through this several times. If diversity or closeness is asked for,
/// rows only move. `forms` are those in which similar rows are searched for.
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
