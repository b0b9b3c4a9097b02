//! Sets of columns: within a row, the columns of an itemset identify it.

/// The largest number of columns that a set can hold.
pub(crate) const MAX_COLUMNS: usize = 64 * MAX_WORDS;

/// Words of the widest sets.
pub(crate) const MAX_WORDS: usize = 26;

/// A set of columns below `64 * W`.
pub(crate) type Columns<const W: usize> = table::BitSet<W>;

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
        } else if columns <= $crate::cover::columns::MAX_COLUMNS {
            const $words: usize = $crate::cover::columns::MAX_WORDS;
            $body
        } else {
            Err($crate::Error::TooWide { columns, limit: $crate::cover::columns::MAX_COLUMNS })
        }
    }};
}
pub(crate) use with_width;
