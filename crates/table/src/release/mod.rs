//! A release of a bag: how many copies of which rows, and what is shown of them.

mod classes;
mod forms;
mod rows;
#[cfg(test)]
mod tests;

pub use classes::ReleaseClasses;

use crate::{Bag, NONE, Stop, Watch, bits};
use forms::Forms;

/// Copies of a distinct row that are released in the same form.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Piece {
    /// The distinct row, as a number of the bag.
    pub row: u32,
    /// The number of the form: which cells are blanked or filled.
    pub form: u32,
    /// The number of copies; a draw with replacement may release a row more often than it occurs.
    pub weight: u64,
}

/// A table as it is released: for each distinct row of a bag the forms in which copies of it are
/// shown. Copies in no piece are dropped.
///
/// Suppression, imputation and private samples make one by [`Release::push`] or [`Release::push_filled`];
/// [`Release::rows`] makes the released rows. Every function takes the bag for which the release was made, and it
/// must be the same one every time.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Release {
    forms: Forms,
    pieces: Vec<Piece>,
}

impl Release {
    /// An empty release of a bag of `width` columns.
    pub fn new(width: usize) -> Self {
        Release { forms: Forms::new(width), pieces: Vec::new() }
    }

    /// A release of whole rows: row `i` with the cells of mask `i` of `masks` blanked.
    pub fn from_masks(bag: &Bag, masks: &[u64], watch: &Watch) -> Result<Self, Stop> {
        let mut release = Release::new(bag.width());
        let words = release.forms.words();
        let mut held = watch.hold((bag.distinct() * size_of::<Piece>()) as u64)?;
        release.pieces.reserve_exact(bag.distinct());
        for row in 0..bag.distinct() {
            watch.poll_with(row, || held.raise(release.memory()))?;
            release.push(row as u32, &masks[row * words..][..words], bag.weight(row));
        }
        Ok(release)
    }

    /// Releases `weight` copies of a distinct row with the cells of `mask` blanked, columns as
    /// [`bits`]. Rows come in ascending order, or are put into it by [`Release::sort`].
    pub fn push(&mut self, row: u32, mask: &[u64], weight: u64) {
        self.push_filled(row, mask, &[], weight);
    }

    /// Like [`Release::push`]; the cells of `mask` get the codes `fills`, in order of the columns, [`NONE`] for cells
    /// that are blanked. Codes from the size of the domain on have a meaning for the caller only.
    pub fn push_filled(&mut self, row: u32, mask: &[u64], fills: &[u32], weight: u64) {
        debug_assert!(fills.is_empty() || fills.len() == bits::numbers(mask).count());
        let form = self.forms.intern(mask, fills);
        self.pieces.push(Piece { row, form, weight });
    }

    /// Sorts the pieces by row; the pieces of a row keep their order.
    pub fn sort(&mut self) {
        self.pieces.sort_by_key(|piece| piece.row);
    }

    /// The released pieces, ascending by row. Mostly one piece per distinct row; the copies of a row may be released
    /// in several forms.
    pub fn pieces(&self) -> &[Piece] {
        &self.pieces
    }

    /// The changed columns of a form, as [`bits`].
    pub fn mask(&self, form: u32) -> &[u64] {
        self.forms.mask(form)
    }

    /// True if the form blanks the column.
    pub fn suppresses(&self, form: u32, column: usize) -> bool {
        let fills = self.forms.fills(form);
        let changed = || bits::numbers(self.mask(form)).position(|changed| changed == column);
        bits::has(self.mask(form), column)
            && (fills.is_empty() || changed().is_some_and(|place| fills[place] == NONE))
    }

    /// The codes of a piece as released.
    #[inline]
    fn cells<'a>(&'a self, bag: &'a Bag, piece: &Piece) -> impl Iterator<Item = u32> + Clone + 'a {
        let mask = self.mask(piece.form);
        let mut fills = self.forms.fills(piece.form).iter();
        bag.row(piece.row as usize).iter().enumerate().map(move |(column, &code)| {
            if bits::has(mask, column) { fills.next().copied().unwrap_or(NONE) } else { code }
        })
    }

    /// [`Release::cells`] of a piece whose form blanks cells and fills none.
    #[inline]
    fn blanked<'a>(
        &'a self,
        bag: &'a Bag,
        piece: &Piece,
    ) -> impl Iterator<Item = u32> + Clone + 'a {
        let mask = self.mask(piece.form);
        let cells = bag.row(piece.row as usize).iter().enumerate();
        cells.map(move |(column, &code)| if bits::has(mask, column) { NONE } else { code })
    }

    /// Writes the codes of a piece as released.
    pub fn write(&self, bag: &Bag, piece: &Piece, row: &mut [u32]) {
        row.iter_mut().zip(self.cells(bag, piece)).for_each(|(cell, code)| *cell = code);
    }

    /// The released table as its reader sees it.
    pub fn to_bag(&self, bag: &Bag, watch: &Watch) -> Result<Bag, Stop> {
        let mut builder = bag.builder();
        let mut row = vec![NONE; bag.width()];
        for (i, piece) in self.pieces.iter().enumerate() {
            watch.poll(i)?;
            self.write(bag, piece, &mut row);
            builder.add(&row, piece.weight);
        }
        Ok(builder.finish())
    }

    /// The same rows with other numbers of copies: `weight` returns that of each piece, 0 to drop it.
    pub fn reweigh(mut self, mut weight: impl FnMut(usize) -> u64) -> Self {
        let mut number = 0;
        self.pieces.retain_mut(|piece| {
            piece.weight = weight(number);
            number += 1;
            piece.weight > 0
        });
        self
    }

    /// The bytes held.
    pub fn memory(&self) -> u64 {
        (self.pieces.capacity() * size_of::<Piece>() + self.forms.memory()) as u64
    }
}
