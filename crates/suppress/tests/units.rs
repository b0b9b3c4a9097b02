//! Releases that count units, checked by plain counting on the released rows: each source row has a number, which is
//! kept, so that the tests see whose row is shown how.

mod common;

use common::Row;
use common::bound::{cost, lower_bound};
use pg_sanitize_suppress::{
    Diversity, DiversityKind, Error, Hierarchy, KAnonymity, hide_itemsets, k_anonymize, k_mii,
    mii_suppress, mii_suppress_sampled,
};
use proptest::prelude::*;
use std::collections::{BTreeMap, BTreeSet};
use table::{Bag, ColumnPart, Item, NONE, Release, Watch};

/// A row and its unit.
type Owned = (Row, Option<u8>);

/// A table with columns for the number of the row and the unit, and its part without them.
struct Table {
    rows: Vec<Owned>,
    whole: Bag,
    part: ColumnPart,
}

impl Table {
    fn new(width: usize, rows: Vec<Owned>) -> Self {
        let all = rows.iter().enumerate().map(|(number, (row, unit))| {
            let more = [Some(format!("{number:04}")), unit.map(|unit| format!("u{unit:03}"))];
            row.iter().cloned().chain(more)
        });
        let whole = Bag::from_text(width + 2, all);
        let part = ColumnPart::with_units(&whole, width, &Watch::unlimited()).unwrap();
        Table { rows, whole, part }
    }

    fn units(&self) -> BTreeSet<u8> {
        self.rows.iter().filter_map(|row| row.1).collect()
    }

    /// What is shown of each released row, its number and its unit; each source row is released once at most.
    fn released(&self, release: &Release) -> Vec<(Vec<u32>, usize, Option<u8>)> {
        let rows = release.rows(&self.whole, Some(&self.part), &Watch::unlimited()).unwrap();
        let width = self.part.bag.width();
        let mut seen = BTreeSet::new();
        let row = |i: usize| {
            let row = rows.row(i);
            let number = rows.domain(width).value(row[width]);
            let number: usize = std::str::from_utf8(number).unwrap().parse().unwrap();
            assert!(seen.insert(number) && rows.weight(i) == 1, "row {number} is released twice");
            let unit =
                (row[width + 1] != NONE).then(|| rows.domain(width + 1).value(row[width + 1]));
            let unit = unit.map(|text| std::str::from_utf8(&text[1..]).unwrap().parse().unwrap());
            assert_eq!(unit, self.rows[number].1);
            (row[..width].to_vec(), number, unit)
        };
        (0..rows.distinct()).map(row).collect()
    }
}

/// The rows of each class: their units, and the values of the column after the first `width`.
type Classes = BTreeMap<Vec<u32>, Vec<(Option<u8>, u32)>>;

fn classes(rows: &[(Vec<u32>, usize, Option<u8>)], width: usize) -> Classes {
    let mut classes = Classes::new();
    for (cells, _, unit) in rows {
        let value = cells.get(width).copied().unwrap_or(0);
        classes.entry(cells[..width].to_vec()).or_default().push((*unit, value));
    }
    classes
}

fn people(rows: &[(Option<u8>, u32)]) -> BTreeSet<u8> {
    rows.iter().filter_map(|row| row.0).collect()
}

fn tables(width: usize, values: u8, most: usize, units: u8) -> impl Strategy<Value = Vec<Owned>> {
    let unit = prop::option::weighted(0.9, 0..units);
    let cell = prop::option::weighted(0.9, (0..values).prop_map(|v| v.to_string()));
    prop::collection::vec((prop::collection::vec(cell, width), unit), 1..=most)
}

/// The weight of each value if each person weighs 1 in all.
fn weights(rows: &[(Option<u8>, u32)]) -> BTreeMap<u32, f64> {
    let all = people(rows);
    let mut weights = BTreeMap::new();
    for &person in &all {
        let own: Vec<u32> = rows.iter().filter(|r| r.0 == Some(person)).map(|r| r.1).collect();
        for value in &own {
            *weights.entry(*value).or_insert(0.0) += 1.0 / own.len() as f64 / all.len() as f64;
        }
    }
    weights
}

/// The most values that can be given to different people who have them, by trying everything.
fn most_matched(values: &[u32], rows: &[(Option<u8>, u32)], used: &BTreeSet<u8>) -> usize {
    let Some((value, rest)) = values.split_first() else { return 0 };
    let mut best = most_matched(rest, rows, used);
    let own: BTreeSet<u8> = rows.iter().filter(|r| r.1 == *value).filter_map(|r| r.0).collect();
    for person in own.difference(used) {
        let mut used = used.clone();
        used.insert(*person);
        best = best.max(1 + most_matched(rest, rows, &used));
    }
    best
}

fn flat(bag: &Bag, width: usize) -> Vec<Hierarchy> {
    bag.domains()[..width].iter().map(|domain| Hierarchy::flat(domain.len())).collect()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(600))]
    #[test]
    fn classes_have_rows_of_k_people(
        rows in tables(3, 4, 60, 25),
        k in 1u64..7,
        thorough in any::<bool>(),
    ) {
        let table = Table::new(3, rows.clone());
        let (bag, units) = (&table.part.bag, table.part.units.as_ref());
        let watch = Watch::unlimited();
        let hierarchies = flat(bag, 3);
        let hierarchies = thorough.then_some(hierarchies.as_slice());
        let asked = KAnonymity { k, hierarchies, ..KAnonymity::default() };
        let found = k_anonymize(bag, units, &asked, &watch);
        prop_assert_eq!(watch.memory(), 0);
        let all = table.units().len() as u64;
        if k > all {
            prop_assert_eq!(found.err(), Some(Error::NothingLeft { class: k, rows: all }));
            return Ok(());
        }
        let found = found.unwrap();
        let shown = table.released(&found.release);
        prop_assert_eq!(found.dropped as usize, rows.len() - shown.len());
        for (cells, number, _) in &shown {
            for (column, &code) in cells.iter().enumerate() {
                let text = |code| std::str::from_utf8(bag.domain(column).value(code)).unwrap();
                prop_assert!(code == NONE || rows[*number].0[column].as_deref() == Some(text(code)));
            }
        }
        for class in classes(&shown, 3).values() {
            prop_assert!(people(class).len() as u64 >= k);
        }
        if thorough {
            prop_assert_eq!(found.dropped, 0);
        }
        // The loss is that of the rows which are shown.
        let mut lost = 3 * found.dropped;
        for (cells, number, _) in &shown {
            let gone = (0..3).filter(|&c| cells[c] == NONE && rows[*number].0[c].is_some());
            lost += gone.count() as u64;
        }
        prop_assert!((found.loss - lost as f64 / (3 * rows.len()) as f64).abs() < 1e-9);
        let bound = lower_bound(bag, units, k, None);
        let cost = cost(&found.release, bag, None);
        prop_assert!(bound <= cost + 1e-9, "{} is above {}", bound, cost);
        // Another order of the same rows.
        let again = Table::new(3, rows.into_iter().rev().collect());
        let other = k_anonymize(&again.part.bag, again.part.units.as_ref(), &asked, &watch).unwrap();
        let shown_again = again.released(&other.release);
        let listed = |table: &Table, shown: &[(Vec<u32>, usize, Option<u8>)]| {
            let row = |(cells, number, _): &(Vec<u32>, usize, Option<u8>)| {
                (cells.clone(), table.rows[*number].clone())
            };
            let mut rows: Vec<_> = shown.iter().map(row).collect();
            rows.sort();
            rows
        };
        prop_assert_eq!(listed(&table, &shown), listed(&again, &shown_again));
    }

    #[test]
    fn one_row_each_is_as_good_as_rows(rows in tables(3, 4, 50, 2), k in 1u64..6, thorough in any::<bool>()) {
        let rows: Vec<Owned> =
            rows.into_iter().enumerate().map(|(i, (row, _))| (row, Some(i as u8))).collect();
        prop_assume!(k <= rows.len() as u64);
        let table = Table::new(3, rows);
        let watch = Watch::unlimited();
        let bag = &table.part.bag;
        let hierarchies = flat(bag, 3);
        let hierarchies = thorough.then_some(hierarchies.as_slice());
        let asked = KAnonymity { k, hierarchies, ..KAnonymity::default() };
        let of_people = k_anonymize(bag, table.part.units.as_ref(), &asked, &watch).unwrap();
        let of_rows = k_anonymize(bag, None, &asked, &watch).unwrap();
        prop_assert!((of_people.loss - of_rows.loss).abs() < 1e-12);
        prop_assert_eq!(of_people.dropped, of_rows.dropped);
        table.released(&of_people.release);
    }

    #[test]
    fn classes_are_diverse_and_close_in_people(
        rows in tables(3, 3, 40, 15),
        k in 1u64..5,
        l in prop::option::of(1.0f64..3.0),
        entropy in any::<bool>(),
        t in prop::option::of(0.0f64..0.6),
    ) {
        let table = Table::new(3, rows);
        let (bag, units) = (&table.part.bag, table.part.units.as_ref());
        let kind = if entropy { DiversityKind::Entropy } else { DiversityKind::Distinct };
        let diversity = Some(Diversity { l, kind, t });
        let hierarchies = flat(bag, 2);
        let asked =
            KAnonymity { k, diversity, hierarchies: Some(&hierarchies), ..KAnonymity::default() };
        let watch = Watch::unlimited();
        let found = match k_anonymize(bag, units, &asked, &watch) {
            Ok(found) => found,
            Err(Error::NotDiverse { values, .. }) => {
                prop_assert!((values as f64) < l.unwrap());
                return Ok(());
            }
            Err(Error::NothingLeft { class, .. }) => {
                prop_assert_eq!(class, k);
                return Ok(());
            }
            Err(error) => panic!("{error}"),
        };
        prop_assert_eq!(watch.memory(), 0);
        let shown = table.released(&found.release);
        let classes = classes(&shown, 2);
        let all: Vec<(Option<u8>, u32)> = classes.values().flatten().copied().collect();
        let whole = weights(&all);
        for class in classes.values() {
            prop_assert!(people(class).len() as u64 >= k);
            let own = weights(class);
            let l = l.unwrap_or(1.0);
            if entropy {
                let entropy: f64 = own.values().map(|p| -p * p.ln()).sum();
                prop_assert!(entropy.exp() >= l - 1e-9);
            } else {
                let values: Vec<u32> = own.keys().copied().collect();
                prop_assert!(most_matched(&values, class, &BTreeSet::new()) as f64 >= l);
            }
            let distance: f64 = own.iter().map(|(v, p)| (p - whole[v]).max(0.0)).sum();
            prop_assert!(distance <= t.unwrap_or(1.0) + 1e-9, "{} {:?}", distance, t);
        }
        // What each row has in the sensitive column is its own.
        for (cells, number, _) in &shown {
            let own = (cells[2] != NONE).then(|| bag.domain(2).value(cells[2]));
            prop_assert_eq!(own, table.rows[*number].0[2].as_ref().map(|text| text.as_bytes()));
        }
        if !entropy || l.is_none() {
            prop_assert_eq!(found.dropped, 0);
        }
    }

    #[test]
    fn k_mii_keeps_classes_of_k_people(
        rows in tables(3, 3, 60, 20),
        k in 1u64..6,
        tenths in 1u32..11,
    ) {
        let table = Table::new(3, rows);
        let (bag, units) = (&table.part.bag, table.part.units.as_ref());
        let watch = Watch::unlimited();
        let Ok(release) = k_mii(bag, units, k, None, f64::from(tenths) / 10.0, &watch) else {
            return Ok(());
        };
        prop_assert_eq!(watch.memory(), 0);
        for class in classes(&table.released(&release), 3).values() {
            prop_assert!(people(class).len() as u64 >= k);
        }
    }

    /// Every set of cells of a row that remain is in rows of more than theta people, and every cell that goes is in a
    /// set of cells of which that is not so, though it is so without any of them.
    #[test]
    fn what_few_people_have_is_blanked(rows in tables(4, 3, 40, 15), theta in 0u64..5) {
        let table = Table::new(4, rows.clone());
        let (bag, units) = (&table.part.bag, table.part.units.as_ref());
        let watch = Watch::unlimited();
        let all = table.units().len() as u64;
        let release = match mii_suppress(bag, units, theta, None, &watch) {
            Ok(release) => release,
            Err(error) => {
                prop_assert_eq!(error, Error::NothingLeft { class: theta + 1, rows: all });
                prop_assert!(theta >= all);
                return Ok(());
            }
        };
        prop_assert_eq!(watch.memory(), 0);
        let support = |row: &Row, set: u32| {
            let has = |other: &Row| (0..4).all(|c| set >> c & 1 == 0 || other[c] == row[c]);
            let own = rows.iter().filter(|(other, _)| has(other)).filter_map(|(_, unit)| *unit);
            own.collect::<BTreeSet<u8>>().len() as u64
        };
        let shown = table.released(&release);
        prop_assert_eq!(shown.len(), rows.len());
        for (cells, number, _) in &shown {
            let row = &rows[*number].0;
            let of = |set: u32| (1..16u32).filter(move |part| part & !set == 0);
            let full = (0..4).filter(|&c| row[c].is_some()).fold(0, |set, c| set | 1 << c);
            // What only rows without a unit have is rare too: nobody has it.
            let is_rare = |set: u32| support(row, set) <= theta;
            let is_least = |&set: &u32| is_rare(set) && of(set).all(|p| p == set || support(row, p) > theta);
            let gone = of(full).filter(is_least).fold(0, |gone, set| gone | set);
            let blanked = (0..4).filter(|&c| row[c].is_some() && cells[c] == NONE);
            prop_assert_eq!(blanked.fold(0, |set, c| set | 1 << c), gone);
        }
    }

    #[test]
    fn itemsets_are_hidden_from_people(
        rows in tables(3, 2, 40, 12),
        sets in prop::collection::vec(prop::collection::btree_map(0u32..3, 0u32..2, 1..=3), 1..4),
        min_support in 1u64..8,
    ) {
        let table = Table::new(3, rows.clone());
        let (bag, units) = (&table.part.bag, table.part.units.as_ref());
        let item = |(column, value): (u32, u32)| {
            let code = bag.domain(column as usize).find(value.to_string().as_bytes())?;
            Some(Item { column, code })
        };
        let sets: Vec<Vec<Item>> =
            sets.into_iter().filter_map(|set| set.into_iter().map(item).collect()).collect();
        let watch = Watch::unlimited();
        let release = hide_itemsets(bag, units, &sets, &[], min_support, &watch).unwrap();
        prop_assert_eq!(watch.memory(), 0);
        let shown = table.released(&release);
        prop_assert_eq!(shown.len(), rows.len());
        for set in &sets {
            let has = |row: &[u32]| set.iter().all(|item| row[item.column as usize] == item.code);
            let people: BTreeSet<u8> =
                shown.iter().filter(|(row, ..)| has(row)).filter_map(|(.., unit)| *unit).collect();
            prop_assert!((people.len() as u64) < min_support);
        }
        // Itemsets of few people are left alone, and so is what contains none.
        for (cells, number, _) in &shown {
            let source = &rows[*number].0;
            for (column, &code) in cells.iter().enumerate() {
                let own = source[column].as_ref();
                let own = own.and_then(|text| bag.domain(column).find(text.as_bytes()));
                prop_assert!(code == NONE || Some(code) == own);
            }
        }
    }

    #[test]
    fn as_many_cells_hide_itemsets_from_people_of_one_row(
        rows in tables(3, 2, 40, 2),
        column in 0u32..3,
        min_support in 1u64..8,
    ) {
        let rows: Vec<Owned> =
            rows.into_iter().enumerate().map(|(i, (row, _))| (row, Some(i as u8))).collect();
        let table = Table::new(3, rows);
        let (bag, watch) = (&table.part.bag, Watch::unlimited());
        prop_assume!((0..3).all(|column| !bag.domain(column).is_empty()));
        let item = |column: u32| Item { column, code: 0 };
        let sets = [vec![item(column)], vec![item((column + 1) % 3), item((column + 2) % 3)]];
        let cells = |units| {
            let release = hide_itemsets(bag, units, &sets, &[], min_support, &watch).unwrap();
            common::Counts::of(&release, bag).suppressed
        };
        prop_assert_eq!(cells(table.part.units.as_ref()), cells(None));
    }
}

/// One person has four of the six rows: by rows they would be a class.
#[test]
fn a_person_with_many_rows_is_one() {
    let mut rows: Vec<Owned> = vec![(vec![Some("a".into())], Some(1)); 4];
    rows.extend([(vec![Some("b".into())], Some(0)), (vec![Some("b".into())], Some(2))]);
    let table = Table::new(1, rows);
    let watch = Watch::unlimited();
    let asked = KAnonymity { k: 2, ..KAnonymity::default() };
    let (bag, units) = (&table.part.bag, table.part.units.as_ref());
    assert_eq!(k_anonymize(bag, None, &asked, &watch).unwrap().loss, 0.0);
    let found = k_anonymize(bag, units, &asked, &watch).unwrap();
    for class in classes(&table.released(&found.release), 1).values() {
        assert!(people(class).len() >= 2);
    }
    assert!(found.loss > 0.0);
    // Three people are too few for classes of four, though there are six rows.
    let four = KAnonymity { k: 4, ..KAnonymity::default() };
    let few = Some(Error::NothingLeft { class: 4, rows: 3 });
    assert_eq!(k_anonymize(bag, units, &four, &watch).err(), few);
    assert_eq!(mii_suppress(bag, units, 3, None, &watch).err(), few);
    assert!(mii_suppress(bag, units, 2, None, &watch).is_ok());
    assert!(mii_suppress(bag, None, 3, None, &watch).is_ok());
    // Half of the people are one, here the one with four rows.
    let none = Some(Error::NothingLeft { class: 2, rows: 1 });
    assert_eq!(mii_suppress_sampled(bag, units, 2, None, 0.5, &watch).err(), none);
}

#[test]
fn the_thread_count_does_not_matter_and_memory_is_limited() {
    let rows = (0..3000u64).map(|i| {
        let x = i.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 20;
        let row = [x % 40, x / 40 % 9, x / 360 % 25].map(|v| Some(v.to_string()));
        (row.to_vec(), Some((x / 9000 % 200) as u8))
    });
    let table = Table::new(3, rows.collect());
    let (bag, units) = (&table.part.bag, table.part.units.as_ref());
    let asked = KAnonymity { k: 4, ..KAnonymity::default() };
    let run = |threads, watch: &Watch| {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
        pool.install(|| k_anonymize(bag, units, &asked, watch))
    };
    let watch = Watch::unlimited();
    assert_eq!(run(1, &watch).unwrap(), run(4, &watch).unwrap());
    for limit in [1000, 100_000, 1_000_000] {
        let watch = Watch::new(limit, 0);
        let stopped = Error::Stopped(table::Stop::Memory { limit });
        assert_eq!(run(1, &watch).err(), Some(stopped));
        assert_eq!(watch.memory(), 0);
    }
}
