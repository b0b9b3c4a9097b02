//! Exact noise, private sampling, accounting and the guarantee label.
#![forbid(unsafe_code)]

mod accounting;
pub mod aggregate;
pub mod audit;
mod error;
pub mod guarantee;
mod noise;
mod random;
mod ratio;
mod release;
mod sampler;
mod sampling;
#[cfg(test)]
mod testing;

pub use accounting::{
    Charge, Cost, concentrated_epsilon, mixture, zcdp_delta, zcdp_epsilon, zcdp_rho,
};
pub use error::Error;
pub use guarantee::Guarantee;
pub use noise::Noise;
pub use random::{Coins, Key, Source, below, below_big, shuffle};
pub use ratio::Ratio;
pub use release::{Piece, Plan, Public, Released, Request, Rule, Rules, Scheme, sample};
pub use sampler::{bernoulli, bernoulli_exp, discrete_gaussian, discrete_laplace};
pub use sampling::{Method, Parameters, Rate, SamplingDelta, Thinning, parameters, sampling_delta};
