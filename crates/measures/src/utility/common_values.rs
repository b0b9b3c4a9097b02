//! The most common values of a column, and combinations of them, that a page can show of a table and its releases.

use super::bins::Bins;
use super::joint::Joint;
use crate::supports::column_counts;
use std::collections::BTreeMap;
use table::{Bag, Stop, Watch};

/// A value, a range or a group of values that some rows share.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Seen<'a> {
    /// A value; `None` is NULL.
    Value(Option<&'a [u8]>),
    /// A number or a date in a range of this name.
    Range(String),
    /// This number of other values.
    Others(u64),
}

/// An entry of a column, with the number of rows of each table that have it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Shown<'a> {
    pub seen: Seen<'a>,
    pub rows: Vec<u64>,
}

/// The values of a column in all tables, in at most `limit` + 2 parts. Numbers or dates that are more than that
/// become ranges and NULL (and beside them infinite values and NaN). Otherwise the parts are the values of the
/// largest share in any table, and all others. The parts are the same for all tables.
pub fn shown<'a>(
    tables: &[&'a Bag],
    column: usize,
    limit: usize,
    watch: &Watch,
) -> Result<Vec<Shown<'a>>, Stop> {
    let values: usize = tables.iter().map(|bag| bag.domain(column).len()).sum();
    let _held = watch.hold(values as u64 * (64 + 8 * tables.len() as u64))?;
    let mut counts: BTreeMap<Option<&'a [u8]>, Vec<u64>> = BTreeMap::new();
    for (table, bag) in tables.iter().enumerate() {
        let (of_code, nulls) = column_counts(bag, column, watch)?;
        let values = bag.domain(column).values().map(Some).zip(of_code).chain([(None, nulls)]);
        for (value, rows) in values.filter(|&(_, rows)| rows > 0) {
            counts.entry(value).or_insert_with(|| vec![0; tables.len()])[table] += rows;
        }
    }
    let add = |sums: &mut Vec<u64>, rows: &[u64]| {
        sums.iter_mut().zip(rows).for_each(|(sum, rows)| *sum += rows)
    };
    if let Some(bins) = Bins::new(counts.keys().copied().flatten(), limit) {
        let mut ranges = vec![vec![0; tables.len()]; bins.count];
        counts.retain(|value, rows| {
            let place = value.and_then(|value| bins.place(value));
            place.inspect(|&place| add(&mut ranges[place], rows)).is_none()
        });
        let ranges = ranges.into_iter().enumerate();
        let mut all: Vec<_> = ranges
            .map(|(place, rows)| Shown { seen: Seen::Range(bins.name(place)), rows })
            .collect();
        let null = counts.remove(&None).map(|rows| (None, rows));
        let rest = counts.into_iter().chain(null);
        all.extend(rest.map(|(value, rows)| Shown { seen: Seen::Value(value), rows }));
        return Ok(all);
    }
    let share = |rows: &[u64]| {
        let shares =
            rows.iter().zip(tables).map(|(&rows, bag)| rows as f64 / bag.row_count().max(1) as f64);
        shares.fold(0.0, f64::max)
    };
    let mut counts: Vec<_> = counts.into_iter().collect();
    // Equal shares stay in the order of their texts.
    counts.sort_by(|(_, ours), (_, theirs)| share(theirs).total_cmp(&share(ours)));
    let others = counts.split_off(limit.min(counts.len()));
    let mut all: Vec<_> =
        counts.into_iter().map(|(value, rows)| Shown { seen: Seen::Value(value), rows }).collect();
    if !others.is_empty() {
        let mut rows = vec![0; tables.len()];
        others.iter().for_each(|(_, one)| add(&mut rows, one));
        all.push(Shown { seen: Seen::Others(others.len() as u64), rows });
    }
    Ok(all)
}

/// The number of rows with each combination of the most common values of two columns; all other values come last, as
/// one value.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Crossed<'a> {
    pub a: Vec<Option<&'a [u8]>>,
    pub b: Vec<Option<&'a [u8]>>,
    /// By the value of a, then of b.
    pub original: Vec<Vec<u64>>,
    pub released: Vec<Vec<u64>>,
}

impl<'a> Joint<'a> {
    /// The combinations of the `limit` first values of two columns. Costs a pass over both tables.
    pub fn cross(
        &self,
        a: usize,
        b: usize,
        limit: usize,
        watch: &Watch,
    ) -> Result<Crossed<'a>, Stop> {
        let [ours, theirs] = [a, b].map(|column| {
            let mut codes = self.codes(column);
            codes.truncate(limit);
            codes
        });
        let mut tables = self.sides().map(|side| (side, Vec::new()));
        for (side, counts) in &mut tables {
            *counts = vec![vec![0; theirs.len() + 1]; ours.len() + 1];
            let rows = side.columns[a].iter().zip(&side.columns[b]).zip(side.bag.weights());
            for (i, ((a, b), weight)) in rows.enumerate() {
                watch.poll(i)?;
                let place = |codes: &[u32], code| codes.iter().position(|one| one == code);
                let a = place(&ours, a).unwrap_or(ours.len());
                let b = place(&theirs, b).unwrap_or(theirs.len());
                counts[a][b] += weight;
            }
        }
        let [(_, original), (_, released)] = tables;
        let texts = |column, codes: Vec<u32>| {
            codes.into_iter().map(|code| self.value(column, code)).collect()
        };
        Ok(Crossed { a: texts(a, ours), b: texts(b, theirs), original, released })
    }

    /// The codes of a column that occur, in descending order of their largest share in either table.
    fn codes(&self, column: usize) -> Vec<u32> {
        let [original, released] =
            self.sides().map(|side| (&side.supports[column], u128::from(side.bag.row_count())));
        let share = |code: u32| {
            let (ours, theirs) = (original.0[code as usize], released.0[code as usize]);
            (u128::from(ours) * released.1).max(u128::from(theirs) * original.1)
        };
        let mut codes: Vec<u32> =
            (0..self.sizes[column] as u32).filter(|&code| share(code) > 0).collect();
        codes.sort_unstable_by_key(|&code| (std::cmp::Reverse(share(code)), code));
        codes
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use table::Bag;

    #[test]
    fn what_is_in_no_range_is_shown_beside_them() {
        let values = ["1", "12", "23", "Infinity", "NaN", ""];
        let bag = Bag::from_text(1, values.map(|value| [(!value.is_empty()).then_some(value)]));
        let found = shown(&[&bag], 0, 2, &Watch::unlimited()).unwrap();
        let value = |value: &'static str| Seen::Value(Some(value.as_bytes()));
        let seen: Vec<_> = found.into_iter().map(|shown| (shown.seen, shown.rows)).collect();
        assert_eq!(
            seen[seen.len() - 3..],
            [(value("Infinity"), vec![1]), (value("NaN"), vec![1]), (Seen::Value(None), vec![1])]
        );
        assert_eq!(seen.iter().map(|(_, rows)| rows[0]).sum::<u64>(), 6);
    }

    #[test]
    fn the_most_common_come_first_and_the_rest_is_one() {
        let original = Bag::from_text(
            2,
            [["x", "1"], ["x", "2"], ["y", "1"], ["z", "3"]].map(|row| row.map(Some)),
        );
        let released = Bag::from_text(2, [[None, Some("1")], [Some("y"), Some("1")]]);
        let watch = Watch::unlimited();
        let joint = Joint::new(&original, &released, &watch).unwrap();
        let found = |column| -> Vec<_> {
            let shown = shown(&[&original, &released], column, 2, &watch).unwrap();
            shown.into_iter().map(|shown| (shown.seen, shown.rows)).collect()
        };
        let expected = [
            (Seen::Value(None), vec![0, 1]),
            (Seen::Value(Some(b"x" as &[u8])), vec![2, 0]),
            (Seen::Others(2), vec![2, 1]),
        ];
        assert_eq!(found(0), expected);
        let range = |name: &str| Seen::Range(name.into());
        assert_eq!(
            found(1),
            [(range("1"), vec![2, 2]), (range("2"), vec![1, 0]), (range("3"), vec![1, 0])]
        );
        let crossed = joint.cross(0, 1, 2, &watch).unwrap();
        assert_eq!((crossed.a.len(), crossed.b.len()), (2, 2));
        // By NULL, x, others; and 1, 2, others.
        assert_eq!(crossed.original, [[0, 0, 0], [1, 1, 0], [1, 0, 1]]);
        assert_eq!(crossed.released, [[1, 0, 0], [0, 0, 0], [1, 0, 0]]);
    }
}
