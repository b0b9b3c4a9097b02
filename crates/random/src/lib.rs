//! Coins, exact samplers, rationals, noise and the tails of its laws. This crate does not know what is protected or
//! what it costs.
//!
//! From a call's coins to a noisy integer, in order:
//! 1. `coins`: a caller makes [`Coins`] of the operating system, or of a seed for tests and replays; [`Key`] derives
//!    independent streams for threads and for noise by cell.
//! 2. `uniform`: uniform integers below a bound, distinct ones and random orders, from any `rand::Rng`.
//!    `reservoir`: at most a given number of rows of each unit, the one law of bounding.
//! 3. `ratio`: turns a float parameter into the exact fraction that it is.
//! 4. `sampler`: `bernoulli` draws with exact probabilities p/q and exp(-x), `laplace` from those,
//!    `gaussian` from both.
//! 5. `enclosure`: reals such as exp(-x) between integers, and coins of exactly such a bias.
//! 6. `noise`: [`Noise`] is what mechanisms use: calibrated to a sensitivity, drawn by 4, with the intervals and
//!    thresholds of its law.
//!
//! Also: `normal` and `binomial` bound the tails of laws from above (noise uses the first, the guarantees of samples
//! and audits use both), `bisect` searches on floats, `error` is the one error of all private mechanisms, and
//! `testing` (a feature) tests draws against laws in all crates.
#![forbid(unsafe_code)]

pub mod binomial;
mod bisect;
mod coins;
pub mod enclosure;
mod error;
mod noise;
pub mod normal;
mod ratio;
mod reservoir;
mod sampler;
#[cfg(any(test, feature = "testing"))]
pub mod testing;
mod uniform;

pub use bisect::bisect;
pub use coins::{Coins, Key, Source};
pub use error::Error;
pub use noise::Noise;
pub use ratio::{Ratio, within_decimal};
pub use reservoir::Reservoirs;
pub use sampler::{bernoulli, bernoulli_exp, bernoulli_word, discrete_gaussian, discrete_laplace};
pub use uniform::{below, below_big, distinct, shuffle};
