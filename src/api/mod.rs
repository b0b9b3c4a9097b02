//! The SQL functions, one file per family: check arguments, read, call a crate, return.

mod aggregate;
mod budget;
mod input;
mod ledger;
mod measures;
mod mining;
mod noise;
mod question;
mod release;
mod typed_source;
