//! Brute force by definition, for tests on small tables.

use std::collections::BTreeMap;
use table::{Bag, Item};

/// Itemsets (sorted) with supports.
pub type Found = BTreeMap<Vec<Item>, u64>;

/// Every itemset that occurs, the empty one left out, with its support: 2^width per row.
pub fn occurring(bag: &Bag) -> Found {
    let mut found = Found::new();
    for i in 0..bag.distinct() {
        let items: Vec<Item> = Bag::row_items(bag.row(i)).collect();
        for mask in 1u32..1 << items.len() {
            let subset = (0..items.len()).filter(|b| mask >> b & 1 == 1).map(|b| items[b]);
            *found.entry(subset.collect()).or_default() += bag.weight(i);
        }
    }
    found
}

/// MIIs by definition.
pub fn miis(bag: &Bag, theta: u64, max_length: Option<usize>) -> Found {
    let occurring = occurring(bag);
    let minimal = |items: &Vec<Item>| {
        (0..items.len()).all(|out| {
            let subset: Vec<Item> =
                (0..items.len()).filter(|&i| i != out).map(|i| items[i]).collect();
            subset.is_empty() || occurring[&subset] > theta
        })
    };
    occurring
        .iter()
        .filter(|(items, support)| {
            **support <= theta && items.len() <= max_length.unwrap_or(usize::MAX) && minimal(items)
        })
        .map(|(items, &support)| (items.clone(), support))
        .collect()
}

/// Frequent itemsets by definition.
pub fn frequent(bag: &Bag, min_support: u64, max_length: Option<usize>) -> Found {
    let mut found = occurring(bag);
    found.retain(|items, support| {
        *support >= min_support && items.len() <= max_length.unwrap_or(usize::MAX)
    });
    found
}

/// Closed frequent itemsets by definition: no superset has the same support. (If a superset has, then also one with a
/// single additional item.)
pub fn closed(bag: &Bag, min_support: u64, max_length: Option<usize>) -> Found {
    let mut found = frequent(bag, min_support, max_length);
    for (items, support) in occurring(bag) {
        for out in 0..items.len() {
            let mut subset = items.clone();
            subset.remove(out);
            if found.get(&subset) == Some(&support) {
                found.remove(&subset);
            }
        }
    }
    found
}
