//! The trait of joint frequencies, from which a tree is made.

use table::Item;

/// How often the values of a column occur.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Shares {
    /// By code: the share of the rows that have the value.
    pub values: Vec<f64>,
    /// The code of NULL, where NULL is an item.
    pub null: Option<u32>,
    /// The share of the rows that have NULL, where it is no item.
    pub missing: f64,
}

/// Joint frequencies of items. An itemset has at most the frequency of each of its subsets.
pub(crate) trait Frequencies {
    /// The state of an itemset, to which further items can be added.
    type Rows;

    /// The largest number of bytes of that state.
    fn bytes(&self) -> u64;

    /// The empty itemset.
    fn all(&self) -> Self::Rows;

    /// An itemset with further items, in columns that it does not have.
    fn with(&self, rows: &Self::Rows, added: &[Item]) -> Self::Rows;

    /// The share of the rows that contain an itemset and further items, in columns that it does not have.
    fn share(&self, rows: &Self::Rows, added: &[Item]) -> f64;
}
