//! Compares the combinations of two columns in both tables.

use super::joint::{Joint, Side};
use crate::row_counts::RowCounts;
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
    /// How much of the association was lost or added.
    pub fn association_difference(&self) -> f64 {
        (self.original_v - self.released_v).abs()
    }
}

/// The largest number of combinations of two columns that are counted in an array, which fits into a core's cache.
const DENSE: usize = 1 << 18;

/// All pairs of columns.
///
/// Combinations are counted in an array where they are not too many. Otherwise rows are grouped by the column with
/// more values, and within a group the values of the other are counted in an array, so that combinations need no
/// slots of their own. Costs one or two visits of each distinct row for each pair.
pub(super) fn pairs(joint: &Joint<'_>, watch: &Watch) -> Result<Vec<PairDifference>, Stop> {
    let width = joint.sizes.len();
    if width < 2 {
        return Ok(Vec::new());
    }
    let mut by_size: Vec<usize> = (0..width).collect();
    by_size.sort_by_key(|&column| (std::cmp::Reverse(joint.sizes[column]), column));
    let second = joint.sizes[by_size[1]];
    // The buffers of each thread: two counts of a combination, or two counts and a mention of a value.
    let most = (16 * DENSE.min(second.saturating_mul(joint.sizes[by_size[0]]))).max(20 * second);
    let _counts = watch.hold(rayon::current_num_threads() as u64 * most as u64)?;
    let mut found = Vec::with_capacity(width * (width - 1) / 2);
    watch.begin(found.capacity() as u64);
    for (i, &grouping) in by_size.iter().enumerate() {
        // The first of the others has the most values.
        let others = &by_size[i + 1..];
        let Some(&widest) = others.first() else { break };
        let codes = joint.sizes[grouping];
        let is_dense = |other: usize| codes.saturating_mul(joint.sizes[other]) <= DENSE;
        let groups = match is_dense(widest) {
            true => None,
            false => Some([
                CodeGroups::new(&joint.original, grouping, codes, watch)?,
                CodeGroups::new(&joint.released, grouping, codes, watch)?,
            ]),
        };
        let compare = |&other: &usize| {
            let pair = Compared::new(joint, grouping, other);
            let found = match &groups {
                Some(groups) if !is_dense(other) => pair.by_groups(groups, watch),
                _ => pair.by_combination(watch),
            };
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
struct CodeGroups<'w> {
    rows: Vec<u32>,
    weights: Vec<u64>,
    /// The position of each code's first row, and the end.
    starts: Vec<u32>,
    _held: Reservation<'w>,
}

impl<'w> CodeGroups<'w> {
    fn new(side: &Side<'_>, column: usize, codes: usize, watch: &'w Watch) -> Result<Self, Stop> {
        let column = &side.columns[column];
        let held = watch.hold(12 * column.len() as u64 + 8 * (codes as u64 + 1))?;
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
        let weights = rows.iter().map(|&row| side.bag.weight(row as usize)).collect();
        Ok(CodeGroups { rows, weights, starts, _held: held })
    }

    /// The rows of a group, each with its weight.
    fn group(&self, code: usize) -> impl ExactSizeIterator<Item = (&u32, &u64)> {
        let range = self.starts[code] as usize..self.starts[code + 1] as usize;
        self.rows[range.clone()].iter().zip(&self.weights[range])
    }
}

/// Two columns, and the results so far.
struct Compared<'a> {
    joint: &'a Joint<'a>,
    grouping: usize,
    other: usize,
    rows: RowCounts,
    apart: u128,
    original: Association<'a>,
    released: Association<'a>,
}

impl<'a> Compared<'a> {
    fn new(joint: &'a Joint<'a>, grouping: usize, other: usize) -> Self {
        let [original, released] =
            joint.sides().map(|side| Association::new(side, grouping, other));
        Compared { joint, grouping, other, rows: joint.row_counts(), apart: 0, original, released }
    }

    /// Counts every combination at once.
    fn by_combination(mut self, watch: &Watch) -> Result<PairDifference, Stop> {
        let Compared { joint, grouping, other, .. } = self;
        let values = joint.sizes[other];
        let count = |side: &Side<'_>| {
            let mut counts = vec![0; joint.sizes[grouping] * values];
            let codes = side.columns[grouping].iter().zip(&side.columns[other]);
            for (i, ((&a, &b), &weight)) in codes.zip(side.bag.weights()).enumerate() {
                watch.poll(i)?;
                counts[a as usize * values + b as usize] += weight;
            }
            Ok(counts)
        };
        let (original, released) = (count(&joint.original)?, count(&joint.released)?);
        let groups = original.chunks_exact(values).zip(released.chunks_exact(values));
        for (code, (original, released)) in groups.enumerate() {
            for (value, (&o, &r)) in original.iter().zip(released).enumerate() {
                self.combination(value, o, r);
            }
            self.end_group(code);
        }
        Ok(self.difference())
    }

    /// Counts the combinations group by group.
    fn by_groups(
        mut self,
        groups: &[CodeGroups<'_>; 2],
        watch: &Watch,
    ) -> Result<PairDifference, Stop> {
        let Compared { joint, grouping, other, .. } = self;
        let sides = joint.sides().map(|side| &side.columns[other]);
        let mut counts = vec![[0; 2]; joint.sizes[other]];
        let mut present = Vec::new();
        let mut visited = 0;
        for code in 0..joint.sizes[grouping] {
            for (table, (codes, groups)) in sides.iter().zip(groups).enumerate() {
                let group = groups.group(code);
                // A group may be empty, and looking at it costs as much as a row.
                visited += 1 + group.len();
                for (&row, &weight) in group {
                    let value = codes[row as usize];
                    let counts = &mut counts[value as usize];
                    if *counts == [0; 2] {
                        present.push(value);
                    }
                    counts[table] += weight;
                }
            }
            if visited >= Watch::STEP {
                watch.check()?;
                visited = 0;
            }
            for value in present.drain(..) {
                let value = value as usize;
                let [o, r] = std::mem::take(&mut counts[value]);
                self.combination(value, o, r);
            }
            self.end_group(code);
        }
        Ok(self.difference())
    }

    #[inline]
    fn combination(&mut self, value: usize, original: u64, released: u64) {
        self.apart += self.rows.apart(original, released);
        self.original.combination(value, original);
        self.released.combination(value, released);
    }

    fn end_group(&mut self, code: usize) {
        self.original.end_group(code);
        self.released.end_group(code);
    }

    fn difference(self) -> PairDifference {
        PairDifference {
            a: self.grouping.min(self.other),
            b: self.grouping.max(self.other),
            tv: self.rows.share(self.apart) / 2.0,
            original_v: self.original.cramers_v(),
            released_v: self.released.cramers_v(),
        }
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
    fn combination(&mut self, value: usize, rows: u64) {
        if rows > 0 {
            self.group += (rows as f64).powi(2) / self.values[value] as f64;
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
        // Rounding may leave the range slightly.
        ((self.sum.get() - 1.0) / (fewer - 1) as f64).clamp(0.0, 1.0).sqrt()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use table::Bag;

    #[test]
    fn both_ways_of_counting_agree() {
        let row =
            |i: u32, n: u32| [i * i % n, i % 7, i / 5 % 11].map(|x| (x > 0).then(|| x.to_string()));
        let original = Bag::from_text(3, (0..900).map(|i| row(i, 31)));
        let released = Bag::from_text(3, (300..1000).map(|i| row(i, 37)));
        let watch = Watch::unlimited();
        let joint = Joint::new(&original, &released, &watch).unwrap();
        for (a, b) in [(0, 1), (1, 0), (2, 1), (0, 2)] {
            let groups = [&joint.original, &joint.released]
                .map(|side| CodeGroups::new(side, a, joint.sizes[a], &watch).unwrap());
            let compared = || Compared::new(&joint, a, b);
            let one = compared().by_combination(&watch).unwrap();
            let other = compared().by_groups(&groups, &watch).unwrap();
            assert_eq!(one.tv, other.tv);
            assert!((one.original_v - other.original_v).abs() < 1e-12);
            assert!((one.released_v - other.released_v).abs() < 1e-12);
        }
    }
}
