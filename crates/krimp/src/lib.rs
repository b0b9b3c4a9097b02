//! Krimp: code tables that compress a table.
//!
//! A code table is a list of itemsets; a row is covered by the first itemset of the list that it
//! contains, then the rest of the row by the next that the rest contains, and so on. The itemsets
//! that together make data and table smallest describe the table (Vreeken, van Leeuwen and Siebes,
//! Krimp: mining itemsets that compress).
#![forbid(unsafe_code)]

mod alias;
mod classes;
mod code_table;
mod columns;
mod cover;
mod elements;
mod encode;
mod error;
mod fit;
mod generator;
mod ground;
mod laplace;
mod model;
mod options;
mod pairs;
mod progress;
mod prune;
#[doc(hidden)]
pub mod reference;
mod size;
mod spare;
mod stored;
mod uncovered;
mod unions;

pub use classes::{Classes, apportion};
pub use code_table::{CodeTable, Element, Ended};
pub use encode::{Dissimilarity, Encoded, dissimilarity, encode};
pub use error::Error;
pub use fit::fit;
pub use generator::{DomainOrder, Generated, Generator};
pub use laplace::Laplace;
pub use model::{Model, ModelColumn, Pattern, fit_model};
pub use options::{Candidates, Forbidden, Nulls, Options};
pub use progress::{Progress, Snapshot};
pub use size::Sizes;
