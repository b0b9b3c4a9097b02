//! The SQL functions, one file per family: check arguments, read, call a crate, return.

mod domains;
mod guarantee;
mod input;
mod krimp;
mod measures;
mod mining;
mod private;
mod release;
mod typed_source;
