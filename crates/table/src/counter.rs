//! Counts rows of codes while they are read, equal ones once.

use crate::CodeRows;
use crate::rows::RowSet;

/// The number of rows after which a counter that may list rows decides whether to.
pub(crate) const SAMPLE: u64 = 1 << 16;

/// Counts rows. A [`crate::Coder`] has one; another thread may count in its place, see
/// [`crate::Coder::with_rows`].
pub struct RowCounter {
    rows: RowSet,
    read: u64,
    may_list: bool,
}

impl RowCounter {
    /// A counter for rows of this number of codes.
    pub fn new(width: usize) -> Self {
        RowCounter { rows: RowSet::new(width), read: 0, may_list: false }
    }

    /// Allows equal rows to stay separate where most rows are distinct, for callers that do not need equal rows
    /// merged: looking each row up is then most of the work, and saves little memory.
    pub fn listing(self) -> Self {
        RowCounter { may_list: true, ..self }
    }

    /// Adds a row that stands for `weight` rows.
    #[inline]
    pub fn add(&mut self, row: &[u32], weight: u64) {
        self.rows.add(row, weight);
        self.read += weight;
        if self.read == SAMPLE && self.may_list && self.rows.len() as u64 > SAMPLE / 2 {
            self.rows.list();
        }
    }

    /// Rows so far.
    pub fn read(&self) -> u64 {
        self.read
    }

    /// Distinct rows so far.
    pub fn distinct(&self) -> usize {
        self.rows.len()
    }

    /// The bytes held.
    pub fn memory(&self) -> usize {
        self.rows.memory()
    }

    pub(crate) fn finish(self) -> (CodeRows, Vec<u64>) {
        self.rows.finish()
    }
}
