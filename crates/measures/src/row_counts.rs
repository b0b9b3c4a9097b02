//! Exact distances of shares of two tables.

use table::Bag;

/// The numbers of rows of both tables. An empty table counts as one row, so that it has share 0 of everything.
#[derive(Clone, Copy)]
pub(crate) struct RowCounts {
    pub original: u128,
    pub released: u128,
}

impl RowCounts {
    pub(crate) fn new(original: &Bag, released: &Bag) -> Self {
        let rows = |bag: &Bag| u128::from(bag.row_count().max(1));
        RowCounts { original: rows(original), released: rows(released) }
    }

    /// The distance of the shares of two supports, in a unit common to all pairs of shares: exact.
    #[inline]
    pub(crate) fn apart(self, original: u64, released: u64) -> u128 {
        (u128::from(original) * self.released).abs_diff(u128::from(released) * self.original)
    }

    /// A distance, or a sum of them, as a share.
    pub(crate) fn share(self, apart: u128) -> f64 {
        apart as f64 / (self.original * self.released) as f64
    }
}
