//! A cache of the codes of short values, whose bytes fit into one word.

use crate::{Keyed, NONE};
use std::hash::BuildHasher;

/// The number of buckets.
const PLACES: usize = 256;

/// The number of slots from its bucket on in which a value may be.
const WAYS: usize = 4;

#[derive(Clone, Copy)]
struct Slot {
    word: u64,
    /// [`NONE`] in an empty slot.
    code: u32,
}

/// The codes of values of one column that were seen recently.
///
/// A look-up takes 3 ns, one in a dictionary 15: that was most of the time of reading 5 million rows of 15 columns. A
/// value has several slots, because two values of a column often share a bucket and would otherwise replace each
/// other in turn.
pub(crate) struct WordCache {
    slots: Box<[Slot; PLACES + WAYS]>,
    /// Odd, and different in every process: the author of a table cannot aim for one bucket.
    multiplier: u64,
}

impl WordCache {
    pub(crate) fn new() -> Self {
        let slots = Box::new([Slot { word: 0, code: NONE }; PLACES + WAYS]);
        WordCache { slots, multiplier: Keyed::default().hash_one(0) | 1 }
    }

    #[inline]
    fn place(&self, word: u64) -> usize {
        (word.wrapping_mul(self.multiplier) >> 56) as usize % PLACES
    }

    /// The code of a value, if it is known.
    #[inline]
    pub(crate) fn find(&self, word: u64) -> Option<u32> {
        let place = self.place(word);
        let slots = &self.slots[place..place + WAYS];
        slots.iter().find(|slot| slot.word == word && slot.code != NONE).map(|slot| slot.code)
    }

    /// Remembers the code of an unknown value, and forgets another one if there is no room.
    pub(crate) fn add(&mut self, word: u64, code: u32) {
        let place = self.place(word);
        let slots = &mut self.slots[place..place + WAYS];
        let free = slots.iter().position(|slot| slot.code == NONE).unwrap_or(0);
        slots[free] = Slot { word, code };
    }

    /// The bytes held.
    pub(crate) fn memory(&self) -> usize {
        size_of_val(&*self.slots)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_found_was_added() {
        let mut words = WordCache::new();
        for word in (0..2000).chain([u64::MAX, 1 << 63]) {
            assert_eq!(words.find(word), None);
            words.add(word, word as u32 / 2);
            assert_eq!(words.find(word), Some(word as u32 / 2));
        }
        // Some were forgotten, and none has the code of another.
        let known: Vec<u64> = (0..2000).filter(|&word| words.find(word).is_some()).collect();
        assert!((PLACES / 2..=PLACES + WAYS).contains(&known.len()));
        assert!(known.iter().all(|&word| words.find(word) == Some(word as u32 / 2)));
    }

    #[test]
    fn a_few_values_are_all_kept() {
        let mut words = WordCache::new();
        (0..WAYS as u64).for_each(|word| words.add(word, word as u32));
        assert!((0..WAYS as u64).all(|word| words.find(word) == Some(word as u32)));
    }
}
