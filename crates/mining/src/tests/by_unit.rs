//! The miners compared with the definitions where units are counted.

use super::*;
use crate::reference::{closed_among, frequent_among, miis_among, occurring_in_units};
use table::Units;

/// A table, and the units of its rows: a few rows each, or many, or none.
type Owned = (Bag, Units);

/// Tables of up to 60 rows with NULL cells, rows without a unit, equal rows of a unit, units of one and of many rows.
fn small_owned() -> impl Strategy<Value = Owned> {
    (0usize..6, 1u8..5, 1usize..60, 0usize..60)
        .prop_flat_map(|(width, values, units, rows)| owned(width, values, units, rows))
}

/// Tables with more groups than fit a few words.
fn large_owned() -> impl Strategy<Value = Owned> {
    (4usize..6, 4u8..8, 50usize..900, 500usize..1200)
        .prop_flat_map(|(width, values, units, rows)| owned(width, values, units, rows))
}

fn owned(width: usize, values: u8, units: usize, rows: usize) -> impl Strategy<Value = Owned> {
    // The lower a unit's number, the more rows it has.
    let unit = (0.0f64..1.0, 0.0f64..1.0).prop_map(move |(a, b)| (a * b * units as f64) as usize);
    let owners = prop::collection::vec(prop::option::weighted(0.85, unit), rows);
    (tables(width, values, rows), owners).prop_map(|(bag, owners)| {
        let rows = (0..bag.distinct())
            .flat_map(|row| std::iter::repeat_n(row, bag.weight(row) as usize))
            .zip(&owners);
        let text = |column: usize, code: u32| {
            (code != table::NONE).then(|| bag.domain(column).value(code).to_vec())
        };
        let rows = rows.map(|(row, owner)| {
            let cells = bag.row(row).iter().enumerate().map(|(column, &code)| text(column, code));
            cells.chain([owner.map(|unit| unit.to_string().into_bytes())]).collect::<Vec<_>>()
        });
        Bag::from_text(bag.width() + 1, rows).split_units(&Watch::unlimited()).unwrap()
    })
}

/// Every row is of a unit of its own.
fn of_their_own(bag: &Bag) -> Owned {
    let rows =
        (0..bag.distinct()).flat_map(|row| std::iter::repeat_n(row, bag.weight(row) as usize));
    let rows = rows.enumerate().map(|(unit, row)| {
        let cells =
            bag.row(row).iter().map(|&code| (code != table::NONE).then(|| code.to_string()));
        cells.chain([Some(unit.to_string())]).collect::<Vec<_>>()
    });
    Bag::from_text(bag.width() + 1, rows).split_units(&Watch::unlimited()).unwrap()
}

/// By projections, with many narrow searches, few and none.
const WAYS: [Way; 3] = [
    Way::Projections { narrow: 256 },
    Way::Projections { narrow: 3 },
    Way::Projections { narrow: 0 },
];

fn list<'w>(watch: &'w Watch) -> impl Fn() -> ItemsetList<'w> + Sync {
    move || ItemsetList::new(watch)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(1000))]

    #[test]
    fn miis_match_the_definition((bag, units) in small_owned(), theta in thresholds(), max_length in lengths()) {
        let watch = Watch::unlimited();
        let expected = miis_among(&occurring_in_units(&bag, &units), theta, max_length);
        prop_assert_eq!(found(&miis(&bag, Some(&units), theta, max_length, &watch).unwrap()), expected.clone());
        let collect = Collect::default();
        visit_miis(&bag, Some(&units), theta, max_length, &watch, &collect).unwrap();
        collect.check(&bag, &expected)?;
        for way in WAYS {
            let mined = mii::search(&bag, Some(&units), theta, max_length, way, &watch, list(&watch));
            prop_assert_eq!(found(&mined.unwrap().finish().unwrap()), expected.clone());
            let collect = Collect::default();
            mii::search(&bag, Some(&units), theta, max_length, way, &watch, || Forward(&collect)).unwrap();
            collect.check(&bag, &expected)?;
        }
    }

    #[test]
    fn bitmaps_find_the_same((bag, units) in prop_oneof![5 => small_owned(), 1 => large_owned()], theta in thresholds(), max_length in 1usize..4) {
        let watch = Watch::unlimited();
        let expected = miis_among(&occurring_in_units(&bag, &units), theta, Some(max_length));
        let collect = Collect::default();
        mii::search(&bag, Some(&units), theta, Some(max_length), Way::Bitmaps, &watch, || Forward(&collect)).unwrap();
        collect.check(&bag, &expected)?;
    }

    #[test]
    fn skipping_loses_no_mark((bag, units) in small_owned(), theta in thresholds(), max_length in lengths()) {
        let watch = Watch::unlimited();
        let miis = miis_among(&occurring_in_units(&bag, &units), theta, max_length);
        let expected = marked(&bag, &miis);
        for way in WAYS {
            let marks = Marks::new(&bag);
            mii::search(&bag, Some(&units), theta, max_length, way, &watch, || Forward(&marks)).unwrap();
            marks.check(&bag, &expected)?;
        }
        prop_assert_eq!(risk(&bag, Some(&units), theta, max_length, &watch).unwrap(), expected_risk(&bag, &miis));
    }

    #[test]
    fn frequent_and_closed_itemsets_match_the_definition((bag, units) in small_owned(), min_support in thresholds(), max_length in lengths()) {
        let watch = Watch::unlimited();
        let occurring = occurring_in_units(&bag, &units);
        let expected = frequent_among(&occurring, min_support.max(1), max_length);
        prop_assert_eq!(found(&frequent(&bag, Some(&units), min_support, max_length, &watch).unwrap()), expected.clone());
        let asked = Asked::new(min_support, max_length, false);
        let list = frequent::search(&bag, Some(&units), asked, Way::Bitmaps, &watch).unwrap();
        prop_assert_eq!(found(&list), expected);
        let expected = closed_among(&occurring, min_support.max(1), max_length);
        prop_assert_eq!(found(&closed(&bag, Some(&units), min_support, max_length, &watch).unwrap()), expected.clone());
        for way in WAYS {
            let asked = Asked::new(min_support, max_length, true);
            let list = frequent::search(&bag, Some(&units), asked, way, &watch).unwrap();
            prop_assert_eq!(found(&list), expected.clone());
        }
    }

    #[test]
    fn with_a_unit_for_each_row_units_count_as_rows_do(bag in small(), theta in thresholds(), max_length in lengths()) {
        let (bag, units) = of_their_own(&bag);
        let watch = Watch::unlimited();
        for mine in [miis, frequent, closed] {
            let [rows, units] = [None, Some(&units)].map(|units| found(&mine(&bag, units, theta, max_length, &watch).unwrap()));
            prop_assert_eq!(rows, units);
        }
    }

    #[test]
    fn any_budget_gives_the_result_or_an_error((bag, units) in small_owned(), theta in 0u64..4, memory in 0u64..40_000) {
        let expected = miis_among(&occurring_in_units(&bag, &units), theta, None);
        let watch = Watch::new(memory, u64::MAX);
        match miis(&bag, Some(&units), theta, None, &watch) {
            Ok(list) => {
                prop_assert_eq!(watch.memory(), list.memory());
                prop_assert_eq!(found(&list), expected);
            }
            Err(stop) => {
                prop_assert_eq!(stop, Stop::Memory { limit: memory });
                prop_assert_eq!(watch.memory(), 0);
            }
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(20))]

    #[test]
    fn larger_tables_match_on_any_number_of_threads((bag, units) in large_owned(), theta in 0u64..8) {
        let watch = Watch::unlimited();
        let occurring = occurring_in_units(&bag, &units);
        let expected = miis_among(&occurring, theta, None);
        prop_assert_eq!(found(&same_on_all_pools(|| miis(&bag, Some(&units), theta, None, &watch))), expected.clone());
        let collect = Collect::default();
        visit_miis(&bag, Some(&units), theta, None, &watch, &collect).unwrap();
        collect.check(&bag, &expected)?;
        let list = same_on_all_pools(|| frequent(&bag, Some(&units), theta, None, &watch));
        prop_assert_eq!(found(&list), frequent_among(&occurring, theta.max(1), None));
        let list = same_on_all_pools(|| frequent::search(&bag, Some(&units), Asked::new(theta, None, false), Way::Bitmaps, &watch));
        prop_assert_eq!(found(&list), frequent_among(&occurring, theta.max(1), None));
        let expected = closed_among(&occurring, theta.max(1), None);
        let list = same_on_all_pools(|| closed(&bag, Some(&units), theta, None, &watch));
        prop_assert_eq!(found(&list), expected.clone());
        let way = Way::Projections { narrow: 8 };
        let list = frequent::search(&bag, Some(&units), Asked::new(theta, None, true), way, &watch).unwrap();
        prop_assert_eq!(found(&list), expected);
    }
}

/// The table of the given rows, whose last cell is the unit; `-` is NULL.
fn table(rows: &[&str]) -> Owned {
    let cells = |row: &&str| {
        let cells = row.split(' ').map(|cell| (cell != "-").then(|| cell.to_string()));
        cells.collect::<Vec<_>>()
    };
    let width = cells(&rows[0]).len();
    Bag::from_text(width, rows.iter().map(cells)).split_units(&Watch::unlimited()).unwrap()
}

/// The itemsets as text, with supports.
fn named(bag: &Bag, list: &Itemsets) -> BTreeSet<(String, u64)> {
    let value = |item: &Item| {
        String::from_utf8(bag.domain(item.column as usize).value(item.code).to_vec()).unwrap()
    };
    let name = |items: &[Item]| {
        let mut items = items.to_vec();
        items.sort();
        items.iter().map(value).collect::<String>()
    };
    list.iter().map(|(items, support)| (name(items), support)).collect()
}

fn expected(itemsets: &[(&str, u64)]) -> BTreeSet<(String, u64)> {
    itemsets.iter().map(|&(name, support)| (name.to_string(), support)).collect()
}

#[test]
fn a_person_with_many_rows_is_one() {
    // Five rows have a and x, but they are Ann's.
    let (bag, units) =
        table(&["a x ann", "a x ann", "a x ann", "a x ann", "a x ann", "a y ben", "b x cat"]);
    let watch = Watch::unlimited();
    let list = miis(&bag, Some(&units), 1, None, &watch).unwrap();
    let minimal = [("b", 1), ("y", 1), ("ax", 1)];
    assert_eq!(named(&bag, &list), expected(&minimal));
    let list = miis(&bag, None, 1, None, &watch).unwrap();
    assert_eq!(named(&bag, &list), expected(&[("b", 1), ("y", 1)]));
}

#[test]
fn rows_without_a_person_count_for_nobody() {
    // Nobody has c, nor a and y in one row. Ann has a, and Ben y.
    let (bag, units) = table(&["a x ann", "b y ben", "a y -", "c x -", "b x ben"]);
    let watch = Watch::unlimited();
    let list = miis(&bag, Some(&units), 0, None, &watch).unwrap();
    assert_eq!(named(&bag, &list), expected(&[("c", 0), ("ay", 0)]));
    let list = frequent(&bag, Some(&units), 1, None, &watch).unwrap();
    let all = [("a", 1), ("b", 1), ("x", 2), ("y", 1), ("ax", 1), ("bx", 1), ("by", 1)];
    assert_eq!(named(&bag, &list), expected(&all));
}

#[test]
fn a_set_of_all_rows_is_open_if_a_larger_one_has_the_same_people() {
    // Each person has a row with a and x, and Ann one with a alone.
    let (bag, units) = table(&["a x ann", "a y ann", "a x ben"]);
    let watch = Watch::unlimited();
    let list = closed(&bag, Some(&units), 1, None, &watch).unwrap();
    assert_eq!(named(&bag, &list), expected(&[("ax", 2), ("ay", 1)]));
    let list = closed(&bag, None, 1, None, &watch).unwrap();
    assert_eq!(named(&bag, &list), expected(&[("a", 3), ("ax", 2), ("ay", 1)]));
}

#[test]
fn a_cancelled_search_ends_and_gives_its_memory_back() {
    let rows = (0..4096u32).map(|i| {
        let cells = (0..12).map(move |c| Some((i >> c & 1).to_string()));
        cells.chain([Some((i / 3).to_string())])
    });
    let (bag, units) = Bag::from_text(13, rows).split_units(&Watch::unlimited()).unwrap();
    for mine in [miis, frequent, closed] {
        let watch = Watch::unlimited();
        watch.cancel();
        assert_eq!(mine(&bag, Some(&units), 1, None, &watch).err(), Some(Stop::Cancelled));
        assert_eq!(watch.memory(), 0);
    }
}
