//! The itemsets that rows contain, numbered row by row.

use super::itemset_space::ItemsetSpace;
use dashu_int::{UBig, ops::DivRem};
use table::{Bag, Item, NONE, Stop, Watch};

/// The pairs of a row and a non-empty itemset in it. An itemset is in as many pairs as its support.
pub(super) struct Subsets<'a> {
    bag: &'a Bag,
    /// For a row with t items: the itemsets of the last t columns of one value each.
    places: ItemsetSpace,
    classes: Vec<RowLengthClass>,
    total: UBig,
}

/// The rows with the same number of items.
struct RowLengthClass {
    items: usize,
    /// The number of itemsets in each of them.
    itemsets: UBig,
    rows: Vec<u32>,
    /// The number of rows, repetitions counted, up to each of them.
    until: Vec<u64>,
}

impl<'a> Subsets<'a> {
    /// Groups the rows by the number of their items; the memory stays reserved.
    pub(super) fn new(bag: &'a Bag, max_length: usize, watch: &Watch) -> Result<Self, Stop> {
        let width = bag.width();
        let places = ItemsetSpace::new(vec![1; width], max_length, watch)?;
        watch.reserve(bag.distinct() as u64 * 24)?;
        let mut by_items: Vec<(Vec<u32>, Vec<u64>)> = vec![Default::default(); width + 1];
        for row in 0..bag.distinct() {
            watch.poll(row)?;
            let items = bag.row(row).iter().filter(|&&code| code != NONE).count();
            let (rows, until) = &mut by_items[items];
            rows.push(row as u32);
            until.push(until.last().unwrap_or(&0) + bag.weight(row));
        }
        let mut classes = Vec::new();
        let mut total = UBig::ZERO;
        for (items, (rows, until)) in by_items.into_iter().enumerate() {
            let itemsets = places.count_of_last(items);
            if let Some(&last) = until.last().filter(|_| items > 0) {
                total += &itemsets * last;
                classes.push(RowLengthClass { items, itemsets, rows, until });
            }
        }
        Ok(Subsets { bag, places, classes, total })
    }

    /// The number of pairs: the sum of all supports.
    pub(super) fn total(&self) -> &UBig {
        &self.total
    }

    /// The itemset of pair number `number`, in item order.
    pub(super) fn itemset(&self, mut number: UBig) -> Vec<Item> {
        for class in &self.classes {
            let rows = class.until[class.until.len() - 1];
            let pairs = &class.itemsets * rows;
            if number >= pairs {
                number -= pairs;
                continue;
            }
            let (row, itemset) = number.div_rem(&class.itemsets);
            let row = u64::try_from(row).unwrap_or(0);
            let row = class.rows[class.until.partition_point(|&until| until <= row)];
            let items: Vec<Item> = Bag::row_items(self.bag.row(row as usize)).collect();
            let first = self.bag.width() - class.items;
            let places = self.places.itemset_of_last(class.items, itemset);
            return places.iter().map(|place| items[place.column as usize - first]).collect();
        }
        Vec::new()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::itemset::reference::{all_itemsets, any_bag, support};
    use proptest::prelude::*;
    use std::collections::BTreeMap;

    proptest! {
        #[test]
        fn an_itemset_has_as_many_numbers_as_rows_contain_it(bag in any_bag(), max_length in 1usize..5) {
            let subsets = Subsets::new(&bag, max_length, &Watch::unlimited()).unwrap();
            let mut numbers: BTreeMap<Vec<Item>, u64> = BTreeMap::new();
            for number in 0..u32::try_from(subsets.total()).unwrap() {
                *numbers.entry(subsets.itemset(number.into())).or_default() += 1;
            }
            for items in all_itemsets(&bag, max_length) {
                prop_assert_eq!(numbers.remove(&items).unwrap_or(0), support(&bag, &items));
            }
            prop_assert!(numbers.is_empty());
        }
    }
}
