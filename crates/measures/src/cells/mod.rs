//! Cell suppression (section 1.2 of Chirayath, Longpré, Kreinovich): tables of counts with totals from which
//! small counts cannot be computed back.
//!
//! 1. [`Layout`] says which cells a table has: those of two columns, their totals, and the totals of coarser
//!    rows if there are such. It makes a `network` of them, in which each cell is an arc and a count a flow:
//!    tables that agree in all sums are circulations.
//! 2. `flow` finds how far a suppressed cell can move while others move with it.
//! 3. [`suppress`] chooses the cells that have to go beside the small ones.
//! 4. [`audit`] finds what the shown cells tell of each suppressed one, exactly. [`suppress`] ends with it.

mod audit;
mod flow;
mod layout;
mod network;
mod suppress;
#[cfg(test)]
mod tests;

pub use audit::{Interval, audit};
pub use layout::{Layout, Place};
pub use suppress::{Protection, Status, Suppressed, suppress};

/// The largest count that a cell may have: sums of all cells fit into 64 bits.
pub const MOST_COUNT: u64 = 1_000_000_000_000;
/// The most cells of a table.
pub const MOST_CELLS: usize = 1_000_000;
