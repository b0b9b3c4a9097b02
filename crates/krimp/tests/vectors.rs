//! Numbers that were computed independently.

#[path = "common/reference.rs"]
#[allow(dead_code)] // Only the trace of a fit is needed here.
mod reference;

use pg_sanitize_krimp::{CodeTable, Options, Progress, fit};
use serde_json::Value;
use std::collections::BTreeSet;
use table::{Bag, Item, Watch};

fn vectors(prefix: &str) -> Vec<Value> {
    let text = include_str!("../../../tests/data/krimp_vectors.json");
    let all: Vec<Value> = serde_json::from_str(text).unwrap();
    let chosen: Vec<Value> =
        all.into_iter().filter(|v| v["id"].as_str().unwrap().starts_with(prefix)).collect();
    assert!(!chosen.is_empty(), "no vector {prefix}");
    chosen
}

fn rows(value: &Value) -> Vec<&str> {
    value.as_array().unwrap().iter().map(|row| row.as_str().unwrap()).collect()
}

/// A bag of rows of letters: each of the letters is a column, NULL where a row does not have it.
fn bag(rows: &[&str], letters: &BTreeSet<char>) -> Bag {
    Bag::from_text(
        letters.len(),
        rows.iter().map(|row| letters.iter().map(|&c| row.contains(c).then(|| c.to_string()))),
    )
}

fn letters(rows: &[&str]) -> BTreeSet<char> {
    rows.iter().flat_map(|row| row.chars()).collect()
}

fn itemset(items: &[Item], letters: &BTreeSet<char>) -> String {
    items.iter().map(|item| letters.iter().nth(item.column as usize).unwrap()).collect()
}

fn number(value: &Value) -> f64 {
    value.as_f64().unwrap_or_else(|| value.as_str().unwrap().parse().unwrap())
}

fn assert_close(a: f64, b: f64, what: &str) {
    assert!((a - b).abs() <= 1e-9 * b.abs().max(1.0), "{what}: {a} instead of {b}");
}

fn fitted(bag: &Bag, options: &Options) -> CodeTable {
    fit(bag, options, &Watch::unlimited(), &Progress::new()).unwrap()
}

#[test]
fn code_tables_and_sizes() {
    for v in vectors("001-krimp") {
        let id = v["id"].as_str().unwrap();
        let rows = rows(&v["input"]["db"]);
        let letters = letters(&rows);
        let bag = bag(&rows, &letters);
        let options = Options {
            prune: v["input"]["pruning"].as_bool().unwrap(),
            ..Options::new(v["input"]["minsup"].as_u64().unwrap())
        };
        let table = fitted(&bag, &options);
        let expected = v["expected"]["code_table"].as_array().unwrap();
        assert_eq!(table.elements.len(), expected.len(), "{id}");
        for (element, expected) in table.elements.iter().zip(expected) {
            assert_eq!(
                itemset(&element.items, &letters),
                expected["itemset"].as_str().unwrap(),
                "{id}"
            );
            assert_eq!(element.support, expected["support"].as_u64().unwrap(), "{id}");
            assert_eq!(element.usage, expected["usage"].as_u64().unwrap(), "{id}");
            match element.code_length {
                Some(bits) => assert_close(bits, number(&expected["code_bits"]), id),
                None => assert!(expected["code_bits"].is_null(), "{id}"),
            }
        }
        assert_close(table.sizes.data_bits, number(&v["expected"]["L_D_given_CT"]), id);
        assert_close(table.sizes.model_bits, number(&v["expected"]["L_CT"]), id);
        assert_close(table.sizes.total_bits, number(&v["expected"]["L_total"]), id);
        let trace = v["expected"]["trace"].as_array().unwrap();
        assert_close(table.sizes.standard_bits, number(&trace[0]["total"]), id);
        let stepwise = reference::fit(&bag, &options).trace;
        assert_eq!(stepwise.len(), trace.len() - 1, "{id}");
        for ((items, total, enters), expected) in stepwise.iter().zip(&trace[1..]) {
            assert_eq!(itemset(items, &letters), expected["candidate"].as_str().unwrap(), "{id}");
            assert_close(*total, number(&expected["total"]), id);
            assert_eq!(Some(*enters), expected["accepted"].as_bool(), "{id}");
        }
    }
}
