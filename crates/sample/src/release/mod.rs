//! A private sample of a table: rows are sampled, cells in rare combinations are blanked, and a
//! form is shown only if at least k sampled rows share it.
//!
//! The schemes differ in where the rare combinations come from. Each has its proof in `schemes.md`;
//! the published one has none, because it does not hold.

mod chance;
mod counts;
#[cfg(test)]
mod exact;
mod levels;
mod noisy;
mod paper;
mod plan;
mod request;
mod rules;
mod sample;
mod select;

pub use plan::Plan;
pub use request::{Request, Scheme};
pub use rules::{Rule, Rules};
pub use sample::{Public, sample};
