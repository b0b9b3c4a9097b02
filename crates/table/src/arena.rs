//! An interner of byte strings: each distinct value once, numbered in the order of arrival.

use foldhash::fast::RandomState;
use hashbrown::HashTable;
use std::hash::BuildHasher;

/// Bytes of one arena chunk. Chunks keep a growing dictionary from being copied, so its peak
/// is its size and not one and a half times that.
const CHUNK: usize = 1 << 18;

/// Distinct byte strings by number, and back.
pub(crate) struct Interner {
    chunks: Vec<Vec<u8>>,
    /// Where each value is: chunk, offset, length.
    spans: Vec<(u32, u32, u32)>,
    index: HashTable<u32>,
    hasher: RandomState,
    bytes: usize,
}

impl Interner {
    pub(crate) fn new() -> Self {
        Interner {
            chunks: Vec::new(),
            spans: Vec::new(),
            index: HashTable::new(),
            hasher: RandomState::default(),
            bytes: 0,
        }
    }

    pub(crate) fn len(&self) -> usize {
        self.spans.len()
    }

    #[inline]
    pub(crate) fn get(&self, number: u32) -> &[u8] {
        let (chunk, offset, length) = self.spans[number as usize];
        &self.chunks[chunk as usize][offset as usize..][..length as usize]
    }

    /// The number of `value` if it is known.
    #[inline]
    pub(crate) fn find(&self, value: &[u8]) -> Option<u32> {
        let hash = self.hasher.hash_one(value);
        self.index.find(hash, |&n| self.get(n) == value).copied()
    }

    /// The number of `value`, which is added if it is new.
    #[inline]
    pub(crate) fn intern(&mut self, value: &[u8]) -> u32 {
        let hash = self.hasher.hash_one(value);
        let Interner { chunks, spans, .. } = self;
        let slice = |n: u32| {
            let (chunk, offset, length) = spans[n as usize];
            &chunks[chunk as usize][offset as usize..][..length as usize]
        };
        if let Some(&n) = self.index.find(hash, |&n| slice(n) == value) {
            return n;
        }
        self.insert(hash, value)
    }

    #[cold]
    fn insert(&mut self, hash: u64, value: &[u8]) -> u32 {
        let fits = self.chunks.last().is_some_and(|c| c.capacity() - c.len() >= value.len());
        if !fits {
            let capacity = value.len().max(CHUNK.min(64 << self.chunks.len().min(12)));
            self.chunks.push(Vec::with_capacity(capacity));
            self.bytes += capacity;
        }
        let chunk = self.chunks.len() - 1;
        let offset = self.chunks[chunk].len();
        self.chunks[chunk].extend_from_slice(value);
        let number = self.spans.len() as u32;
        self.spans.push((chunk as u32, offset as u32, value.len() as u32));
        let Interner { chunks, spans, hasher, index, .. } = self;
        index.insert_unique(hash, number, |&n| {
            let (chunk, offset, length) = spans[n as usize];
            hasher.hash_one(&chunks[chunk as usize][offset as usize..][..length as usize])
        });
        number
    }

    /// The chunks, and where each value is in them.
    pub(crate) fn into_parts(self) -> (Vec<Vec<u8>>, Vec<(u32, u32, u32)>) {
        (self.chunks, self.spans)
    }

    /// The bytes held, capacity included.
    pub(crate) fn memory(&self) -> usize {
        self.bytes + self.spans.capacity() * 12 + self.index.capacity() * 5
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn equal_values_get_equal_numbers() {
        let mut interner = Interner::new();
        let long = vec![7u8; CHUNK + 1];
        let values: [&[u8]; 5] = [b"a", b"", b"b", &long, b"a"];
        let numbers: Vec<u32> = values.iter().map(|v| interner.intern(v)).collect();
        assert_eq!(numbers, [0, 1, 2, 3, 0]);
        for (value, number) in values.iter().zip(numbers) {
            assert_eq!(interner.get(number), *value);
            assert_eq!(interner.find(value), Some(number));
        }
        assert_eq!(interner.find(b"c"), None);
    }

    #[test]
    fn many_values_survive_growth() {
        let mut interner = Interner::new();
        for i in 0..100_000u32 {
            assert_eq!(interner.intern(i.to_string().as_bytes()), i);
        }
        for i in 0..100_000u32 {
            assert_eq!(interner.get(i), i.to_string().as_bytes());
        }
    }
}
