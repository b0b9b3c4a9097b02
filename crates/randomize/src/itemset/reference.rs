//! The itemset mechanism by its definition, for tests.

use super::sampler::Weights;
use proptest::prelude::*;
use random::Ratio;
use std::collections::BTreeMap;
use std::sync::Arc;
use table::{Bag, Domain, Item, NONE, Recoding, Watch};

/// The probability of each itemset.
pub(super) type Law = BTreeMap<Vec<Item>, f64>;

/// A bag of rows in codes, with domains of the given sizes: `None` is NULL.
pub(super) fn bag(sizes: &[usize], rows: &[Vec<Option<u32>>]) -> Bag {
    let texts = rows.iter().map(|row| row.iter().map(|code| code.map(|code| code.to_string())));
    let read = Bag::from_text(sizes.len(), texts);
    let domains = sizes.iter().enumerate().map(|(c, &size)| {
        let values = (0..size).map(|code| code.to_string().into_bytes()).collect();
        Arc::new(Domain::from_values(format!("c{c}"), values))
    });
    let codes = (0..sizes.len()).map(|c| {
        let code = |value: &[u8]| std::str::from_utf8(value).unwrap().parse().unwrap();
        read.domain(c).values().map(code).collect()
    });
    let recoding = Recoding { codes: codes.collect(), nulls: vec![NONE; sizes.len()] };
    read.recoded(&recoding, domains.collect(), &Watch::unlimited()).unwrap()
}

/// Sizes of domains, and rows of their codes.
pub(super) fn any_table() -> impl Strategy<Value = (Vec<usize>, Vec<Vec<Option<u32>>>)> {
    prop::collection::vec(1usize..4, 1..4).prop_flat_map(|sizes| {
        let cell = |&size: &usize| prop::option::weighted(0.8, 0..size as u32);
        let row: Vec<_> = sizes.iter().map(cell).collect();
        (Just(sizes), prop::collection::vec(row, 0..7))
    })
}

/// A bag of few rows, NULLs included, whose domains have values that no row has.
pub(super) fn any_bag() -> impl Strategy<Value = Bag> {
    any_table().prop_map(|(sizes, rows)| bag(&sizes, &rows))
}

/// Every non-empty itemset of the domains.
pub(super) fn all_itemsets(bag: &Bag, max_length: usize) -> Vec<Vec<Item>> {
    let mut all = vec![Vec::new()];
    for (column, domain) in bag.domains().iter().enumerate() {
        for i in 0..all.len() {
            for code in 0..domain.len() as u32 {
                let mut items: Vec<Item> = all[i].clone();
                items.push(Item { column: column as u32, code });
                all.push(items);
            }
        }
    }
    all.retain(|items| (1..=max_length).contains(&items.len()));
    all
}

pub(super) fn support(bag: &Bag, items: &[Item]) -> u64 {
    let contains = |row: &[u32]| items.iter().all(|item| row[item.column as usize] == item.code);
    (0..bag.distinct()).filter(|&i| contains(bag.row(i))).map(|i| bag.weight(i)).sum()
}

pub(super) fn weights(c: f64, theta: u64) -> Weights {
    Weights { c: Ratio::exact("c", c).unwrap(), theta }
}

/// The law of a draw.
pub(super) fn law(bag: &Bag, weights: &Weights, max_length: usize) -> Law {
    let exponent =
        |items: &[Item]| weights.c.to_f64() * support(bag, items).min(weights.theta) as f64;
    let all = all_itemsets(bag, max_length);
    let most = all.iter().map(|items| exponent(items)).fold(0.0, f64::max);
    let weight = |items: &[Item]| (exponent(items) - most).exp();
    let total: f64 = all.iter().map(|items| weight(items)).sum();
    all.into_iter().map(|items| (items.clone(), weight(&items) / total)).collect()
}
