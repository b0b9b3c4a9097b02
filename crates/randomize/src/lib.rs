//! Mechanisms that randomise what a row says, and what their output is worth.
//!
//! * [`cells`]: randomised response on every cell of a row, and supports estimated from such rows.
//! * [`itemset`]: itemsets drawn with a probability that grows with their support.
//! * [`dependence`]: how much an output tells of its input, for a given prior.
#![forbid(unsafe_code)]

pub mod cells;
pub mod dependence;
pub mod itemset;
