//! Batches of rows between the thread that reads them and the thread that keeps some of them.

use crate::Bounded;
use rand::Rng;

/// Rows on their way to a [`Bounded`], so that one thread can read while another one samples.
pub struct Batch {
    width: usize,
    /// Unit, group and values of rows whose unit is a number.
    numbers: Vec<i64>,
    /// Length of the unit, group and values of rows whose unit is a byte string, and the bytes of the units.
    lengths: Vec<i64>,
    bytes: Vec<u8>,
}

/// The number of rows, or of bytes of units, at which a batch is handed over.
const BATCH_ROWS: usize = 1 << 14;
const BATCH_BYTES: usize = 1 << 20;

impl Batch {
    /// An empty batch for rows of `width` values.
    pub fn new(width: usize) -> Self {
        Batch { width, numbers: Vec::new(), lengths: Vec::new(), bytes: Vec::new() }
    }

    /// Adds a row whose unit fits into eight bytes.
    #[inline]
    pub fn row_of_number(&mut self, unit: u64, group: u32, values: &[i64]) {
        self.numbers.extend_from_slice(&[unit as i64, group.into()]);
        self.numbers.extend_from_slice(&values[..self.width]);
    }

    /// Adds a row whose unit is a byte string.
    pub fn row_of_bytes(&mut self, unit: &[u8], group: u32, values: &[i64]) {
        self.bytes.extend_from_slice(unit);
        self.lengths.extend_from_slice(&[unit.len() as i64, group.into()]);
        self.lengths.extend_from_slice(&values[..self.width]);
    }

    /// True if the batch should be handed over.
    pub fn is_full(&self) -> bool {
        let rows = (self.numbers.len() + self.lengths.len()) / (2 + self.width);
        rows >= BATCH_ROWS || self.bytes.len() >= BATCH_BYTES
    }

    /// Bytes held.
    pub fn memory(&self) -> u64 {
        let words = self.numbers.capacity() + self.lengths.capacity();
        (8 * words + self.bytes.capacity()) as u64
    }
}

impl Bounded {
    /// Takes all rows of a batch, which is empty afterwards.
    pub fn take<R: Rng + ?Sized>(&mut self, batch: &mut Batch, rng: &mut R) {
        let row = 2 + batch.width;
        for row in batch.numbers.chunks_exact(row) {
            self.row_of_number(row[0] as u64, row[1] as u32, &row[2..], rng);
        }
        let mut bytes = batch.bytes.as_slice();
        for row in batch.lengths.chunks_exact(row) {
            let (unit, rest) = bytes.split_at(row[0] as usize);
            bytes = rest;
            self.row_of_bytes(unit, row[1] as u32, &row[2..], rng);
        }
        batch.numbers.clear();
        batch.lengths.clear();
        batch.bytes.clear();
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::reservoir::tests::kept;
    use random::Coins;

    #[test]
    fn a_batch_keeps_what_its_rows_keep() {
        let (mut coins, mut other) = (Coins::seeded(7), Coins::seeded(7));
        let (mut rows, mut batches) = (Bounded::new(2, 1, 1), Bounded::new(2, 1, 1));
        // Keys of the process decide to which partition a unit goes. With one unit of each kind the coins are the
        // same whatever the keys.
        let mut batch = Batch::new(1);
        for i in 0..2 * BATCH_ROWS as i64 {
            rows.row_of_bytes(b"a name", i as u32 % 3, &[i], &mut coins);
            batch.row_of_bytes(b"a name", i as u32 % 3, &[i]);
            if batch.is_full() {
                assert!(batch.memory() > 0);
                batches.take(&mut batch, &mut other);
            }
        }
        rows.row_of_number(8, 1, &[-1], &mut coins);
        batch.row_of_number(8, 1, &[-1]);
        batches.take(&mut batch, &mut other);
        batches.take(&mut batch, &mut other);
        assert_eq!(kept(&rows), kept(&batches));
        batch.row_of_bytes(&vec![0; BATCH_BYTES], 0, &[0]);
        assert!(batch.is_full());
    }
}
