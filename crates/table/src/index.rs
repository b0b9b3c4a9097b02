//! Hash indexes: numbers by keys that are kept elsewhere and hashed from there.
//!
//! There are two tables, one for each kind of use. An [`Index`] grows with its contents and is the usual choice:
//! coding values, distinct rows, equality classes, lists of itemsets. [`Slots`] is emptied for every set of rows that
//! is merged, millions of times in a search for itemsets. Emptying it costs the size of that set, while clearing an
//! `Index` costs the largest size that it ever had.
//!
//! Both are keyed per process, so the author of a table, who chooses values and rows, cannot provoke collisions.
//! Results never depend on the key: numbers are given in the order of arrival.

use foldhash::fast::RandomState;
use hashbrown::HashTable;
use std::hash::{BuildHasher, Hash, Hasher};

/// The keyed hash of all hash maps whose keys come from a table; about twice as fast as std's.
pub type Keyed = RandomState;

/// Numbers from 0 on, one for each key; a function of the number gives its key.
#[derive(Debug, Clone, Default)]
pub struct Index {
    numbers: HashTable<u32>,
    hasher: Keyed,
}

impl Index {
    pub fn new() -> Self {
        Index::default()
    }

    /// An index with room for this number of numbers.
    pub fn with_capacity(numbers: usize) -> Self {
        Index { numbers: HashTable::with_capacity(numbers), hasher: Keyed::default() }
    }

    /// Number of keys.
    pub fn len(&self) -> usize {
        self.numbers.len()
    }

    /// True if there are none.
    pub fn is_empty(&self) -> bool {
        self.numbers.is_empty()
    }

    /// The number of a key, if it is known; `key_of` gives the key of a number.
    #[inline]
    pub fn find<K: Hash + Eq>(&self, key: K, key_of: impl Fn(u32) -> K) -> Option<u32> {
        let hash = self.hasher.hash_one(&key);
        self.numbers.find(hash, |&number| key_of(number) == key).copied()
    }

    /// The number of a known key, or as an error the next number, which the key gets now. `key_of` is only called for
    /// numbers given before, so the caller adds a new key to its own list afterwards.
    #[inline]
    pub fn number<K: Hash + Eq>(&mut self, key: K, key_of: impl Fn(u32) -> K) -> Result<u32, u32> {
        let hash = self.hasher.hash_one(&key);
        match self.numbers.find(hash, |&number| key_of(number) == key) {
            Some(&number) => Ok(number),
            None => Err(self.insert(hash, key_of)),
        }
    }

    #[inline]
    fn insert<K: Hash>(&mut self, hash: u64, key_of: impl Fn(u32) -> K) -> u32 {
        let Index { numbers, hasher } = self;
        let number = numbers.len() as u32;
        numbers.insert_unique(hash, number, |&number| hasher.hash_one(key_of(number)));
        number
    }

    /// The bytes held.
    pub fn memory(&self) -> usize {
        self.numbers.allocation_size()
    }
}

/// Codes in sequence as a key, where no slice has them.
pub struct Codes<I>(pub I);

impl<I: Iterator<Item = u32> + Clone> Hash for Codes<I> {
    #[inline]
    fn hash<H: Hasher>(&self, hasher: &mut H) {
        self.0.clone().for_each(|code| hasher.write_u32(code));
    }
}

impl<I: Iterator<Item = u32> + Clone> PartialEq for Codes<I> {
    #[inline]
    fn eq(&self, other: &Self) -> bool {
        self.0.clone().eq(other.0.clone())
    }
}

impl<I: Iterator<Item = u32> + Clone> Eq for Codes<I> {}

/// Marks an empty slot.
const EMPTY: u32 = u32::MAX;

/// Odd, with no pattern in its bits: 2^64 divided by the golden ratio.
const MULTIPLIER: u64 = 0x9E37_79B9_7F4A_7C15;

/// Numbers by rows of codes, for at most as many rows as were announced.
#[derive(Debug)]
pub struct Slots {
    slots: Vec<u32>,
    key: u64,
}

impl Default for Slots {
    fn default() -> Self {
        Slots { slots: Vec::new(), key: Keyed::default().hash_one(0) | 1 }
    }
}

impl Slots {
    /// Makes the table empty and large enough for `rows` rows.
    pub fn clear(&mut self, rows: usize) {
        self.slots.clear();
        self.slots.resize((rows * 2).next_power_of_two(), EMPTY);
    }

    /// The number of a row equal to `row`; if there is none, `new` is entered for it. `equals` says whether the row of
    /// a number is equal, and of the same `kind` if there are several; rows of one kind only have kind 0.
    #[inline]
    pub fn find(
        &mut self,
        kind: u32,
        row: &[u32],
        equals: impl Fn(u32) -> bool,
        new: u32,
    ) -> Option<u32> {
        let fold = |hash: u64, cells: u64| {
            let product = u128::from(hash ^ cells) * u128::from(MULTIPLIER);
            product as u64 ^ (product >> 64) as u64
        };
        let pairs = row.chunks_exact(2);
        let last = pairs.remainder().first().map_or(0, |&cell| u64::from(cell) + 1);
        let key = self.key ^ u64::from(kind) << 32;
        let hash =
            pairs.fold(key, |hash, pair| fold(hash, u64::from(pair[0]) << 32 | u64::from(pair[1])));
        let hash = fold(hash, last);
        let mask = self.slots.len() - 1;
        let mut slot = hash as usize & mask;
        loop {
            let number = self.slots[slot];
            if number == EMPTY {
                self.slots[slot] = new;
                return None;
            }
            if equals(number) {
                return Some(number);
            }
            slot = (slot + 1) & mask;
        }
    }

    /// The bytes held.
    pub fn memory(&self) -> usize {
        self.slots.capacity() * size_of::<u32>()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn equal_rows_get_equal_numbers(
            rows in prop::collection::vec(prop::collection::vec(0u32..4, 0..4), 0..200),
        ) {
            let mut distinct: Vec<&[u32]> = Vec::new();
            let mut index = Index::new();
            let mut slots = Slots::default();
            slots.clear(rows.len());
            for row in &rows {
                let expected = distinct.iter().position(|known| known == row);
                let expected = expected.map_or(Err(distinct.len() as u32), |i| Ok(i as u32));
                let row_of = |number: u32| distinct[number as usize];
                prop_assert_eq!(index.find(row.as_slice(), row_of), expected.ok());
                let merged = slots.find(0, row, |number| row_of(number) == row, distinct.len() as u32);
                prop_assert_eq!(merged, expected.ok());
                prop_assert_eq!(index.number(row.as_slice(), row_of), expected);
                if expected.is_err() {
                    distinct.push(row);
                }
            }
            prop_assert_eq!((index.len(), index.is_empty()), (distinct.len(), rows.is_empty()));
        }
    }

    #[test]
    fn equal_rows_of_two_kinds_are_two() {
        let mut slots = Slots::default();
        slots.clear(2);
        for (number, expected) in [(0, None), (1, None), (0, Some(0)), (1, Some(1))] {
            assert_eq!(slots.find(number, &[1, 2], |other| other == number, number), expected);
        }
    }

    #[test]
    fn slots_are_empty_again_after_clear() {
        let mut slots = Slots::default();
        let rows: [&[u32]; 2] = [&[1, 2, 3], &[]];
        for number in [7, 8] {
            slots.clear(2);
            for row in rows {
                assert_eq!(slots.find(0, row, |_| false, number), None);
            }
            assert_eq!(slots.find(0, rows[0], |_| true, 0), Some(number));
        }
    }
}
