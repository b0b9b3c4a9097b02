//! Exact numbers computed by another program: sampling theorem, rates, composition of a split.

use guarantee::{Cost, DeltaMethod, mixture};
use pg_sanitize_sample::{parameters, sampling_delta};
use serde_json::Value;

fn vectors(prefix: &str) -> Vec<Value> {
    let text = include_str!("../../../tests/data/dp_vectors.json");
    let all: Value = serde_json::from_str(text).unwrap();
    let found: Vec<Value> = all["vectors"]
        .as_array()
        .unwrap()
        .iter()
        .filter(|v| v["id"].as_str().unwrap().starts_with(prefix))
        .cloned()
        .collect();
    assert!(!found.is_empty());
    found
}

fn number(value: &Value) -> f64 {
    value.as_f64().unwrap_or_else(|| value.as_str().unwrap().parse().unwrap())
}

fn assert_close(found: f64, expected: f64, tolerance: f64, what: &Value) {
    assert!((found / expected - 1.0).abs() <= tolerance, "{what}: {found}, expected {expected}");
}

#[test]
fn sampling_deltas() {
    for v in vectors("003-d-") {
        let (input, expected) = (&v["input"], &v["expected"]);
        let found = sampling_delta(
            input["k"].as_u64().unwrap(),
            number(&input["beta"]),
            number(&input["eps"]),
        )
        .unwrap();
        assert_close(found.delta_li, number(&expected["d"]), 1e-9, &v["id"]);
        if let Some(exact) = expected["delta_exact_addremove"].as_f64() {
            assert_close(found.delta, exact, 1e-9, &v["id"]);
        }
    }
}

#[test]
fn sampling_rates() {
    for v in vectors("003-beta-") {
        let (input, expected) = (&v["input"], &v["expected"]);
        let (epsilon, delta) = (number(&input["eps"]), number(&input["delta_target"]));
        let k = input["k"].as_u64().unwrap();
        let run = |method| parameters(epsilon, delta, k, number(&input["r"]), method).unwrap();

        let li = run(DeltaMethod::Li);
        assert!((li.beta.get() - number(&expected["beta"])).abs() < 2e-4, "{v} {li:?}");
        assert!(li.delta_li <= delta, "{v} {li:?}");
        assert_eq!(li.theta1, expected["theta1"].as_u64().unwrap(), "{v}");
        let at = sampling_delta(k, number(&expected["beta"]), epsilon).unwrap();
        assert_close(at.delta_li, number(&expected["d_li_at_beta"]), 1e-8, &v["id"]);
        assert_close(at.delta, number(&expected["exact_delta_at_beta"]), 1e-8, &v["id"]);

        let exact = run(DeltaMethod::Exact);
        let beta = number(&expected["beta_from_exact_delta"]);
        assert!((exact.beta.get() - beta).abs() < 1e-8, "{v} {exact:?}");
        assert!(exact.delta <= delta, "{v} {exact:?}");
        assert_close(exact.delta, number(&expected["exact_delta_at_that_beta"]), 1e-6, &v["id"]);
    }
}

#[test]
fn mixtures() {
    for v in vectors("003-mix-") {
        let (input, expected) = (&v["input"], &v["expected"]);
        let cost = |i: &str| Cost {
            epsilon: number(&input[format!("eps{i}")]),
            delta: number(&input[format!("delta{i}")]),
        };
        let found = mixture(number(&input["r"]), cost("1"), cost("2"));
        assert_close(found.epsilon, number(&expected["eps"]), 1e-9, &v["id"]);
        assert_close(found.delta, number(&expected["delta"]), 1e-9, &v["id"]);
    }
}
