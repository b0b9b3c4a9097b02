//! Private samples of a table: rows are sampled, cells in rare combinations are blanked, and a form is shown only if
//! at least k sampled rows share it. The schemes differ in the source of the rare combinations. Each has its proof in
//! `schemes.md`, except the published one, which is not private.
//!
//! * `sampling`: the theorem. `delta` computes the guarantee of sampling and suppression, `parameters` the largest
//!   rate that a budget allows, `poisson` draws at that rate.
//! * `design`, before the table is read: a [`SampleRequest`] becomes a [`Design`] with rate, noise, threshold and
//!   charge. `counts` has the noise of counted marginals; `label` gives the label its facts.
//! * `draw`, on the table: [`draw()`] takes bag, design and coins and returns the release: rows, copies and blanked
//!   cells, without forms below k. `random_choices` has every random choice of a scheme: coins make them here, and
//!   the tests in `exact_law` enumerate them. Schemes with counts use `rare_cells` (which cells lie in rare
//!   combinations) with verdicts of `noisy_counts` (noise as a keyed function of the combination). `dp_select`
//!   chooses columns by `column_scores`; `rules` are combinations given by hand; `paper` is the published algorithm,
//!   for comparison.
//!
//! Order of a call: SampleRequest, Design, charge (crates/guarantee), draw, rows.
//! `examples/audit.rs` audits all schemes with fresh coins.
#![forbid(unsafe_code)]

mod design;
mod draw;
mod sampling;

pub use design::{Design, SampleRequest, Scheme};
pub use draw::{Public, Rule, Rules, draw};
pub use sampling::{Parameters, Rate, SamplingDelta, Thinning, parameters, sampling_delta};
