//! Byte strings by number, and an interner of them: each distinct value once, numbered in the order of arrival.

use crate::Index;

/// The number of bytes of one arena chunk. With chunks a growing dictionary is not copied, so its peak is its size
/// and not one and a half times that.
const CHUNK: usize = 1 << 18;

/// The position of a value: chunk, offset, length.
type Span = (u32, u32, u32);

/// Byte strings by number, one after the other in chunks.
#[derive(Debug, Clone, Default)]
pub(crate) struct Texts {
    chunks: Vec<Vec<u8>>,
    spans: Vec<Span>,
    /// The bytes of all chunks, capacity included.
    bytes: usize,
}

impl Texts {
    pub(crate) fn len(&self) -> usize {
        self.spans.len()
    }

    #[inline]
    pub(crate) fn get(&self, number: u32) -> &[u8] {
        self.at(self.spans[number as usize])
    }

    #[inline]
    fn at(&self, (chunk, offset, length): Span) -> &[u8] {
        &self.chunks[chunk as usize][offset as usize..][..length as usize]
    }

    pub(crate) fn push(&mut self, value: &[u8]) {
        let fits = self.chunks.last().is_some_and(|c| c.capacity() - c.len() >= value.len());
        if !fits {
            let capacity = value.len().max(CHUNK.min(64 << self.chunks.len().min(12)));
            self.chunks.push(Vec::with_capacity(capacity));
            self.bytes += capacity;
        }
        let chunk = self.chunks.len() - 1;
        let offset = self.chunks[chunk].len();
        self.chunks[chunk].extend_from_slice(value);
        self.spans.push((chunk as u32, offset as u32, value.len() as u32));
    }

    /// The number of a value, if the values are in ascending order.
    pub(crate) fn search(&self, value: &[u8]) -> Option<u32> {
        self.spans.binary_search_by(|&span| self.at(span).cmp(value)).ok().map(|i| i as u32)
    }

    /// The same values in another order: `order` has the old number of each new one.
    pub(crate) fn reordered(mut self, order: &[u32]) -> Self {
        self.spans = order.iter().map(|&old| self.spans[old as usize]).collect();
        self
    }

    /// The bytes held, capacity included.
    pub(crate) fn memory(&self) -> usize {
        self.bytes + self.spans.capacity() * size_of::<Span>()
    }
}

impl<'a> FromIterator<&'a [u8]> for Texts {
    fn from_iter<I: IntoIterator<Item = &'a [u8]>>(values: I) -> Self {
        let mut texts = Texts::default();
        values.into_iter().for_each(|value| texts.push(value));
        texts
    }
}

/// The number of slots of the cache of recent values.
const SLOTS: usize = 256;

/// A value seen recently: its length, its first and last bytes, its number.
#[derive(Clone, Copy)]
struct Recent {
    length: u32,
    number: u32,
    ends: (u64, u64),
}

/// An empty slot: no value has that number.
const EMPTY: Recent = Recent { length: u32::MAX, number: u32::MAX, ends: (0, 0) };

/// The first and the last eight bytes of a value, or fewer if it is shorter. Together with the length they determine
/// a value of up to 16 bytes.
#[inline]
fn ends(value: &[u8]) -> (u64, u64) {
    let n = value.len();
    if let (Some(first), Some(last)) = (value.first_chunk(), value.last_chunk()) {
        (u64::from_le_bytes(*first), u64::from_le_bytes(*last))
    } else if let (Some(first), Some(last)) = (value.first_chunk(), value.last_chunk()) {
        (u32::from_le_bytes(*first).into(), u32::from_le_bytes(*last).into())
    } else if n > 0 {
        let middle = u64::from(value[n / 2]) << 8;
        (u64::from(value[0]) | middle, value[n - 1].into())
    } else {
        (0, 0)
    }
}

/// Distinct byte strings by number, and back.
///
/// Columns repeat few values many times, so a small cache answers most look-ups without hashing the value or touching
/// the index. Coding the Adult table takes half the time with it where the values are numbers, two thirds where they
/// are words.
pub(crate) struct Interner {
    recent: Box<[Recent; SLOTS]>,
    texts: Texts,
    index: Index,
}

impl Interner {
    pub(crate) fn new() -> Self {
        Interner { recent: Box::new([EMPTY; SLOTS]), texts: Texts::default(), index: Index::new() }
    }

    #[inline]
    pub(crate) fn get(&self, number: u32) -> &[u8] {
        self.texts.get(number)
    }

    /// The number of `value` if the cache has it, and the slot where it belongs.
    #[inline]
    fn recall(&self, value: &[u8]) -> Result<u32, (usize, Recent)> {
        let ends = ends(value);
        let mixed = (ends.0 ^ ends.1.rotate_left(29) ^ value.len() as u64)
            .wrapping_mul(0x9e37_79b9_7f4a_7c15);
        let slot = (mixed >> 56) as usize % SLOTS;
        let known = &self.recent[slot];
        let alike = known.length as usize == value.len() && known.ends == ends;
        if alike && (value.len() <= 16 || self.get(known.number) == value) {
            return Ok(known.number);
        }
        Err((slot, Recent { length: value.len() as u32, number: 0, ends }))
    }

    /// The number of `value` if it is known.
    #[inline]
    pub(crate) fn find(&mut self, value: &[u8]) -> Option<u32> {
        let (slot, entry) = match self.recall(value) {
            Ok(number) => return Some(number),
            Err(missed) => missed,
        };
        let number = self.index.find(value, |n| self.get(n))?;
        self.recent[slot] = Recent { number, ..entry };
        Some(number)
    }

    /// The number of `value`, which is added if it is new.
    #[inline]
    pub(crate) fn intern(&mut self, value: &[u8]) -> u32 {
        let (slot, entry) = match self.recall(value) {
            Ok(number) => return number,
            Err(missed) => missed,
        };
        let Interner { texts, index, .. } = self;
        let number = index.number(value, |n| texts.get(n)).unwrap_or_else(|new| {
            texts.push(value);
            new
        });
        self.recent[slot] = Recent { number, ..entry };
        number
    }

    /// The values alone.
    pub(crate) fn into_texts(self) -> Texts {
        self.texts
    }

    /// The bytes held, capacity included.
    pub(crate) fn memory(&self) -> usize {
        self.texts.memory() + self.index.memory() + size_of::<[Recent; SLOTS]>()
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
    fn values_that_share_their_ends_are_different() {
        let mut interner = Interner::new();
        let mut values: Vec<Vec<u8>> = (0..40).map(|n| vec![0; n]).collect();
        values.extend((1..40).flat_map(|n| {
            (0..n).map(move |i| {
                let mut value = vec![0; n];
                value[i] = 1;
                value
            })
        }));
        for _ in 0..2 {
            for (number, value) in values.iter().enumerate() {
                assert_eq!(interner.intern(value), number as u32);
            }
        }
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
