//! The equality classes of a release, as its reader sees them.

use super::Release;
use crate::{Bag, Codes, Index, Stop, Watch};

/// The equality classes of a release.
#[derive(Debug, Clone)]
pub struct ReleaseClasses {
    /// The class of each piece.
    of: Vec<u32>,
    /// The rows of each class.
    sizes: Vec<u64>,
}

impl ReleaseClasses {
    /// The class of piece number `piece`.
    pub fn of(&self, piece: usize) -> u32 {
        self.of[piece]
    }

    /// The rows of each class, by class.
    pub fn sizes(&self) -> &[u64] {
        &self.sizes
    }
}

impl Release {
    /// The equality classes: pieces whose released rows are equal, NULL being equal to NULL.
    /// Linear in the pieces.
    pub fn classes(&self, bag: &Bag, watch: &Watch) -> Result<ReleaseClasses, Stop> {
        self.classes_on(bag, bag.width(), watch)
    }

    /// [`Release::classes`] by the first `width` columns only.
    pub fn classes_on(
        &self,
        bag: &Bag,
        width: usize,
        watch: &Watch,
    ) -> Result<ReleaseClasses, Stop> {
        let piece = |number: u32| &self.pieces[number as usize];
        // Without filled cells there is no need to look at fills, which saves a tenth of the work.
        if self.forms.fill() {
            self.group(|number| self.cells(bag, piece(number)).take(width), watch)
        } else {
            self.group(|number| self.blanked(bag, piece(number)).take(width), watch)
        }
    }

    fn group<I: Iterator<Item = u32> + Clone>(
        &self,
        cells: impl Fn(u32) -> I,
        watch: &Watch,
    ) -> Result<ReleaseClasses, Stop> {
        // The class of each piece; and as if each piece were a class, its size and a slot in an index that grows by
        // doubling.
        let _held = watch.hold(self.pieces.len() as u64 * (4 + 8 + 40))?;
        let mut index = Index::new();
        // A piece of each class.
        let mut firsts: Vec<u32> = Vec::new();
        let mut classes =
            ReleaseClasses { of: Vec::with_capacity(self.pieces.len()), sizes: Vec::new() };
        for (i, piece) in self.pieces.iter().enumerate() {
            watch.poll(i)?;
            let class = index.number(Codes(cells(i as u32)), |c| Codes(cells(firsts[c as usize])));
            let class = class.unwrap_or_else(|new| {
                firsts.push(i as u32);
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

    /// The release without the rows of classes with fewer than `k` rows. The other classes lose no row, so all
    /// remaining classes have at least `k`.
    pub fn without_small_classes(mut self, bag: &Bag, k: u64, watch: &Watch) -> Result<Self, Stop> {
        let classes = self.classes(bag, watch)?;
        self.retain(|piece, _| classes.sizes[classes.of[piece] as usize] >= k);
        Ok(self)
    }
}
