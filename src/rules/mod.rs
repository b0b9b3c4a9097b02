//! The rules that methods share, each in one place: who is a unit, how many of its rows count, what
//! is public, what may be looked up, and what a label says of all that.
//!
//! * [`unit`]: which columns can identify units, and by which expression two rows are compared.
//! * [`counted`]: whom a method counts, rows or units, by its argument `unit`. [`unit_path`]: paths to units.
//! * [`capping`]: how many rows of a unit count, and what the owner is shown when choosing that bound.
//! * [`charged_rows`]: the rows that a mechanism reads after the charge, bounded per unit.
//! * [`family`]: which relations hold data about the same units.
//! * [`stability`] and `joins`: whether each row of a view depends on one unit alone.
//! * [`population`]: which protected relations are about the same people, and share one budget.
//! * [`public`]: which relations, domains and bounds are public for which source.
//! * [`public_source`]: a source's rows in the codes of public domains.
//! * [`below`]: whose code would run when a relation is read.
//! * [`terms`]: what the terms of a protection change in a label.
//!
//! Tables that the caller did not name are read by `pg::catalog::lookup`, with their owner's rights.

pub mod below;
pub mod capping;
pub mod charged_rows;
pub mod counted;
pub mod family;
mod joins;
pub mod population;
pub mod public;
pub mod public_source;
pub mod stability;
pub mod terms;
pub mod unit;
pub mod unit_path;
