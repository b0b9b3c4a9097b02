//! Mechanisms that randomise what a row says, and what their output is worth.
//!
//! * [`cells`]: randomised response on every cell of a row, and supports estimated from such rows.
//! * [`itemset`]: itemsets drawn with a probability that grows with their support.
//! * [`dependence`]: how much an output tells of its input, for a given prior.
//! * [`transaction`]: select-a-size operators on transactions, their design, and supports estimated from
//!   what they make.
//! * [`seed`]: randomised transactions as short seeds.
#![forbid(unsafe_code)]

pub mod cells;
pub mod dependence;
pub mod itemset;
pub mod seed;
pub mod transaction;
