//! Brute force by definition, for tests on small tables.

use std::collections::{BTreeMap, BTreeSet};
use table::{Bag, Item, Units};

/// Itemsets (sorted) with supports.
pub type Found = BTreeMap<Vec<Item>, u64>;

/// Every non-empty subset of a row's items: 2^width.
fn subsets(row: &[u32]) -> impl Iterator<Item = Vec<Item>> + use<> {
    let items: Vec<Item> = Bag::row_items(row).collect();
    (1u32..1 << items.len()).map(move |mask| {
        (0..items.len()).filter(|b| mask >> b & 1 == 1).map(|b| items[b]).collect()
    })
}

/// Every itemset that occurs, the empty one left out, with its support: 2^width per row.
pub fn occurring(bag: &Bag) -> Found {
    let mut found = Found::new();
    for i in 0..bag.distinct() {
        for items in subsets(bag.row(i)) {
            *found.entry(items).or_default() += bag.weight(i);
        }
    }
    found
}

/// As [`occurring`], with the number of units that have a row with the itemset; 0 if only rows without a unit have it.
pub fn occurring_in_units(bag: &Bag, units: &Units) -> Found {
    let mut owners: BTreeMap<Vec<Item>, BTreeSet<u32>> = BTreeMap::new();
    for i in 0..bag.distinct() {
        for items in subsets(bag.row(i)) {
            owners.entry(items).or_default().extend(units.of(i).iter().map(|of| of.unit));
        }
    }
    owners.into_iter().map(|(items, owners)| (items, owners.len() as u64)).collect()
}

/// MIIs by definition.
pub fn miis(bag: &Bag, theta: u64, max_length: Option<usize>) -> Found {
    miis_among(&occurring(bag), theta, max_length)
}

/// The MIIs among the itemsets that occur.
pub fn miis_among(occurring: &Found, theta: u64, max_length: Option<usize>) -> Found {
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
    frequent_among(&occurring(bag), min_support, max_length)
}

/// The frequent ones among the itemsets that occur.
pub fn frequent_among(occurring: &Found, min_support: u64, max_length: Option<usize>) -> Found {
    let mut found = occurring.clone();
    found.retain(|items, support| {
        *support >= min_support && items.len() <= max_length.unwrap_or(usize::MAX)
    });
    found
}

/// Closed frequent itemsets by definition: no superset has the same support.
pub fn closed(bag: &Bag, min_support: u64, max_length: Option<usize>) -> Found {
    closed_among(&occurring(bag), min_support, max_length)
}

/// The closed frequent ones among the itemsets that occur. (If a superset has the same support, then also one with a
/// single additional item.)
pub fn closed_among(occurring: &Found, min_support: u64, max_length: Option<usize>) -> Found {
    let mut found = frequent_among(occurring, min_support, max_length);
    for (items, support) in occurring {
        for out in 0..items.len() {
            let mut subset = items.clone();
            subset.remove(out);
            if found.get(&subset) == Some(support) {
                found.remove(&subset);
            }
        }
    }
    found
}
