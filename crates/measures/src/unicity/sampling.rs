//! Draws of what somebody knows, and the share of them that identify a row or a unit.

use super::Unicity;
use super::rows_of_units::{RowsOfUnits, by_codes};
use guarantee::Share;
use rayon::prelude::*;
use table::{Bag, Reservation, Stop, Units, Watch};

/// The number of draws tested at a time.
const BATCH: u64 = 4096;

/// The probability outside of the interval, on each side.
const TAIL: f64 = 0.025;

/// The share of `samples` draws that are `given`, with confidence limits. `draw` adds what is known in a draw, at most
/// `longest` of it.
pub(super) fn sampled<T: Sync>(
    samples: u64,
    longest: usize,
    mut draw: impl FnMut(&mut Vec<T>),
    given: impl Fn(&[T]) -> Result<bool, Stop> + Sync,
    watch: &Watch,
) -> Result<Unicity, Stop> {
    let mut known: Vec<T> = Vec::new();
    let mut ends: Vec<usize> = Vec::new();
    let _held = watch.hold(BATCH * (longest as u64 * size_of::<T>() as u64 + 8) * 2)?;
    watch.begin(samples);
    let (mut left, mut hits) = (samples, 0);
    while left > 0 {
        let count = left.min(BATCH);
        left -= count;
        known.clear();
        ends.clear();
        for _ in 0..count {
            draw(&mut known);
            ends.push(known.len());
        }
        let given = |i: usize| -> Result<u64, Stop> {
            watch.check()?;
            let begin = if i == 0 { 0 } else { ends[i - 1] };
            given(&known[begin..ends[i]]).map(u64::from)
        };
        hits += (0..ends.len()).into_par_iter().map(given).try_reduce(|| 0, |a, b| Ok(a + b))?;
        watch.advance(count);
    }
    let limits = Share { hits, runs: samples };
    let share = hits as f64 / samples as f64;
    Ok(Unicity { share, low: limits.lower(TAIL), high: limits.upper(TAIL) })
}

/// Adds `known` of the given to `chosen`, each choice equally likely, or all if there are fewer.
pub(super) fn choose<T>(
    from: impl Iterator<Item = T>,
    known: usize,
    chosen: &mut Vec<T>,
    below: &mut impl FnMut(u64) -> u64,
) {
    let begin = chosen.len();
    chosen.extend(from);
    let all = &mut chosen[begin..];
    if known < all.len() {
        for i in 0..known {
            let j = i + below((all.len() - i) as u64) as usize;
            all.swap(i, j);
        }
        chosen.truncate(begin + known);
    }
}

/// Draws rows: any of them, or any row of any unit.
pub(super) enum RandomRow<'a> {
    OfTable(ByWeight<'a>),
    OfUnit(RowsOfUnits<'a>),
}

impl<'a> RandomRow<'a> {
    pub(super) fn new(bag: &Bag, units: Option<&Units>, watch: &'a Watch) -> Result<Self, Stop> {
        Ok(match units {
            None => RandomRow::OfTable(ByWeight::new(bag, watch)?),
            Some(units) => RandomRow::OfUnit(RowsOfUnits::new(bag, units, watch)?),
        })
    }

    /// The number of rows or units.
    pub(super) fn all(&self) -> u64 {
        match self {
            RandomRow::OfTable(rows) => rows.sums.last().copied().unwrap_or(0),
            RandomRow::OfUnit(rows) => rows.units().len() as u64,
        }
    }

    /// A distinct row. There must be one.
    pub(super) fn draw(&self, below: &mut impl FnMut(u64) -> u64) -> usize {
        match self {
            RandomRow::OfTable(rows) => rows.row(below(self.all())),
            RandomRow::OfUnit(rows) => {
                let unit = rows.units()[below(self.all()) as usize];
                rows.row(unit, below(rows.row_count(unit)))
            }
        }
    }
}

/// The distinct rows in the order of their codes, so that the result for a seed does not depend on the order of
/// reading, and the number of rows up to each.
pub(super) struct ByWeight<'a> {
    order: Vec<u32>,
    sums: Vec<u64>,
    _held: Reservation<'a>,
}

impl<'a> ByWeight<'a> {
    pub(super) fn new(bag: &Bag, watch: &'a Watch) -> Result<Self, Stop> {
        let held = watch.hold(bag.distinct() as u64 * 16)?;
        let order = by_codes(bag, watch)?;
        let mut sum = 0;
        let sums = order.iter().map(|&row| {
            sum += bag.weight(row as usize);
            sum
        });
        Ok(ByWeight { sums: sums.collect(), order, _held: held })
    }

    /// The distinct row of row number `number`.
    pub(super) fn row(&self, number: u64) -> usize {
        self.order[self.sums.partition_point(|&sum| sum <= number)] as usize
    }
}
