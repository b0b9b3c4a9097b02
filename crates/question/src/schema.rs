//! What a question has to know of the relation that it is about.

use crate::Error;

/// A column of the relation.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Column {
    pub name: String,
    pub of: ColumnType,
}

/// What can be done with the values of a column. Only built-in types have any use here: no user can have
/// defined their operators and casts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ColumnType {
    /// Integers of at most 32 bits, whose sums over a table stay within 64.
    ShortInteger,
    /// Integers of 64 bits.
    Integer,
    /// What can be added after scaling: numeric, floats.
    Number,
    /// Text, with a collation of its own.
    Text,
    /// Other types whose equal values have equal bytes: dates and times, boolean, uuid, enums.
    Exact,
    /// Anything else.
    Other,
}

impl ColumnType {
    /// Integers, which can be added as they are.
    pub fn is_integer(self) -> bool {
        matches!(self, ColumnType::ShortInteger | ColumnType::Integer)
    }

    /// What can be added after scaling.
    pub fn is_number(self) -> bool {
        self.is_integer() || self == ColumnType::Number
    }

    /// What can tell units, or groups, apart by its bytes.
    pub fn identifies(self) -> bool {
        self.is_integer() || matches!(self, ColumnType::Text | ColumnType::Exact)
    }

    /// What a filter can compare.
    pub fn is_comparable(self) -> bool {
        self != ColumnType::Other
    }
}

/// The relation as a question sees it: made by whoever can look into the catalog.
///
/// Bounds and values are asked for one by one, as most questions need none of them and each takes a look
/// into the catalog.
pub trait Schema {
    type Error: From<Error>;

    fn columns(&self) -> &[Column];

    /// Where the column is among [`Schema::columns`].
    fn position(&self, name: &str) -> Result<usize, Self::Error>;

    /// The public bounds of a column of numbers, as decimals; `None` if they are not known.
    fn bounds(&self, column: usize) -> Result<Option<(String, String)>, Self::Error>;

    /// The text that the column's type writes for a value given as text, which is an error if it is none.
    fn canonical(&self, column: usize, value: &str) -> Result<String, Self::Error>;
}
