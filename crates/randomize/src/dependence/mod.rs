//! How much an output reveals about its input, for a given prior.
//!
//! * `channel`: [`Channel`] is any randomisation as a matrix; [`Channel::dependence`] measures how far input and
//!   output depend on each other, and how well the input can be guessed.
//! * `counts`: exact counts of independent rows: how much they reveal about one row to someone who knows the law of
//!   the rows and no other row. The proofs are in `counts.md`.
//! * `binomial`: tails of the binomial law on both sides, as logarithms, for the counts.

mod binomial;
mod channel;
mod counts;

pub use channel::{Channel, Dependence};
pub use counts::{ExactCount, exact_count_epsilon, exact_counts_epsilon};
