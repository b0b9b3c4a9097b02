//! Draws rows from a model.
//!
//! `generator` draws rows, from lists made by `alias` and weights with a `correction`, and draws those again in which
//! `reject` finds an itemset; `classes` splits a bag so that each class gets a model and its share of the rows.

pub(crate) mod alias;
mod classes;
mod correction;
mod generator;
mod reject;

pub use classes::{ClassRows, apportion};
pub use correction::Correction;
pub use generator::{DomainOrder, Generated, Generator};
pub use reject::Reject;
