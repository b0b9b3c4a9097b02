//! Rows written by Postgres.
//!
//! * [`rowset`]: rows returned to SQL; [`typed`]: rows of a relation's own type; [`layout`]: tuples laid out on any thread.
//! * [`target`]: tables that releases are written to; [`range`]: range types for their columns.
//! * [`statement`]: statements that touch one table only; [`held_rows`]: rows that such statements read by name.
//! * [`statistics`]: planner statistics removed.

pub mod held_rows;
pub mod layout;
pub mod range;
pub mod rowset;
pub mod statement;
pub mod statistics;
pub mod target;
pub mod typed;
