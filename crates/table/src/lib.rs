//! Coded tables: one dictionary per column, distinct rows with weights.
//!
//! Every algorithm of the project works on a [`Bag`]: the distinct rows of a relation as
//! dictionary codes, each with the number of times it occurs. NULL is no item.
#![forbid(unsafe_code)]

mod arena;
mod bag;
pub mod bits;
mod budget;
mod builder;
mod choice;
mod coder;
mod index;
mod itemsets;
mod null_items;
mod rows;
mod sort;
mod watch;
mod wire;

pub use bag::{Bag, Domain};
pub use bits::{BitSet, BitSets, Marks};
pub use budget::Budget;
pub use builder::BagBuilder;
pub use choice::Choice;
pub use coder::{CodedTable, Coder, Encoding};
pub use index::{Index, Keyed, Slots};
pub use itemsets::{Item, Itemsets};
pub use rows::Rows;
pub use sort::sort_watched;
pub use watch::{Stop, Watch};
pub use wire::WireError;

/// The code of a NULL cell: no item.
pub const NONE: u32 = u32::MAX;
