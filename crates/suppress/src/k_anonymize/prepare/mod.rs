//! What the search needs to know of a table: rows as keys, cells' worth in whole numbers, and where
//! rows differ.

mod differences;
mod keys;
mod units;

pub(crate) use differences::Differences;
pub(crate) use keys::{Keyed, STRIDE, Selected, mix};
pub(crate) use units::{DROP, UNIT, checked, units};
