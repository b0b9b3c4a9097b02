//! Who is told of the MIIs as they are found.

use crate::path::Path;
use table::{Item, Stop};

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

/// A part of the search that is about to begin.
pub struct Subtree<'a> {
    pub(crate) path: &'a Path<'a>,
    pub(crate) depth: usize,
    /// The groups of the projection at `depth`, if not all of them.
    pub(crate) groups: Option<&'a [u64]>,
    /// The columns that MIIs in this part can use: bit `c % 64` of word `c / 64` for column `c`.
    pub columns: &'a [u64],
}

impl Subtree<'_> {
    /// Whether `accept` is true of every distinct row (a number of the bag given) that can contain
    /// an MII of this part; stops at the first for which it is not.
    pub fn all_rows(&self, mut accept: impl FnMut(u32) -> bool) -> bool {
        self.path.all_light_rows(self.depth, self.groups, &mut accept)
    }
}

/// What one task of the search does with the MIIs it finds.
pub(crate) trait Sink: Send {
    /// Whether rows are needed.
    const ROWS: bool;
    /// Whether [`Sink::skip`] is ever true.
    const SKIPS: bool;

    fn mii(&mut self, items: &[Item], rows: &[u32], support: u64) -> Result<(), Stop>;

    fn skip(&self, subtree: &Subtree<'_>) -> bool;

    /// Takes what a later task of the search has found.
    fn append(&mut self, later: Self) -> Result<(), Stop>;
}

/// Hands MIIs on to a visitor.
pub(crate) struct Forward<'a, V>(pub &'a V);

impl<V: Visitor> Sink for Forward<'_, V> {
    const ROWS: bool = true;
    const SKIPS: bool = V::SKIPS;

    fn mii(&mut self, items: &[Item], rows: &[u32], support: u64) -> Result<(), Stop> {
        self.0.mii(items, rows, support)
    }

    fn skip(&self, subtree: &Subtree<'_>) -> bool {
        self.0.skip(subtree)
    }

    fn append(&mut self, _later: Self) -> Result<(), Stop> {
        Ok(())
    }
}
