//! Codes cells while they are read: cells become dictionary codes, and equal rows are counted once.

use crate::arena::{Interner, Texts};
use crate::word_cache::WordCache;
use crate::{Bag, Domain, NONE, Reservation, RowCounter, Stop, Watch};
use std::sync::Arc;

/// How the bytes of a column's cells relate to the text that decides equality.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Encoding {
    /// The bytes are the text.
    Text,
    /// Equal bytes have equal text, but the text must be made, and different bytes may share it.
    Raw,
}

struct ColumnCoder {
    name: String,
    texts: Interner,
    /// For [`Encoding::Raw`]: known bytes, so that the text of a value is made once and not for each row.
    raws: Option<Interner>,
    raw_codes: Vec<u32>,
}

/// A column whose values were all read.
struct ReadColumn {
    name: String,
    texts: Texts,
    raws: Option<Texts>,
    raw_codes: Vec<u32>,
}

impl From<ColumnCoder> for ReadColumn {
    fn from(column: ColumnCoder) -> Self {
        ReadColumn {
            name: column.name,
            texts: column.texts.into_texts(),
            raws: column.raws.map(Interner::into_texts),
            raw_codes: column.raw_codes,
        }
    }
}

impl ReadColumn {
    fn memory(&self) -> usize {
        let raws = self.raws.as_ref().map_or(0, Texts::memory);
        self.texts.memory() + raws + self.raw_codes.capacity() * 4
    }
}

/// Builds a [`Bag`] cell by cell.
pub struct Coder {
    columns: Vec<ColumnCoder>,
    /// By column.
    words: Vec<WordCache>,
    row: Vec<u32>,
    rows: RowCounter,
}

/// The result of a [`Coder`]: the bag, and for each column of [`Encoding::Raw`] one raw form per code.
pub struct CodedTable {
    pub bag: Bag,
    pub(crate) raws: Vec<Option<Raws>>,
}

/// The bytes from which the values of a column were read, and for each code the number of one of them.
pub(crate) struct Raws {
    values: Texts,
    of_code: Vec<u32>,
}

impl CodedTable {
    /// The (first) bytes from which the text of a code was made.
    pub fn raw(&self, column: usize, code: u32) -> &[u8] {
        match &self.raws[column] {
            Some(raws) => raws.values.get(raws.of_code[code as usize]),
            None => self.bag.domain(column).value(code),
        }
    }

    /// The bytes held.
    pub fn memory(&self) -> u64 {
        let raws = self.raws.iter().flatten();
        let raws: usize = raws.map(|raws| raws.values.memory() + raws.of_code.capacity() * 4).sum();
        self.bag.memory() + raws as u64
    }
}

impl Coder {
    /// A coder for columns of the given names and encodings.
    pub fn new(columns: impl IntoIterator<Item = (String, Encoding)>) -> Self {
        let columns: Vec<ColumnCoder> = columns
            .into_iter()
            .map(|(name, encoding)| ColumnCoder {
                name,
                texts: Interner::new(),
                raws: (encoding == Encoding::Raw).then(Interner::new),
                raw_codes: Vec::new(),
            })
            .collect();
        let width = columns.len();
        Coder {
            columns,
            words: (0..width).map(|_| WordCache::new()).collect(),
            row: vec![NONE; width],
            rows: RowCounter::new(width),
        }
    }

    /// The codes of the current row, for a caller that counts rows elsewhere and calls [`Coder::with_rows`] at the
    /// end.
    pub fn row(&self) -> &[u32] {
        &self.row
    }

    /// The coder with rows that were counted elsewhere, instead of its own.
    pub fn with_rows(self, rows: RowCounter) -> Self {
        Coder { rows, ..self }
    }

    /// Sets a cell of the current row to a text.
    #[inline]
    pub fn text(&mut self, column: usize, text: &[u8]) {
        self.row[column] = self.columns[column].texts.intern(text);
    }

    /// Sets a cell of the current row to NULL.
    #[inline]
    pub fn null(&mut self, column: usize) {
        self.row[column] = NONE;
    }

    /// Sets a cell of the current row from its bytes in one word, with the length where it differs within the column,
    /// if that word is known. Returns false otherwise; then the caller sets the cell in another way and calls
    /// [`Coder::remember`].
    #[inline]
    pub fn word(&mut self, column: usize, word: u64) -> bool {
        let found = self.words[column].find(word);
        if let Some(code) = found {
            self.row[column] = code;
        }
        found.is_some()
    }

    /// Remembers the word of the cell of the current row.
    pub fn remember(&mut self, column: usize, word: u64) {
        self.words[column].add(word, self.row[column]);
    }

    /// Sets a cell of the current row from its raw bytes if they are known. Returns false otherwise; then the caller
    /// makes the text and calls [`Coder::raw_text`].
    #[inline]
    pub fn raw(&mut self, column: usize, raw: &[u8]) -> bool {
        let coder = &mut self.columns[column];
        let Some(number) = coder.raws.as_mut().and_then(|raws| raws.find(raw)) else {
            return false;
        };
        self.row[column] = coder.raw_codes[number as usize];
        true
    }

    /// Sets a cell of the current row to a text and remembers the raw bytes it comes from.
    pub fn raw_text(&mut self, column: usize, raw: &[u8], text: &[u8]) {
        let coder = &mut self.columns[column];
        let code = coder.texts.intern(text);
        if let Some(raws) = &mut coder.raws {
            let number = raws.intern(raw) as usize;
            if number == coder.raw_codes.len() {
                coder.raw_codes.push(code);
            }
        }
        self.row[column] = code;
    }

    /// Ends the current row.
    #[inline]
    pub fn end_row(&mut self) {
        self.rows.add(&self.row, 1);
    }

    /// Adds all rows of a bag with the same columns.
    pub fn absorb(&mut self, bag: &Bag, watch: &Watch) -> Result<(), Stop> {
        let before = self.memory();
        let mut grown = Reservation::new(watch);
        let mut codes: Vec<Vec<u32>> = Vec::with_capacity(self.columns.len());
        for (column, domain) in bag.domains().iter().enumerate() {
            grown.add(domain.len() as u64 * 4)?;
            let mut own = Vec::with_capacity(domain.len());
            for (i, value) in domain.values().enumerate() {
                watch.poll_with(i, || watch.room_for(self.memory() - before))?;
                own.push(self.columns[column].texts.intern(value));
            }
            codes.push(own);
        }
        grown.add(self.memory() - before)?;
        self.add_rows(bag, &codes, watch)
    }

    /// Adds all rows of a bag: `codes` has, for each of its columns and codes, the code of this coder. The cells of
    /// further columns are those of the current row.
    pub fn add_rows(&mut self, bag: &Bag, codes: &[Vec<u32>], watch: &Watch) -> Result<(), Stop> {
        let before = self.memory();
        for (i, (row, &weight)) in bag.rows.iter().zip(&bag.weights).enumerate() {
            watch.poll_with(i, || watch.room_for(self.memory() - before))?;
            for ((cell, &code), codes) in self.row.iter_mut().zip(row).zip(codes) {
                *cell = if code == NONE { NONE } else { codes[code as usize] };
            }
            self.rows.add(&self.row, weight);
        }
        Ok(())
    }

    /// The column names.
    pub fn names(&self) -> impl Iterator<Item = &str> {
        self.columns.iter().map(|c| c.name.as_str())
    }

    /// Rows read so far.
    pub fn read(&self) -> u64 {
        self.rows.read()
    }

    /// Distinct rows so far.
    pub fn distinct(&self) -> usize {
        self.rows.distinct()
    }

    /// The bytes held.
    pub fn memory(&self) -> u64 {
        let columns: usize = self
            .columns
            .iter()
            .map(|c| {
                c.texts.memory()
                    + c.raws.as_ref().map_or(0, Interner::memory)
                    + c.raw_codes.capacity() * 4
            })
            .sum();
        let words: usize = self.words.iter().map(WordCache::memory).sum();
        (columns + words + self.rows.memory()) as u64
    }

    /// The coded table. Codes are renumbered to follow the C collation of their texts.
    pub fn finish(self, watch: &Watch) -> Result<CodedTable, Stop> {
        let mut held = watch.hold(self.memory())?;
        let (mut rows, weights) = self.rows.finish();
        // No value is looked up any more: the indexes are freed before anything is allocated.
        let columns = self.columns.into_iter().map(ReadColumn::from);
        let columns: Vec<ReadColumn> = columns.collect();
        let texts: usize = columns.iter().map(ReadColumn::memory).sum();
        held.lower((texts + rows.memory() + weights.capacity() * 8) as u64);
        let mut domains = Vec::with_capacity(columns.len());
        let mut codes = Vec::with_capacity(columns.len());
        let mut raws = Vec::with_capacity(columns.len());
        for column in columns {
            let (domain, new) = Domain::from_texts(column.name, column.texts, watch)?;
            held.add(new.len() as u64 * if column.raws.is_some() { 8 } else { 4 })?;
            raws.push(column.raws.map(|values| {
                let mut of_code = vec![NONE; domain.len()];
                for (number, &old) in column.raw_codes.iter().enumerate().rev() {
                    of_code[new[old as usize] as usize] = number as u32;
                }
                Raws { values, of_code }
            }));
            domains.push(Arc::new(domain));
            codes.push(new);
        }
        rows.recode(&codes, watch)?;
        Ok(CodedTable { bag: Bag::new(domains, rows, weights), raws })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::counter::SAMPLE;

    fn finish(coder: Coder) -> CodedTable {
        coder.finish(&Watch::unlimited()).unwrap()
    }

    fn coder() -> Coder {
        let mut coder =
            Coder::new([("name".to_string(), Encoding::Text), ("n".to_string(), Encoding::Raw)]);
        for (name, n) in [("zoe", "1.0"), ("amy", "1.00"), ("zoe", "1.0"), ("bob", "2")] {
            coder.text(0, name.as_bytes());
            if !coder.raw(1, n.as_bytes()) {
                coder.raw_text(1, n.as_bytes(), n.trim_end_matches(['0', '.']).as_bytes());
            }
            coder.end_row();
        }
        coder
    }

    #[test]
    fn codes_follow_the_collation_of_the_text() {
        let table = finish(coder());
        let bag = &table.bag;
        assert_eq!(bag.domain(0).values().collect::<Vec<_>>(), [b"amy", b"bob", b"zoe"]);
        assert_eq!(bag.domain(1).values().collect::<Vec<_>>(), [b"1", b"2"]);
        assert_eq!((bag.distinct(), bag.row_count()), (3, 4));
        assert_eq!((bag.row(0), bag.weight(0)), (&[2, 0][..], 2));
        assert_eq!(table.raw(1, 0), b"1.0");
        assert_eq!(table.raw(0, 2), b"zoe");
    }

    #[test]
    fn words_stand_for_cells() {
        let mut coder = coder();
        assert!(!coder.word(0, 7));
        coder.text(0, b"amy");
        coder.remember(0, 7);
        coder.null(1);
        coder.end_row();
        assert!(coder.word(0, 7) && !coder.word(1, 7));
        coder.end_row();
        let bag = finish(coder).bag;
        assert_eq!((bag.row(3), bag.weight(3)), (&[0, NONE][..], 2));
    }

    #[test]
    fn rows_are_listed_only_where_most_are_distinct() {
        let read = |distinct: u32| {
            let mut coder = Coder::new([("n".to_string(), Encoding::Text)]);
            let mut rows = RowCounter::new(1).listing();
            for i in 0..3 * SAMPLE as u32 {
                coder.text(0, &(i % distinct).to_le_bytes());
                rows.add(coder.row(), 1);
            }
            let coder = coder.with_rows(rows);
            let bag = finish(coder).bag;
            assert_eq!(bag.row_count(), 3 * SAMPLE);
            assert_eq!(bag.supports()[0].iter().sum::<u64>(), 3 * SAMPLE);
            bag.distinct() as u64
        };
        assert_eq!(read(1000), 1000);
        assert_eq!(read(50_000), 50_000 + 2 * SAMPLE);
    }

    #[test]
    fn null_is_no_item() {
        let bag = Bag::from_text(2, [[Some("a"), None], [None, Some("b")]]);
        assert_eq!(bag.row(0), [0, NONE]);
        assert_eq!(bag.row(1), [NONE, 0]);
        assert_eq!(bag.supports(), [[1], [1]]);
    }

    #[test]
    fn absorbing_a_bag_equals_reading_its_rows() {
        let mut twice = coder();
        twice.absorb(&finish(coder()).bag, &Watch::unlimited()).unwrap();
        let mut bag = finish(twice).bag;
        bag.sort(&Watch::unlimited()).unwrap();
        let mut once = finish(coder()).bag;
        once.sort(&Watch::unlimited()).unwrap();
        assert_eq!(bag.row_count(), 8);
        assert_eq!(bag.distinct(), once.distinct());
        for i in 0..bag.distinct() {
            assert_eq!(bag.row(i), once.row(i));
            assert_eq!(bag.weight(i), 2 * once.weight(i));
        }
    }

    #[test]
    fn a_projection_merges_equal_rows() {
        let bag = finish(coder()).bag.project(&[1], &Watch::unlimited()).unwrap();
        assert_eq!((bag.distinct(), bag.row_count()), (2, 4));
        assert_eq!(bag.domain(0).name(), "n");
    }

    #[test]
    fn a_table_without_columns_has_one_distinct_row() {
        let bag = Bag::from_text(0, [[None::<&str>; 0]; 5]);
        assert_eq!((bag.width(), bag.distinct(), bag.row_count()), (0, 1, 5));
    }
}
