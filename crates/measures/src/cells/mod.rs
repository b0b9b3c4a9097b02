//! Cell suppression (section 1.2 of Chirayath, Longpré, Kreinovich): tables of counts with totals from which small
//! counts cannot be computed.
//!
//! 1. [`CellCounts`] counts the rows or people of each cell. The steps after it work on sums of cells, so that nobody
//!    may be in several cells.
//! 2. [`Layout`] has the cells of a table: those of two columns, their totals, and the totals of coarser rows if
//!    there are any. It makes a `network` of them, in which each cell is an arc and a count a flow: tables that agree
//!    in all sums are circulations.
//! 3. `flow` finds how far a suppressed cell can move while others move with it.
//! 4. [`suppress`] chooses the cells that are suppressed in addition to the small ones.
//! 5. [`audit`] finds exactly what the shown cells reveal about each suppressed one. [`suppress`] ends with it.

mod audit;
mod counts;
mod flow;
mod layout;
mod network;
mod suppress;
#[cfg(test)]
mod tests;

pub use audit::{Interval, audit};
pub use counts::{CellCounts, NoCounts};
pub use layout::{Layout, Place};
pub use suppress::{Protection, Status, Suppressed, suppress};

/// The largest count that a cell may have: sums of all cells fit into 64 bits.
pub const MOST_COUNT: u64 = 1_000_000_000_000;
/// The largest number of cells of a table.
pub const MOST_CELLS: usize = 1_000_000;
