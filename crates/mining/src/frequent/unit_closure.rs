//! Which itemsets are closed where units are counted.

use crate::project::Projection;
use crate::project::unit_rows::UnitRows;
use table::{Bag, Item, NONE, Stop, Watch};

/// The number of rows between two polls of the watch.
const STEP: usize = 1 << 12;

/// Tells whether no further item has the support of an itemset: whether no item is in a row with the itemset of each
/// unit that has such a row.
///
/// Not all rows with the itemset need have that item, so that the search for itemsets that are closed by rows does not
/// see it.
pub(super) struct UnitClosure<'a> {
    bag: &'a Bag,
    rows: UnitRows,
    /// The projection of these rows, in the same order.
    root: &'a Projection,
    /// The rank of each value of each column, or [`NONE`].
    ranks: Vec<Vec<u32>>,
}

impl<'a> UnitClosure<'a> {
    /// For itemsets of `items`, which are those of `root`, and of items that every row has.
    pub(super) fn new(bag: &'a Bag, rows: UnitRows, items: &[Item], root: &'a Projection) -> Self {
        let mut ranks: Vec<Vec<u32>> = bag.domains().iter().map(|d| vec![NONE; d.len()]).collect();
        for (rank, item) in items.iter().enumerate() {
            ranks[item.column as usize][item.code as usize] = rank as u32;
        }
        UnitClosure { bag, rows, root, ranks }
    }

    /// Whether an itemset that some unit has is closed. Looks at rows only until one unit lacks every item that the
    /// units before it share, which is after a few units for most itemsets.
    pub(super) fn is_closed(&self, set: &[Item], watch: &Watch) -> Result<bool, Stop> {
        let rank = |item: &Item| self.ranks[item.column as usize][item.code as usize];
        let rarest = set.iter().map(rank).min().filter(|&rank| rank != NONE);
        let mut shared = SharedItems::default();
        match rarest {
            Some(rank) => {
                let rows = self.root.occurrences(rank).iter().map(|&(row, _)| row as usize);
                self.share(rows, set, &mut shared, watch)?;
            }
            None => self.share(0..self.rows.rows.len(), set, &mut shared, watch)?,
        }
        Ok(shared.is_empty())
    }

    /// Finds the items outside `set` that all units share in the rows with `set`, until there are none.
    fn share(
        &self,
        rows: impl Iterator<Item = usize>,
        set: &[Item],
        shared: &mut SharedItems,
        watch: &Watch,
    ) -> Result<(), Stop> {
        let mut unit = NONE;
        for (i, row) in rows.enumerate() {
            watch.poll_every(STEP, i)?;
            let of = &self.rows.rows[row];
            let row = self.bag.row(of.row as usize);
            if !set.iter().all(|item| row[item.column as usize] == item.code) {
                continue;
            }
            if of.unit == NONE || of.unit != unit {
                shared.end_unit();
                if shared.is_empty() {
                    return Ok(());
                }
            }
            unit = of.unit;
            let others = Bag::row_items(row).filter(|item| !set.contains(item));
            shared.of_unit.extend(others);
            shared.has_unit = true;
        }
        shared.end_unit();
        Ok(())
    }
}

/// The items that all units have, apart from those of an itemset.
#[derive(Default)]
struct SharedItems {
    /// Of the units before the current one; none if that is the first.
    of_all: Option<Vec<Item>>,
    /// Of the current unit, in any order.
    of_unit: Vec<Item>,
    has_unit: bool,
}

impl SharedItems {
    fn end_unit(&mut self) {
        if !std::mem::take(&mut self.has_unit) {
            return;
        }
        self.of_unit.sort_unstable();
        match &mut self.of_all {
            Some(all) => all.retain(|item| self.of_unit.binary_search(item).is_ok()),
            None => {
                self.of_unit.dedup();
                self.of_all = Some(self.of_unit.clone());
            }
        }
        self.of_unit.clear();
    }

    /// Whether the units so far share nothing.
    fn is_empty(&self) -> bool {
        self.of_all.as_ref().is_some_and(Vec::is_empty)
    }
}
