//! What a tree asks of the data that it describes.

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
    /// What is kept of an itemset, to add further items to it.
    type Rows;

    /// The bytes of that, at most.
    fn bytes(&self) -> u64;

    /// The empty itemset.
    fn all(&self) -> Self::Rows;

    /// An itemset with further items, in columns that it does not have.
    fn with(&self, rows: &Self::Rows, added: &[Item]) -> Self::Rows;

    /// The share of the rows that contain an itemset and further items, in columns that it does not have.
    fn share(&self, rows: &Self::Rows, added: &[Item]) -> f64;
}
