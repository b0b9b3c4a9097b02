//! How much an output tells of its input, for a given prior.
//!
//! * `channel`: [`Channel`] is any randomisation as a matrix; [`Channel::dependence`] says how far input and
//!   output depend on each other, and what that allows to guess.
//! * `counts`: exact counts of independent rows, released as they are: what they tell of one row to somebody who
//!   knows the rows' law and no other row. The proofs are in `counts.md`.
//! * `binomial`: tails of the binomial law on both sides, as logarithms, for the counts.

mod binomial;
mod channel;
mod counts;

pub use channel::{Channel, Dependence};
pub use counts::{ExactCount, exact_count_epsilon, exact_counts_epsilon};
