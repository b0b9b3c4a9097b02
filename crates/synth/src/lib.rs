//! Synthetic rows from noisy marginals: select, measure, generate (section 22 of the design).
//!
//! A fit counts marginals of a bag whose values are public, releases some of the counts with noise, and keeps a law
//! of rows that agrees with them: a product of one factor per marginal. Everything after the noise is computed from
//! noisy numbers alone. `proof.md` proves the cost of a fit.
//!
//! From a bag to rows:
//! 1. `request`: a [`SynthesisRequest`] is what a caller asks for; it makes the candidates, pairs of columns.
//! 2. `counts`: the true counts of all columns and candidates.
//! 3. `curator`: holds these counts and answers questions about them with noise: the counts of a marginal, or which
//!    candidate the law predicts worst, by a `score` and the exponential mechanism of `exponential`. It charges the
//!    price of every answer to `spending`.
//! 4. `fit`: [`fit()`] asks the curator about columns, then about chosen pairs, until no rho is left, with steps 5
//!    and 6 in between. From here on there are only noisy numbers.
//! 5. `descent`: moves factors until the law agrees with the measurements.
//! 6. `pairs`: the law of every pair of columns.
//! 7. `model`: [`SynthesisModel`] is the result, stored as JSON.
//! 8. `drawer` and `refinement`: a [`RowDrawer`] draws rows from it.
//!
//! Laws of many columns are kept in `network`: beliefs about the cliques of a `junction` tree, whose tables are
//! summed and multiplied by a `summation`; `schema` counts cells. For tests, `reference` has laws by their
//! definition, and `audit` compares the changes between neighbouring tables with the charges.
//!
//! `units`: where people own several rows, a [`UnitBag`] bounds them before the fit.
#![forbid(unsafe_code)]

#[cfg(test)]
mod audit;
mod counts;
mod curator;
mod descent;
mod drawer;
mod exponential;
mod fit;
mod junction;
mod model;
mod network;
mod pairs;
#[cfg(test)]
mod reference;
mod refinement;
mod request;
mod schema;
mod score;
mod spending;
mod summation;
mod units;

pub use drawer::RowDrawer;
pub use fit::fit;
pub use model::{Marginal, SynthesisModel};
pub use request::SynthesisRequest;
pub use spending::FitCharge;
pub use units::UnitBag;
