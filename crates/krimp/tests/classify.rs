//! The codes of single rows, and the classes by them, compared with the definitions.

use pg_sanitize_krimp::{
    Error, Model, Nulls, Options, Progress, classify, encode, fit_model, row_bits, shortest_first,
};
use proptest::prelude::*;
use std::collections::BTreeSet;
use table::{Bag, NONE, Watch};

const WIDTH: usize = 3;

type Row = Vec<Option<&'static str>>;

fn bag(rows: &[Row]) -> Bag {
    Bag::from_text(WIDTH, rows.iter().cloned())
}

fn model(rows: &[Row], nulls: Nulls) -> Model {
    let options = Options { nulls, ..Options::new(1) };
    fit_model(&bag(rows), &options, &Watch::unlimited(), &Progress::new()).unwrap()
}

/// "ace", with "-" for NULL.
fn rows(texts: &[&'static str]) -> Vec<Row> {
    let cells = |text: &'static str| {
        (0..WIDTH).map(|i| Some(&text[i..=i]).filter(|cell| *cell != "-")).collect()
    };
    texts.iter().map(|text| cells(text)).collect()
}

fn close(a: f64, b: f64) -> bool {
    (a - b).abs() <= 1e-9 * b.abs().max(1.0)
}

/// The values of a distinct row.
fn texts(bag: &Bag, row: usize) -> Vec<Option<String>> {
    let value = |(column, &code): (usize, &u32)| {
        let value = (code != NONE).then(|| bag.domain(column).value(code))?;
        String::from_utf8(value.to_vec()).ok()
    };
    bag.row(row).iter().enumerate().map(value).collect()
}

/// The usages of the elements that cover a row, walking down the table; 0 for unseen items.
fn cover(model: &Model, row: &[Option<String>]) -> Vec<u64> {
    let null_is_item = model.options().nulls == Nulls::Value;
    let mut rest: BTreeSet<usize> =
        (0..WIDTH).filter(|&column| null_is_item || row[column].is_some()).collect();
    let mut usages = Vec::new();
    for pattern in model.patterns() {
        let fits = pattern.items.iter().all(|item| {
            let column = item.column as usize;
            rest.contains(&column)
                && model.columns()[column].values[item.code as usize] == row[column]
        });
        if fits {
            pattern.items.iter().for_each(|item| assert!(rest.remove(&(item.column as usize))));
            usages.push(pattern.usage);
        }
    }
    for column in rest {
        let known = &model.columns()[column];
        let code = known.values.iter().position(|value| *value == row[column]);
        usages.push(code.map_or(0, |code| known.usages[code]));
    }
    usages
}

/// The items of models and of a row.
fn universe(models: &[(String, Model)], row: &[Option<String>]) -> u64 {
    let mut items = BTreeSet::new();
    for (_, model) in models {
        for (column, known) in model.columns().iter().enumerate() {
            items.extend(known.values.iter().map(|value| (column, value.clone())));
        }
    }
    let null_is_item = models[0].1.options().nulls == Nulls::Value;
    let cells = row.iter().cloned().enumerate();
    items.extend(cells.filter(|(_, value)| null_is_item || value.is_some()));
    items.len() as u64
}

fn all_usages(model: &Model) -> u64 {
    let singletons = model.columns().iter().flat_map(|column| &column.usages).sum::<u64>();
    singletons + model.patterns().iter().map(|pattern| pattern.usage).sum::<u64>()
}

/// The length of a row's code with a model that is completed for all models and the row.
fn completed_bits(model: &Model, models: &[(String, Model)], row: &[Option<String>]) -> f64 {
    let elements = universe(models, row) + model.patterns().len() as u64;
    let total = all_usages(model) + elements;
    cover(model, row).iter().map(|usage| (total as f64 / (usage + 1) as f64).log2()).sum()
}

fn table() -> impl Strategy<Value = Vec<Row>> {
    let cell = |values: &'static [Option<&'static str>]| prop::sample::select(values);
    let row = (
        cell(&[Some("a"), Some("b"), Some("c"), None]),
        cell(&[Some("d"), Some("e"), None]),
        cell(&[Some("f"), Some("g"), Some("h")]),
    );
    prop::collection::vec(row.prop_map(|(a, b, c)| vec![a, b, c]), 1..25)
}

fn nulls() -> impl Strategy<Value = Nulls> {
    prop::sample::select(&[Nulls::Missing, Nulls::Value][..])
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(150))]

    #[test]
    fn bits_of_rows_add_up_to_the_size_of_the_data(fitted in table(), other in table(), nulls in nulls()) {
        let (model, watch) = (model(&fitted, nulls), Watch::unlimited());
        for bag in [bag(&fitted), bag(&other)] {
            let codes = row_bits(&model, &bag, &watch).unwrap();
            let encoded = encode(&model, &bag, &watch).unwrap();
            let weights = bag.weights().iter().map(|&weight| weight as f64);
            let bits: f64 = codes.iter().zip(weights.clone()).map(|(c, w)| c.bits * w).sum();
            prop_assert!(close(bits, encoded.sizes.data_bits));
            let elements: f64 = codes.iter().zip(weights).map(|(c, w)| f64::from(c.elements) * w).sum();
            prop_assert!(close(elements, encoded.elements_per_row * bag.row_count() as f64));
            for (row, code) in codes.iter().enumerate() {
                prop_assert_eq!(code.elements as usize, cover(&model, &texts(&bag, row)).len());
                if !encoded.completed {
                    let total = all_usages(&model) as f64;
                    let usages = cover(&model, &texts(&bag, row));
                    let expected: f64 = usages.iter().map(|&u| (total / u as f64).log2()).sum();
                    prop_assert!(close(code.bits, expected));
                }
            }
            let order = shortest_first(&codes, &bag, &watch).unwrap();
            let key = |&row: &u32| (codes[row as usize].bits, bag.row(row as usize));
            prop_assert!(order.is_sorted_by(|a, b| key(a) < key(b)));
        }
    }

    #[test]
    fn the_class_has_the_shortest_code(
        tables in prop::collection::vec(table(), 1..4), other in table(), nulls in nulls(),
    ) {
        let models: Vec<(String, Model)> = tables
            .iter()
            .enumerate()
            .map(|(i, table)| (format!("class {i}"), model(table, nulls)))
            .collect();
        let bag = bag(&other);
        let found = classify(&models, &bag, &Watch::unlimited()).unwrap();
        prop_assert_eq!(found.len(), bag.distinct());
        for (row, found) in found.iter().enumerate() {
            let row = texts(&bag, row);
            let bits: Vec<f64> =
                models.iter().map(|(_, model)| completed_bits(model, &models, &row)).collect();
            prop_assert!(close(found.bits, bits[found.class as usize]));
            for (class, bits) in bits.iter().enumerate() {
                prop_assert!(found.bits <= bits + 1e-8);
                // Among equal ones the model of more rows, then the first name.
                let key = |class: usize| (std::cmp::Reverse(models[class].1.rows()), class);
                if (found.bits - bits).abs() < 1e-10 {
                    prop_assert!(key(found.class as usize) <= key(class));
                }
            }
        }
    }
}

#[test]
fn a_row_is_judged_by_itself() {
    let of = |texts: &[&'static str]| model(&rows(texts), Nulls::Missing);
    let models = [
        ("first".to_string(), of(&["adf", "adf", "bdf"])),
        ("second".to_string(), of(&["beg", "beg", "adf", "beh"])),
    ];
    let alone = bag(&rows(&["adg"]));
    let among = bag(&rows(&["adg", "xyz", "-y-", "pqr"]));
    let of = |bag: &Bag| classify(&models, bag, &Watch::unlimited()).unwrap()[0];
    assert_eq!(of(&alone), of(&among));
}

#[test]
fn ties_go_to_more_rows_then_to_the_first_name() {
    let class = |name: &str, texts: &[&'static str]| {
        (name.to_string(), model(&rows(texts), Nulls::Missing))
    };
    let of = |models: &[(String, Model)]| {
        let found = classify(models, &bag(&rows(&["---"])), &Watch::unlimited()).unwrap();
        assert_eq!(found[0].bits, 0.0);
        models[found[0].class as usize].0.clone()
    };
    let (few, many) = (["adf", "beg"], ["adf", "beg", "adf"]);
    assert_eq!(of(&[class("b", &few), class("a", &few)]), "a");
    assert_eq!(of(&[class("a", &few), class("b", &many)]), "b");
}

#[test]
fn models_that_cannot_be_compared_are_refused() {
    let with = |nulls| ("a".to_string(), model(&rows(&["adf", "b-g"]), nulls));
    let narrow = Bag::from_text(2, [[Some("a"), Some("d")]]);
    let narrow = fit_model(&narrow, &Options::new(1), &Watch::unlimited(), &Progress::new());
    let narrow = ("b".to_string(), narrow.unwrap());
    let bag = bag(&rows(&["adf"]));
    let refused =
        |models: &[(String, Model)], why: &str| match classify(models, &bag, &Watch::unlimited()) {
            Err(Error::Classes(what)) => assert!(what.contains(why), "{what}"),
            other => panic!("{other:?} instead of {why}"),
        };
    refused(&[], "none");
    refused(&[with(Nulls::Missing), with(Nulls::Value)], "NULL");
    refused(&[with(Nulls::Missing), narrow.clone()], "\"b\" has no column \"c3\"");
    refused(&[narrow, with(Nulls::Missing)], "\"b\" has no column \"c3\"");
}

#[test]
fn both_can_be_cancelled() {
    let watch = Watch::unlimited();
    watch.cancel();
    let (model, bag) = (model(&rows(&["adf"]), Nulls::Missing), bag(&rows(&["adf"])));
    assert!(matches!(row_bits(&model, &bag, &watch), Err(Error::Stop(_))));
    assert!(matches!(classify(&[("a".into(), model)], &bag, &watch), Err(Error::Stop(_))));
}
