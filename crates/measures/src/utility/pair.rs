//! The combinations of two columns in both tables.

use super::joint::{Joint, Side};
use super::marginal::Rows;
use crate::sum::Sum;
use rayon::prelude::*;
use table::{Reservation, Stop, Watch};

/// How two columns differ.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct PairDifference {
    pub a: usize,
    pub b: usize,
    /// The total variation distance of the shares of their combinations.
    pub tv: f64,
    /// Cramér's V in each table: 0 if the columns are independent (or one is constant), 1 if the one
    /// with fewer values follows from the other.
    pub original_v: f64,
    pub released_v: f64,
}

impl PairDifference {
    /// How much of the association was lost or made up.
    pub fn association_difference(&self) -> f64 {
        (self.original_v - self.released_v).abs()
    }
}

/// All pairs of columns. Rows are grouped by the column with more values; within a group the values of
/// the other are counted in an array, so that no combination needs a place of its own. Costs two visits of
/// each distinct row for each pair.
pub(super) fn pairs(joint: &Joint<'_>, watch: &Watch) -> Result<Vec<PairDifference>, Stop> {
    let width = joint.sizes.len();
    let mut by_size: Vec<usize> = (0..width).collect();
    by_size.sort_by_key(|&column| (std::cmp::Reverse(joint.sizes[column]), column));
    let largest = by_size.get(1).map_or(0, |&column| joint.sizes[column] as u64);
    // What each thread counts with: two counts and a mention of each value.
    let _counts = watch.hold(rayon::current_num_threads() as u64 * largest * 20)?;
    let mut found = Vec::with_capacity(width * width.saturating_sub(1) / 2);
    watch.begin(found.capacity() as u64);
    for (i, &grouping) in by_size.iter().enumerate() {
        let others = &by_size[i + 1..];
        if others.is_empty() {
            break;
        }
        let original = Groups::new(&joint.original, grouping, joint.sizes[grouping], watch)?;
        let released = Groups::new(&joint.released, grouping, joint.sizes[grouping], watch)?;
        let compare = |&other: &usize| {
            let pair = Pair { joint, grouping, other, original: &original, released: &released };
            let found = pair.compare(watch);
            watch.advance(1);
            found
        };
        let compared: Result<Vec<_>, Stop> = others.par_iter().map(compare).collect();
        found.extend(compared?);
    }
    found.sort_by_key(|pair| (pair.a, pair.b));
    Ok(found)
}

/// The distinct rows of a table in the order of a column's codes.
struct Groups<'w> {
    rows: Vec<u32>,
    /// Where each code's rows begin, and the end.
    starts: Vec<u32>,
    _held: Reservation<'w>,
}

impl<'w> Groups<'w> {
    fn new(side: &Side<'_>, column: usize, codes: usize, watch: &'w Watch) -> Result<Self, Stop> {
        let column = &side.columns[column];
        let held = watch.hold(4 * column.len() as u64 + 8 * (codes as u64 + 1))?;
        let mut starts = vec![0; codes + 1];
        column.iter().for_each(|&code| starts[code as usize + 1] += 1);
        (0..codes).for_each(|code| starts[code + 1] += starts[code]);
        let (mut rows, mut next) = (vec![0; column.len()], starts.clone());
        for (i, &code) in column.iter().enumerate() {
            watch.poll(i)?;
            let place = &mut next[code as usize];
            rows[*place as usize] = i as u32;
            *place += 1;
        }
        Ok(Groups { rows, starts, _held: held })
    }

    fn group(&self, code: usize) -> &[u32] {
        &self.rows[self.starts[code] as usize..self.starts[code + 1] as usize]
    }
}

/// The counts of a value within a group, in the original and in the released table.
type Counts = [u64; 2];

/// Two columns, of which the rows are grouped by one.
struct Pair<'a> {
    joint: &'a Joint<'a>,
    grouping: usize,
    other: usize,
    original: &'a Groups<'a>,
    released: &'a Groups<'a>,
}

impl Pair<'_> {
    fn compare(&self, watch: &Watch) -> Result<PairDifference, Stop> {
        let Pair { joint, grouping, other, .. } = *self;
        let rows = Rows::of(joint);
        let mut counts: Vec<Counts> = vec![[0; 2]; joint.sizes[other]];
        let mut present: Vec<u32> = Vec::new();
        let [mut original, mut released] =
            [&joint.original, &joint.released].map(|side| Association::new(side, grouping, other));
        let mut apart = 0;
        let mut visited = 0;
        for code in 0..joint.sizes[grouping] {
            let (ours, theirs) = (self.original.group(code), self.released.group(code));
            // A group may be empty, and looking costs as much as a row.
            visited += 1 + ours.len() + theirs.len();
            if visited >= Watch::STEP {
                watch.check()?;
                visited = 0;
            }
            count::<0>(&joint.original, other, ours, &mut counts, &mut present);
            count::<1>(&joint.released, other, theirs, &mut counts, &mut present);
            for value in present.drain(..) {
                let [o, r] = std::mem::take(&mut counts[value as usize]);
                apart += rows.apart(o, r);
                original.combination(value, o);
                released.combination(value, r);
            }
            original.end_group(code);
            released.end_group(code);
        }
        Ok(PairDifference {
            a: grouping.min(other),
            b: grouping.max(other),
            tv: rows.total_variation(apart),
            original_v: original.cramers_v(),
            released_v: released.cramers_v(),
        })
    }
}

/// Counts the values of a column in some rows of one of the tables.
#[inline]
fn count<const TABLE: usize>(
    side: &Side<'_>,
    column: usize,
    rows: &[u32],
    counts: &mut [Counts],
    present: &mut Vec<u32>,
) {
    let (codes, weights) = (&side.columns[column], side.bag.weights());
    for &row in rows {
        let code = codes[row as usize];
        let counts = &mut counts[code as usize];
        if *counts == [0; 2] {
            present.push(code);
        }
        counts[TABLE] += weights[row as usize];
    }
}

/// Adds up chi squared / n + 1 = sum n_ab^2 / (n_a n_b) of one table.
struct Association<'a> {
    /// n_a and n_b.
    groups: &'a [u64],
    values: &'a [u64],
    /// n_b^-1 n_ab^2 of the group so far.
    group: f64,
    sum: Sum,
}

impl<'a> Association<'a> {
    fn new(side: &'a Side<'_>, grouping: usize, other: usize) -> Self {
        let (groups, values) = (&side.supports[grouping], &side.supports[other]);
        Association { groups, values, group: 0.0, sum: Sum::default() }
    }

    #[inline]
    fn combination(&mut self, value: u32, rows: u64) {
        if rows > 0 {
            self.group += (rows as f64).powi(2) / self.values[value as usize] as f64;
        }
    }

    #[inline]
    fn end_group(&mut self, code: usize) {
        if self.groups[code] > 0 {
            self.sum.add(self.group / self.groups[code] as f64);
            self.group = 0.0;
        }
    }

    fn cramers_v(&self) -> f64 {
        let values = |supports: &[u64]| supports.iter().filter(|&&rows| rows > 0).count();
        let fewer = values(self.groups).min(values(self.values));
        if fewer < 2 {
            return 0.0;
        }
        // Rounding may leave the range by a little.
        ((self.sum.get() - 1.0) / (fewer - 1) as f64).clamp(0.0, 1.0).sqrt()
    }
}
