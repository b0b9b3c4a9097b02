//! Finds the sensitive itemsets that a row contains.

use table::{Bag, Item};

/// Itemsets indexed by one of their items each, so that a row is compared with few of them.
pub(super) struct Finder<'a> {
    itemsets: &'a [Vec<Item>],
    /// By column: the code of an item, and an itemset that has it; ascending.
    heads: Vec<(usize, Vec<(u32, u32)>)>,
}

impl<'a> Finder<'a> {
    /// The itemsets have at least an item each.
    pub fn new(bag: &Bag, itemsets: &'a [Vec<Item>]) -> Self {
        let mut heads: Vec<(usize, Vec<(u32, u32)>)> = Vec::new();
        for (items, number) in itemsets.iter().zip(0..) {
            // The item of the column with most values, because few rows share it.
            let head = items.iter().max_by_key(|item| bag.domain(item.column as usize).len());
            let Some(head) = head else { continue };
            let column = head.column as usize;
            let place = heads.iter().position(|(c, _)| *c == column).unwrap_or_else(|| {
                heads.push((column, Vec::new()));
                heads.len() - 1
            });
            heads[place].1.push((head.code, number));
        }
        heads.iter_mut().for_each(|(_, of_column)| of_column.sort_unstable());
        Finder { itemsets, heads }
    }

    /// Fills `found` with the numbers of the itemsets that the row contains, ascending.
    pub fn find(&self, row: &[u32], found: &mut Vec<u32>) {
        found.clear();
        for (column, heads) in &self.heads {
            let code = row[*column];
            let from = heads.partition_point(|head| head.0 < code);
            let same = heads[from..].iter().take_while(|head| head.0 == code);
            let contained = |number: &u32| {
                let items = &self.itemsets[*number as usize];
                items.iter().all(|item| row[item.column as usize] == item.code)
            };
            found.extend(same.map(|head| head.1).filter(contained));
        }
        found.sort_unstable();
    }
}
