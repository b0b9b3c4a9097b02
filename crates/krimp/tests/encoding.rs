//! Encoding with a model: sizes of the data it was fitted to and of other data, dissimilarity.

use pg_sanitize_krimp::{
    Candidates, Error, Model, Nulls, Options, Progress, dissimilarity, encode, fit, fit_model,
};
use serde_json::Value;
use table::{Bag, Coder, Encoding, Watch};

fn model(bag: &Bag, options: &Options) -> Model {
    fit_model(bag, options, &Watch::unlimited(), &Progress::new()).unwrap()
}

fn utf8(value: &[u8]) -> Option<String> {
    String::from_utf8(value.to_vec()).ok()
}

fn close(a: f64, b: f64) -> bool {
    (a - b).abs() <= 1e-9 * b.abs().max(1.0)
}

/// Rows of letters: each letter is a column.
fn letters(rows: &[&str]) -> Bag {
    Bag::from_text(
        6,
        rows.iter().map(|row| ('a'..='f').map(|c| row.contains(c).then(|| c.to_string()))),
    )
}

fn rows(value: &Value) -> Vec<&str> {
    value.as_array().unwrap().iter().map(|row| row.as_str().unwrap()).collect()
}

#[test]
fn dissimilarity_has_the_expected_sizes() {
    let text = include_str!("../../../tests/data/krimp_vectors.json");
    let vectors: Vec<Value> = serde_json::from_str(text).unwrap();
    let vectors = vectors.iter().filter(|v| v["id"].as_str().unwrap().starts_with("001-DS"));
    let mut seen = 0;
    for v in vectors {
        let (x, y) = (letters(&rows(&v["input"]["x"])), letters(&rows(&v["input"]["y"])));
        let options = Options::new(v["input"]["minsup"].as_u64().unwrap());
        let (mx, my) = (model(&x, &options), model(&y, &options));
        let found = dissimilarity((&mx, &x), (&my, &y), &Watch::unlimited()).unwrap();
        let expected = |name: &str| v["expected"][name].as_f64().unwrap();
        assert!(close(found.own_a, expected("CTx_x")), "{found:?}");
        assert!(close(found.own_b, expected("CTy_y")), "{found:?}");
        assert!(close(found.a_by_b, expected("CTy_x")), "{found:?}");
        assert!(close(found.b_by_a, expected("CTx_y")), "{found:?}");
        assert!(close(found.value.unwrap(), expected("DS")), "{found:?}");
        seen += 1;
    }
    assert_eq!(seen, 2);
}

#[test]
fn data_that_take_no_bits_have_no_dissimilarity_to_others() {
    let options = Options::new(1);
    let nothing = letters(&[]);
    let some = letters(&["ab", "cd"]);
    let of = |a: &Bag, b: &Bag| {
        let (ma, mb) = (model(a, &options), model(b, &options));
        dissimilarity((&ma, a), (&mb, b), &Watch::unlimited()).unwrap().value
    };
    assert_eq!(of(&nothing, &nothing), Some(0.0));
    assert_eq!(of(&some, &some), Some(0.0));
    assert_eq!(of(&nothing, &some), None);
    assert_eq!(of(&some, &nothing), None);
}

fn people() -> Bag {
    let mut coder = Coder::new(["sex", "zip", "job"].map(|n| (n.to_string(), Encoding::Text)));
    for i in 0..300usize {
        coder.text(0, if i % 3 == 0 { b"F" } else { b"M" });
        coder.text(1, format!("10{}", i % 3 + usize::from(i % 11 == 0)).as_bytes());
        if i % 5 == 0 {
            coder.null(2);
        } else {
            coder.text(2, format!("job {}", i % 3).as_bytes());
        }
        coder.end_row();
    }
    coder.finish(&Watch::unlimited()).unwrap().bag
}

#[test]
fn the_fitted_data_take_the_size_of_the_fit() {
    let bag = people();
    for nulls in [Nulls::Missing, Nulls::Value] {
        for prune in [false, true] {
            for candidates in [Candidates::All, Candidates::Closed] {
                let options = Options { nulls, prune, candidates, ..Options::new(2) };
                let table = fit(&bag, &options, &Watch::unlimited(), &Progress::new()).unwrap();
                assert!(table.patterns().len() > 1 && table.sizes.ratio < 0.9);
                let model = Model::new(&table, &bag, &options, utf8).unwrap();
                let model = Model::from_json(&model.to_json()).unwrap();
                let encoded = encode(&model, &bag, &Watch::unlimited()).unwrap();
                assert!(!encoded.completed);
                assert!(close(encoded.elements_per_row, table.elements_per_row()));
                for sizes in [encoded.sizes, model.sizes()] {
                    assert!(close(sizes.data_bits, table.sizes.data_bits), "{sizes:?}");
                    assert!(close(sizes.model_bits, table.sizes.model_bits), "{sizes:?}");
                    assert!(close(sizes.standard_bits, table.sizes.standard_bits), "{sizes:?}");
                }
            }
        }
    }
}

#[test]
fn other_data_are_encoded_by_the_codes_of_the_model() {
    let model = model(&letters(&["ac", "ac", "ac", "ac", "bc", "bd"]), &Options::new(1));
    // ac is used four times, b twice, c and d once each: 8 in all.
    let usages: Vec<u64> = model.columns().iter().flat_map(|c| c.usages.clone()).collect();
    assert_eq!(model.patterns()[0].usage, 4);
    assert_eq!(usages, [0, 2, 1, 1]);
    let encoded = encode(&model, &letters(&["ac", "b", "d"]), &Watch::unlimited()).unwrap();
    assert!(!encoded.completed);
    assert!(close(encoded.sizes.data_bits, 1.0 + 2.0 + 3.0), "{encoded:?}");
    assert!(close(encoded.elements_per_row, 1.0));
    // Five codes, each item with a share of the twelve cells in the standard code.
    let standard: f64 = [4.0, 5.0, 2.0, 5.0, 1.0].iter().map(|s: &f64| (12.0 / s).log2()).sum();
    assert!(close(encoded.sizes.model_bits, standard + 1.0 + 2.0 + 3.0 + 3.0), "{encoded:?}");
    // Four different cells.
    assert!(close(encoded.sizes.standard_bits, 4.0 * 2.0 + 4.0 * (2.0 + 2.0)), "{encoded:?}");
}

#[test]
fn what_has_no_code_completes_the_model() {
    let model = model(&letters(&["ac", "ac", "ac", "ac", "bc", "bd"]), &Options::new(1));
    // a alone was never used, e never seen: six elements, 14 usages with one more each.
    let encoded = encode(&model, &letters(&["a", "e"]), &Watch::unlimited()).unwrap();
    assert!(encoded.completed);
    assert!(close(encoded.sizes.data_bits, 2.0 * 14f64.log2()), "{encoded:?}");
}

#[test]
fn the_columns_must_be_those_of_the_model() {
    let bag = people();
    let model = model(&bag, &Options::new(2));
    let swapped = bag.project(&[2, 0, 1], &Watch::unlimited()).unwrap();
    let fewer = bag.project(&[0, 1], &Watch::unlimited()).unwrap();
    let other = Bag::from_text(3, [[Some("F"), Some("101"), None]]);
    let size = |bag: &Bag| encode(&model, bag, &Watch::unlimited());
    assert!(close(size(&swapped).unwrap().sizes.total_bits, size(&bag).unwrap().sizes.total_bits));
    assert!(matches!(size(&fewer), Err(Error::Columns(_))));
    assert!(matches!(size(&other), Err(Error::Columns(_))));
    let watch = Watch::unlimited();
    watch.cancel();
    assert!(matches!(encode(&model, &bag, &watch), Err(Error::Stop(_))));
}

#[test]
fn a_value_that_is_not_utf8_has_no_model() {
    let bag = Bag::from_text(1, [[Some([0xff].as_slice())], [Some(b"a".as_slice())]]);
    let made = fit_model(&bag, &Options::new(1), &Watch::unlimited(), &Progress::new());
    assert_eq!(made.err(), Some(Error::Encoding { column: "c1".to_string() }));
    // Values whose order a conversion changes would change their codes.
    let bag = Bag::from_text(1, [[Some("a")], [Some("b")]]);
    let options = Options::new(1);
    let table = fit(&bag, &options, &Watch::unlimited(), &Progress::new()).unwrap();
    let swapped = |value: &[u8]| Some(if value == b"a" { "z" } else { "b" }.to_string());
    let made = Model::new(&table, &bag, &options, swapped);
    assert_eq!(made.err(), Some(Error::Encoding { column: "c1".to_string() }));
}
