//! The bag prepared for depth-first search: items by rank, rows as sorted ranks.

use table::{Bag, Item, NONE, Stop, Watch};

/// The items of a bag that take part in a search, ranked by ascending support, and its rows as
/// ranks. Rare items first keeps the projected tables small.
pub(crate) struct Ground {
    /// The item of each rank.
    pub items: Vec<Item>,
    /// The support of each rank.
    pub supports: Vec<u64>,
    /// The ranks of each row, descending, one row after the other.
    cells: Vec<u32>,
    /// Where each row's cells begin; one more than there are rows.
    starts: Vec<usize>,
    /// The weight of each row.
    pub weights: Vec<u64>,
}

impl Ground {
    /// Ranks the items whose support `keep` accepts.
    pub(crate) fn new(bag: &Bag, watch: &Watch, keep: impl Fn(u64) -> bool) -> Result<Self, Stop> {
        let cells_at_most = bag.distinct() * bag.width();
        watch.reserve((cells_at_most * 4 + bag.distinct() * 16) as u64)?;
        let supports = bag.supports();
        let mut items: Vec<(u64, Item)> = Vec::new();
        for (column, supports) in supports.iter().enumerate() {
            for (code, &support) in supports.iter().enumerate() {
                if support > 0 && keep(support) {
                    items.push((support, Item { column: column as u32, code: code as u32 }));
                }
            }
        }
        items.sort_unstable();
        let mut ranks: Vec<Vec<u32>> = supports.iter().map(|s| vec![NONE; s.len()]).collect();
        for (rank, (_, item)) in items.iter().enumerate() {
            ranks[item.column as usize][item.code as usize] = rank as u32;
        }
        let mut cells = Vec::with_capacity(cells_at_most);
        let mut starts = Vec::with_capacity(bag.distinct() + 1);
        starts.push(0);
        for i in 0..bag.distinct() {
            let start = cells.len();
            cells.extend(
                Bag::row_items(bag.row(i))
                    .map(|item| ranks[item.column as usize][item.code as usize])
                    .filter(|&rank| rank != NONE),
            );
            cells[start..].sort_unstable_by(|a, b| b.cmp(a));
            starts.push(cells.len());
        }
        let (supports, items) = items.into_iter().unzip();
        Ok(Ground { items, supports, cells, starts, weights: bag.weights().to_vec() })
    }

    /// The ranks of row `i`, descending.
    #[inline]
    pub(crate) fn row(&self, i: u32) -> &[u32] {
        &self.cells[self.starts[i as usize]..self.starts[i as usize + 1]]
    }

    /// Number of rows.
    pub(crate) fn len(&self) -> usize {
        self.weights.len()
    }
}
