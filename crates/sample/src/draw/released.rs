//! What is released of a table.

use table::{Bag, NONE, Stop, Watch};

/// Copies of a distinct row that are released.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Piece {
    /// The distinct row, as a number of the bag.
    pub row: u32,
    /// The number of copies; [`crate::Scheme::Paper`] draws with replacement, so that a row may be
    /// released more often than it occurs.
    pub weight: u64,
}

/// Distinct rows of a bag with the copies that are released and the cells that are blanked.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Released {
    words: usize,
    pieces: Vec<Piece>,
    /// The blanked columns of each piece: bit `c % 64` of word `c / 64` for column `c`.
    masks: Vec<u64>,
}

impl Released {
    pub(super) fn new(width: usize) -> Self {
        Released { words: width.div_ceil(64), pieces: Vec::new(), masks: Vec::new() }
    }

    /// Releases `weight` copies of a distinct row without the cells of `mask`.
    pub(super) fn push(&mut self, row: u32, weight: u64, mask: &[u64]) {
        self.pieces.push(Piece { row, weight });
        self.masks.extend_from_slice(mask);
    }

    /// The released pieces, ascending by row.
    pub fn pieces(&self) -> &[Piece] {
        &self.pieces
    }

    /// The blanked columns of a piece: bit `c % 64` of word `c / 64` for column `c`.
    pub fn mask(&self, piece: usize) -> &[u64] {
        &self.masks[piece * self.words..][..self.words]
    }

    /// Writes the codes of a piece as released.
    pub fn write(&self, bag: &Bag, piece: usize, row: &mut [u32]) {
        let mask = self.mask(piece);
        let codes = bag.row(self.pieces[piece].row as usize);
        for (column, (cell, &code)) in row.iter_mut().zip(codes).enumerate() {
            *cell = if mask[column / 64] >> (column % 64) & 1 == 1 { NONE } else { code };
        }
    }

    /// The released table, equal rows merged, and for each piece its row there.
    fn forms(&self, bag: &Bag, watch: &Watch) -> Result<(Bag, Vec<usize>), Stop> {
        let mut builder = bag.builder();
        let mut row = vec![NONE; bag.width()];
        let mut of = Vec::with_capacity(self.pieces.len());
        for (number, piece) in self.pieces.iter().enumerate() {
            if number % 4096 == 0 {
                watch.check()?;
            }
            self.write(bag, number, &mut row);
            of.push(builder.add(&row, piece.weight));
        }
        Ok((builder.finish(), of))
    }

    /// The released table as its reader sees it.
    pub fn to_bag(&self, bag: &Bag, watch: &Watch) -> Result<Bag, Stop> {
        Ok(self.forms(bag, watch)?.0)
    }

    /// Drops every piece whose form, as its reader sees it, has fewer than `k` copies.
    pub(super) fn suppress(self, bag: &Bag, k: u64, watch: &Watch) -> Result<Self, Stop> {
        let (forms, of) = self.forms(bag, watch)?;
        let mut kept = Released::new(bag.width());
        for (number, (piece, &form)) in self.pieces.iter().zip(&of).enumerate() {
            if forms.weight(form) >= k {
                kept.push(piece.row, piece.weight, self.mask(number));
            }
        }
        Ok(kept)
    }

    /// The same rows in other numbers: `weight` gives the copies of each piece, 0 to drop it.
    pub(super) fn reweigh(self, mut weight: impl FnMut(usize) -> u64) -> Self {
        let mut kept = Released { words: self.words, pieces: Vec::new(), masks: Vec::new() };
        for (number, piece) in self.pieces.iter().enumerate() {
            let weight = weight(number);
            if weight > 0 {
                kept.push(piece.row, weight, self.mask(number));
            }
        }
        kept
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn classes_are_counted_as_the_reader_sees_them() {
        let rows =
            [[Some("a"), Some("x")], [Some("a"), Some("y")], [Some("a"), None], [Some("b"), None]];
        let bag = Bag::from_text(2, rows);
        let mut released = Released::new(2);
        released.push(0, 1, &[0b10]);
        released.push(1, 1, &[0b10]);
        released.push(2, 1, &[0]);
        released.push(3, 2, &[0]);
        let watch = Watch::unlimited();
        let kept = released.suppress(&bag, 3, &watch).unwrap();
        assert_eq!(kept.pieces().iter().map(|p| p.row).collect::<Vec<_>>(), [0, 1, 2]);
        let shown = kept.to_bag(&bag, &watch).unwrap();
        assert_eq!((shown.distinct(), shown.row_count()), (1, 3));
        assert_eq!(shown.row(0), [0, NONE]);
    }

    #[test]
    fn wide_tables_have_masks_of_several_words() {
        let bag = Bag::from_text(70, [(0..70).map(|_| Some("a"))]);
        let mut released = Released::new(70);
        released.push(0, 4, &[0, 1 << 5]);
        assert_eq!(released.mask(0), [0, 1 << 5]);
        let shown = released.reweigh(|_| 5).to_bag(&bag, &Watch::unlimited()).unwrap();
        assert_eq!((shown.row(0)[69], shown.row(0)[0], shown.weight(0)), (NONE, 0, 5));
    }
}
