//! Private samples of a table: the sampling theorem and the five schemes.
#![forbid(unsafe_code)]

mod label;
mod release;
mod sampling;

pub use release::{Plan, Public, Request, Rule, Rules, Scheme, sample};
pub use sampling::{Method, Parameters, Rate, SamplingDelta, Thinning, parameters, sampling_delta};
