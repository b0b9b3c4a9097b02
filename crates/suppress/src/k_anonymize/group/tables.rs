//! Tables of keys: numbers by key, a filter of known keys, and keys sorted by their high bits.

use table::bits;

/// Numbers by key. Keys are as good as random, so their bits are used as the hash.
#[derive(Default)]
pub(crate) struct KeyTable {
    /// (key, number + 1); 0 marks an empty place.
    places: Vec<(u64, u32)>,
}

impl KeyTable {
    /// Empties the table and makes room for `len` keys.
    pub fn reset(&mut self, len: usize) {
        self.places.clear();
        self.places.resize((len * 2).next_power_of_two().max(2), (0, 0));
    }

    /// The place of a key, or the empty place where it belongs.
    #[inline]
    fn place(&self, key: u64) -> usize {
        // The low bits, because the keys of one table share the high ones.
        let mut place = key as usize & (self.places.len() - 1);
        while self.places[place].1 != 0 && self.places[place].0 != key {
            place = (place + 1) & (self.places.len() - 1);
        }
        place
    }

    /// The number of `key`, which becomes `next` if the key is new.
    #[inline]
    pub fn insert(&mut self, key: u64, next: u32) -> u32 {
        let place = self.place(key);
        if self.places[place].1 == 0 {
            self.places[place] = (key, next + 1);
        }
        self.places[place].1 - 1
    }

    /// The number of `key` if it is known.
    #[inline]
    pub fn find(&self, key: u64) -> Option<u32> {
        self.places[self.place(key)].1.checked_sub(1)
    }
}

/// A filter of known keys with one bit each: it excludes most unknown keys, and it is small enough for the processor's
/// cache.
#[derive(Default)]
pub(crate) struct Filter {
    words: Vec<u64>,
}

impl Filter {
    /// Forgets all keys and makes room for `len`.
    pub fn reset(&mut self, len: usize) {
        self.words.clear();
        self.words.resize((len / 4).next_power_of_two(), 0);
    }

    /// The bit of a key; the number of bits is a power of two.
    #[inline]
    fn number(&self, key: u64) -> usize {
        key as usize & (self.words.len() * 64 - 1)
    }

    #[inline]
    pub fn add(&mut self, key: u64) {
        let number = self.number(key);
        bits::insert(&mut self.words, number);
    }

    #[inline]
    pub fn may_have(&self, key: u64) -> bool {
        bits::has(&self.words, self.number(key))
    }
}

/// Keys with their places, in parts that share the high bits: a part fits the processor's cache,
/// which a large table does not.
#[derive(Default)]
pub(crate) struct Parts {
    pairs: Vec<(u64, u32)>,
    ends: Vec<u32>,
}

impl Parts {
    /// The number of parts for `len` keys, as a power of two.
    pub fn bits(len: usize) -> u32 {
        (len >> 13).next_power_of_two().trailing_zeros()
    }

    /// Sorts pairs into `2^bits` parts, each in the order given.
    pub fn sort(&mut self, pairs: &[(u64, u32)], bits: u32) {
        let part = |key: u64| if bits == 0 { 0 } else { (key >> (64 - bits)) as usize };
        self.ends.clear();
        self.ends.resize((1 << bits) + 1, 0);
        for &(key, _) in pairs {
            self.ends[part(key) + 1] += 1;
        }
        for part in 0..1 << bits {
            self.ends[part + 1] += self.ends[part];
        }
        self.pairs.clear();
        self.pairs.resize(pairs.len(), (0, 0));
        for &(key, place) in pairs {
            let next = &mut self.ends[part(key)];
            self.pairs[*next as usize] = (key, place);
            *next += 1;
        }
    }

    pub fn part(&self, part: usize) -> &[(u64, u32)] {
        let begin = if part == 0 { 0 } else { self.ends[part - 1] };
        &self.pairs[begin as usize..self.ends[part] as usize]
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::k_anonymize::prepare::mix;

    #[test]
    fn a_table_finds_what_was_put_in_and_nothing_else() {
        let (mut table, mut filter) = (KeyTable::default(), Filter::default());
        for len in [0, 1, 1000] {
            table.reset(len);
            filter.reset(len);
            for n in 0..len as u64 {
                assert_eq!(table.insert(mix(n), n as u32), n as u32);
                assert_eq!(table.insert(mix(n), u32::MAX - 1), n as u32);
                filter.add(mix(n));
            }
            for n in 0..2000 {
                assert_eq!(table.find(mix(n)), (n < len as u64).then_some(n as u32));
                assert!(n >= len as u64 || filter.may_have(mix(n)));
            }
        }
    }

    #[test]
    fn parts_hold_all_pairs_in_order() {
        let pairs: Vec<(u64, u32)> = (0..1000).map(|n| (mix(n % 300), n as u32)).collect();
        let mut parts = Parts::default();
        for bits in [0, 3] {
            parts.sort(&pairs, bits);
            let all: Vec<(u64, u32)> =
                (0..1 << bits).flat_map(|p| parts.part(p).to_vec()).collect();
            let mut sorted = pairs.clone();
            sorted.sort_by_key(|&(key, _)| if bits == 0 { 0 } else { key >> (64 - bits) });
            assert_eq!(all, sorted);
        }
    }
}
