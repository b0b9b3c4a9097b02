//! Noisy aggregates with a person, not a row, as the unit of protection.
//!
//! A call in order, and who calls whom:
//! 1. `scales`: [`Scales`] finds the bounds of columns that nobody declared, for a part of epsilon.
//! 2. `plan`: [`Plan`] is made from a [`Query`] of measures (`measure`) by public arguments alone.
//!    `sensitivity` says how far a unit moves each integer, `spend` which noise that takes and what it
//!    costs; the ledger is charged before anything is read.
//! 3. `reservoir`: the reader fills a [`Bounded`], which keeps at most so many rows and groups of each
//!    unit by fresh coins; `batch` carries rows there from another thread. Measures that look at one
//!    value for each unit go to [`UnitRows`] instead.
//! 4. `totals`: [`Plan::totals`] adds them up to the integers of each group, and drops groups whose
//!    noisy number of units is too small.
//! 5. `answer`: [`Plan::answers`] adds noise to these integers and to nothing else, and tells values
//!    and 95 % intervals; `quantile` reads quantiles from noisy counts, `interval` adds up noises.
//!
//! Step 2 looks at no data. What a unit can change in every noised integer is audited exactly in
//! `tests/sensitivity.rs`.
#![forbid(unsafe_code)]

mod answer;
mod batch;
mod interval;
mod measure;
mod plan;
mod quantile;
mod reservoir;
mod scales;
mod sensitivity;
mod spend;
mod totals;

pub use answer::Answer;
pub use batch::Batch;
pub use measure::{Kind, Measure, Range, Step};
pub use plan::{Plan, Query};
pub use reservoir::Bounded;
pub use scales::Scales;
pub use spend::Selection;
pub use totals::UnitRows;

/// The value of a row that has none.
pub const NO_VALUE: i64 = i64::MIN;

/// Everything is counted in units of 1/1024 before noise is added. Noise on this finer grid costs
/// nothing, and its quantiles are as good as continuous: an interval on whole counts would have to
/// cover 97 % where 95 % are promised.
pub(crate) const FINE: i128 = 1024;
