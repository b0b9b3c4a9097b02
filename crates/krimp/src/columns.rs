//! Sets of columns: within a row, an itemset is known by the columns it uses.

/// The most columns that any set here can hold.
pub(crate) const MAX_COLUMNS: usize = 64 * MAX_WORDS;

/// Words of the widest sets.
pub(crate) const MAX_WORDS: usize = 26;

/// A set of columns below `64 * W`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) struct Columns<const W: usize>([u64; W]);

impl<const W: usize> Columns<W> {
    pub(crate) const EMPTY: Self = Columns([0; W]);

    #[inline]
    pub(crate) fn insert(&mut self, column: usize) {
        self.0[column / 64] |= 1 << (column % 64);
    }

    #[inline]
    pub(crate) fn len(&self) -> usize {
        self.0.iter().map(|word| word.count_ones() as usize).sum()
    }

    #[inline]
    pub(crate) fn has(&self, column: usize) -> bool {
        self.0[column / 64] >> (column % 64) & 1 == 1
    }

    #[inline]
    pub(crate) fn contains(&self, other: &Self) -> bool {
        self.0.iter().zip(&other.0).all(|(a, b)| b & !a == 0)
    }

    #[inline]
    pub(crate) fn union(&self, other: &Self) -> Self {
        Columns(std::array::from_fn(|i| self.0[i] | other.0[i]))
    }

    #[inline]
    pub(crate) fn minus(&self, other: &Self) -> Self {
        Columns(std::array::from_fn(|i| self.0[i] & !other.0[i]))
    }

    /// The column that has `n` others before it; there must be one.
    #[inline]
    pub(crate) fn nth(&self, mut n: usize) -> usize {
        for (i, &word) in self.0.iter().enumerate() {
            let here = word.count_ones() as usize;
            if n < here {
                let mut word = word;
                for _ in 0..n {
                    word &= word - 1;
                }
                return 64 * i + word.trailing_zeros() as usize;
            }
            n -= here;
        }
        0
    }

    #[inline]
    pub(crate) fn is_empty(&self) -> bool {
        self.0.iter().all(|&word| word == 0)
    }

    /// The columns in ascending order.
    #[inline]
    pub(crate) fn iter(self) -> impl Iterator<Item = usize> {
        self.0.into_iter().enumerate().flat_map(|(i, mut word)| {
            std::iter::from_fn(move || {
                (word != 0).then(|| {
                    let bit = word.trailing_zeros() as usize;
                    word &= word - 1;
                    64 * i + bit
                })
            })
        })
    }
}

impl<const W: usize> FromIterator<usize> for Columns<W> {
    #[inline]
    fn from_iter<I: IntoIterator<Item = usize>>(columns: I) -> Self {
        let mut set = Self::EMPTY;
        columns.into_iter().for_each(|column| set.insert(column));
        set
    }
}

/// Runs `$body` with the constant `$words` large enough for sets of `$columns` columns.
macro_rules! with_width {
    ($columns:expr, $words:ident => $body:expr) => {{
        let columns: usize = $columns;
        if columns <= 64 {
            const $words: usize = 1;
            $body
        } else if columns <= 256 {
            const $words: usize = 4;
            $body
        } else if columns <= $crate::columns::MAX_COLUMNS {
            const $words: usize = $crate::columns::MAX_WORDS;
            $body
        } else {
            Err($crate::Error::TooWide { columns, limit: $crate::columns::MAX_COLUMNS })
        }
    }};
}
pub(crate) use with_width;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sets_work_across_words() {
        let all: Columns<4> = [0, 63, 64, 200].into_iter().collect();
        let some: Columns<4> = [63, 200].into_iter().collect();
        assert_eq!((all.len(), some.len()), (4, 2));
        assert!(all.contains(&some) && !some.contains(&all) && all.has(64) && !some.has(64));
        assert_eq!(all.minus(&some).iter().collect::<Vec<_>>(), [0, 64]);
        assert_eq!(all.minus(&some).union(&some), all);
        assert_eq!((0..4).map(|n| all.nth(n)).collect::<Vec<_>>(), [0, 63, 64, 200]);
        assert!(all.minus(&all).is_empty() && !some.is_empty());
    }
}
