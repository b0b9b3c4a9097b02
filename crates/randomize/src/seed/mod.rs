//! Randomised transactions as short seeds. A public generator makes the items of a seed, of which any few are
//! independent, and a seed is drawn whose items agree with the randomised transaction (section 5 of Evfimievski,
//! Gehrke and Srikant). Proof and bit layout are in seed.md.
//!
//! * `field`: powers of a primitive element of GF(2^r).
//! * `code`: [`Code`] is the layout of seeds for a universe, sizes and a rho = a / 2^b; it reads the items of a seed
//!   ([`Code::contains`], [`Code::items`]).
//! * `draw`: [`Code::draw`] makes a seed of a transaction.
//! * `slices`: the items of 64 seeds at a time, for mining.

mod code;
mod draw;
mod field;
mod slices;

pub use code::{Code, Seed, Shape};
pub use slices::{LANES, Scratch, Slices};

/// The largest universe: the powers of the largest field, for rho of one binary digit.
pub const MAX_UNIVERSE: u32 = (1 << 26) - 1;

/// The largest number of binary digits of rho.
pub const MAX_BITS: u32 = 16;
