//! Private samples of a table: rows are sampled, cells in rare combinations are blanked, and a form is
//! shown only if at least k sampled rows share it. The schemes differ in where the rare combinations
//! come from. Each has its proof in `schemes.md`; the published one has none, because it does not hold.
//!
//! * `sampling`: the theorem. `delta` is what sampling and suppression protect, `parameters` the
//!   largest rate that a budget allows, `poisson` the coins of that rate.
//! * `design`, before the table is read: a [`Request`] becomes a [`Design`] with rate, noise, threshold
//!   and charge. `counts` has the noise of counted marginals; `label` hands the label its facts.
//! * `draw`, on the table: [`draw()`] takes bag, design and coins and returns what is released: rows,
//!   copies and blanked cells, forms below k dropped.
//!   `chance` is everything random that a scheme asks for, flipped by coins here and gone through
//!   completely by the tests in `exact`. Schemes with counts go through `levels` (which cells lie in
//!   rare combinations) with verdicts of `noisy` (noise as a keyed function of the combination);
//!   `dp_select` chooses columns by the scores of `select`; `rules` are combinations given by hand;
//!   `paper` is the published algorithm, for comparison.
//!
//! Order of a call: Request, Design, charge (crates/guarantee), draw, rows.
//! `examples/audit.rs` audits all schemes with fresh coins.
#![forbid(unsafe_code)]

mod design;
mod draw;
mod sampling;

pub use design::{Design, Request, Scheme};
pub use draw::{Public, Rule, Rules, draw};
pub use sampling::{Parameters, Rate, SamplingDelta, Thinning, parameters, sampling_delta};
