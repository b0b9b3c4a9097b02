//! Randomisation operators: what they do, what their output tells, and what can be learned from it.
//!
//! An operator turns an input x into an output y with probability p\[x -> y\]. In the order in which one
//! is chosen, judged, applied and undone:
//!
//! * `matrix`: [`Operator`], the probabilities as a matrix that was checked, and [`Prior`], what is believed
//!   of inputs before an output is seen. Callers make them of arrays; everything below reads them.
//! * `amplification`: how far an operator can move any belief whatever the prior: gamma, and the limits
//!   that breaches set it.
//! * `posterior`: what is believed of an input after its output is seen.
//! * `breach`: for a prior that is known, the properties whose probability an output moves furthest.
//! * `number`: [`NumberOperator`], an operator for whole numbers that is drawn from exactly, and its gamma.
//! * `reconstruct`: the law of the inputs from counts of outputs, with standard deviations; `linear`
//!   inverts matrices for it.
//!
//! What an operator tells in bits is in the crate of the measures. Proofs are in the `.md` files named
//! after the code.

mod amplification;
mod breach;
mod linear;
mod matrix;
mod number;
mod posterior;
mod reconstruct;

pub use amplification::{
    Bounds, amplification, breach_gamma, breach_posterior, check_breach, check_probability,
};
pub use breach::{Direction, Worst, breach_check};
pub use matrix::{MAX_CELLS, Operator, Prior};
pub use number::NumberOperator;
pub use posterior::posterior;
pub use reconstruct::{Estimate, Method, reconstruct};
