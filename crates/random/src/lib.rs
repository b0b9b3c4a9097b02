//! Coins, exact samplers, rationals, noise and the tails of its laws.
#![forbid(unsafe_code)]

pub mod binomial;
mod bisect;
mod coins;
mod error;
mod noise;
pub mod normal;
mod ratio;
mod sampler;
#[cfg(any(test, feature = "testing"))]
pub mod testing;
mod uniform;

pub use bisect::bisect;
pub use coins::{Coins, Key, Source};
pub use error::Error;
pub use noise::Noise;
pub use ratio::Ratio;
pub use sampler::{bernoulli, bernoulli_exp, discrete_gaussian, discrete_laplace};
pub use uniform::{below, below_big, shuffle};
