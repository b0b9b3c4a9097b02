//! Sets of small numbers as bits: number `i` is bit `i % 64` of word `i / 64`.
//!
//! Every bit set of the project is one of these. A few words that are copied are a [`BitSet`] (columns of a row,
//! groups of a narrow search); many sets of equal size in one list are [`BitSets`] (rows by item, blanked columns by
//! form); sets that several threads write to are [`Marks`] (cells by row). The functions work on the words
//! themselves: the inner loops of mining and covering combine words of several sets at a time and stop early.
//!
//! Why not the crate bitvec: its sets may begin and end within a word, which every operation has to check, and words
//! of several sets cannot be combined within it. In nanoseconds (`scripts/bench bits`, which measures the most
//! frequent operations of the searches with both):
//!
//! | | ours | bitvec |
//! |---|---|---|
//! | intersect two sets of 64 groups and weigh the result | 6 | 51 |
//! | the same with 256 groups | 14 | 148 |
//! | the rows of 8192 that five dense bitmaps share | 1,370 | 16,300 |
//! | the same with sparse bitmaps | 205 | 5,860 |
//! | look up and set a bit | 0.8 | 0.9 |

use std::ops::{BitAnd, Not};
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

/// Bits of a word.
const WORD: usize = u64::BITS as usize;

/// The words of a set of numbers below `len`.
#[inline]
pub const fn words(len: usize) -> usize {
    len.div_ceil(WORD)
}

/// The word of a number, and its bit there.
#[inline]
pub const fn place(number: usize) -> (usize, u64) {
    (number / WORD, 1 << (number % WORD))
}

/// Whether a set has a number.
#[inline]
pub fn has(set: &[u64], number: usize) -> bool {
    set[number / WORD] >> (number % WORD) & 1 == 1
}

/// Adds a number to a set.
#[inline]
pub fn insert(set: &mut [u64], number: usize) {
    let (word, bit) = place(number);
    set[word] |= bit;
}

/// Removes a number from a set.
#[inline]
pub fn remove(set: &mut [u64], number: usize) {
    let (word, bit) = place(number);
    set[word] &= !bit;
}

/// Makes room for a number: all numbers from it on grow by one, and the set does not contain the number itself. The
/// largest number that fits is lost.
pub fn open(set: &mut [u64], number: usize) {
    let (first, bit) = place(number);
    for word in (first + 1..set.len()).rev() {
        set[word] = set[word] << 1 | set[word - 1] >> (WORD - 1);
    }
    let low = bit - 1;
    set[first] = set[first] & low | (set[first] & !low) << 1;
}

/// Undoes [`open`]: removes a number, and all larger ones shrink by one.
pub fn close(set: &mut [u64], number: usize) {
    let (first, bit) = place(number);
    let low = bit - 1;
    set[first] = set[first] & low | set[first] >> 1 & !low;
    for word in first + 1..set.len() {
        set[word - 1] |= set[word] << (WORD - 1);
        set[word] >>= 1;
    }
}

/// The numbers of a set, ascending.
#[inline]
pub fn numbers(set: &[u64]) -> impl Iterator<Item = usize> + Clone {
    set.iter().enumerate().flat_map(|(word, &bits)| ones(bits).map(move |bit| word * WORD + bit))
}

/// The numbers that two sets share, ascending.
#[inline]
pub fn common<'a>(a: &'a [u64], b: &'a [u64]) -> impl Iterator<Item = usize> + 'a {
    let words = a.iter().zip(b).enumerate();
    words.flat_map(|(word, (a, b))| ones(a & b).map(move |bit| word * WORD + bit))
}

/// The size of a set.
#[inline]
pub fn count(set: &[u64]) -> u64 {
    set.iter().map(|word| u64::from(word.count_ones())).sum()
}

/// The number of elements that two sets share.
#[inline]
pub fn count_common(a: &[u64], b: &[u64]) -> u64 {
    a.iter().zip(b).map(|(a, b)| u64::from((a & b).count_ones())).sum()
}

/// The number of runs in which two sets share a number. Each number of `ends` is the last one of a run.
///
/// A run's shared bits without the last one, plus all its bits without the last one, carry into the last one if there
/// are any.
#[inline]
pub fn count_common_runs(a: &[u64], b: &[u64], ends: &[u64]) -> u64 {
    let (mut count, mut carry) = (0, false);
    for ((a, b), ends) in a.iter().zip(b).zip(ends) {
        let both = a & b;
        let (sum, over) = (both & !ends).overflowing_add(!ends);
        let (sum, over_again) = sum.overflowing_add(u64::from(carry));
        carry = over | over_again;
        count += u64::from(((sum | both) & ends).count_ones());
    }
    count
}

/// The bits of a word that are set, lowest first.
#[inline]
pub fn ones(word: u64) -> Ones {
    Ones(word)
}

/// See [`ones`].
#[derive(Clone)]
pub struct Ones(u64);

impl Iterator for Ones {
    type Item = usize;

    #[inline]
    fn next(&mut self) -> Option<usize> {
        if self.0 == 0 {
            return None;
        }
        let bit = self.0.trailing_zeros() as usize;
        self.0 &= self.0 - 1;
        Some(bit)
    }
}

/// A set of numbers below 64 · `W`, a value like a number.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct BitSet<const W: usize>([u64; W]);

impl<const W: usize> BitSet<W> {
    pub const EMPTY: Self = BitSet([0; W]);
    pub const ALL: Self = BitSet([u64::MAX; W]);

    /// A set from at most `W` words.
    #[inline]
    pub fn from_words(words: &[u64]) -> Self {
        let mut set = [0; W];
        set[..words.len()].copy_from_slice(words);
        BitSet(set)
    }

    #[inline]
    pub fn words(&self) -> &[u64; W] {
        &self.0
    }

    #[inline]
    pub fn insert(&mut self, number: usize) {
        insert(&mut self.0, number);
    }

    #[inline]
    pub fn has(&self, number: usize) -> bool {
        has(&self.0, number)
    }

    #[inline]
    pub fn len(&self) -> usize {
        self.0.iter().map(|word| word.count_ones() as usize).sum()
    }

    #[inline]
    pub fn is_empty(&self) -> bool {
        self.0.iter().all(|&word| word == 0)
    }

    /// Whether all of `other` are here.
    #[inline]
    pub fn contains(&self, other: &Self) -> bool {
        self.0.iter().zip(&other.0).all(|(a, b)| b & !a == 0)
    }

    /// Whether the two share a number.
    #[inline]
    pub fn meets(&self, other: &Self) -> bool {
        self.0.iter().zip(&other.0).fold(0, |any, (a, b)| any | (a & b)) != 0
    }

    #[inline]
    pub fn union(&self, other: &Self) -> Self {
        BitSet(std::array::from_fn(|i| self.0[i] | other.0[i]))
    }

    #[inline]
    pub fn minus(&self, other: &Self) -> Self {
        BitSet(std::array::from_fn(|i| self.0[i] & !other.0[i]))
    }

    /// The number that has `n` others before it, which must exist.
    #[inline]
    pub fn nth(&self, mut n: usize) -> usize {
        for (i, &word) in self.0.iter().enumerate() {
            let here = word.count_ones() as usize;
            if n < here {
                let mut word = word;
                for _ in 0..n {
                    word &= word - 1;
                }
                return WORD * i + word.trailing_zeros() as usize;
            }
            n -= here;
        }
        0
    }

    /// The numbers, ascending.
    #[inline]
    pub fn iter(self) -> impl Iterator<Item = usize> + Clone {
        self.0
            .into_iter()
            .enumerate()
            .flat_map(|(word, bits)| ones(bits).map(move |bit| word * WORD + bit))
    }
}

impl<const W: usize> BitAnd for BitSet<W> {
    type Output = Self;

    #[inline]
    fn bitand(self, other: Self) -> Self {
        BitSet(std::array::from_fn(|i| self.0[i] & other.0[i]))
    }
}

impl<const W: usize> Not for BitSet<W> {
    type Output = Self;

    #[inline]
    fn not(self) -> Self {
        BitSet(self.0.map(|word| !word))
    }
}

impl<const W: usize> FromIterator<usize> for BitSet<W> {
    #[inline]
    fn from_iter<I: IntoIterator<Item = usize>>(numbers: I) -> Self {
        let mut set = Self::EMPTY;
        numbers.into_iter().for_each(|number| set.insert(number));
        set
    }
}

/// Sets of equal size, one after the other.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct BitSets {
    /// Words of each set.
    stride: usize,
    words: Vec<u64>,
}

impl BitSets {
    /// Empty sets of numbers below `len`.
    pub fn new(sets: usize, len: usize) -> Self {
        let stride = words(len);
        BitSets { stride, words: vec![0; sets * stride] }
    }

    /// Makes these what [`BitSets::new`] gives; keeps the memory.
    pub fn reset(&mut self, sets: usize, len: usize) {
        self.stride = words(len);
        self.words.clear();
        self.words.resize(sets * self.stride, 0);
    }

    /// Words of each set.
    #[inline]
    pub fn stride(&self) -> usize {
        self.stride
    }

    /// Number of sets; 0 if they have no words.
    pub fn len(&self) -> usize {
        self.words.len().checked_div(self.stride).unwrap_or(0)
    }

    /// True if there are none.
    pub fn is_empty(&self) -> bool {
        self.words.is_empty()
    }

    /// The words of all sets.
    #[inline]
    pub fn words(&self) -> &[u64] {
        &self.words
    }

    /// The words of a set.
    #[inline]
    pub fn set(&self, set: usize) -> &[u64] {
        &self.words[set * self.stride..][..self.stride]
    }

    /// The words of a set.
    #[inline]
    pub fn set_mut(&mut self, set: usize) -> &mut [u64] {
        &mut self.words[set * self.stride..][..self.stride]
    }

    /// One word of a set.
    #[inline]
    pub fn word(&self, set: usize, word: usize) -> u64 {
        self.words[set * self.stride + word]
    }

    /// Whether a set has a number.
    #[inline]
    pub fn has(&self, set: usize, number: usize) -> bool {
        self.words[set * self.stride + number / WORD] >> (number % WORD) & 1 == 1
    }

    /// Adds a number to a set.
    #[inline]
    pub fn insert(&mut self, set: usize, number: usize) {
        let (word, bit) = place(number);
        self.words[set * self.stride + word] |= bit;
    }

    /// Adds a number to a set if `added`; without a branch, for conditions that processors cannot predict.
    #[inline]
    pub fn insert_if(&mut self, set: usize, number: usize, added: bool) {
        self.words[set * self.stride + number / WORD] |= u64::from(added) << (number % WORD);
    }

    /// Removes a number from a set; returns the word that it was in.
    #[inline]
    pub fn remove(&mut self, set: usize, number: usize) -> u64 {
        let (word, bit) = place(number);
        let word = &mut self.words[set * self.stride + word];
        *word &= !bit;
        *word
    }

    /// Adds a set, given by its words.
    pub fn push(&mut self, set: &[u64]) {
        debug_assert_eq!(set.len(), self.stride);
        self.words.extend_from_slice(set);
    }

    /// Adds all sets of another list, of the same size.
    pub fn append(&mut self, other: &Self) {
        debug_assert_eq!(other.stride, self.stride);
        self.words.extend_from_slice(&other.words);
    }

    /// Repeats the list of sets `times` times.
    pub fn repeat(&mut self, times: usize) {
        self.words = self.words.repeat(times);
    }

    /// Adds a copy of a set; returns its number.
    pub fn push_copy(&mut self, set: usize) -> usize {
        let start = set * self.stride;
        self.words.extend_from_within(start..start + self.stride);
        self.len() - 1
    }

    /// Makes room for a number in all sets, as [`open`] does.
    pub fn open(&mut self, number: usize) {
        self.words.chunks_exact_mut(self.stride).for_each(|set| open(set, number));
    }

    /// Removes a number from all sets, as [`close`] does.
    pub fn close(&mut self, number: usize) {
        self.words.chunks_exact_mut(self.stride).for_each(|set| close(set, number));
    }

    /// Gives each set room for twice as many numbers.
    pub fn double(&mut self) {
        let mut wide = BitSets::new(self.len(), 2 * self.stride * WORD);
        for (to, from) in
            wide.words.chunks_exact_mut(2 * self.stride).zip(self.words.chunks_exact(self.stride))
        {
            to[..from.len()].copy_from_slice(from);
        }
        *self = wide;
    }

    /// The bytes held.
    pub fn memory(&self) -> usize {
        self.words.capacity() * size_of::<u64>()
    }
}

/// [`BitSets`] that several threads add to.
#[derive(Debug, Default)]
pub struct Marks {
    stride: usize,
    words: Vec<AtomicU64>,
}

impl Marks {
    /// Empty sets of numbers below `len`.
    pub fn new(sets: usize, len: usize) -> Self {
        let stride = words(len);
        Marks { stride, words: (0..sets * stride).map(|_| AtomicU64::new(0)).collect() }
    }

    /// The bytes that [`Marks::new`] takes.
    pub const fn bytes(sets: usize, len: usize) -> u64 {
        (sets * words(len) * size_of::<AtomicU64>()) as u64
    }

    /// Adds a number to a set.
    #[inline]
    pub fn insert(&self, set: usize, number: usize) {
        let (word, bit) = place(number);
        let word = &self.words[set * self.stride + word];
        // Most numbers are added again and again: reading is cheaper than writing.
        if word.load(Relaxed) & bit == 0 {
            word.fetch_or(bit, Relaxed);
        }
    }

    /// Whether all numbers of `other` are in a set.
    #[inline]
    pub fn contains(&self, set: usize, other: &[u64]) -> bool {
        let words = &self.words[set * self.stride..][..self.stride];
        words.iter().zip(other).all(|(word, &other)| word.load(Relaxed) & other == other)
    }

    /// The sets, once no thread adds to them any more.
    pub fn into_sets(self) -> BitSets {
        let words = self.words.into_iter().map(AtomicU64::into_inner).collect();
        BitSets { stride: self.stride, words }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::collections::BTreeSet;

    const LEN: usize = 4 * WORD;

    fn set() -> impl Strategy<Value = BTreeSet<usize>> {
        prop_oneof![
            prop::collection::btree_set(0..LEN, 0..20),
            prop::collection::btree_set(0..LEN, 0..LEN),
        ]
    }

    fn bits(set: &BTreeSet<usize>) -> BitSet<4> {
        set.iter().copied().collect()
    }

    fn list(set: BitSet<4>) -> Vec<usize> {
        set.iter().collect()
    }

    proptest! {
        #[test]
        fn small_sets_are_sets(a in set(), b in set(), number in 0..LEN) {
            let (x, y) = (bits(&a), bits(&b));
            prop_assert_eq!(list(x), a.iter().copied().collect::<Vec<_>>());
            prop_assert_eq!(list(x & y), a.intersection(&b).copied().collect::<Vec<_>>());
            prop_assert_eq!(list(x.union(&y)), a.union(&b).copied().collect::<Vec<_>>());
            prop_assert_eq!(list(x.minus(&y)), a.difference(&b).copied().collect::<Vec<_>>());
            prop_assert_eq!(list(!x), (0..LEN).filter(|i| !a.contains(i)).collect::<Vec<_>>());
            prop_assert_eq!(x.meets(&y), !a.is_disjoint(&b));
            prop_assert_eq!(x.contains(&y), b.is_subset(&a));
            prop_assert_eq!((x.len(), x.is_empty()), (a.len(), a.is_empty()));
            prop_assert_eq!(x.has(number), a.contains(&number));
            prop_assert_eq!(BitSet::from_words(x.words()), x);
            for (n, &number) in a.iter().enumerate() {
                prop_assert_eq!(x.nth(n), number);
            }
        }

        #[test]
        fn runs_are_counted_once(a in set(), b in set(), ends in set()) {
            let run = |number: &usize| ends.range(number..).next().copied();
            let runs: BTreeSet<usize> = a.intersection(&b).filter_map(run).collect();
            let [a, b, ends] = [&a, &b, &ends].map(bits);
            prop_assert_eq!(count_common_runs(a.words(), b.words(), ends.words()), runs.len() as u64);
        }

        #[test]
        fn sets_side_by_side_keep_apart(a in set(), b in set(), number in 0..LEN) {
            let mut sets = BitSets::new(2, LEN);
            let marks = Marks::new(2, LEN);
            for (i, set) in [&a, &b].into_iter().enumerate() {
                for &number in set {
                    sets.insert(i, number);
                    marks.insert(i, number);
                }
            }
            for (i, set) in [&a, &b].into_iter().enumerate() {
                prop_assert_eq!(marks.contains(i, bits(&a).words()), a.is_subset(set));
            }
            prop_assert_eq!(&marks.into_sets(), &sets);
            prop_assert_eq!(numbers(sets.set(1)).collect::<BTreeSet<_>>(), b.clone());
            prop_assert_eq!(sets.has(0, number), a.contains(&number));

            sets.double();
            prop_assert_eq!((sets.len(), sets.stride()), (2, 8));
            sets.open(number);
            let moved = |set: &BTreeSet<usize>| {
                set.iter().map(|&i| i + usize::from(i >= number)).collect::<BTreeSet<_>>()
            };
            for (i, set) in [&a, &b].into_iter().enumerate() {
                prop_assert_eq!(numbers(sets.set(i)).collect::<BTreeSet<_>>(), moved(set));
            }
            sets.close(number);
            let last = sets.push_copy(1);
            prop_assert_eq!((last, numbers(sets.set(2)).collect::<BTreeSet<_>>()), (2, b.clone()));
            sets.remove(2, number);
            prop_assert!(!sets.has(2, number));
            insert(sets.set_mut(2), number);
            prop_assert!(has(sets.set(2), number));
            remove(sets.set_mut(2), number);
            prop_assert_eq!(numbers(sets.set(2)).count(), b.len() - usize::from(b.contains(&number)));
        }
    }
}
