//! Distinct rows of codes with weights.

use crate::{Index, NONE, Stop, Watch};

/// The number of rows of one chunk: with chunks a growing table is not copied.
const CHUNK_ROWS: usize = 1 << 14;

/// Rows of equal width, stored in chunks.
#[derive(Debug, Clone, Default)]
pub struct CodeRows {
    width: usize,
    chunks: Vec<Vec<u32>>,
    len: usize,
}

impl CodeRows {
    pub(crate) fn new(width: usize) -> Self {
        CodeRows { width, chunks: Vec::new(), len: 0 }
    }

    /// Cells per row.
    pub fn width(&self) -> usize {
        self.width
    }

    /// Number of rows.
    pub fn len(&self) -> usize {
        self.len
    }

    /// True if there are none.
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// Row number `i`.
    #[inline]
    pub fn get(&self, i: usize) -> &[u32] {
        let start = (i % CHUNK_ROWS) * self.width;
        &self.chunks[i / CHUNK_ROWS][start..start + self.width]
    }

    /// All rows in order.
    pub fn iter(&self) -> impl Iterator<Item = &[u32]> {
        (0..self.len).map(|i| self.get(i))
    }

    pub(crate) fn push(&mut self, row: &[u32]) {
        if self.len.is_multiple_of(CHUNK_ROWS) {
            // The first chunk grows by doubling, so that small tables stay small.
            let rows = if self.len == 0 { 16 } else { CHUNK_ROWS };
            self.chunks.push(Vec::with_capacity(rows * self.width));
        }
        if let Some(chunk) = self.chunks.last_mut() {
            chunk.extend_from_slice(row);
        }
        self.len += 1;
    }

    pub(crate) fn cells_mut(&mut self) -> impl Iterator<Item = &mut [u32]> {
        let width = self.width.max(1);
        self.chunks.iter_mut().flat_map(move |c| c.chunks_exact_mut(width))
    }

    /// Gives each cell that is not NULL its code in `codes`, by column and code.
    pub(crate) fn recode(&mut self, codes: &[Vec<u32>], watch: &Watch) -> Result<(), Stop> {
        for (i, row) in self.cells_mut().enumerate() {
            watch.poll(i)?;
            for (cell, codes) in row.iter_mut().zip(codes) {
                if *cell != NONE {
                    *cell = codes[*cell as usize];
                }
            }
        }
        Ok(())
    }

    pub(crate) fn memory(&self) -> usize {
        self.chunks.iter().map(|c| c.capacity() * 4).sum()
    }
}

/// Rows under construction: equal rows are counted once.
pub(crate) struct RowSet {
    rows: CodeRows,
    weights: Vec<u64>,
    /// `None` once rows are listed without merging.
    index: Option<Index>,
}

impl RowSet {
    pub(crate) fn new(width: usize) -> Self {
        RowSet { rows: CodeRows::new(width), weights: Vec::new(), index: Some(Index::new()) }
    }

    /// Adds `row` with `weight`; returns its number among the distinct rows.
    #[inline]
    pub(crate) fn add(&mut self, row: &[u32], weight: u64) -> usize {
        let RowSet { rows, weights, index } = self;
        let known = index.as_mut().and_then(|index| {
            index.number(row, |i| rows.get(i as usize)).ok().map(|known| known as usize)
        });
        if let Some(known) = known {
            weights[known] += weight;
            return known;
        }
        rows.push(row);
        weights.push(weight);
        rows.len() - 1
    }

    /// From now on every row is added as a new one.
    pub(crate) fn list(&mut self) {
        self.index = None;
    }

    pub(crate) fn len(&self) -> usize {
        self.rows.len()
    }

    pub(crate) fn memory(&self) -> usize {
        let index = self.index.as_ref().map_or(0, Index::memory);
        self.rows.memory() + self.weights.capacity() * 8 + index
    }

    pub(crate) fn finish(self) -> (CodeRows, Vec<u64>) {
        (self.rows, self.weights)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn equal_rows_are_counted_once() {
        let mut set = RowSet::new(2);
        for i in 0..100_000u32 {
            set.add(&[i % 1000, i % 7], 1);
        }
        assert_eq!(set.len(), 7000);
        let (rows, weights) = set.finish();
        assert_eq!(rows.len(), 7000);
        assert_eq!(weights.iter().sum::<u64>(), 100_000);
        assert_eq!(rows.get(0), [0, 0]);
        assert_eq!(rows.get(6999), [999, 6999 % 7]);
    }

    #[test]
    fn rows_cross_chunks() {
        let mut rows = CodeRows::new(1);
        for i in 0..(CHUNK_ROWS as u32 * 3 + 5) {
            rows.push(&[i]);
        }
        assert!(rows.iter().enumerate().all(|(i, r)| r == [i as u32]));
    }
}
