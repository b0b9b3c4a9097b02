//! What of two tables a page can show: the most common values of a column, and their combinations.

use super::joint::Joint;
use table::{Stop, Watch};

/// A value with the rows that have it; `None` is NULL.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Shown<'a> {
    pub value: Option<&'a [u8]>,
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
    /// All values of a column that occur, those of the largest share in either table first.
    pub fn values(&self, column: usize) -> Vec<Shown<'a>> {
        let shown = |code| {
            let [original, released] =
                [&self.original, &self.released].map(|side| side.supports[column][code as usize]);
            Shown { value: self.value(column, code), original, released }
        };
        self.codes(column).into_iter().map(shown).collect()
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

    /// The codes of a column that occur, in the order of [`Joint::values`].
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
        let values = joint.values(0);
        let found: Vec<_> = values.iter().map(|s| (s.value, s.original, s.released)).collect();
        let expected: [(Option<&[u8]>, u64, u64); 4] =
            [(None, 0, 1), (Some(b"x"), 2, 0), (Some(b"y"), 1, 1), (Some(b"z"), 1, 0)];
        assert_eq!(found, expected);
        let crossed = joint.cross(0, 1, 2, &watch).unwrap();
        assert_eq!((crossed.a.len(), crossed.b.len()), (2, 2));
        // By NULL, x, others; and 1, 2, others.
        assert_eq!(crossed.original, [[0, 0, 0], [1, 1, 0], [1, 0, 1]]);
        assert_eq!(crossed.released, [[1, 0, 0], [0, 0, 0], [1, 0, 0]]);
    }
}
