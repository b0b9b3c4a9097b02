//! What an operator's output tells of its input, in bits, and which breaches that rules out.
//!
//! `information` needs an operator and a prior and gives three numbers; `breach` turns such numbers into
//! limits of breaches and back. All of it depends on the prior: somebody who believes something else learns
//! something else.

mod bits;
mod breach;

pub use bits::{Information, information};
pub use breach::{BreachBound, breach_information, information_breach_bound};

#[cfg(test)]
mod tests;
