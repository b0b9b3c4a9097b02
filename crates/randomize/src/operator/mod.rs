//! Randomisation operators: their law, the breaches that they allow, and estimates from their output.
//!
//! An operator turns an input x into an output y with probability p\[x -> y\]. In the order in which one
//! is chosen, judged, applied and undone:
//!
//! * `matrix`: [`Operator`], the probabilities as a matrix that was checked, and [`Prior`], the belief about inputs
//!   before an output is seen. Callers make them from arrays; everything below reads them.
//! * `amplification`: how far an operator can move any belief whatever the prior: gamma, and the limits on it that
//!   exclude breaches.
//! * `posterior`: the belief about an input after its output is seen.
//! * `breach`: for a known prior, the properties whose probability an output moves furthest.
//! * `number`: [`NumberOperator`], an operator for whole numbers with exact draws, and its gamma.
//! * `reconstruct`: the law of the inputs from counts of outputs, with standard deviations; `linear` inverts matrices
//!   for it.
//!
//! The crate `measures` has what an operator reveals in bits. Proofs are in the `.md` files named after the code.

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
