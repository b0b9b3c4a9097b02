//! What of two tables a page can show: the most common values of a column, and their combinations.

use super::bins::Bins;
use super::joint::{Joint, NULL};
use std::ops::RangeInclusive;
use table::{Stop, Watch};

/// What some rows have in common.
#[derive(Debug, Clone, PartialEq)]
pub enum Seen<'a> {
    /// A value; `None` is NULL.
    Value(Option<&'a [u8]>),
    /// A number from the first to the second; whole numbers include the second.
    Range(RangeInclusive<f64>),
    /// So many other values.
    Others(u64),
}

/// What is seen in a column, with the rows that have it.
#[derive(Debug, Clone, PartialEq)]
pub struct Shown<'a> {
    pub seen: Seen<'a>,
    pub original: u64,
    pub released: u64,
}

/// How many rows have each combination of the most common values of two columns; what is not among
/// these comes last, as one value.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Crossed<'a> {
    pub a: Vec<Option<&'a [u8]>>,
    pub b: Vec<Option<&'a [u8]>>,
    /// By the value of a, then of b.
    pub original: Vec<Vec<u64>>,
    pub released: Vec<Vec<u64>>,
}

impl<'a> Joint<'a> {
    /// The values of a column in at most `limit` + 2 parts: ranges, if they are numbers and more than
    /// that, and NULL; otherwise those of the largest share in either table, and all others.
    pub fn shown(
        &self,
        column: usize,
        limit: usize,
        watch: &Watch,
    ) -> Result<Vec<Shown<'a>>, Stop> {
        watch.check()?;
        let _codes = watch.hold(8 * self.sizes[column] as u64)?;
        let codes = self.codes(column);
        let rows = |code: u32| {
            [&self.original, &self.released].map(|side| side.supports[column][code as usize])
        };
        let shown = |seen, [original, released]: [u64; 2]| Shown { seen, original, released };
        let values = codes.iter().filter_map(|&code| self.value(column, code));
        let Some(bins) = Bins::new(values, limit) else {
            let (first, rest) = codes.split_at(limit.min(codes.len()));
            let first = first.iter();
            let mut all: Vec<Shown<'a>> = first
                .map(|&code| shown(Seen::Value(self.value(column, code)), rows(code)))
                .collect();
            if !rest.is_empty() {
                let sums = rest.iter().fold([0; 2], |sums, &code| add(sums, rows(code)));
                all.push(shown(Seen::Others(rest.len() as u64), sums));
            }
            return Ok(all);
        };
        let mut counts = vec![[0; 2]; bins.count];
        for &code in &codes {
            if let Some(place) = self.value(column, code).and_then(|value| bins.place(value)) {
                counts[place] = add(counts[place], rows(code));
            }
        }
        let ranges = counts.into_iter().enumerate();
        let mut all: Vec<_> =
            ranges.map(|(place, rows)| shown(Seen::Range(bins.ends(place)), rows)).collect();
        if rows(NULL) != [0; 2] {
            all.push(shown(Seen::Value(None), rows(NULL)));
        }
        Ok(all)
    }

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
        let mut tables = [&self.original, &self.released].map(|side| (side, Vec::new()));
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

    /// The codes of a column that occur, those of the largest share in either table first.
    fn codes(&self, column: usize) -> Vec<u32> {
        let [original, released] = [&self.original, &self.released]
            .map(|side| (&side.supports[column], u128::from(side.bag.row_count())));
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

fn add([a, b]: [u64; 2], [c, d]: [u64; 2]) -> [u64; 2] {
    [a + c, b + d]
}

#[cfg(test)]
mod tests {
    use super::*;
    use table::Bag;

    #[test]
    fn the_most_common_come_first_and_the_rest_is_one() {
        let original = Bag::from_text(
            2,
            [["x", "1"], ["x", "2"], ["y", "1"], ["z", "3"]].map(|row| row.map(Some)),
        );
        let released = Bag::from_text(2, [[None, Some("1")], [Some("y"), Some("1")]]);
        let watch = Watch::unlimited();
        let joint = Joint::new(&original, &released, &watch).unwrap();
        let shown = joint.shown(0, 2, &watch).unwrap();
        let found: Vec<_> =
            shown.iter().map(|s| (s.seen.clone(), s.original, s.released)).collect();
        let expected =
            [(Seen::Value(None), 0, 1), (Seen::Value(Some(b"x")), 2, 0), (Seen::Others(2), 2, 1)];
        assert_eq!(found, expected);
        let shown = joint.shown(1, 2, &watch).unwrap();
        let found: Vec<_> =
            shown.iter().map(|s| (s.seen.clone(), s.original, s.released)).collect();
        assert_eq!(
            found,
            [
                (Seen::Range(1.0..=1.0), 2, 2),
                (Seen::Range(2.0..=2.0), 1, 0),
                (Seen::Range(3.0..=3.0), 1, 0)
            ]
        );
        let crossed = joint.cross(0, 1, 2, &watch).unwrap();
        assert_eq!((crossed.a.len(), crossed.b.len()), (2, 2));
        // By NULL, x, others; and 1, 2, others.
        assert_eq!(crossed.original, [[0, 0, 0], [1, 1, 0], [1, 0, 1]]);
        assert_eq!(crossed.released, [[1, 0, 0], [0, 0, 0], [1, 0, 0]]);
    }
}
