//! Sets of the rows of a region.

/// A set of numbers below `64 * N`.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(crate) struct Set<const N: usize>([u64; N]);

impl<const N: usize> Set<N> {
    /// No number.
    pub const EMPTY: Self = Set([0; N]);

    /// The most numbers.
    pub const ROOM: usize = 64 * N;

    #[inline]
    pub fn insert(&mut self, place: usize) {
        self.0[place / 64] |= 1 << (place % 64);
    }

    #[inline]
    pub fn len(&self) -> u64 {
        self.0.iter().map(|word| u64::from(word.count_ones())).sum()
    }

    #[inline]
    pub fn is_empty(&self) -> bool {
        self.0.iter().fold(0, |all, word| all | word) == 0
    }

    #[inline]
    pub fn and(&self, other: &Self) -> Self {
        Set(std::array::from_fn(|i| self.0[i] & other.0[i]))
    }

    #[inline]
    pub fn or(&self, other: &Self) -> Self {
        Set(std::array::from_fn(|i| self.0[i] | other.0[i]))
    }

    #[inline]
    pub fn without(&self, other: &Self) -> Self {
        Set(std::array::from_fn(|i| self.0[i] & !other.0[i]))
    }

    #[inline]
    pub fn contains(&self, place: usize) -> bool {
        self.0[place / 64] >> (place % 64) & 1 == 1
    }

    /// The first members, at most so many.
    pub fn first(&self, most: u64) -> Self {
        self.iter().take(most as usize).collect()
    }

    /// The members in their order.
    #[inline]
    pub fn iter(&self) -> impl Iterator<Item = usize> + Clone + use<N> {
        let words = self.0;
        let (mut word, mut rest) = (0, words[0]);
        std::iter::from_fn(move || {
            while rest == 0 {
                word += 1;
                rest = *words.get(word)?;
            }
            let place = word * 64 + rest.trailing_zeros() as usize;
            rest &= rest - 1;
            Some(place)
        })
    }
}

impl<const N: usize> FromIterator<usize> for Set<N> {
    fn from_iter<I: IntoIterator<Item = usize>>(places: I) -> Self {
        let mut set = Self::EMPTY;
        places.into_iter().for_each(|place| set.insert(place));
        set
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::collections::BTreeSet;

    proptest! {
        #[test]
        fn sets_are_sets(
            a in prop::collection::btree_set(0usize..128, 0..40),
            b in prop::collection::btree_set(0usize..128, 0..40),
            most in 0u64..50,
        ) {
            let [x, y] = [&a, &b].map(|set| set.iter().copied().collect::<Set<2>>());
            let list = |set: Set<2>| set.iter().collect::<BTreeSet<usize>>();
            prop_assert_eq!(list(x.and(&y)), &a & &b);
            prop_assert_eq!(list(x.or(&y)), &a | &b);
            prop_assert_eq!(list(x.without(&y)), &a - &b);
            prop_assert_eq!(list(x.first(most)), a.iter().copied().take(most as usize).collect());
            prop_assert_eq!((x.len(), x.is_empty()), (a.len() as u64, a.is_empty()));
            prop_assert!((0..Set::<2>::ROOM).all(|place| x.contains(place) == a.contains(&place)));
        }
    }
}
