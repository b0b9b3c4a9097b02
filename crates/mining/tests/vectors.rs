//! Numbers from the literature and from independent programs.

use pg_sanitize_mining::orthogonal::OrthogonalArray;
use pg_sanitize_mining::{bound, miis, risk};
use serde_json::Value;
use std::collections::BTreeMap;
use table::{Bag, Watch};

fn vectors(prefix: &str) -> Vec<Value> {
    let text = include_str!("../../../tests/data/mining_vectors.json");
    let all: Vec<Value> = serde_json::from_str(text).unwrap();
    let chosen: Vec<Value> =
        all.into_iter().filter(|v| v["id"].as_str().unwrap().starts_with(prefix)).collect();
    assert!(!chosen.is_empty(), "no vector {prefix}");
    chosen
}

fn text(value: &Value) -> String {
    value.as_str().map_or_else(|| value.to_string(), str::to_string)
}

fn bag(rows: &Value) -> Bag {
    let rows: Vec<Vec<String>> = rows
        .as_array()
        .unwrap()
        .iter()
        .map(|row| row.as_array().unwrap().iter().map(text).collect())
        .collect();
    Bag::from_text(rows[0].len(), rows.iter().map(|row| row.iter().map(Some)))
}

/// Total and counts by length, as the vectors give them.
fn assert_counts(id: &Value, bag: &Bag, theta: u64, expected: &Value) {
    let list = miis(bag, None, theta, None, &Watch::unlimited()).unwrap();
    assert_eq!(list.len() as u64, expected["total"].as_u64().unwrap(), "{id}");
    let mut by_size: BTreeMap<String, u64> = BTreeMap::new();
    list.iter().for_each(|(items, _)| *by_size.entry(items.len().to_string()).or_default() += 1);
    assert_eq!(serde_json::to_value(by_size).unwrap(), expected["by_size"], "{id}");
}

/// "Bush OA_1 over GF: s=5,t=2,n=6".
fn array(description: &str) -> Vec<Vec<u32>> {
    let number = |name: &str| -> u32 {
        let (_, rest) = description.split_once(name).unwrap();
        rest.split(',').next().unwrap().parse().unwrap()
    };
    OrthogonalArray::new(number("n="), number("s="), number("t=")).unwrap().collect()
}

#[test]
fn orthogonal_arrays_have_the_expected_rows_and_miis() {
    for v in vectors("003-oa") {
        let input = &v["input"];
        let rows = array(input["array"].as_str().unwrap());
        assert_eq!(rows.len() as u64, input["height"].as_u64().unwrap());
        let first = serde_json::to_value(&rows[..4]).unwrap();
        assert_eq!(first, input["first_rows"], "{}", v["id"]);
        assert_eq!(serde_json::to_value(rows.last()).unwrap(), input["last_row"], "{}", v["id"]);
        let bag = Bag::from_text(
            rows[0].len(),
            rows.iter().map(|row| row.iter().map(|cell| Some(cell.to_string()))),
        );
        assert_counts(&v["id"], &bag, input["theta"].as_u64().unwrap(), &v["expected"]);
    }
}

#[test]
fn matrices_have_the_expected_miis() {
    for v in vectors("003-m") {
        let theta = v["input"]["theta"].as_u64().unwrap();
        assert_counts(&v["id"], &bag(&v["input"]["rows"]), theta, &v["expected"]);
    }
}

#[test]
fn bounds_are_exact() {
    for v in vectors("003-bound") {
        let (rows, columns) = (&v["input"]["m"], &v["input"]["n"]);
        let bound = bound(rows.as_u64().unwrap(), columns.as_u64().unwrap() as u32);
        assert_eq!(bound, Some(v["expected"]["bound"].to_string()), "{}", v["id"]);
    }
}

#[test]
fn small_tables_have_the_expected_miis_and_cells_at_risk() {
    for v in vectors("003-suppress") {
        let bag = bag(&v["input"]["rows"]);
        let theta = v["input"]["theta"].as_u64().unwrap();
        let watch = Watch::unlimited();
        let found: BTreeMap<Vec<(u64, String)>, u64> = miis(&bag, None, theta, None, &watch)
            .unwrap()
            .iter()
            .map(|(items, support)| {
                let name = |code, column| {
                    String::from_utf8(bag.domain(column).value(code).to_vec()).unwrap()
                };
                let items = items
                    .iter()
                    .map(|i| (u64::from(i.column), name(i.code, i.column as usize)))
                    .collect();
                (items, support)
            })
            .collect();
        let expected: BTreeMap<Vec<(u64, String)>, u64> = v["expected"]["miis"]
            .as_array()
            .unwrap()
            .iter()
            .map(|mii| {
                let items = mii["itemset"].as_array().unwrap().iter();
                let items = items.map(|i| (i[0].as_u64().unwrap(), text(&i[1]))).collect();
                (items, mii["support"].as_u64().unwrap())
            })
            .collect();
        assert_eq!(found, expected, "{}", v["id"]);
        let risk = risk(&bag, None, theta, None, &watch).unwrap();
        let cells: u64 = risk.iter().map(|column| column.total.cells).sum();
        assert_eq!(Some(cells), v["expected"]["suppressed_cells"].as_u64(), "{}", v["id"]);
    }
}
