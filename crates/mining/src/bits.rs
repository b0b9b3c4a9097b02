//! Small sets of groups: a few machine words.

use std::ops::{BitAnd, Not};

/// A set of at most 64·W groups.
#[derive(Clone, Copy, PartialEq)]
pub(crate) struct Set<const W: usize>([u64; W]);

impl<const W: usize> Set<W> {
    pub(crate) const ALL: Self = Set([u64::MAX; W]);
    pub(crate) const EMPTY: Self = Set([0; W]);

    /// A set from at most W words.
    pub(crate) fn new(words: &[u64]) -> Self {
        let mut set = [0; W];
        set[..words.len()].copy_from_slice(words);
        Set(set)
    }

    pub(crate) fn insert(&mut self, group: u32) {
        self.0[group as usize / 64] |= 1 << (group % 64);
    }

    /// Whether the two have a group in common.
    #[inline]
    pub(crate) fn meets(self, other: Self) -> bool {
        self.0.iter().zip(other.0).fold(0, |any, (a, b)| any | (a & b)) != 0
    }

    /// Whether all groups are in `other`.
    #[inline]
    pub(crate) fn within(self, other: Self) -> bool {
        !self.meets(!other)
    }

    /// The groups, ascending.
    #[inline]
    pub(crate) fn groups(self) -> impl Iterator<Item = u32> {
        self.0.into_iter().zip((0..).step_by(64)).flat_map(|(mut word, base)| {
            std::iter::from_fn(move || {
                let group = (word != 0).then(|| base + word.trailing_zeros());
                word &= word.wrapping_sub(1);
                group
            })
        })
    }

    /// The sum of the weights of the groups, or a part of the sum that is at least `enough`.
    #[inline]
    pub(crate) fn weight_up_to(self, enough: u64, weights: &[u64]) -> u64 {
        let mut sum = 0;
        for (mut word, weights) in self.0.into_iter().zip(weights.chunks(64)) {
            while word != 0 {
                sum += weights[word.trailing_zeros() as usize];
                if sum >= enough {
                    return sum;
                }
                word &= word - 1;
            }
        }
        sum
    }
}

impl<const W: usize> BitAnd for Set<W> {
    type Output = Self;

    #[inline]
    fn bitand(self, other: Self) -> Self {
        Set(std::array::from_fn(|i| self.0[i] & other.0[i]))
    }
}

impl<const W: usize> Not for Set<W> {
    type Output = Self;

    #[inline]
    fn not(self) -> Self {
        Set(self.0.map(|word| !word))
    }
}
