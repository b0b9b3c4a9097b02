//! Reads the items of 64 seeds at a time: a bit of an item is a sum of bits of the seed, so one operation on words
//! adds them for 64 seeds. Sums of eight bits of a seed are tabulated, which leaves one look-up for each byte of a
//! column: 5 million seeds of 1000 items take about a second.

use super::code::Code;

/// Seeds that are read together.
pub const LANES: usize = 64;

/// The number of sums of the bits of a byte.
const SUMS: usize = 256;

/// The bits of the seed that the bits of some items are sums of. Made for the wanted items, used for all seeds.
#[derive(Debug)]
pub struct Slices {
    /// By item, digit of rho and byte: which bits of the seed.
    columns: Vec<u8>,
    /// Bytes and words of a seed, and the digits of rho.
    bytes: usize,
    words: usize,
    digits: usize,
    a: u32,
}

/// Temporary memory.
#[derive(Debug, Default)]
pub struct Scratch {
    planes: Vec<u64>,
    sums: Vec<u64>,
}

impl Slices {
    pub fn new(code: &Code, items: &[u32]) -> Self {
        let mut column = vec![0; code.words()];
        let mut columns = Vec::with_capacity(Slices::memory(code, items.len()) as usize);
        for &item in items {
            for c in code.columns_of(item) {
                code.column(c, &mut column);
                let bytes = column.iter().flat_map(|word| word.to_le_bytes());
                columns.extend(bytes.take(code.bytes()));
            }
        }
        let digits = code.shape().b as usize;
        Slices { columns, bytes: code.bytes(), words: code.words(), digits, a: code.shape().a }
    }

    /// The number of bytes for this number of items.
    pub fn memory(code: &Code, items: usize) -> u64 {
        (items * code.shape().b as usize * code.bytes()) as u64
    }

    /// Calls `take` for each item, in order, with the seeds that have it as bits. `seeds` are the words of at
    /// most 64 seeds, one after the other.
    pub fn each(&self, seeds: &[u64], scratch: &mut Scratch, mut take: impl FnMut(usize, u64)) {
        self.tabulate(seeds, scratch);
        let seed_count = seeds.len() / self.words;
        let lanes = if seed_count == LANES { u64::MAX } else { (1 << seed_count) - 1 };
        for (item, columns) in self.columns.chunks(self.bytes * self.digits).enumerate() {
            // Value < a, from the highest digit on.
            let (mut below, mut equal) = (0, u64::MAX);
            for (j, column) in columns.chunks(self.bytes).enumerate().rev() {
                let tables = scratch.sums.chunks(SUMS);
                let digit = column
                    .iter()
                    .zip(tables)
                    .fold(0, |sum, (&byte, table)| sum ^ table[byte as usize]);
                if self.a >> j & 1 == 1 {
                    below |= equal & !digit;
                    equal &= digit;
                } else {
                    equal &= !digit;
                }
            }
            take(item, below & lanes);
        }
    }

    /// The sums of all subsets of eight neighbouring bits.
    fn tabulate(&self, seeds: &[u64], scratch: &mut Scratch) {
        let Scratch { planes, sums } = scratch;
        planes.clear();
        for word in 0..self.words {
            let mut square = [0; LANES];
            for (row, seed) in square.iter_mut().zip(seeds.chunks(self.words)) {
                *row = seed[word];
            }
            transpose(&mut square);
            planes.extend(square);
        }
        sums.resize(self.bytes * SUMS, 0);
        for (table, planes) in sums.chunks_mut(SUMS).zip(planes.chunks(8)) {
            for choice in 1..SUMS {
                let lowest = choice.trailing_zeros() as usize;
                table[choice] = table[choice & (choice - 1)] ^ planes[lowest];
            }
        }
    }
}

/// Bit j of row i becomes bit i of row j.
fn transpose(square: &mut [u64; LANES]) {
    let (mut width, mut mask) = (LANES / 2, u64::from(u32::MAX));
    while width > 0 {
        for row in (0..LANES).filter(|row| row & width == 0) {
            let swapped = (square[row] >> width ^ square[row | width]) & mask;
            square[row] ^= swapped << width;
            square[row | width] ^= swapped;
        }
        width /= 2;
        mask ^= mask << width;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::seed::Shape;
    use crate::seed::code::tests::all_items;
    use proptest::prelude::*;
    use rand::Rng;
    use random::Coins;

    #[test]
    fn rows_become_columns() {
        let mut coins = Coins::seeded(1);
        let before: [u64; LANES] = std::array::from_fn(|_| coins.next_u64());
        let mut after = before;
        transpose(&mut after);
        for (i, before) in before.iter().enumerate() {
            for (j, after) in after.iter().enumerate() {
                assert_eq!(before >> j & 1, after >> i & 1);
            }
        }
    }

    proptest! {
        #[test]
        fn slices_agree_with_the_items_of_each_seed(
            universe in 1u32..100,
            itemset in 1usize..4,
            b in 1u32..5,
            part in 0.0f64..1.0,
            seeds in 1usize..=64,
            coins in 0i64..1000,
        ) {
            let a = 1 + (part * f64::from((1u32 << b) - 2)) as u32;
            let code = Code::new(Shape { universe, size: 4, itemset, a, b }).unwrap();
            let mut coins = Coins::seeded(coins);
            let seeds: Vec<_> = (0..seeds)
                .map(|_| {
                    let mut bytes = vec![0; code.bytes()];
                    coins.fill_bytes(&mut bytes);
                    *bytes.last_mut().unwrap() &= 0xff >> (code.bytes() * 8 - code.bits());
                    code.read(&bytes).unwrap()
                })
                .collect();
            let items: Vec<u32> = (1..=universe).step_by(2).collect();
            let words: Vec<u64> = seeds.iter().flat_map(|seed| seed.0.clone()).collect();
            let mut found = vec![Vec::new(); seeds.len()];
            Slices::new(&code, &items).each(&words, &mut Scratch::default(), |item, lanes| {
                assert!(seeds.len() == 64 || lanes >> seeds.len() == 0);
                for lane in table::bits::ones(lanes) {
                    found[lane].push(items[item]);
                }
            });
            for (found, seed) in found.iter().zip(&seeds) {
                let expected: Vec<u32> =
                    all_items(&code, seed).into_iter().filter(|item| item % 2 == 1).collect();
                prop_assert_eq!(found, &expected);
            }
        }
    }
}
