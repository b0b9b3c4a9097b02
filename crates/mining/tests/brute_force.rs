//! The miners against the definitions, on thousands of small random tables.

use pg_sanitize_mining::reference::{self, Found};
use pg_sanitize_mining::{Visitor, closed, frequent, miis, visit_miis};
use proptest::prelude::*;
use std::sync::Mutex;
use table::{Bag, Item, Itemsets, Stop, Watch};

fn table() -> impl Strategy<Value = Bag> {
    (1usize..6, 1u8..5, 0usize..40).prop_flat_map(|(width, values, rows)| {
        let cell = prop::option::weighted(0.85, 0..values);
        prop::collection::vec(prop::collection::vec(cell, width), rows).prop_map(move |rows| {
            Bag::from_text(
                width,
                rows.into_iter().map(|r| r.into_iter().map(|c| c.map(|c| vec![b'a' + c]))),
            )
        })
    })
}

fn found(list: &Itemsets) -> Found {
    let found: Found = list.iter().map(|(items, support)| (items.to_vec(), support)).collect();
    assert_eq!(found.len(), list.len(), "an itemset was listed twice");
    found
}

#[derive(Default)]
struct Collect(Mutex<Vec<(Vec<Item>, Vec<u32>, u64)>>);

impl Visitor for Collect {
    fn mii(&self, items: &[Item], rows: &[u32], support: u64) -> Result<(), Stop> {
        let mut items = items.to_vec();
        items.sort();
        self.0.lock().unwrap().push((items, rows.to_vec(), support));
        Ok(())
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2000))]

    #[test]
    fn miis_match_the_definition(bag in table(), theta in 0u64..45, max_length in prop::option::of(0usize..7)) {
        let watch = Watch::unlimited();
        let list = miis(&bag, theta, max_length, &watch).unwrap();
        let expected = reference::miis(&bag, theta, max_length);
        prop_assert_eq!(found(&list), expected.clone());

        let collect = Collect::default();
        visit_miis(&bag, theta, max_length, &watch, &collect).unwrap();
        let seen = collect.0.into_inner().unwrap();
        prop_assert_eq!(seen.len(), expected.len());
        for (items, rows, support) in seen {
            prop_assert_eq!(expected.get(&items), Some(&support));
            let containing: Vec<u32> = (0..bag.distinct() as u32)
                .filter(|&i| items.iter().all(|item| bag.row(i as usize)[item.column as usize] == item.code))
                .collect();
            prop_assert_eq!(rows, containing);
        }
    }

    #[test]
    fn frequent_and_closed_match_the_definition(bag in table(), min_support in 1u64..45, max_length in prop::option::of(0usize..7)) {
        let watch = Watch::unlimited();
        prop_assert_eq!(
            found(&frequent(&bag, min_support, max_length, &watch).unwrap()),
            reference::frequent(&bag, min_support, max_length)
        );
        prop_assert_eq!(
            found(&closed(&bag, min_support, max_length, &watch).unwrap()),
            reference::closed(&bag, min_support, max_length)
        );
    }
}
