//! The SQL functions, one file per family: check arguments, read, call a crate, return.

mod aggregate;
mod answer;
mod budget;
mod compare;
mod domains;
mod fit;
mod generate;
mod guarantee;
mod input;
mod krimp;
mod ledger;
mod measures;
mod mining;
mod noise;
mod private;
mod question;
mod release;
mod report;
mod typed_source;
