//! Sampling and suppression: keep each row with probability beta, and show a form only if at least k sampled rows
//! share it. The guarantee of that, the choice of beta, and the sampling itself.

mod delta;
mod parameters;
mod poisson;

pub use delta::{SamplingDelta, sampling_delta};
pub use parameters::{Parameters, parameters};
pub use poisson::{Rate, Thinning};

pub(crate) use parameters::{check_delta, check_split};
