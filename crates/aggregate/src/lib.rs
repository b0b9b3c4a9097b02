//! Noisy aggregates with a person, not a row, as the unit of protection.
//!
//! A call goes through four steps: [`Plan`] fixes every sensitivity, noise and threshold from public
//! arguments alone; [`Bounded`] keeps at most so many rows and groups of each unit, chosen by fresh
//! coins, and [`UnitRows`] the units' own values; [`Plan::totals`] adds them up in integers;
//! [`Plan::answers`] adds noise and tells values and 95 % intervals. Only the last two look at data,
//! and only integers are noised. [`Scales`] finds bounds of columns before all that.
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
