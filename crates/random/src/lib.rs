//! Coins, exact samplers, rationals, noise and the tails of its laws. Nothing here knows what is
//! protected or what it costs.
//!
//! From a call's coins to a noisy integer, in order:
//! 1. `coins`: a caller makes [`Coins`] of the operating system, or of a seed for tests and replays;
//!    [`Key`] makes independent streams of them for threads and for noise by cell.
//! 2. `uniform`: integers below a bound, different ones and random orders, from any `rand::Rng`.
//! 3. `ratio`: a float parameter becomes the exact fraction that it is.
//! 4. `sampler`: `bernoulli` draws with exact probabilities p/q and exp(-x), `laplace` from those,
//!    `gaussian` from both.
//! 5. `enclosure`: reals such as exp(-x) between integers, and coins of exactly such a bias.
//! 6. `noise`: [`Noise`] is what mechanisms use: calibrated to a sensitivity, drawn by 4, with the
//!    intervals and thresholds that its law gives.
//!
//! Beside them: `normal` and `binomial` bound the tails of laws from above (noise calls the first, the
//! guarantees of samples and audits call both), `bisect` searches on floats, `error` is the one error
//! of all private mechanisms, and `testing` (a feature) fits draws to laws in the tests of all crates.
#![forbid(unsafe_code)]

pub mod binomial;
mod bisect;
mod coins;
pub mod enclosure;
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
pub use ratio::{Ratio, within_decimal};
pub use sampler::{bernoulli, bernoulli_exp, discrete_gaussian, discrete_laplace};
pub use uniform::{below, below_big, distinct, shuffle};
