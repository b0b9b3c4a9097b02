//! Measures that count people, beside their definitions on the rows.

use pg_sanitize_measures::cells::{CellCounts, NoCounts};
use pg_sanitize_measures::{
    ClassRisk, Diversity, class_risk, k_anonymity, l_diversity, rare_itemset_leak, t_closeness,
    unicity, unicity_of_rows,
};
use proptest::prelude::*;
use std::collections::{BTreeMap, BTreeSet};
use table::{Bag, NONE, Units, Watch};

type Cell = Option<String>;
/// The cells of a row, and its unit.
type Row = ([Cell; 3], Option<u32>);

fn rows() -> impl Strategy<Value = Vec<Row>> {
    let cell = || prop::option::weighted(0.8, "[a-c]");
    let row = ([cell(), cell(), cell()], prop::option::weighted(0.9, 0u32..7));
    prop::collection::vec(row, 0..30)
}

fn split(rows: &[Row]) -> (Bag, Units) {
    let cells = rows.iter().map(|(cells, unit)| {
        cells.iter().cloned().chain([unit.map(|unit| format!("{unit:02}"))]).collect::<Vec<_>>()
    });
    Bag::from_text(4, cells).split_units(&Watch::unlimited()).unwrap()
}

/// NULL comes last.
fn key(cell: &Cell) -> (bool, Cell) {
    (cell.is_none(), cell.clone())
}

type Key = (bool, Cell);

/// The rows of each class on all columns but one, as values of that column and units.
fn classes(rows: &[Row], sensitive: usize) -> BTreeMap<Vec<Key>, Vec<(Key, Option<u32>)>> {
    let mut classes: BTreeMap<_, Vec<_>> = BTreeMap::new();
    for (cells, unit) in rows {
        let others = (0..3).filter(|&c| c != sensitive).map(|c| key(&cells[c]));
        classes.entry(others.collect()).or_default().push((key(&cells[sensitive]), *unit));
    }
    classes
}

/// The largest number of values that get different units, trying every unit for every value.
fn matched(values: &[BTreeSet<u32>], taken: &mut BTreeSet<u32>) -> u64 {
    let Some((first, others)) = values.split_first() else { return 0 };
    let mut best = matched(others, taken);
    for unit in first {
        if taken.insert(*unit) {
            best = best.max(1 + matched(others, taken));
            taken.remove(unit);
        }
    }
    best
}

/// What each value weighs, if every unit weighs 1, spread over its rows.
fn weights(rows: &[(Key, Option<u32>)]) -> BTreeMap<Key, f64> {
    let mut weights = BTreeMap::new();
    for (value, unit) in rows.iter().filter(|row| row.1.is_some()) {
        let of_unit = rows.iter().filter(|row| row.1 == *unit).count();
        *weights.entry(value.clone()).or_insert(0.0) += 1.0 / of_unit as f64;
    }
    let all: f64 = weights.values().sum();
    weights.into_iter().map(|(value, weight)| (value, weight / all)).collect()
}

#[derive(Debug)]
struct Expected {
    others: Vec<Key>,
    rows: u64,
    units: u64,
    distinct: u64,
    entropy_l: f64,
    closeness: f64,
    ordered: f64,
}

/// Every class by definition, by units and cells.
fn by_definition(rows: &[Row], sensitive: usize) -> Vec<Expected> {
    let all: Vec<_> = rows.iter().map(|(cells, unit)| (key(&cells[sensitive]), *unit)).collect();
    let table = weights(&all);
    let expected = |(others, class): (Vec<Key>, Vec<(Key, Option<u32>)>)| {
        let units: BTreeSet<u32> = class.iter().filter_map(|row| row.1).collect();
        let mut values: BTreeMap<Key, BTreeSet<u32>> = BTreeMap::new();
        for (value, unit) in &class {
            values.entry(value.clone()).or_default().extend(unit);
        }
        let own = weights(&class);
        let share = |value: &Key| own.get(value).copied().unwrap_or(0.0);
        let (mut p, mut q, mut ordered) = (0.0, 0.0, 0.0);
        for (value, of_table) in table.iter().take(table.len().saturating_sub(1)) {
            p += share(value);
            q += of_table;
            ordered += f64::abs(p - q) / (table.len() - 1) as f64;
        }
        let entropy: f64 = own.values().map(|p| -p * p.ln()).sum();
        let apart: f64 = table.iter().map(|(value, q)| (share(value) - q).abs()).sum();
        let somebody = if units.is_empty() { 0.0 } else { 1.0 };
        Expected {
            others,
            rows: class.len() as u64,
            units: units.len() as u64,
            distinct: matched(&values.into_values().collect::<Vec<_>>(), &mut BTreeSet::new()),
            entropy_l: entropy.exp() * somebody,
            closeness: apart / 2.0 * somebody,
            ordered: ordered * somebody,
        }
    };
    let mut found: Vec<Expected> = classes(rows, sensitive).into_iter().map(expected).collect();
    found.sort_by_key(|class| class.units);
    found
}

fn close(a: f64, b: f64) -> bool {
    (a - b).abs() < 1e-12
}

proptest! {
    #[test]
    fn classes_of_people_are_those_of_the_definition(rows in rows(), sensitive in 0usize..3) {
        let (bag, units) = split(&rows);
        let (units, watch) = (Some(&units), Watch::unlimited());
        let expected = by_definition(&rows, sensitive);
        let found = class_risk(&bag, units, Some(sensitive), usize::MAX, &watch).unwrap();
        prop_assert_eq!(found.len(), expected.len());
        for (class, expected) in found.iter().zip(&expected) {
            let ClassRisk { row, rows, units, sensitive: Some(risk) } = *class else {
                panic!("{class:?}")
            };
            prop_assert_eq!((rows, units), (expected.rows, Some(expected.units)));
            let text = |(c, code): (usize, &u32)| {
                let text = || String::from_utf8(bag.domain(c).value(*code).to_vec()).unwrap();
                key(&(*code != NONE).then(text))
            };
            let codes = bag.row(row as usize).iter().enumerate();
            let others: Vec<Key> = codes.filter(|&(c, _)| c != sensitive).map(text).collect();
            prop_assert_eq!(&others, &expected.others);
            prop_assert_eq!(risk.distinct_values, expected.distinct);
            prop_assert!(close(risk.entropy_l, expected.entropy_l), "{risk:?} {expected:?}");
            prop_assert!(close(risk.closeness, expected.closeness), "{risk:?} {expected:?}");
        }
        let least = |get: fn(&Expected) -> f64| expected.iter().map(get).min_by(f64::total_cmp);
        let most = |get: fn(&Expected) -> f64| expected.iter().map(get).max_by(f64::total_cmp);
        let l = |kind| l_diversity(&bag, units, sensitive, kind, &watch).unwrap();
        let t = |ordered| t_closeness(&bag, units, sensitive, ordered, &watch).unwrap();
        let pairs = [
            (l(Diversity::Distinct), least(|class| class.distinct as f64)),
            (l(Diversity::Entropy), least(|class| class.entropy_l)),
            (t(false), most(|class| class.closeness)),
            (t(true), most(|class| class.ordered)),
        ];
        for (found, expected) in pairs {
            prop_assert_eq!(found.is_some(), expected.is_some());
            prop_assert!(close(found.unwrap_or(0.0), expected.unwrap_or(0.0)), "{pairs:?}");
        }
        prop_assert_eq!(watch.memory(), 0);
    }

    #[test]
    fn k_counts_the_people_of_the_smallest_class(rows in rows()) {
        let (bag, units) = split(&rows);
        let watch = Watch::unlimited();
        let mut people: BTreeMap<&[Cell; 3], BTreeSet<u32>> = BTreeMap::new();
        for (cells, unit) in &rows {
            people.entry(cells).or_default().extend(unit);
        }
        let expected = people.values().map(|people| people.len() as u64).min();
        prop_assert_eq!(k_anonymity(&bag, Some(&units), &watch).unwrap(), expected);
        let smallest = class_risk(&bag, Some(&units), None, 1, &watch).unwrap();
        prop_assert_eq!(smallest.first().and_then(|class| class.units), expected);
    }

    /// Where every row is another person's, people are rows, to the last bit.
    #[test]
    fn one_row_each_is_rows(
        rows in rows(),
        sensitive in 0usize..3,
        known in 1usize..4,
        theta in 0u64..4,
    ) {
        let rows: Vec<Row> = rows.into_iter().zip(0..).map(|((cells, _), i)| (cells, Some(i))).collect();
        let (bag, units) = split(&rows);
        let (units, watch) = (Some(&units), Watch::unlimited());
        prop_assert_eq!(
            k_anonymity(&bag, units, &watch).unwrap(),
            k_anonymity(&bag, None, &watch).unwrap()
        );
        for kind in [Diversity::Distinct, Diversity::Entropy] {
            prop_assert_eq!(
                l_diversity(&bag, units, sensitive, kind, &watch).unwrap(),
                l_diversity(&bag, None, sensitive, kind, &watch).unwrap()
            );
        }
        for ordered in [false, true] {
            prop_assert_eq!(
                t_closeness(&bag, units, sensitive, ordered, &watch).unwrap(),
                t_closeness(&bag, None, sensitive, ordered, &watch).unwrap()
            );
        }
        for sensitive in [None, Some(sensitive)] {
            let mut people = class_risk(&bag, units, sensitive, 10, &watch).unwrap();
            prop_assert!(people.iter().all(|class| class.units == Some(class.rows)));
            people.iter_mut().for_each(|class| class.units = None);
            prop_assert_eq!(people, class_risk(&bag, None, sensitive, 10, &watch).unwrap());
        }
        let none = |_| unreachable!("nothing is drawn");
        prop_assert_eq!(
            unicity(&bag, units, known, theta, 100, none, &watch).unwrap(),
            unicity(&bag, None, known, theta, 100, none, &watch).unwrap()
        );
        prop_assert_eq!(
            rare_itemset_leak(&bag, &bag, units, 100_000, none, &watch).unwrap(),
            rare_itemset_leak(&bag, &bag, None, 100_000, none, &watch).unwrap()
        );
        prop_assert_eq!(watch.memory(), 0);
    }

    /// Rows of nobody change nothing but the classes that they are in alone.
    #[test]
    fn rows_of_nobody_count_for_nobody(rows in rows(), known in 1usize..4, theta in 0u64..4) {
        let owned: Vec<Row> = rows.iter().filter(|row| row.1.is_some()).cloned().collect();
        let ((bag, units), (own_bag, own_units)) = (split(&rows), split(&owned));
        let watch = Watch::unlimited();
        let none = |_| unreachable!("nothing is drawn");
        prop_assert_eq!(
            unicity(&bag, Some(&units), known, theta, 100, none, &watch).unwrap(),
            unicity(&own_bag, Some(&own_units), known, theta, 100, none, &watch).unwrap()
        );
        prop_assert_eq!(
            unicity_of_rows(&bag, &units, known, theta, 100, none, &watch).unwrap(),
            unicity_of_rows(&own_bag, &own_units, known, theta, 100, none, &watch).unwrap()
        );
        let leaks = |original: &Bag, units: &Units| {
            rare_itemset_leak(&bag, original, Some(units), 100_000, none, &watch).unwrap()
        };
        prop_assert_eq!(leaks(&bag, &units), leaks(&own_bag, &own_units));
    }

    /// Cells of the first two columns, or, with the third one, of groups.
    #[test]
    fn cells_hold_people_who_are_in_no_other(rows in rows(), width in 2usize..4) {
        let cut = |(cells, unit): &Row| {
            let cells = cells.iter().take(width).cloned();
            cells.chain([unit.map(|unit| unit.to_string())]).collect::<Vec<_>>()
        };
        let watch = Watch::unlimited();
        let bag = Bag::from_text(width + 1, rows.iter().map(cut));
        let (bag, units) = bag.split_units(&watch).unwrap();
        let mut cells_of: BTreeMap<u32, BTreeSet<&[Cell]>> = BTreeMap::new();
        let mut people: BTreeMap<&[Cell], BTreeSet<u32>> = BTreeMap::new();
        let full = rows.iter().filter(|row| row.0[..width].iter().all(Option::is_some));
        for (cells, unit) in full.clone() {
            people.entry(&cells[..width]).or_default().extend(unit);
            if let Some(unit) = unit {
                cells_of.entry(*unit).or_default().insert(&cells[..width]);
            }
        }
        let several = cells_of.values().filter(|cells| cells.len() > 1).count() as u64;
        match CellCounts::new(&bag, Some(&units), &watch) {
            Err(reason) => {
                prop_assert!(several > 0);
                prop_assert_eq!(reason, NoCounts::UnitsInSeveralCells { units: several });
            }
            Ok(counts) => {
                prop_assert_eq!(several, 0);
                prop_assert_eq!(counts.left_out, (rows.len() - full.count()) as u64);
                let text = |column: usize, code: u32| {
                    Some(String::from_utf8(bag.domain(column).value(code).to_vec()).unwrap())
                };
                for (number, count) in counts.inner.iter().enumerate() {
                    let (group, row) = counts.rows[number / counts.columns.len()];
                    let column = counts.columns[number % counts.columns.len()];
                    let mut place = vec![text(0, row), text(1, column)];
                    place.extend((width == 3).then(|| text(2, group)));
                    let expected = people.get(place.as_slice()).map_or(0, BTreeSet::len) as u64;
                    prop_assert_eq!(*count, expected);
                }
                let whole = counts.layout.counts(&counts.inner);
                let all = cells_of.len() as u64;
                prop_assert_eq!(whole.last().copied(), Some(all));
            }
        }
        prop_assert_eq!(watch.memory(), 0);
    }
}

#[test]
fn a_person_with_two_values_hides_one_other() {
    let row = |class: &str, value: &str, unit| {
        ([Some(class.to_string()), Some(value.to_string()), None], Some(unit))
    };
    let l = |rows: &[Row], kind| {
        let (bag, units) = split(rows);
        l_diversity(&bag, Some(&units), 1, kind, &Watch::unlimited()).unwrap().unwrap()
    };
    // One person has both values: whoever has found the class knows whose they are.
    let alone = [row("k", "a", 0), row("k", "b", 0)];
    assert_eq!(l(&alone, Diversity::Distinct), 1.0);
    assert!(close(l(&alone, Diversity::Entropy), 2.0));
    // Three values of two people: a and b, or a and c.
    let two = [row("k", "a", 0), row("k", "b", 1), row("k", "c", 1)];
    assert_eq!(l(&two, Diversity::Distinct), 2.0);
    // Somebody's two rows of a and one of b weigh 2/3 and 1/3 of a person: a has 5/3 of 3 people, b 4/3.
    let three =
        [row("k", "a", 0), row("k", "a", 0), row("k", "b", 0), row("k", "a", 1), row("k", "b", 2)];
    let (p, q): (f64, f64) = (5.0 / 9.0, 4.0 / 9.0);
    let expected = (-p * p.ln() - q * q.ln()).exp();
    assert!(close(l(&three, Diversity::Entropy), expected));
}

#[test]
fn any_budget_gives_the_result_or_an_error() {
    let rows: Vec<Row> = (0..500u32)
        .map(|i| ([i % 90, i % 7, i % 5].map(|n| Some(n.to_string())), Some(i * i % 211)))
        .collect();
    let (bag, of_rows) = split(&rows);
    let units = Some(&of_rows);
    let none = |_| unreachable!("nothing is drawn");
    type Measure<'a> = Box<dyn Fn(&Watch) -> Result<String, table::Stop> + 'a>;
    let text = |found: &dyn std::fmt::Debug| format!("{found:?}");
    let measures: [Measure; 5] = [
        Box::new(|watch| Ok(text(&l_diversity(&bag, units, 1, Diversity::Distinct, watch)?))),
        Box::new(|watch| Ok(text(&t_closeness(&bag, units, 1, true, watch)?))),
        Box::new(|watch| Ok(text(&class_risk(&bag, units, Some(1), 9, watch)?))),
        Box::new(|watch| Ok(text(&unicity(&bag, units, 2, 3, 100, none, watch)?))),
        Box::new(|watch| Ok(text(&unicity_of_rows(&bag, &of_rows, 2, 1, 100, none, watch)?))),
    ];
    for measure in measures {
        let whole = measure(&Watch::unlimited()).unwrap();
        let mut refused = 0;
        for limit in (0..300_000).step_by(997) {
            match measure(&Watch::new(limit, u64::MAX)) {
                Ok(found) => assert_eq!(found, whole),
                Err(stop) => {
                    assert_eq!(stop, table::Stop::Memory { limit });
                    refused += 1;
                }
            }
        }
        assert!((1..300).contains(&refused), "{refused}");
        let watch = Watch::unlimited();
        watch.cancel();
        assert_eq!(measure(&watch), Err(table::Stop::Cancelled));
    }
}
