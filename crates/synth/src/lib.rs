//! Synthetic rows from noisy marginals: select, measure, generate (section 22 of the design).
//!
//! A fit counts marginals of a bag whose values are public, releases some of the counts with noise, and
//! keeps a law of rows that agrees with them: a product of one factor per marginal. Everything after
//! the noise is computed from noisy numbers alone. `proof.md` says what the fit costs, and why.
//!
//! From a bag to rows:
//! 1. `request`: [`Request`] is what a caller asks for; it makes the candidates, pairs of columns.
//! 2. `counts`: the true counts of all columns and candidates.
//! 3. `curator`: holds these counts and answers questions about them with noise: the counts of a
//!    marginal, or which candidate the law predicts worst, by a `score` and the exponential mechanism
//!    of `choose`. It takes the price of every answer from `spend`.
//! 4. `fit`: [`fit()`] asks the curator about columns, then about chosen pairs, until no rho is left,
//!    and calls 5 and 6 in between. From here on there are only noisy numbers.
//! 5. `descent`: moves factors until the law agrees with what was measured.
//! 6. `pairs`: what the law says about every pair of columns.
//! 7. `model`: [`Model`] is what remains, stored as JSON.
//! 8. `draw` and `refine`: a [`Drawer`] draws rows from it.
//!
//! Laws of many columns live in `network`: beliefs about the cliques of a `junction` tree, whose tables
//! are summed and multiplied by a `plan`; `schema` counts cells. For tests, `reference` has laws by their
//! definition, and `audit` compares what neighbouring tables change with what was charged.
//!
//! `units`: where people own several rows, a [`UnitBag`] bounds them before the fit.
#![forbid(unsafe_code)]

#[cfg(test)]
mod audit;
mod choose;
mod counts;
mod curator;
mod descent;
mod draw;
mod fit;
mod junction;
mod model;
mod network;
mod pairs;
mod plan;
#[cfg(test)]
mod reference;
mod refine;
mod request;
mod schema;
mod score;
mod spend;
mod units;

pub use draw::Drawer;
pub use fit::fit;
pub use model::{Marginal, Model};
pub use request::Request;
pub use spend::Charge;
pub use units::UnitBag;
