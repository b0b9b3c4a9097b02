//! Dependent code trees (Dorrestijn, Sanitised generation of data): the elements of a code table with
//! the probabilities that they occur together, and rows drawn from them.
//!
//! A path from the root is an itemset with its items in column order; its last node has the itemset's joint
//! frequency. Every value is a child of the root. In addition the tree has a path for each union of code table
//! patterns that is frequent enough: a code table by itself does not say which patterns occur together.
//!
//! 1. **frequencies**: the joint frequencies that a tree needs. `counted_frequencies` has the exact ones of a bag,
//!    `estimated_frequencies` estimates from rows with randomised cells, which is all that [`Sanitised`] uses.
//! 2. **unions** enumerates the sets of patterns that occur together often enough.
//! 3. **code_tree** puts their items into a tree.
//! 4. **generator** draws rows: in `backoff` the longest path that fits decides each column (`deciders` are the nodes
//!    that may, `values` the rest for single values), `literal` does as published.
//!
//! `reference` has trees and laws by definition, for tests.

mod backoff;
mod children;
mod code_tree;
mod counted_frequencies;
mod deciders;
mod estimated_frequencies;
mod frequencies;
mod generator;
mod literal;
#[cfg(test)]
mod reference;
mod sanitised;
#[cfg(test)]
mod tests;
mod unions;
mod values;

pub use code_tree::{CodeTree, TreeNode, code_tree};
pub use estimated_frequencies::Channel;
pub use generator::{TreeGenerator, Walk};
pub use sanitised::Sanitised;
