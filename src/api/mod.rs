//! The SQL functions, one file per family: check arguments, read, call a crate, return.

mod budget;
mod input;
mod ledger;
mod mining;
