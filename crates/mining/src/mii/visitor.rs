//! Visitors, which receive MIIs as they are found.

use crate::mii::projection_path::ProjectionPath;
use crate::project::groups::RowGroups;
use table::{Item, Stop};

/// Receives MIIs as they are found, from several threads and in no fixed order.
///
/// [`crate::visit_miis`] is compiled for each visitor, so unused features cost nothing.
pub trait Visitor: Sync {
    /// Whether [`Visitor::skip`] is ever true.
    const SKIPS: bool = false;

    /// An MII: its items in no fixed order, the distinct rows that contain it (numbers of the bag
    /// given, ascending), also those without a unit, and its support. An error ends the search.
    fn mii(&self, items: &[Item], rows: &[u32], support: u64) -> Result<(), Stop>;

    /// True if the visitor needs no MII that uses only the columns of `part` and occurs only in its rows. An MII that
    /// also occurs elsewhere may still be handed over.
    fn skip(&self, part: &Subtree<'_>) -> bool {
        let _ = part;
        false
    }
}

/// Rows that agree on some columns: a part of the search that is about to begin.
pub struct Subtree<'a> {
    /// The columns, as [`table::bits`].
    pub columns: &'a [u64],
    /// The rows are those of a group, whose origins are groups of the projection at `depth`.
    pub(crate) path: &'a ProjectionPath<'a>,
    pub(crate) depth: usize,
    pub(crate) groups: &'a RowGroups,
    pub(crate) group: u32,
}

impl Subtree<'_> {
    /// Whether `accept` is true for every distinct row, a number of the bag given; stops at the first for which it is
    /// not. Rows of a part that was skipped before are left out.
    pub fn all_rows(&self, mut accept: impl FnMut(u32) -> bool) -> bool {
        let parent = &self.path.node(self.depth).projection.groups;
        let mut origins = self.groups.origins(self.group).filter(|&origin| !parent.skipped(origin));
        origins.all(|origin| self.path.all_rows(self.depth, origin, &mut accept))
    }
}

/// Receives the MIIs that one task of the search finds.
pub(crate) trait Sink: Send {
    /// Whether rows are needed.
    const ROWS: bool = false;
    /// Whether [`Sink::skip`] is ever true.
    const SKIPS: bool = false;

    fn mii(&mut self, items: &[Item], rows: &[u32], support: u64) -> Result<(), Stop>;

    fn skip(&self, part: &Subtree<'_>) -> bool {
        let _ = part;
        false
    }

    /// The findings of this and of a later part of the search.
    fn then(self, later: Self) -> Result<Self, Stop>
    where
        Self: Sized;
}

/// Hands MIIs on to a visitor.
pub(crate) struct Forward<'a, V>(pub &'a V);

impl<V: Visitor> Sink for Forward<'_, V> {
    const ROWS: bool = true;
    const SKIPS: bool = V::SKIPS;

    fn mii(&mut self, items: &[Item], rows: &[u32], support: u64) -> Result<(), Stop> {
        self.0.mii(items, rows, support)
    }

    fn skip(&self, part: &Subtree<'_>) -> bool {
        self.0.skip(part)
    }

    fn then(self, _later: Self) -> Result<Self, Stop> {
        Ok(self)
    }
}
