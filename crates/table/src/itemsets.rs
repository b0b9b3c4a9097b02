//! Items, and lists of itemsets with their supports.

use crate::{Bag, Stop, Watch, sort_watched};

/// A (column, value) pair; the order is the item order: column position, then code, and codes
/// follow the C collation of the value's text.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Item {
    pub column: u32,
    pub code: u32,
}

/// Itemsets with supports, flat: no allocation per itemset.
#[derive(Debug, Clone, Default)]
pub struct Itemsets {
    items: Vec<Item>,
    ends: Vec<usize>,
    supports: Vec<u64>,
}

impl Itemsets {
    pub fn new() -> Self {
        Itemsets::default()
    }

    /// Adds an itemset; its items are put into item order.
    pub fn push(&mut self, items: &[Item], support: u64) {
        let start = self.items.len();
        self.items.extend_from_slice(items);
        self.items[start..].sort_unstable();
        self.ends.push(self.items.len());
        self.supports.push(support);
    }

    /// Appends all of `other`.
    pub fn append(&mut self, other: &Itemsets) {
        let offset = self.items.len();
        self.items.extend_from_slice(&other.items);
        self.ends.extend(other.ends.iter().map(|e| e + offset));
        self.supports.extend_from_slice(&other.supports);
    }

    /// Frees memory that was allocated for more itemsets.
    pub fn shrink_to_fit(&mut self) {
        self.items.shrink_to_fit();
        self.ends.shrink_to_fit();
        self.supports.shrink_to_fit();
    }

    /// Number of itemsets.
    pub fn len(&self) -> usize {
        self.ends.len()
    }

    /// True if there are none.
    pub fn is_empty(&self) -> bool {
        self.ends.is_empty()
    }

    /// The items of itemset number `i`, in item order.
    pub fn items(&self, i: usize) -> &[Item] {
        let start = if i == 0 { 0 } else { self.ends[i - 1] };
        &self.items[start..self.ends[i]]
    }

    /// The support of itemset number `i`.
    pub fn support(&self, i: usize) -> u64 {
        self.supports[i]
    }

    /// All itemsets with their supports.
    pub fn iter(&self) -> impl Iterator<Item = (&[Item], u64)> {
        (0..self.len()).map(|i| (self.items(i), self.supports[i]))
    }

    /// Itemset numbers in the order of results: length, support, items.
    pub fn result_order(&self, watch: &Watch) -> Result<Vec<u32>, Stop> {
        let mut order: Vec<u32> = (0..self.len() as u32).collect();
        sort_watched(&mut order, watch, |a, b| {
            let (a, b) = (a as usize, b as usize);
            let key = |i: usize| (self.items(i).len(), self.supports[i], self.items(i));
            key(a).cmp(&key(b))
        })?;
        Ok(order)
    }

    /// The bytes held by `len` itemsets with `items` items in total.
    pub fn bytes(len: usize, items: usize) -> u64 {
        (len * 16 + items * size_of::<Item>()) as u64
    }

    /// The bytes held.
    pub fn memory(&self) -> u64 {
        (self.items.capacity() * size_of::<Item>()
            + (self.ends.capacity() + self.supports.capacity()) * 8) as u64
    }
}

impl Bag {
    /// The items of `row` (NULL cells left out), in item order.
    pub fn row_items(row: &[u32]) -> impl Iterator<Item = Item> + '_ {
        row.iter()
            .enumerate()
            .filter(|&(_, &code)| code != crate::NONE)
            .map(|(column, &code)| Item { column: column as u32, code })
    }
}
