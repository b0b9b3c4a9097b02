//! Krimp: code tables that compress a table.
//!
//! A code table is a list of itemsets; a row is covered by the first itemset of the list that it
//! contains, then the rest of the row by the next that the rest contains, and so on. The itemsets
//! that together make data and table smallest describe the table (Vreeken, van Leeuwen and Siebes,
//! Krimp: mining itemsets that compress).
//!
//! # The life of a model
//!
//! 1. **fit**: [`fit()`] takes candidates one by one, from `mining::candidates` (a list, mined before) or from pairs
//!    of elements in the table (made during the search), and keeps those that make the total size smaller. The result
//!    is a [`CodeTable`].
//! 2. **cover** is the state of a fit: the rows, the itemsets in cover order, and for each candidate what would
//!    change. It does not know where candidates come from.
//! 3. **model**: [`Model`] is the code table with the names and values of its items. It is stored as JSON and read
//!    back with every field checked. [`encode`] and [`dissimilarity`] measure how well it fits other data,
//!    [`row_bits`] how well it fits each row, and [`classify`] finds which of several models fits a row best.
//! 4. **generate**: a [`Generator`] draws rows from a model, with a [`Correction`] added to the usages and without
//!    the itemsets of a [`Reject`]; [`ClassRows`] splits the rows by class.
//! 5. **tree**: a [`CodeTree`] has the patterns of a code table that occur together, of the data ([`code_tree()`]) or
//!    of rows whose cells were randomised ([`Sanitised`]); a [`TreeGenerator`] draws rows from it.
//!
//! Each phase calls only the ones before it. `thread_buffers` holds reusable buffers of threads.
#![forbid(unsafe_code)]

mod cover;
mod error;
mod fit;
mod generate;
mod model;
mod thread_buffers;
mod tree;

pub use cover::size::Sizes;
pub use error::Error;
pub use fit::{
    Candidates, CodeTable, Element, Ended, Forbidden, Nulls, Options, Progress, Snapshot, fit,
};
pub use generate::{ClassRows, Correction, DomainOrder, Generated, Generator, Reject, apportion};
pub use model::{
    Classified, Data, Dissimilarity, Encoded, Model, ModelColumn, Pattern, RowCode, classify,
    comparable, dissimilarity, encode, fit_model, row_bits, shortest_first,
};
pub use tree::{Channel, CodeTree, Sanitised, TreeGenerator, TreeNode, Walk, code_tree};
