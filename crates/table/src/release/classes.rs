//! The equality classes of a release, as its reader sees them.

use super::{Piece, Release};
use crate::{Bag, Index, Stop, Watch};
use std::hash::{Hash, Hasher};

/// The equality classes of a release.
#[derive(Debug, Clone)]
pub struct Classes {
    /// The class of each piece.
    of: Vec<u32>,
    /// The rows of each class.
    sizes: Vec<u64>,
}

impl Classes {
    /// The class of piece number `piece`.
    pub fn of(&self, piece: usize) -> u32 {
        self.of[piece]
    }

    /// The rows of each class, by class.
    pub fn sizes(&self) -> &[u64] {
        &self.sizes
    }
}

/// A piece as it is released: equal to another if all cells are.
struct Shown<'a> {
    release: &'a Release,
    bag: &'a Bag,
    piece: &'a Piece,
}

impl Shown<'_> {
    fn cells(&self) -> impl Iterator<Item = u32> {
        self.release.cells(self.bag, self.piece)
    }
}

impl Hash for Shown<'_> {
    fn hash<H: Hasher>(&self, hasher: &mut H) {
        self.cells().for_each(|code| hasher.write_u32(code));
    }
}

impl PartialEq for Shown<'_> {
    fn eq(&self, other: &Self) -> bool {
        self.cells().eq(other.cells())
    }
}

impl Eq for Shown<'_> {}

impl Release {
    /// The equality classes: pieces whose released rows are equal, NULL being equal to NULL.
    /// Linear in the pieces.
    pub fn classes(&self, bag: &Bag, watch: &Watch) -> Result<Classes, Stop> {
        let pieces = self.pieces();
        // The class of each piece; and as if each were a class: its size, and a place in an index
        // that is grown by doubling.
        let _held = watch.hold(pieces.len() as u64 * (4 + 8 + 40))?;
        let shown = |piece| Shown { release: self, bag, piece };
        let mut index = Index::new();
        // A piece of each class.
        let mut firsts: Vec<&Piece> = Vec::new();
        let mut classes = Classes { of: Vec::with_capacity(pieces.len()), sizes: Vec::new() };
        for (i, piece) in pieces.iter().enumerate() {
            watch.poll(i)?;
            let class = index.number(shown(piece), |class| shown(firsts[class as usize]));
            let class = class.unwrap_or_else(|new| {
                firsts.push(piece);
                classes.sizes.push(0);
                new
            });
            classes.sizes[class as usize] += piece.weight;
            classes.of.push(class);
        }
        Ok(classes)
    }

    /// The rows of the smallest class; `None` if nothing is released.
    pub fn k(&self, bag: &Bag, watch: &Watch) -> Result<Option<u64>, Stop> {
        Ok(self.classes(bag, watch)?.sizes.iter().copied().min())
    }

    /// The release without the rows whose class has fewer than `k`. The other classes lose no row,
    /// so all that are left have `k`.
    pub fn without_small_classes(mut self, bag: &Bag, k: u64, watch: &Watch) -> Result<Self, Stop> {
        let classes = self.classes(bag, watch)?;
        let mut number = 0;
        self.pieces.retain(|_| {
            let class = classes.of[number];
            number += 1;
            classes.sizes[class as usize] >= k
        });
        Ok(self)
    }
}
