//! Select-a-size: some items of a transaction are kept, and every other item of the universe comes in by
//! chance (Evfimievski, Gehrke and Srikant, Limiting privacy breaches in privacy preserving data mining).
//!
//! From a breach limit to mined itemsets, in order:
//! 1. `optimal`: [`keep`] is the law of the number of kept items that tells most for a given amplification
//!    gamma; [`design`] looks for the best of them over rho and the cut.
//! 2. `operator`: an [`Operator`] is rho and that law in integers, so that its [`Operator::gamma`] is the true
//!    one. [`Operator::mark`] chooses what is kept, [`Operator::randomize`] also adds the false items;
//!    `crate::seed` uses the first, SQL both. The proof is in select_a_size.md.
//! 3. `matrix`: what randomising does to the number of items that a transaction shares with an itemset.
//! 4. `estimate`: an [`Estimator`] turns such numbers back, with the standard deviation; `discover` says from
//!    which support on that can be told from nothing, which is what `design` makes small.
//! 5. `itemsets`: frequent itemsets of randomised transactions.
//!
//! Beside them: `linear` solves small systems.

mod design;
mod discover;
mod estimate;
pub mod itemsets;
mod linear;
mod matrix;
mod operator;
mod optimal;

pub use design::{Design, Request, design};
pub use discover::Convention;
pub use estimate::{Estimate, Estimator};
pub use matrix::matrix;
pub use operator::{Marked, Operator, transaction_of};
pub use optimal::keep;

/// The largest size of a transaction.
pub const MAX_SIZE: usize = 64;

/// The largest number of items.
pub const MAX_UNIVERSE: u32 = (1 << 20) - 1;

/// How far from 1 probabilities may add up to.
const SUM_TOLERANCE: f64 = 1e-9;
