//! What an operator's output reveals about its input, in bits, and which breaches that rules out.
//!
//! `information` takes an operator and a prior and returns three numbers; `breach` turns such numbers into limits on
//! breaches and back. Everything depends on the prior: someone with other beliefs learns something else.

mod bits;
mod breach;

pub use bits::{Information, information};
pub use breach::{BreachBound, breach_information, information_breach_bound};

#[cfg(test)]
mod tests;
