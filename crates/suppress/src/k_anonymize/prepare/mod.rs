//! What the search needs to know of a table: cells at each level, and rows in an order of their own.

mod columns;
mod people;
mod weights;

pub(crate) use columns::{Column, UNIT};
pub(crate) use people::{People, Selected};
pub(crate) use weights::checked_weights;

/// Splitmix64's mixer, a bijection: neighbouring numbers get unrelated keys, different numbers
/// different ones.
pub(crate) fn mix(number: u64) -> u64 {
    let mut x = number.wrapping_add(0x9e37_79b9_7f4a_7c15);
    x = (x ^ (x >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    x = (x ^ (x >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    x ^ (x >> 31)
}
