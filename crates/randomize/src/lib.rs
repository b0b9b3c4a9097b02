//! Mechanisms that randomise rows, transactions or values, and estimates from their output.
//!
//! * [`cells`]: randomised response on every cell of a row, and supports estimated from such rows.
//! * [`itemset`]: itemsets drawn with a probability that grows with their support.
//! * [`dependence`]: how much an output reveals about its input, for a given prior.
//! * [`transaction`]: select-a-size operators on transactions, their design, and supports estimated from their
//!   output.
//! * [`seed`]: randomised transactions as short seeds.
//! * [`operator`]: operators as matrices, the breaches that they allow, randomised whole numbers, and the law of the
//!   inputs from counts of outputs.
#![forbid(unsafe_code)]

pub mod cells;
pub mod dependence;
pub mod itemset;
pub mod operator;
pub mod seed;
pub mod transaction;
