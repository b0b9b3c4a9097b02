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
    let rows = joint.row_counts();
    let occurring = |supports: &[u64]| supports[1..].iter().filter(|&&n| n > 0).count() as u64;
    let difference = |(original, released): (&Vec<u64>, &Vec<u64>)| {
        let apart = original.iter().zip(released).map(|(&o, &r)| rows.apart(o, r)).sum();
        ColumnDifference {
            tv: rows.share(apart) / 2.0,
            original_nulls: original[NULL as usize],
            released_nulls: released[NULL as usize],
            original_values: occurring(original),
            released_values: occurring(released),
        }
    };
    let supports = joint.original.supports.par_iter().zip(&joint.released.supports);
    supports.map(difference).collect()
}
