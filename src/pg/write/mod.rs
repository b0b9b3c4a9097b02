//! Rows written by Postgres.
//!
//! * [`store`]: the writer of rows; [`rowset`]: rows that a method makes; [`typed`]: rows of a relation's own type;
//!   [`layout`]: tuples laid out on any thread.
//! * [`target`]: tables that releases are written to; [`range`]: range types for their columns.
//! * [`statement`]: statements that touch one table only; [`held_rows`]: rows that such statements read by name.
//! * [`statistics`]: planner statistics removed.

pub mod held_rows;
pub mod layout;
pub mod range;
pub mod rowset;
pub mod statement;
pub mod statistics;
mod store;
pub mod target;
pub mod typed;
