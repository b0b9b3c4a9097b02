//! The miners compared with the definitions, on thousands of small random tables.

mod by_unit;

use crate::frequent::Asked;
use crate::itemset_list::ItemsetList;
use crate::mii::{Forward, Way};
use crate::orthogonal::OrthogonalArray;
use crate::reference::{self, Found};
use crate::{
    ColumnRisk, RiskCounts, Subtree, Visitor, closed, frequent, mii, miis, risk, visit_miis,
};
use proptest::prelude::*;
use rayon::ThreadPool;
use std::collections::BTreeSet;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering::Relaxed};
use std::sync::{LazyLock, Mutex};
use table::{Bag, Item, Itemsets, Stop, Watch};

/// Tables of up to 40 rows: NULLs, repeated rows, columns with one value.
fn small() -> impl Strategy<Value = Bag> {
    (0usize..7, 1u8..6, 0usize..40)
        .prop_flat_map(|(width, values, rows)| tables(width, values, rows))
}

/// Tables with more groups than fit a few words.
fn large() -> impl Strategy<Value = Bag> {
    (4usize..6, 4u8..8, 500usize..1500)
        .prop_flat_map(|(width, values, rows)| tables(width, values, rows))
}

fn tables(width: usize, values: u8, rows: usize) -> impl Strategy<Value = Bag> {
    // Each column has its own number of values; low ones are more frequent.
    let cell = (0.0f64..1.0, 0.0f64..1.0).prop_map(|(a, b)| a * b);
    let row = prop::collection::vec(prop::option::weighted(0.9, cell), width);
    let columns = prop::collection::vec(1..=values, width);
    (prop::collection::vec(row, rows), columns).prop_map(move |(rows, columns)| {
        let text = |x: f64, values: u8| vec![b'a' + (x * f64::from(values)) as u8];
        let rows = rows.iter().map(|row| {
            row.iter().zip(&columns).map(move |(cell, &values)| cell.map(|x| text(x, values)))
        });
        Bag::from_text(width, rows)
    })
}

/// Small thresholds more often, but also larger than the number of rows of a small table.
fn thresholds() -> impl Strategy<Value = u64> {
    prop_oneof![4 => 0u64..4, 2 => 4u64..12, 1 => 12u64..50, 1 => Just(u64::MAX)]
}

fn lengths() -> impl Strategy<Value = Option<usize>> {
    prop::option::of(0usize..8)
}

fn found(list: &Itemsets) -> Found {
    let found: Found = list.iter().map(|(items, support)| (items.to_vec(), support)).collect();
    assert_eq!(found.len(), list.len(), "an itemset was listed twice");
    found
}

/// An MII as a visitor sees it: items, rows, support.
type Seen = (Vec<Item>, Vec<u32>, u64);

/// Remembers all MIIs and their rows.
#[derive(Default)]
struct Collect(Mutex<Vec<Seen>>);

impl Visitor for Collect {
    fn mii(&self, items: &[Item], rows: &[u32], support: u64) -> Result<(), Stop> {
        let mut items = items.to_vec();
        items.sort();
        self.0.lock().unwrap().push((items, rows.to_vec(), support));
        Ok(())
    }
}

impl Collect {
    /// Fails unless exactly the expected MIIs came, with exactly the rows that contain them.
    fn check(self, bag: &Bag, expected: &Found) -> Result<(), TestCaseError> {
        let seen = self.0.into_inner().unwrap();
        prop_assert_eq!(seen.len(), expected.len());
        for (items, rows, support) in seen {
            prop_assert_eq!(expected.get(&items), Some(&support));
            let contains = |row: &u32| {
                let row = bag.row(*row as usize);
                items.iter().all(|item| row[item.column as usize] == item.code)
            };
            let containing: Vec<u32> = (0..bag.distinct() as u32).filter(contains).collect();
            prop_assert_eq!(rows, containing);
        }
        Ok(())
    }
}

/// Marks the cells that lie in MIIs; skips where all are marked.
struct Marks {
    cells: Vec<AtomicU64>,
    skipped: AtomicBool,
}

impl Marks {
    fn new(bag: &Bag) -> Self {
        // NULL cells count as marked: no MII uses them.
        let nulls = |row: &[u32]| {
            (0..row.len()).filter(|&c| row[c] == table::NONE).fold(0u64, |mask, c| mask | 1 << c)
        };
        let cells = (0..bag.distinct()).map(|i| AtomicU64::new(nulls(bag.row(i)))).collect();
        Marks { cells, skipped: AtomicBool::new(false) }
    }

    /// Fails unless exactly the expected cells are marked.
    fn check(&self, bag: &Bag, expected: &BTreeSet<(u32, u32)>) -> Result<(), TestCaseError> {
        for row in 0..bag.distinct() as u32 {
            for item in Bag::row_items(bag.row(row as usize)) {
                let mark = self.cells[row as usize].load(Relaxed) >> item.column & 1 == 1;
                prop_assert_eq!(mark, expected.contains(&(row, item.column)));
            }
        }
        Ok(())
    }
}

impl Visitor for Marks {
    const SKIPS: bool = true;

    fn mii(&self, items: &[Item], rows: &[u32], _support: u64) -> Result<(), Stop> {
        let mask = items.iter().fold(0, |mask, item| mask | 1 << item.column);
        rows.iter().for_each(|&row| {
            self.cells[row as usize].fetch_or(mask, Relaxed);
        });
        Ok(())
    }

    fn skip(&self, subtree: &Subtree<'_>) -> bool {
        let columns = subtree.columns[0];
        let skip =
            subtree.all_rows(|row| self.cells[row as usize].load(Relaxed) & columns == columns);
        self.skipped.fetch_or(skip, Relaxed);
        skip
    }
}

/// The cells that lie in an MII of their row, by definition.
fn marked(bag: &Bag, miis: &Found) -> BTreeSet<(u32, u32)> {
    let mut marked = BTreeSet::new();
    for row in 0..bag.distinct() as u32 {
        let cells: BTreeSet<Item> = Bag::row_items(bag.row(row as usize)).collect();
        for items in miis.keys().filter(|items| items.iter().all(|item| cells.contains(item))) {
            marked.extend(items.iter().map(|item| (row, item.column)));
        }
    }
    marked
}

/// The risk of each column and value, by definition.
fn expected_risk(bag: &Bag, miis: &Found) -> Vec<ColumnRisk> {
    let marked = marked(bag, miis);
    let none = |values| ColumnRisk {
        total: RiskCounts::default(),
        values: vec![RiskCounts::default(); values],
    };
    let mut expected: Vec<ColumnRisk> = bag.domains().iter().map(|d| none(d.len())).collect();
    for item in miis.keys().flatten() {
        expected[item.column as usize].values[item.code as usize].miis += 1;
        expected[item.column as usize].total.miis += 1;
    }
    for row in 0..bag.distinct() as u32 {
        let weight = bag.weight(row as usize);
        for item in Bag::row_items(bag.row(row as usize)) {
            let risk = &mut expected[item.column as usize];
            for counts in [&mut risk.values[item.code as usize], &mut risk.total] {
                counts.rows += weight * u64::from(marked.iter().any(|&(r, _)| r == row));
                counts.cells += weight * u64::from(marked.contains(&(row, item.column)));
            }
        }
    }
    expected
}

static POOLS: LazyLock<Vec<ThreadPool>> = LazyLock::new(|| {
    let pool = |threads| rayon::ThreadPoolBuilder::new().num_threads(threads).build();
    [1, 2, 4].into_iter().map(|threads| pool(threads).unwrap()).collect()
});

/// Checks that the list and its order are the same on each pool; returns the list.
fn same_on_all_pools(mine: impl Fn() -> Result<Itemsets, Stop> + Sync) -> Itemsets {
    let lists: Vec<Itemsets> = POOLS.iter().map(|pool| pool.install(&mine).unwrap()).collect();
    for list in &lists[1..] {
        assert!(list.iter().eq(lists[0].iter()), "the list depends on the number of threads");
    }
    lists.into_iter().next().unwrap()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(1000))]

    #[test]
    fn miis_match_the_definition(bag in small(), theta in thresholds(), max_length in lengths()) {
        let watch = Watch::unlimited();
        let expected = reference::miis(&bag, theta, max_length);
        prop_assert_eq!(found(&miis(&bag, None, theta, max_length, &watch).unwrap()), expected.clone());
        // The same without narrow searches, and with few.
        for narrow in [0, 3] {
            let way = Way::Projections { narrow };
            let list = mii::search(&bag, None, theta, max_length, way, &watch, || ItemsetList::new(&watch));
            prop_assert_eq!(found(&list.unwrap().finish().unwrap()), expected.clone());
        }
    }

    #[test]
    fn visitors_see_every_mii_and_its_rows(bag in small(), theta in thresholds(), max_length in lengths()) {
        let watch = Watch::unlimited();
        let expected = reference::miis(&bag, theta, max_length);
        let collect = Collect::default();
        visit_miis(&bag, None, theta, max_length, &watch, &collect).unwrap();
        collect.check(&bag, &expected)?;
        let collect = Collect::default();
        let way = Way::Projections { narrow: 2 };
        mii::search(&bag, None, theta, max_length, way, &watch, || Forward(&collect)).unwrap();
        collect.check(&bag, &expected)?;
    }

    #[test]
    fn bitmaps_find_the_same(bag in prop_oneof![3 => small(), 1 => large()], theta in thresholds(), max_length in 1usize..4) {
        let watch = Watch::unlimited();
        let way = Way::Projections { narrow: 256 };
        let by_projections = mii::search(&bag, None, theta, Some(max_length), way, &watch, || ItemsetList::new(&watch));
        let expected = found(&by_projections.unwrap().finish().unwrap());
        let collect = Collect::default();
        mii::search(&bag, None, theta, Some(max_length), Way::Bitmaps, &watch, || Forward(&collect)).unwrap();
        collect.check(&bag, &expected)?;
        same_on_all_pools(|| {
            let list = mii::search(&bag, None, theta, Some(max_length), Way::Bitmaps, &watch, || ItemsetList::new(&watch));
            list.and_then(ItemsetList::finish)
        });
    }

    #[test]
    fn skipping_loses_no_mark(bag in small(), theta in thresholds(), max_length in lengths()) {
        let watch = Watch::unlimited();
        let expected = marked(&bag, &reference::miis(&bag, theta, max_length));
        for narrow in [0, 3, 256] {
            let marks = Marks::new(&bag);
            let way = Way::Projections { narrow };
            mii::search(&bag, None, theta, max_length, way, &watch, || Forward(&marks)).unwrap();
            marks.check(&bag, &expected)?;
        }
    }

    #[test]
    fn risk_matches_the_definition(bag in small(), theta in thresholds(), max_length in lengths()) {
        let expected = expected_risk(&bag, &reference::miis(&bag, theta, max_length));
        prop_assert_eq!(risk(&bag, None, theta, max_length, &Watch::unlimited()).unwrap(), expected);
    }

    #[test]
    fn frequent_itemsets_match_the_definition(bag in small(), min_support in thresholds(), max_length in lengths()) {
        let list = frequent(&bag, None, min_support, max_length, &Watch::unlimited()).unwrap();
        let expected = reference::frequent(&bag, min_support.max(1), max_length);
        prop_assert_eq!(found(&list), expected.clone());
        let watch = Watch::unlimited();
        let list = frequent::search(&bag, None, Asked::new(min_support, max_length, false), Way::Bitmaps, &watch).unwrap();
        prop_assert_eq!(found(&list), expected);
    }

    #[test]
    fn closed_itemsets_match_the_definition(bag in small(), min_support in thresholds(), max_length in lengths()) {
        let watch = Watch::unlimited();
        let expected = reference::closed(&bag, min_support.max(1), max_length);
        prop_assert_eq!(found(&closed(&bag, None, min_support, max_length, &watch).unwrap()), expected.clone());
        let wide = frequent::search(&bag, None, Asked::new(min_support, max_length, true), Way::Projections { narrow: 0 }, &watch).unwrap();
        prop_assert_eq!(found(&wide), expected);
    }

    #[test]
    fn any_budget_gives_the_result_or_an_error(bag in small(), theta in 1u64..4, memory in 0u64..40_000, cap in 0u64..60) {
        let expected = reference::miis(&bag, theta, None);
        let watch = Watch::new(memory, cap);
        match miis(&bag, None, theta, None, &watch) {
            Ok(list) => {
                prop_assert!(list.len() as u64 <= cap);
                prop_assert_eq!(watch.memory(), list.memory());
                prop_assert_eq!(found(&list), expected);
            }
            Err(Stop::Itemsets { limit }) => prop_assert!(limit == cap && expected.len() as u64 > cap),
            Err(stop) => {
                prop_assert_eq!(stop, Stop::Memory { limit: memory });
                prop_assert_eq!(watch.memory(), 0);
            }
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(100))]

    #[test]
    fn frequent_bitmaps_find_the_same(bag in prop_oneof![3 => small(), 1 => large()], min_support in thresholds(), max_length in lengths()) {
        let watch = Watch::unlimited();
        let mine = |way| frequent::search(&bag, None, Asked::new(min_support, max_length, false), way, &watch);
        let by_projections = found(&mine(Way::Projections { narrow: 0 }).unwrap());
        let by_bitmaps = same_on_all_pools(|| mine(Way::Bitmaps));
        prop_assert_eq!(found(&by_bitmaps), by_projections);
    }

    #[test]
    fn closed_bitmaps_find_the_same(bag in prop_oneof![3 => small(), 1 => large()], min_support in thresholds(), max_length in lengths()) {
        let watch = Watch::unlimited();
        let expected = found(&frequent::search(&bag, None, Asked::new(min_support, max_length, true), Way::Projections { narrow: 8 }, &watch).unwrap());
        let by_bitmaps = same_on_all_pools(|| frequent::search(&bag, None, Asked::new(min_support, max_length, true), Way::Bitmaps, &watch));
        prop_assert_eq!(found(&by_bitmaps), expected);
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(10))]

    #[test]
    fn larger_tables_match_on_any_number_of_threads(bag in large(), theta in 1u64..8) {
        let watch = Watch::unlimited();
        let list = same_on_all_pools(|| miis(&bag, None, theta, None, &watch));
        prop_assert_eq!(found(&list), reference::miis(&bag, theta, None));
        let list = same_on_all_pools(|| frequent(&bag, None, theta, None, &watch));
        prop_assert_eq!(found(&list), reference::frequent(&bag, theta, None));
        let list = same_on_all_pools(|| closed(&bag, None, theta, None, &watch));
        let wide = frequent::search(&bag, None, Asked::new(theta, None, true), Way::Projections { narrow: 8 }, &watch).unwrap();
        prop_assert_eq!(found(&wide), found(&list));
    }
}

#[test]
fn a_cancelled_search_ends_and_gives_its_memory_back() {
    let rows = (0..4096u32).map(|i| (0..12).map(move |c| Some((i >> c & 1).to_string())));
    let bag = Bag::from_text(12, rows);
    for mine in [miis, frequent, closed] {
        let watch = Watch::unlimited();
        watch.cancel();
        assert_eq!(mine(&bag, None, 1, None, &watch).err(), Some(Stop::Cancelled));
        assert_eq!(watch.memory(), 0);
    }
}

#[test]
fn skipping_happens() {
    // Every four cells of a row are an MII: long before all are found, every cell is marked.
    let rows = OrthogonalArray::new(6, 5, 4).unwrap();
    let bag = Bag::from_text(6, rows.map(|row| row.into_iter().map(|c| Some(c.to_string()))));
    let marks = Marks::new(&bag);
    let way = Way::Projections { narrow: 8 };
    mii::search(&bag, None, 1, None, way, &Watch::unlimited(), || Forward(&marks)).unwrap();
    assert!(marks.skipped.load(Relaxed));
    assert!(marks.cells.iter().all(|cells| cells.load(Relaxed) == 0x3f));
}

#[test]
fn wide_tables_are_mined_up_to_a_length() {
    // 200 columns: marks and masks of several words.
    let rows = (0..40u32)
        .map(|i| (0..200u32).map(move |c| Some(((i * 31 + c * 17).pow(2) / 11 % 7).to_string())));
    let bag = Bag::from_text(200, rows);
    let list = miis(&bag, None, 2, Some(2), &Watch::unlimited()).unwrap();
    let risk = risk(&bag, None, 2, Some(2), &Watch::unlimited()).unwrap();
    let of_column =
        |c: u32| list.iter().filter(|(items, _)| items.iter().any(|i| i.column == c)).count();
    assert!((0..200).all(|c| risk[c as usize].total.miis == of_column(c) as u64));
    assert!(list.len() > 1000);
}

#[test]
fn the_widest_table_ends_at_the_cap() {
    // The largest number of columns of a relation: the search goes that deep before it lists much.
    let row = |i: u32| (0..1600u32).map(move |c| Some((i >> (c % 3) & 1).to_string()));
    let bag = Bag::from_text(1600, (0..4).map(row));
    for mine in [miis, frequent, closed] {
        let watch = Watch::new(u64::MAX, 2000);
        match mine(&bag, None, 1, None, &watch) {
            Ok(list) => assert!(list.len() <= 2000),
            Err(stop) => assert_eq!(stop, Stop::Itemsets { limit: 2000 }),
        }
    }
}
