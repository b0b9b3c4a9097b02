//! The rows of a bag as item numbers, and the standard code.

use crate::cover::size::encoded;
use table::{Bag, Item, NONE, Reservation, Stop, Watch, sort_watched};

/// A bag in which items are numbered in item order.
pub(crate) struct ItemRows<'w> {
    pub width: usize,
    /// The number of each column's first item; one more entry than there are columns.
    pub starts: Vec<u32>,
    /// The column of each item.
    pub columns: Vec<u32>,
    /// The support of each item.
    pub supports: Vec<u64>,
    /// The length in bits of each item's standard code, -lg(support / sum of supports).
    pub standard: Vec<f64>,
    /// Item numbers, row after row; [`NONE`] where there is no item.
    cells: Vec<u32>,
    /// The number of copies of each row.
    pub weights: Vec<u64>,
    _held: Reservation<'w>,
}

impl<'w> ItemRows<'w> {
    pub(crate) fn new(bag: &Bag, watch: &'w Watch) -> Result<Self, Stop> {
        let width = bag.width();
        let rows = bag.distinct();
        let held = watch.hold((rows * (width * 4 + 8)) as u64)?;
        let mut starts = vec![0];
        let mut columns = Vec::new();
        for (column, domain) in bag.domains().iter().enumerate() {
            columns.extend(std::iter::repeat_n(column as u32, domain.len()));
            starts.push(columns.len() as u32);
        }
        let supports: Vec<u64> = bag.supports().into_iter().flatten().collect();
        let standard = standard_code(&supports);
        // Similar rows next to each other keep the bitmaps of items clustered, so that whole words of them are
        // skipped. Columns with few values come first: they make the longest runs.
        let mut by_size: Vec<usize> = (0..width).collect();
        by_size.sort_by_key(|&c| bag.domain(c).len());
        let mut order: Vec<u32> = (0..rows as u32).collect();
        sort_watched(&mut order, watch, |a, b| {
            let (a, b) = (bag.row(a as usize), bag.row(b as usize));
            by_size.iter().map(|&c| a[c]).cmp(by_size.iter().map(|&c| b[c]))
        })?;
        let mut cells = Vec::with_capacity(rows * width);
        for &row in &order {
            cells.extend(
                bag.row(row as usize)
                    .iter()
                    .zip(&starts)
                    .map(|(&code, &start)| if code == NONE { NONE } else { start + code }),
            );
        }
        let weights = order.iter().map(|&row| bag.weight(row as usize)).collect();
        Ok(ItemRows { width, starts, columns, supports, standard, cells, weights, _held: held })
    }

    /// The size in bits of data and table with singletons only.
    pub(crate) fn standard_bits(&self) -> f64 {
        standard_bits(&self.supports)
    }

    /// Number of distinct rows.
    pub(crate) fn rows(&self) -> usize {
        self.weights.len()
    }

    /// Number of items.
    pub(crate) fn items(&self) -> usize {
        self.columns.len()
    }

    /// The item numbers of a row, by column.
    #[inline]
    pub(crate) fn row(&self, row: usize) -> &[u32] {
        &self.cells[row * self.width..(row + 1) * self.width]
    }

    /// The number of an item.
    pub(crate) fn number(&self, item: Item) -> u32 {
        self.starts[item.column as usize] + item.code
    }

    /// The item with this number.
    pub(crate) fn item(&self, number: u32) -> Item {
        let column = self.columns[number as usize];
        Item { column, code: number - self.starts[column as usize] }
    }
}

/// The size in bits of data and table if the table has only singletons, of these supports.
pub(crate) fn standard_bits(supports: &[u64]) -> f64 {
    let (data, model) = encoded(supports.iter().copied().zip(standard_code(supports)));
    data + model
}

/// The length in bits of the code that each support gets: -lg of its share; 0 for no support.
pub(crate) fn standard_code(supports: &[u64]) -> Vec<f64> {
    let total: u64 = supports.iter().sum();
    let code = |&s: &u64| if s == 0 { 0.0 } else { (total as f64 / s as f64).log2() };
    supports.iter().map(code).collect()
}
