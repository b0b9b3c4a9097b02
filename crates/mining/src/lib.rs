//! Minimal infrequent itemsets (MIIs), frequent and closed itemsets of a [`table::Bag`].
//!
//! An item is a (column, value) pair, an itemset has at most one value per column, and its
//! support is the number of rows that contain it. A NULL cell is no item. An MII occurs, has a
//! support of at most theta, and every proper non-empty subset of it has more.
#![forbid(unsafe_code)]

mod bound;
mod candidates;
mod closed;
mod closed_narrow;
mod explore;
mod field;
mod frequent;
mod groups;
mod grow;
mod list;
mod mii;
mod narrow;
pub mod orthogonal;
mod path;
mod projection;
mod ranking;
#[doc(hidden)]
pub mod reference;
mod risk;
mod sets;
#[cfg(test)]
mod tests;
mod tree;
mod visitor;

pub use bound::{BOUND_COLUMNS, bound};
pub use candidates::{Candidates, Kind, Run, candidates};
pub use closed::closed;
pub use frequent::frequent;
pub use mii::{miis, visit_miis};
pub use risk::{ColumnRisk, Counts, risk};
pub use visitor::{Subtree, Visitor};
