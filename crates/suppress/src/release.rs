//! What a release shows of each row.

use crate::Error;
use foldhash::fast::FixedState;
use hashbrown::HashTable;
use std::hash::{BuildHasher, Hasher};
use table::{Bag, NONE, Stop, Watch};

/// Pieces handled between two looks at the watch: well under a millisecond.
const STRIDE: usize = 4096;

/// Copies of a distinct row that are released alike.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Piece {
    /// The distinct row, as a number of the bag.
    pub row: u32,
    /// The number of the form: which cells are blanked.
    pub form: u32,
    /// The number of copies.
    pub weight: u64,
}

/// Sets of columns, each kept once and known by its number.
#[derive(Debug, Clone)]
struct Forms {
    words: usize,
    masks: Vec<u64>,
    index: HashTable<u32>,
}

impl Forms {
    fn new(width: usize) -> Self {
        Forms { words: width.div_ceil(64), masks: Vec::new(), index: HashTable::new() }
    }

    fn get(&self, form: u32) -> &[u64] {
        &self.masks[form as usize * self.words..][..self.words]
    }

    fn intern(&mut self, mask: &[u64]) -> u32 {
        let hash = |mask: &[u64]| FixedState::default().hash_one(mask);
        let Forms { words, masks, index } = self;
        let get = |form: u32| &masks[form as usize * *words..][..*words];
        if let Some(&form) = index.find(hash(mask), |&form| get(form) == mask) {
            return form;
        }
        let form = index.len() as u32;
        index.insert_unique(hash(mask), form, |&form| hash(get(form)));
        masks.extend_from_slice(mask);
        form
    }
}

/// A table with cells suppressed and rows dropped: for each distinct row of a bag the forms in
/// which its copies are released. Copies in no piece are dropped.
#[derive(Debug, Clone)]
pub struct Release {
    forms: Forms,
    pieces: Vec<Piece>,
}

/// The size of a release. Cells that were NULL before are cells, but not suppressed ones.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Counts {
    /// Rows of the table.
    pub rows: u64,
    /// Rows of the release.
    pub kept: u64,
    /// Cells of the rows kept.
    pub cells: u64,
    /// Those of them that are suppressed.
    pub suppressed: u64,
}

impl Counts {
    /// The share of the rows kept; 1 of an empty table.
    pub fn kept_share(&self) -> f64 {
        if self.rows == 0 { 1.0 } else { self.kept as f64 / self.rows as f64 }
    }

    /// The share of the kept rows' cells that is suppressed; 0 if there are none.
    pub fn suppressed_share(&self) -> f64 {
        if self.cells == 0 { 0.0 } else { self.suppressed as f64 / self.cells as f64 }
    }
}

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

impl Release {
    pub(crate) fn new(width: usize) -> Self {
        Release { forms: Forms::new(width), pieces: Vec::new() }
    }

    /// A release of whole rows: row `i` with the cells of mask `i` of `masks` blanked.
    pub(crate) fn from_masks(bag: &Bag, masks: &[u64]) -> Self {
        let mut release = Release::new(bag.width());
        let words = release.forms.words;
        release.pieces.reserve_exact(bag.distinct());
        for row in 0..bag.distinct() {
            release.push(row as u32, &masks[row * words..][..words], bag.weight(row));
        }
        release
    }

    /// Releases `weight` copies of a distinct row with the cells of `mask` blanked.
    pub(crate) fn push(&mut self, row: u32, mask: &[u64], weight: u64) {
        let form = self.forms.intern(mask);
        self.pieces.push(Piece { row, form, weight });
    }

    /// What is released, ascending by row. Mostly one piece per distinct row; the copies of a
    /// row may be released in several forms.
    pub fn pieces(&self) -> &[Piece] {
        &self.pieces
    }

    /// The blanked columns of a form: bit `c % 64` of word `c / 64` for column `c`.
    pub fn mask(&self, form: u32) -> &[u64] {
        self.forms.get(form)
    }

    /// True if the form blanks the column.
    pub fn suppresses(&self, form: u32, column: usize) -> bool {
        self.mask(form)[column / 64] >> (column % 64) & 1 == 1
    }

    /// Writes the codes of a piece as released.
    pub fn write(&self, bag: &Bag, piece: &Piece, row: &mut [u32]) {
        let mask = self.mask(piece.form);
        for (column, (cell, &code)) in row.iter_mut().zip(bag.row(piece.row as usize)).enumerate() {
            *cell = if mask[column / 64] >> (column % 64) & 1 == 1 { NONE } else { code };
        }
    }

    /// The released table as its reader sees it.
    pub fn to_bag(&self, bag: &Bag, watch: &Watch) -> Result<Bag, Stop> {
        let mut builder = bag.builder();
        let mut row = vec![NONE; bag.width()];
        for (i, piece) in self.pieces.iter().enumerate() {
            if i % STRIDE == 0 {
                watch.check()?;
            }
            self.write(bag, piece, &mut row);
            builder.add(&row, piece.weight);
        }
        Ok(builder.finish())
    }

    /// How much of the table is released.
    pub fn counts(&self, bag: &Bag) -> Counts {
        let mut counts = Counts { rows: bag.row_count(), ..Counts::default() };
        for piece in &self.pieces {
            let blanked = bag.row(piece.row as usize).iter().enumerate();
            let blanked =
                blanked.filter(|&(c, &code)| code != NONE && self.suppresses(piece.form, c));
            counts.kept += piece.weight;
            counts.suppressed += blanked.count() as u64 * piece.weight;
        }
        counts.cells = counts.kept * bag.width() as u64;
        counts
    }

    /// The equality classes: pieces whose released rows are equal, NULL being equal to NULL.
    /// Linear in the pieces.
    pub fn classes(&self, bag: &Bag, watch: &Watch) -> Result<Classes, Stop> {
        let bytes = self.pieces.len() as u64 * 24;
        watch.reserve(bytes)?;
        let cells = |number: u32| {
            let piece = &self.pieces[number as usize];
            let mask = self.mask(piece.form);
            bag.row(piece.row as usize).iter().enumerate().map(move |(column, &code)| {
                if mask[column / 64] >> (column % 64) & 1 == 1 { NONE } else { code }
            })
        };
        let hash = |number: u32| {
            let mut hasher = FixedState::default().build_hasher();
            cells(number).for_each(|code| hasher.write_u32(code));
            hasher.finish()
        };
        let mut index: HashTable<(u32, u32)> = HashTable::new();
        let mut classes = Classes { of: Vec::with_capacity(self.pieces.len()), sizes: Vec::new() };
        for (i, piece) in self.pieces.iter().enumerate() {
            if i % STRIDE == 0 {
                watch.check()?;
            }
            let next = classes.sizes.len() as u32;
            let same = |&(first, _): &(u32, u32)| cells(first).eq(cells(i as u32));
            let class = index
                .entry(hash(i as u32), same, |&(first, _)| hash(first))
                .or_insert((i as u32, next))
                .get()
                .1;
            if class == next {
                classes.sizes.push(0);
            }
            classes.sizes[class as usize] += piece.weight;
            classes.of.push(class);
        }
        watch.release(bytes);
        Ok(classes)
    }

    /// Drops every row whose class has fewer than `k` rows, and looks once more at what is left.
    /// The other classes lose no row, so one pass is enough.
    pub(crate) fn k_anonymous(mut self, bag: &Bag, k: u64, watch: &Watch) -> Result<Self, Error> {
        let classes = self.classes(bag, watch)?;
        let mut number = 0;
        self.pieces.retain(|_| {
            let class = classes.of[number];
            number += 1;
            classes.sizes[class as usize] >= k
        });
        match self.k(bag, watch)? {
            Some(smallest) if smallest < k => Err(Error::Broken { k, smallest }),
            _ => Ok(self),
        }
    }

    /// The rows of the smallest class; `None` if nothing is released.
    pub fn k(&self, bag: &Bag, watch: &Watch) -> Result<Option<u64>, Stop> {
        Ok(self.classes(bag, watch)?.sizes.iter().copied().min())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn bag() -> Bag {
        Bag::from_text(
            2,
            [
                [Some("a"), Some("x")],
                [Some("a"), Some("x")],
                [Some("a"), Some("y")],
                [Some("a"), None],
            ],
        )
    }

    #[test]
    fn suppressed_cells_equal_cells_that_were_null() {
        let bag = bag();
        let release = Release::from_masks(&bag, &[0, 0b10, 0]);
        let watch = Watch::unlimited();
        let classes = release.classes(&bag, &watch).unwrap();
        assert_eq!(classes.sizes(), [2, 2]);
        assert_eq!(classes.of(1), classes.of(2));
        assert_eq!(release.k(&bag, &watch).unwrap(), Some(2));
        let counts = release.counts(&bag);
        assert_eq!(counts, Counts { rows: 4, kept: 4, cells: 8, suppressed: 1 });
        assert_eq!(release.to_bag(&bag, &watch).unwrap().weights(), [2, 2]);
    }

    #[test]
    fn copies_of_a_row_may_differ_and_small_classes_go() {
        let bag = bag();
        let mut release = Release::new(2);
        release.push(0, &[0], 1);
        release.push(0, &[0b10], 1);
        release.push(1, &[0b10], 1);
        let watch = Watch::unlimited();
        let release = release.k_anonymous(&bag, 2, &watch).unwrap();
        assert_eq!(release.counts(&bag), Counts { rows: 4, kept: 2, cells: 4, suppressed: 2 });
        assert_eq!(release.k(&bag, &watch).unwrap(), Some(2));
    }

    #[test]
    fn tables_may_have_more_than_64_columns() {
        let row = |v: &'static str| (0..70).map(move |c| Some(if c == 69 { v } else { "a" }));
        let bag = Bag::from_text(70, [row("x"), row("y")]);
        let release = Release::from_masks(&bag, &[0, 1 << 5, 0, 1 << 5]);
        assert!(release.suppresses(0, 69) && !release.suppresses(0, 5));
        assert_eq!(release.k(&bag, &Watch::unlimited()).unwrap(), Some(2));
        assert_eq!(release.counts(&bag).suppressed, 2);
    }

    #[test]
    fn tables_without_columns_or_rows_have_releases() {
        let none: [[Option<&str>; 0]; 2] = [[], []];
        let bag = Bag::from_text(0, none);
        let release = Release::from_masks(&bag, &[]);
        assert_eq!(release.k(&bag, &Watch::unlimited()).unwrap(), Some(2));
        let empty = Bag::from_text(1, [[Some("a"); 1]; 0]);
        let release = Release::from_masks(&empty, &[]);
        assert_eq!(release.k(&empty, &Watch::unlimited()).unwrap(), None);
        assert_eq!(release.counts(&empty).kept_share(), 1.0);
    }
}
