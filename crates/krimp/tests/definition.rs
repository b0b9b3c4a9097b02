//! The fast fit compared with the definition, on random small tables.

#[path = "common/reference.rs"]
mod reference;

use pg_sanitize_krimp::{Candidates, CodeTable, Element, Ended, Forbidden, Options, Progress, fit};
use proptest::prelude::*;
use table::{Bag, Item, Watch};

const WIDTH: usize = 6;

/// Rows near a few prototypes, so that there is something to compress; some cells are NULL.
fn tables() -> impl Strategy<Value = Bag> {
    let cell = || 0u8..3;
    let prototypes = prop::collection::vec(prop::collection::vec(cell(), WIDTH), 1..5);
    let noise = (any::<prop::sample::Index>(), cell(), prop::bool::weighted(0.1));
    let row = (any::<prop::sample::Index>(), prop::collection::vec(noise, 0..3));
    (prototypes, prop::collection::vec(row, 0..60)).prop_map(|(prototypes, rows)| {
        let rows = rows.into_iter().map(|(prototype, noise)| {
            let mut row: Vec<Option<u8>> =
                prototypes[prototype.index(prototypes.len())].iter().copied().map(Some).collect();
            for (column, value, null) in noise {
                row[column.index(WIDTH)] = (!null).then_some(value);
            }
            row.into_iter().map(|cell| cell.map(|c| c.to_string()))
        });
        Bag::from_text(WIDTH, rows)
    })
}

fn options() -> impl Strategy<Value = Options> {
    let item = (0..WIDTH as u32, 0u32..3).prop_map(|(column, code)| Item { column, code });
    let forbidden = prop_oneof![
        prop::collection::vec(0..WIDTH as u32, 1..3).prop_map(Forbidden::Columns),
        prop::collection::vec(item, 1..3).prop_map(Forbidden::Items),
    ];
    (
        0u64..4,
        prop::option::weighted(0.3, 0usize..5),
        prop::bool::ANY,
        prop::collection::vec(forbidden, 0..2),
        prop::bool::ANY,
    )
        .prop_map(|(min_support, max_length, closed, forbidden, prune)| Options {
            max_length,
            candidates: if closed { Candidates::Closed } else { Candidates::All },
            forbidden,
            prune,
            ..Options::new(min_support)
        })
}

fn fitted(bag: &Bag, options: &Options, threads: usize) -> CodeTable {
    let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
    let watch = Watch::unlimited();
    let table = pool.install(|| fit(bag, options, &watch, &Progress::new())).unwrap();
    assert_eq!(watch.memory(), 0, "all that was reserved is released");
    table
}

fn close(a: f64, b: f64) -> bool {
    (a - b).abs() <= 1e-9 * a.abs().max(b.abs()).max(1.0)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(100))]

    #[test]
    fn a_fit_is_what_the_definition_says(bag in tables(), options in options()) {
        let expected = reference::fit(&bag, &options);
        let found = fitted(&bag, &options, 1);
        let key = |e: &Element| (e.items.clone(), e.support, e.usage);
        prop_assert_eq!(
            found.elements.iter().map(key).collect::<Vec<_>>(),
            expected.elements.iter().map(key).collect::<Vec<_>>()
        );
        for (a, b) in found.elements.iter().zip(&expected.elements) {
            prop_assert!(close(a.code_length.unwrap_or(-1.0), b.code_length.unwrap_or(-1.0)));
        }
        prop_assert_eq!(found.seen, expected.trace.len() as u64);
        prop_assert_eq!(found.accepted, expected.trace.iter().filter(|t| t.2).count() as u64);
        let (a, b) = (found.sizes, expected.sizes);
        prop_assert!(close(a.data_bits, b.data_bits) && close(a.model_bits, b.model_bits), "{:?} {:?}", a, b);
        prop_assert!(close(a.standard_bits, b.standard_bits) && close(a.ratio, b.ratio), "{:?} {:?}", a, b);
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(100))]

    #[test]
    fn pairs_lead_to_a_table_that_is_what_it_says(bag in tables(), options in options()) {
        let options = Options { candidates: Candidates::Pairs, ..options };
        let found = fitted(&bag, &options, 1);
        prop_assert_eq!(found.ended, Ended::Complete);
        let patterns: Vec<_> = found.patterns().iter().map(|e| e.items.clone()).collect();
        let frequent = mining::reference::frequent(&bag, options.min_support.max(1), options.max_length);
        for pattern in &patterns {
            prop_assert!(frequent.contains_key(pattern), "{:?}", pattern);
            let forbidden = options.forbidden.iter().any(|forbidden| match forbidden {
                Forbidden::Columns(columns) => columns.iter().all(|c| pattern.iter().any(|i| i.column == *c)),
                Forbidden::Items(items) => items.iter().all(|item| pattern.contains(item)),
            });
            prop_assert!(!forbidden, "{:?}", pattern);
        }
        let (elements, sizes) = reference::cover(&bag, &patterns);
        let key = |e: &Element| (e.items.clone(), e.support, e.usage);
        prop_assert_eq!(
            found.elements.iter().map(key).collect::<Vec<_>>(),
            elements.iter().map(key).collect::<Vec<_>>()
        );
        prop_assert!(close(found.sizes.total_bits, sizes.total_bits));
        prop_assert!(found.sizes.total_bits <= found.sizes.standard_bits + 1e-9);
        prop_assert_eq!(found.accepted == 0, patterns.is_empty());
        prop_assert_eq!(fitted(&bag, &options, 3), found);
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(10))]

    #[test]
    fn threads_do_not_change_the_result(bag in tables(), options in options()) {
        prop_assert_eq!(fitted(&bag, &options, 1), fitted(&bag, &options, 3));
    }
}
