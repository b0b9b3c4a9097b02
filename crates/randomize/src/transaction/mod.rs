//! Select-a-size: some items of a transaction are kept, and every other item of the universe is added by chance
//! (Evfimievski, Gehrke and Srikant, Limiting privacy breaches in privacy preserving data mining).
//!
//! From a breach limit to mined itemsets, in order:
//! 1. `optimal`: [`keep`] is the law of the number of kept items that preserves most information for a given
//!    amplification gamma; [`design`] finds the best of them over rho and the cut.
//! 2. `operator`: a [`SizeOperator`] is rho and that law in integers, so that its [`SizeOperator::gamma`] is the true
//!    one. [`SizeOperator::mark`] chooses what is kept, [`SizeOperator::randomize`] also adds the false items;
//!    `crate::seed` uses the first, SQL both. The proof is in select_a_size.md.
//! 3. `matrix`: the effect on the number of items that a transaction shares with an itemset.
//! 4. `estimate`: an [`Estimator`] inverts that effect, with the standard deviation; `discoverable` computes the
//!    support from which an itemset can be distinguished from none, which `design` minimises.
//! 5. `itemsets`: frequent itemsets of randomised transactions.
//!
//! Also: `linear` inverts small matrices.

mod design;
mod discoverable;
mod estimate;
pub mod itemsets;
mod linear;
mod matrix;
mod operator;
mod optimal;

pub use design::{DesignRequest, OperatorDesign, design};
pub use discoverable::Convention;
pub use estimate::{Estimate, Estimator};
pub use matrix::matrix;
pub use operator::{Marked, SizeOperator, transaction_of};
pub use optimal::keep;

/// The largest size of a transaction.
pub const MAX_SIZE: usize = 64;

/// The largest number of items.
pub const MAX_UNIVERSE: u32 = (1 << 20) - 1;

/// The tolerance for the sum of probabilities.
const SUM_TOLERANCE: f64 = 1e-9;
