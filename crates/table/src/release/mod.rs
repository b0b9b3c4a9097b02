//! A release of a bag: how many copies of which rows, and what is shown of them.

mod classes;
mod forms;
mod rows;
#[cfg(test)]
mod tests;

pub use classes::ReleaseClasses;

use crate::{Bag, NONE, RowsOfUnit, Stop, Units, Watch, bits};
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

/// Whose copies of its row a piece has, if a release counts units.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Whose {
    /// Nobody's in particular: all copies of the row, or any of them.
    All,
    /// Those of one unit.
    Unit(u32),
    /// Those without a unit.
    Nobody,
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
    /// By piece; those beyond the end are [`Whose::All`], so that a release that counts rows has none.
    whose: Vec<Whose>,
}

impl Release {
    /// An empty release of a bag of `width` columns.
    pub fn new(width: usize) -> Self {
        Release { forms: Forms::new(width), pieces: Vec::new(), whose: Vec::new() }
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

    /// Like [`Release::push_filled`] for the copies of a row that are of one unit, or of nobody. Without fills, cells
    /// of `mask` are blanked.
    pub fn push_of(&mut self, row: u32, mask: &[u64], fills: &[u32], whose: Whose, weight: u64) {
        self.whose.resize(self.pieces.len(), Whose::All);
        self.whose.push(whose);
        self.push_filled(row, mask, fills, weight);
    }

    /// Whose copies piece number `piece` has.
    pub fn whose(&self, piece: usize) -> Whose {
        self.whose.get(piece).copied().unwrap_or(Whose::All)
    }

    /// The units whose rows piece number `piece` has, and how many rows each has of this distinct row. None if the
    /// piece has some copies of a row and does not say whose.
    pub fn units_of<'u>(&self, piece: usize, bag: &Bag, units: &'u Units) -> &'u [RowsOfUnit] {
        let Piece { row, weight, .. } = self.pieces[piece];
        let all = units.of(row as usize);
        match self.whose(piece) {
            Whose::All if weight == bag.weight(row as usize) => all,
            Whose::All | Whose::Nobody => &[],
            Whose::Unit(unit) => match all.binary_search_by_key(&unit, |of| of.unit) {
                Ok(place) => &all[place..=place],
                Err(_) => &[],
            },
        }
    }

    /// True if some piece has the copies of one unit, or of nobody.
    pub(crate) fn names_units(&self) -> bool {
        !self.whose.is_empty()
    }

    /// Sorts the pieces by row; the pieces of a row keep their order.
    pub fn sort(&mut self) {
        if self.names_units() {
            let mut order: Vec<u32> = (0..self.pieces.len() as u32).collect();
            order.sort_by_key(|&number| self.pieces[number as usize].row);
            self.whose = order.iter().map(|&number| self.whose(number as usize)).collect();
        }
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
        self.retain(|number, piece| {
            piece.weight = weight(number);
            piece.weight > 0
        });
        self
    }

    /// Keeps the pieces that `keep` accepts, given their numbers.
    fn retain(&mut self, mut keep: impl FnMut(usize, &mut Piece) -> bool) {
        let whose = &mut self.whose;
        let (mut number, mut kept) = (0, 0);
        self.pieces.retain_mut(|piece| {
            let stays = keep(number, piece);
            if stays && number < whose.len() {
                whose[kept] = whose[number];
                kept += 1;
            }
            number += 1;
            stays
        });
        whose.truncate(kept);
    }

    /// The bytes held.
    pub fn memory(&self) -> u64 {
        (self.pieces.capacity() * size_of::<Piece>()
            + self.whose.capacity() * size_of::<Whose>()
            + self.forms.memory()) as u64
    }
}
