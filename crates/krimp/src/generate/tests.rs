//! The law of generated rows, and a test that rows follow it.

use super::*;
use crate::model::{ModelColumn, Pattern};
use crate::{Nulls, Options, Progress, fit_model};
use chacha20::ChaCha20Rng;
use rand::SeedableRng;
use serde_json::Value;
use std::collections::BTreeMap;
use table::Bag;

fn stream(seed: u64) -> impl Fn(u64) -> ChaCha20Rng {
    move |chunk| {
        let mut rng = ChaCha20Rng::seed_from_u64(seed);
        rng.set_stream(chunk);
        rng
    }
}

fn compiled(model: &Model, correction: f64, order: DomainOrder) -> Compiled<1> {
    Compiled::new(model, &Correction::new(correction).unwrap(), order).unwrap()
}

/// The probability of each row, by enumerating all draws.
fn law(generator: &Compiled<1>) -> BTreeMap<Vec<u32>, f64> {
    fn go(
        generator: &Compiled<1>,
        open: Columns<1>,
        row: Vec<u32>,
        p: f64,
        law: &mut BTreeMap<Vec<u32>, f64>,
    ) {
        if open.is_empty() {
            *law.entry(row).or_default() += p;
            return;
        }
        let choices = match generator.order {
            DomainOrder::Random => open.len(),
            DomainOrder::Fixed => 1,
        };
        for choice in 0..choices {
            let eligible = generator.eligible(open, open.nth(choice));
            let sum: f64 = eligible.iter().map(|&(_, weight)| weight).sum();
            for (part, weight) in eligible {
                let part = &generator.parts[part as usize];
                let mut row = row.clone();
                part.items.iter().for_each(|item| row[item.column as usize] = item.code);
                let p = p * weight / sum / choices as f64;
                go(generator, open.minus(&part.columns), row, p, law);
            }
        }
    }
    let mut all = BTreeMap::new();
    go(generator, generator.filled, vec![NONE; generator.width], 1.0, &mut all);
    all
}

/// Fails if `rows` do not look like draws from `law`: chi-square exceeds its mean by six standard deviations or more.
fn assert_fits(law: &BTreeMap<Vec<u32>, f64>, cells: &[u32], width: usize) {
    let rows = cells.len() / width;
    let mut counts: BTreeMap<&[u32], f64> = BTreeMap::new();
    cells.chunks(width).for_each(|row| *counts.entry(row).or_default() += 1.0);
    assert!(counts.keys().all(|row| law.contains_key(*row)), "a row of probability 0");
    let chi_square: f64 = law
        .iter()
        .map(|(row, p)| {
            let expected = p * rows as f64;
            (counts.get(row.as_slice()).unwrap_or(&0.0) - expected).powi(2) / expected
        })
        .sum();
    let freedom = law.len() as f64 - 1.0;
    assert!(chi_square < freedom + 6.0 * (2.0 * freedom).sqrt(), "chi-square {chi_square}");
}

/// "AC3 BD3 CF2 A1 …" over the columns AB, CD, EF.
fn figure(frequencies: &str) -> Model {
    let column = |name: &str, values: [&str; 2]| ModelColumn {
        name: name.to_string(),
        values: values.map(|v| Some(v.to_string())).to_vec(),
        supports: vec![100; 2],
        usages: vec![0; 2],
        nulls: 0,
    };
    let mut columns = [column("1", ["A", "B"]), column("2", ["C", "D"]), column("3", ["E", "F"])];
    let mut patterns = Vec::new();
    for word in frequencies.split_whitespace().take(9) {
        let (letters, usage) = word.split_at(word.len() - 1);
        let usage = usage.parse().unwrap();
        let item = |letter: char| {
            let number = letter as u32 - 'A' as u32;
            Item { column: number / 2, code: number % 2 }
        };
        let items: Vec<Item> = letters.chars().map(item).collect();
        match items.as_slice() {
            [item] => columns[item.column as usize].usages[item.code as usize] = usage,
            _ => patterns.push(Pattern { items, support: 100, usage }),
        }
    }
    Model { rows: 200, options: Options::new(1), columns: columns.to_vec(), patterns }
}

#[test]
fn the_law_of_the_papers_figure() {
    let text = include_str!("../../../../tests/data/krimp_vectors.json");
    let vectors: Vec<Value> = serde_json::from_str(text).unwrap();
    let vectors = vectors.iter().filter(|v| v["id"].as_str().unwrap().starts_with("001-fig1"));
    let mut seen = 0;
    for v in vectors {
        let model = figure(v["input"]["frequencies"].as_str().unwrap());
        let order = match v["input"]["domain_choice"].as_str().unwrap() {
            "D1,D2,D3" => DomainOrder::Fixed,
            _ => DomainOrder::Random,
        };
        let generator = compiled(&model, 0.0, order);
        let law = law(&generator);
        let expected = v["expected"].as_object().unwrap();
        assert_eq!(law.len(), expected.len());
        for (row, p) in &law {
            let letters =
                row.iter().enumerate().map(|(c, &v)| (b'A' + 2 * c as u8 + v as u8) as char);
            let expected = expected[&letters.collect::<String>()]["p"].as_f64().unwrap();
            assert!((p - expected).abs() < 1e-12, "{row:?}: {p} instead of {expected}");
        }
        let rows =
            generator.rows(0, 100_000, &Reject::default(), stream(1), &Watch::unlimited()).unwrap();
        assert_fits(&law, &rows.cells, 3);
        seen += 1;
    }
    assert_eq!(seen, 2);
}

/// Rows that depend on each other, with NULLs.
fn bag() -> Bag {
    let rows = (0..400usize).map(|i| {
        let a = i % 3;
        let b = (a + usize::from(i % 5 == 0)) % 3;
        let c = (i % 7 > 1).then_some(b);
        [Some(a), Some(b), c, Some(i % 2)].map(|cell| cell.map(|n| n.to_string()))
    });
    Bag::from_text(4, rows)
}

#[test]
fn fitted_models_are_drawn_from_by_their_law() {
    for nulls in [Nulls::Missing, Nulls::Value] {
        let options = Options { nulls, ..Options::new(5) };
        let model = fit_model(&bag(), &options, &Watch::unlimited(), &Progress::new()).unwrap();
        assert!(!model.patterns().is_empty());
        let generator = compiled(&model, 3.0, DomainOrder::Random);
        let law = law(&generator);
        let rows =
            generator.rows(0, 50_000, &Reject::default(), stream(2), &Watch::unlimited()).unwrap();
        assert_fits(&law, &rows.cells, 4);
        let nulls = rows.cells.chunks(4).filter(|row| row[2] == NONE).count();
        // 115 of the 400 rows; a correction of 3 moves that a little.
        assert!((nulls as f64 / 50_000.0 - 0.2875).abs() < 0.05, "{nulls}");
    }
}

#[test]
fn value_frequencies_converge() {
    let options = Options { nulls: Nulls::Value, ..Options::new(1) };
    let bag = bag();
    let model = fit_model(&bag, &options, &Watch::unlimited(), &Progress::new()).unwrap();
    let generator = compiled(&model, 0.001, DomainOrder::Random);
    let rows =
        generator.rows(0, 50_000, &Reject::default(), stream(3), &Watch::unlimited()).unwrap();
    for column in &model.columns {
        let c = model.column(&column.name).unwrap();
        for (code, &support) in column.supports.iter().enumerate() {
            let code = if Some(code as u32) == column.null_code() { NONE } else { code as u32 };
            let found = rows.cells.chunks(4).filter(|row| row[c] == code).count();
            let difference = found as f64 / 50_000.0 - support as f64 / 400.0;
            assert!(difference.abs() < 0.05, "{} {code}: {difference}", column.name);
        }
    }
}

#[test]
fn rows_do_not_depend_on_threads_batches_or_the_cache() {
    let model = fit_model(&bag(), &Options::new(1), &Watch::unlimited(), &Progress::new()).unwrap();
    let generator = compiled(&model, 0.1, DomainOrder::Random);
    let none = Reject::default();
    let rows = |start, n, threads| {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
        pool.install(|| generator.rows(start, n, &none, stream(4), &Watch::unlimited()).unwrap())
    };
    let all = rows(0, 10_000, 1);
    assert_eq!(all, rows(0, 10_000, 3));
    assert_eq!(all.cells[5000 * 4..6000 * 4], rows(5000, 1000, 2).cells);
    assert!(rows(7, 0, 1).cells.is_empty());
}

#[test]
fn corrections_by_column_and_value_flatten_what_they_name() {
    let model = fit_model(&bag(), &Options::new(1), &Watch::unlimited(), &Progress::new()).unwrap();
    let agreement = |correction: &Correction| {
        let generator: Compiled<1> =
            Compiled::new(&model, correction, DomainOrder::Random).unwrap();
        law(&generator).iter().filter(|(row, _)| row[0] == row[1]).map(|(_, p)| p).sum::<f64>()
    };
    let plain = agreement(&Correction::new(0.001).unwrap());
    let mut column = Correction::new(0.001).unwrap();
    column.column(1, 1e6).unwrap();
    let mut value = Correction::new(0.001).unwrap();
    value.item(Item { column: 1, code: 2 }, 1e6).unwrap();
    assert!(plain > 0.75, "{plain}");
    assert!(agreement(&column) < 0.5);
    assert!(agreement(&value) < 0.6);
}

#[test]
fn a_correction_must_make_sense() {
    for value in [-1.0, f64::NAN, f64::INFINITY, 1e300] {
        assert!(matches!(Correction::new(value), Err(Error::Correction { .. })));
    }
    let mut model = figure("AC3 BD3 CF2 A1 B2 C1 D1 E1 F1");
    model.columns[0].usages = vec![0, 0];
    let none = Correction::new(0.0).unwrap();
    assert!(matches!(
        Generator::new(&model, &none, DomainOrder::Random),
        Err(Error::Correction { .. })
    ));
}

#[test]
fn a_model_of_nothing_gives_rows_of_nothing() {
    let bag = Bag::from_text(2, Vec::<[Option<&str>; 2]>::new());
    let model = fit_model(&bag, &Options::new(1), &Watch::unlimited(), &Progress::new()).unwrap();
    let generator =
        Generator::new(&model, &Correction::new(0.001).unwrap(), DomainOrder::Random).unwrap();
    let rows = generator.rows(0, 3, stream(5), &Watch::unlimited()).unwrap();
    assert_eq!((rows.cells, rows.elements), (vec![NONE; 6], 0));
}

/// The first value of column 0 with the first of column 1, and the second of column 3.
fn rejected() -> Vec<Vec<Item>> {
    let item = |column, code| Item { column, code };
    vec![vec![item(0, 0), item(1, 0)], vec![item(3, 1)]]
}

#[test]
fn what_is_rejected_does_not_come_out_and_the_rest_keeps_its_law() {
    for nulls in [Nulls::Missing, Nulls::Value] {
        let options = Options { nulls, ..Options::new(5) };
        let model = fit_model(&bag(), &options, &Watch::unlimited(), &Progress::new()).unwrap();
        let generator = compiled(&model, 3.0, DomainOrder::Random);
        let mut law = law(&generator);
        let contains = |row: &[u32], set: &[Item]| {
            set.iter().all(|item| row[item.column as usize] == item.code)
        };
        law.retain(|row, _| !rejected().iter().any(|set| contains(row, set)));
        let left: f64 = law.values().sum();
        assert!(left < 0.5, "{left}");
        law.values_mut().for_each(|p| *p /= left);
        let reject = Reject::new(&model, rejected());
        let rows = generator.rows(0, 50_000, &reject, stream(6), &Watch::unlimited()).unwrap();
        assert_fits(&law, &rows.cells, 4);
    }
}

#[test]
fn rejecting_rows_depends_on_no_threads_and_no_batches() {
    let model = fit_model(&bag(), &Options::new(1), &Watch::unlimited(), &Progress::new()).unwrap();
    let correction = Correction::new(0.1).unwrap();
    let generator = Generator::new(&model, &correction, DomainOrder::Random)
        .unwrap()
        .rejecting(Reject::new(&model, rejected()));
    let rows = |start, n, threads| {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
        pool.install(|| generator.rows(start, n, stream(7), &Watch::unlimited()).unwrap())
    };
    let all = rows(0, 10_000, 1);
    assert_eq!(all, rows(0, 10_000, 3));
    assert_eq!(all.cells[5000 * 4..6000 * 4], rows(5000, 1000, 2).cells);
}

#[test]
fn what_is_always_rejected_ends_in_an_error() {
    let model = fit_model(&bag(), &Options::new(1), &Watch::unlimited(), &Progress::new()).unwrap();
    let every_value = (0..3).map(|code| vec![Item { column: 0, code }]).collect();
    let generator = compiled(&model, 0.1, DomainOrder::Random);
    for itemsets in [every_value, vec![Vec::new()]] {
        let reject = Reject::new(&model, itemsets);
        let rows = generator.rows(0, 1, &reject, stream(8), &Watch::unlimited());
        assert_eq!(rows.err(), Some(Error::Rejected { tries: 10_000 }));
        let watch = Watch::unlimited();
        watch.cancel();
        let rows = generator.rows(0, 1, &reject, stream(8), &watch);
        assert_eq!(rows.err(), Some(Error::Stop(table::Stop::Cancelled)));
    }
}
