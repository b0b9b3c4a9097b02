//! Who is told of the MIIs as they are found.

use table::{Item, Stop};

/// A part of the search that is about to begin.
pub struct Subtree<'a> {
    /// The distinct rows that can contain the MIIs found in it, as numbers of the bag given.
    pub rows: &'a [u32],
    /// The columns these MIIs can use: bit `c % 64` of word `c / 64` for column `c`.
    pub columns: &'a [u64],
}

/// Receives MIIs as they are found, from several threads and in no fixed order.
///
/// [`crate::visit_miis`] is compiled for each visitor, so what a visitor does not use costs nothing.
pub trait Visitor: Sync {
    /// Whether [`Visitor::skip`] is ever true.
    const SKIPS: bool = false;

    /// An MII: its items in no fixed order, the distinct rows that contain it (numbers of the bag
    /// given, ascending), and its support. An error ends the search.
    fn mii(&self, items: &[Item], rows: &[u32], support: u64) -> Result<(), Stop>;

    /// True if the visitor needs to know of none of the MIIs that lie in `subtree`.
    fn skip(&self, subtree: &Subtree<'_>) -> bool {
        let _ = subtree;
        false
    }
}
