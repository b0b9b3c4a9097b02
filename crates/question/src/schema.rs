//! The relation as a question sees it: its columns, their types and public bounds.

use crate::Error;

/// A column of the relation.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Column {
    pub name: String,
    pub of: ColumnType,
}

/// What can be done with the values of a column. Only built-in types can be used: users cannot have defined their
/// operators and casts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ColumnType {
    /// Integers of at most 32 bits, whose sums over a table stay within 64.
    ShortInteger,
    /// Integers of 64 bits.
    Integer,
    /// Numbers that can be added after scaling: numeric, floats.
    Number,
    /// Text, with a collation of its own.
    Text,
    /// Other types whose equal values have equal bytes: dates and times, boolean, uuid, enums.
    Exact,
    /// Anything else.
    Other,
}

impl ColumnType {
    /// True for integers, which can be added as they are.
    pub fn is_integer(self) -> bool {
        matches!(self, ColumnType::ShortInteger | ColumnType::Integer)
    }

    /// True for numbers that can be added after scaling.
    pub fn is_number(self) -> bool {
        self.is_integer() || self == ColumnType::Number
    }

    /// True for types whose bytes identify units or groups.
    pub fn identifies(self) -> bool {
        self.is_integer() || matches!(self, ColumnType::Text | ColumnType::Exact)
    }

    /// True for types that a filter can compare.
    pub fn is_comparable(self) -> bool {
        self != ColumnType::Other
    }
}

/// The relation as a question sees it, provided by code that can read the catalog.
///
/// Bounds and values are requested one by one, because most questions need none of them and each needs a catalog
/// lookup.
pub trait Schema {
    type Error: From<Error>;

    fn columns(&self) -> &[Column];

    /// The position of the column among [`Schema::columns`].
    fn position(&self, name: &str) -> Result<usize, Self::Error>;

    /// The public bounds of a column of numbers, as decimals; `None` if they are not known.
    fn bounds(&self, column: usize) -> Result<Option<(String, String)>, Self::Error>;

    /// The text that the column's type writes for a value given as text; an error if the text is not a value of the
    /// type.
    fn canonical(&self, column: usize, value: &str) -> Result<String, Self::Error>;
}
