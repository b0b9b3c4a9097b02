//! Unicity: how many rows, or people, a few known cells identify (de Montjoye et al., Unique in the crowd, counted on
//! the cells of a table).
//!
//! Someone knows some cells of a row: `known` of those that are not NULL, or all of them if there are fewer, each
//! choice equally likely. The row is identified if at most theta rows contain these cells. Unicity is the probability
//! of that for a random row and a random choice.
//!
//! With units it is about people: someone knows cells of a random row of a random person, and the person is identified
//! if at most theta people have a row that contains these cells. [`unicity_of_rows`] is about someone who knows whole
//! rows of a person.
//!
//! If all pairs of a row and a choice can be counted in about the time of the samples, they are (`count`): rows are
//! grouped by sets of columns, which shows for all rows at once how many share their cells. Otherwise pairs are drawn
//! (`sampling`) and each is looked up in the rows of its values.

mod count;
mod known_rows;
#[cfg(test)]
mod people_tests;
mod rows_of_units;
mod sampling;
#[cfg(test)]
mod tests;

pub use known_rows::unicity_of_rows;

use crate::combinations::combinations;
use crate::postings::Postings;
use crate::unit_counters::UnitCounters;
use crate::unit_rows::unit_count;
use count::Count;
use sampling::{RandomRow, choose, sampled};
use table::{Bag, Item, Stop, Units, Watch};

/// The number of pairs of a row and a choice that are counted in about the time in which one is drawn and looked up,
/// on a table of a million rows.
const COUNTED: u64 = 1000;

/// The share of rows, or of people, that are identified, and its interval with a confidence of 95 %.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Unicity {
    pub share: f64,
    pub low: f64,
    pub high: f64,
}

impl Unicity {
    fn exact(share: f64) -> Self {
        Unicity { share, low: share, high: share }
    }
}

/// The unicity of a table; `None` if it has no rows, or no units where these count.
///
/// With units each of them weighs the same, and so does each of a unit's rows; rows without a unit are never drawn, and
/// count for nobody.
///
/// Exact, with `low` and `high` equal to the share, if there are at most a thousand times `samples` pairs of a
/// different row and a choice of its known cells; then nothing is drawn. Otherwise it is the share among `samples`
/// independent draws, with the limits of Clopper and Pearson. `below(n)` draws uniformly from `0..n`; equal tables
/// and equal draws give equal results.
pub fn unicity(
    bag: &Bag,
    units: Option<&Units>,
    known: usize,
    theta: u64,
    samples: u64,
    below: impl FnMut(u64) -> u64,
    watch: &Watch,
) -> Result<Option<Unicity>, Stop> {
    let all = match units {
        None => bag.row_count(),
        Some(units) => unit_count(bag, units, watch)?,
    };
    if all == 0 {
        return Ok(None);
    }
    if pairs(bag, known, watch)? > samples.saturating_mul(COUNTED) {
        return sampled_cells(bag, units, known, theta, samples, below, watch).map(Some);
    }
    let share = Count::new(bag, units, known, theta, watch)?.share()?;
    Ok(Some(Unicity::exact(share)))
}

/// The number of pairs of a distinct row and a choice of its known cells.
fn pairs(bag: &Bag, known: usize, watch: &Watch) -> Result<u64, Stop> {
    let mut pairs = 0u64;
    for row in 0..bag.distinct() {
        watch.poll(row)?;
        let cells = Bag::row_items(bag.row(row)).count();
        pairs = pairs.saturating_add(combinations(cells, known.min(cells)));
    }
    Ok(pairs)
}

/// The share of draws, of a row and of its known cells, that identify the row or its unit.
fn sampled_cells(
    bag: &Bag,
    units: Option<&Units>,
    known: usize,
    theta: u64,
    samples: u64,
    mut below: impl FnMut(u64) -> u64,
    watch: &Watch,
) -> Result<Unicity, Stop> {
    let postings = Postings::new(bag, watch)?;
    let rows = RandomRow::new(bag, units, watch)?;
    let counters = units.map(|units| UnitCounters::new(units, watch));
    let draw = |items: &mut Vec<Item>| {
        let row = rows.draw(&mut below);
        choose(Bag::row_items(bag.row(row)), known, items, &mut below);
    };
    let given = |items: &[Item]| match (items, &counters) {
        // Without any known cell no row can be excluded.
        ([], _) => Ok(rows.all() <= theta),
        (items, None) => Ok(postings.at_most(items, theta)),
        (items, Some(counters)) => {
            counters.with(|counter| postings.at_most_units(items, theta, counters.units(), counter))
        }
    };
    sampled(samples, known.min(bag.width()), draw, given, watch)
}
