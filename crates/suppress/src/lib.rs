//! Releases by suppression: cells of a table are blanked, rows that still stand out are dropped.
//!
//! Everything here works on a [`table::Bag`] and returns a [`Release`]: which cells of which
//! distinct rows are blanked and how many copies of each are kept. In a release a suppressed
//! cell and a cell that never had a value are both NULL; classes are counted as the reader of
//! the release sees them, so the two are equal.
#![forbid(unsafe_code)]

mod error;
mod impute;
mod k_anonymize;
mod mii;
mod release;

pub use error::Error;
pub use impute::{Filled, Method, impute};
pub use k_anonymize::{k_anonymize, lower_bound};
pub use mii::{k_mii, mii_suppress};
pub use release::{Classes, Counts, Piece, Release};
