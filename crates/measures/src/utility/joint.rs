//! A table and its release in common codes, column by column.

use crate::row_counts::RowCounts;
use rayon::prelude::*;
use table::{Bag, NONE, Reservation, Stop, Watch};

/// The common code of NULL.
pub(super) const NULL: u32 = 0;

/// A released table and its original, in codes that mean the same in both: NULL is 0, the values of both follow in
/// the order of their texts.
pub struct Joint<'a> {
    pub(super) original: Side<'a>,
    pub(super) released: Side<'a>,
    /// For each column the number of codes.
    pub(super) sizes: Vec<usize>,
    _held: Reservation<'a>,
}

/// One of the two tables.
pub(super) struct Side<'a> {
    pub(super) bag: &'a Bag,
    /// For each column the common code of each of its own; ascending.
    common: Vec<Vec<u32>>,
    /// For each column the common code of each distinct row.
    pub(super) columns: Vec<Vec<u32>>,
    /// For each column the number of rows with each common code.
    pub(super) supports: Vec<Vec<u64>>,
}

impl<'a> Joint<'a> {
    /// The bags have the same columns in the same order. Costs a pass over both.
    pub fn new(original: &'a Bag, released: &'a Bag, watch: &'a Watch) -> Result<Self, Stop> {
        debug_assert_eq!(original.width(), released.width());
        let domains = original.domains().iter().zip(released.domains());
        let values: usize = domains.clone().map(|(ours, theirs)| ours.len() + theirs.len()).sum();
        let cells = original.width() * (original.distinct() + released.distinct());
        // The codes of values once, of cells once, and two supports for at most every value and NULL.
        let mut held = Reservation::new(watch);
        held.add(20 * values as u64 + 4 * cells as u64 + 16 * original.width() as u64)?;
        let (mut sizes, mut ours, mut theirs) = (Vec::new(), Vec::new(), Vec::new());
        for (original, released) in domains {
            watch.check()?;
            let merged = Merged::new(original.values(), released.values());
            sizes.push(merged.size as usize);
            ours.push(merged.first);
            theirs.push(merged.second);
        }
        Ok(Joint {
            original: Side::new(original, ours, &sizes, watch)?,
            released: Side::new(released, theirs, &sizes, watch)?,
            sizes,
            _held: held,
        })
    }

    pub(super) fn sides(&self) -> [&Side<'a>; 2] {
        [&self.original, &self.released]
    }

    pub(super) fn row_counts(&self) -> RowCounts {
        RowCounts::new(self.original.bag, self.released.bag)
    }

    pub(super) fn has_no_rows(&self) -> bool {
        self.sides().iter().any(|side| side.bag.row_count() == 0)
    }

    /// The text of a common code; `None` for NULL.
    pub(super) fn value(&self, column: usize, code: u32) -> Option<&'a [u8]> {
        self.original.value(column, code).or_else(|| self.released.value(column, code))
    }
}

impl<'a> Side<'a> {
    fn new(
        bag: &'a Bag,
        common: Vec<Vec<u32>>,
        sizes: &[usize],
        watch: &Watch,
    ) -> Result<Self, Stop> {
        let read = |(column, common): (usize, &Vec<u32>)| {
            let mut codes = Vec::with_capacity(bag.distinct());
            let mut supports = vec![0; sizes[column]];
            for i in 0..bag.distinct() {
                watch.poll(i)?;
                let code = bag.row(i)[column];
                let code = if code == NONE { NULL } else { common[code as usize] };
                codes.push(code);
                supports[code as usize] += bag.weight(i);
            }
            Ok((codes, supports))
        };
        let read: Result<Vec<_>, Stop> = common.par_iter().enumerate().map(read).collect();
        let (columns, supports) = read?.into_iter().unzip();
        Ok(Side { bag, common, columns, supports })
    }

    /// The common code of each of a column's own.
    pub(super) fn common(&self, column: usize) -> &[u32] {
        &self.common[column]
    }

    fn value(&self, column: usize, code: u32) -> Option<&'a [u8]> {
        let own = self.common[column].binary_search(&code).ok()?;
        Some(self.bag.domain(column).value(own as u32))
    }
}

/// Two ascending lists of values merged into one: the position of each in it, from 1 on.
struct Merged {
    first: Vec<u32>,
    second: Vec<u32>,
    /// The number of places, 0 included.
    size: u32,
}

impl Merged {
    fn new<'v>(
        first: impl Iterator<Item = &'v [u8]>,
        second: impl Iterator<Item = &'v [u8]>,
    ) -> Self {
        let mut merged = Merged { first: Vec::new(), second: Vec::new(), size: 1 };
        let (mut first, mut second) = (first.peekable(), second.peekable());
        loop {
            let (ours, theirs) = match (first.peek(), second.peek()) {
                (None, None) => return merged,
                (Some(_), None) => (true, false),
                (None, Some(_)) => (false, true),
                (Some(ours), Some(theirs)) => (ours <= theirs, theirs <= ours),
            };
            if ours {
                first.next();
                merged.first.push(merged.size);
            }
            if theirs {
                second.next();
                merged.second.push(merged.size);
            }
            merged.size += 1;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn codes_are_common_and_lead_back() {
        let original = Bag::from_text(1, [[Some("b")], [Some("d")], [None], [Some("d")]]);
        let released = Bag::from_text(1, [[Some("a")], [Some("d")], [Some("c")]]);
        let watch = Watch::unlimited();
        let joint = Joint::new(&original, &released, &watch).unwrap();
        assert_eq!(joint.sizes, [5]);
        assert_eq!(joint.original.supports[0], [1, 0, 1, 0, 2]);
        assert_eq!(joint.released.supports[0], [0, 1, 0, 1, 1]);
        let texts: Vec<_> = (0..5).map(|code| joint.value(0, code)).collect();
        let expected = [None, Some("a"), Some("b"), Some("c"), Some("d")];
        assert_eq!(texts, expected.map(|text| text.map(str::as_bytes)));
        drop(joint);
        assert_eq!(watch.memory(), 0);
    }
}
