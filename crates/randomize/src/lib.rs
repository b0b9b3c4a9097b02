//! Mechanisms that randomise what a row says, and what their output is worth.
//!
//! * [`cells`]: randomised response on every cell of a row, and supports estimated from such rows.
//! * [`itemset`]: itemsets drawn with a probability that grows with their support.
//! * [`dependence`]: how much an output tells of its input, for a given prior.
//! * [`transaction`]: select-a-size operators on transactions, their design, and supports estimated from
//!   what they make.
//! * [`seed`]: randomised transactions as short seeds.
//! * [`operator`]: operators as matrices, the breaches that they allow, whole numbers that are randomised,
//!   and the law of the inputs from what came out.
#![forbid(unsafe_code)]

pub mod cells;
pub mod dependence;
pub mod itemset;
pub mod operator;
pub mod seed;
pub mod transaction;
