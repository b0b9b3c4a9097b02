//! What the search needs to know of a table: cells at each level, and rows in an order of their own.

mod columns;
mod people;

pub(crate) use columns::{Column, UNIT};
pub(crate) use people::{People, Selected};
