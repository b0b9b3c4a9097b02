//! Noisy aggregates with a person, not a row, as the unit of protection.
//!
//! The steps of a call, and the files that do them:
//! 1. `scales`: [`Scales`] finds the bounds of columns without declared ones, for a part of epsilon.
//! 2. `plan`: a [`NoisePlan`] is made from a [`Query`] of measures (`measure`) by public arguments alone.
//!    `sensitivity` says how far a unit can move each integer, `calibration` which noise that needs and what it
//!    costs. The ledger is charged before anything is read.
//! 3. `reservoir`: the reader fills a [`Bounded`], which keeps a bounded number of rows and groups of each unit by
//!    fresh coins; `batch` carries rows there from another thread. Measures of one value per unit use [`UnitRows`]
//!    instead.
//! 4. `totals`: [`NoisePlan::totals`] adds the kept rows up to the integers of each group, and drops groups whose
//!    noisy number of units is too small.
//! 5. `answer`: [`NoisePlan::answers`] adds noise to these integers, and computes values and 95 % intervals from the
//!    noisy integers alone; `quantile` reads quantiles from noisy counts, `interval` adds up noises.
//!
//! Step 2 looks at no data. `tests/sensitivity.rs` audits exactly how far a unit can change every noised integer.
#![forbid(unsafe_code)]

mod answer;
mod batch;
mod calibration;
mod interval;
mod measure;
mod plan;
mod quantile;
mod reservoir;
mod scales;
mod sensitivity;
mod totals;

pub use answer::Answer;
pub use batch::Batch;
pub use calibration::Selection;
pub use measure::{Measure, MeasureKind, Range, Step};
pub use plan::{NoisePlan, Query};
pub use reservoir::Bounded;
pub use scales::Scales;
pub use totals::UnitRows;

/// The value of a row that has none.
pub const NO_VALUE: i64 = i64::MIN;

/// Everything is counted in units of 1/1024 before noise is added. Noise on this finer grid costs nothing, and its
/// quantiles are nearly continuous. On whole counts an interval would have to cover 97 % to promise 95 %.
pub(crate) const FINE: i128 = 1024;
