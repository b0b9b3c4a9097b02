//! Compares the values of one column in both tables.

use super::joint::{Joint, NULL};
use rayon::prelude::*;

/// How the values of a column differ.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct ColumnDifference {
    /// The total variation distance of the shares of its values, NULL being one: 0 if they are equal,
    /// 1 if no value occurs in both tables. At least this share of the cells had to change.
    pub tv: f64,
    pub original_nulls: u64,
    pub released_nulls: u64,
    /// Different values, NULL not counted.
    pub original_values: u64,
    pub released_values: u64,
}

/// All columns. The cost is the size of the domains.
pub(super) fn columns(joint: &Joint<'_>) -> Vec<ColumnDifference> {
    let rows = RowCounts::of(joint);
    let occurring = |supports: &[u64]| supports[1..].iter().filter(|&&n| n > 0).count() as u64;
    let difference = |(original, released): (&Vec<u64>, &Vec<u64>)| {
        let apart = original.iter().zip(released).map(|(&o, &r)| rows.apart(o, r)).sum();
        ColumnDifference {
            tv: rows.total_variation(apart),
            original_nulls: original[NULL as usize],
            released_nulls: released[NULL as usize],
            original_values: occurring(original),
            released_values: occurring(released),
        }
    };
    let supports = joint.original.supports.par_iter().zip(&joint.released.supports);
    supports.map(difference).collect()
}

/// The numbers of rows of both tables, neither of which is empty.
#[derive(Clone, Copy)]
pub(super) struct RowCounts {
    original: u128,
    released: u128,
}

impl RowCounts {
    pub(super) fn of(joint: &Joint<'_>) -> Self {
        let [original, released] =
            [&joint.original, &joint.released].map(|side| u128::from(side.bag.row_count()));
        RowCounts { original, released }
    }

    /// The distance of two shares, in a unit common to all pairs of shares: exact.
    #[inline]
    pub(super) fn apart(self, original: u64, released: u64) -> u128 {
        (u128::from(original) * self.released).abs_diff(u128::from(released) * self.original)
    }

    /// Half of the sum of all distances.
    pub(super) fn total_variation(self, apart: u128) -> f64 {
        apart as f64 / (self.original * self.released) as f64 / 2.0
    }
}
