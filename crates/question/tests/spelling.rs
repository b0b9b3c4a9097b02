//! Questions that spell the values of columns differently.

mod common;

use common::{Call, call};
use proptest::prelude::*;
use serde_json::{Value, json};

/// The question about all rows with a filter and groups of its own.
fn normal(mut call: Call, filter: Value, ages: Option<Value>) -> String {
    call.filter = Some(filter);
    call.group_by = ages.iter().map(|_| "age".to_string()).collect();
    call.groups = ages;
    call.delta = Some(0.0);
    call.read().unwrap().normal
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(200))]

    #[test]
    fn spellings_of_one_value_are_one_question(call in call(), n in 0..1000i64, m in 0..1000i64) {
        let same = |a: Value, b: Value| {
            let (a, b) = (normal(call.clone(), a, None), normal(call.clone(), b, None));
            prop_assert_eq!(a, b);
            Ok(())
        };
        let zeros = |n: i64| format!("0{n}");
        same(json!({"id": n}), json!({"id": n.to_string()}))?;
        same(json!({"id": n}), json!({"id": [zeros(n), n]}))?;
        same(json!({"id": {"=": n}}), json!({"id": zeros(n)}))?;
        same(json!({"id": {"<>": n, "!=": m}}), json!({"id": {"!=": zeros(n), "<>": zeros(m)}}))?;
        same(json!({"weight": n}), json!({"weight": format!("{n}.0")}))?;
        same(json!({"ward": null}), json!({"ward": [null, null]}))?;
        same(json!({"ward": [], "id": n}), json!({"ward": []}))?;
    }

    #[test]
    fn texts_that_differ_are_two_questions(call in call(), n in 0..1000i64, m in 0..1000i64) {
        let differ = |a: Value, b: Value| {
            let (a, b) = (normal(call.clone(), a, None), normal(call.clone(), b, None));
            prop_assert_ne!(a, b);
            Ok(())
        };
        differ(json!({"ward": n}), json!({"ward": format!("{n}.0")}))?;
        differ(json!({"ward": n as f64}), json!({"ward": n}))?;
        differ(json!({"ward": n}), json!({"ward": null}))?;
        differ(json!({"ward": "null"}), json!({"ward": null}))?;
        differ(json!({"ward": n}), json!({"ward": {"<>": n}}))?;
        differ(json!({"ward": n}), json!({"born": n}))?;
        differ(json!({"ward": []}), json!({}))?;
        differ(json!({"ward": ["a", n]}), json!({"ward": ["a", n + 1]}))?;
        differ(json!({"ward": "born", "born": "x"}), json!({"ward": "x", "born": "born"}))?;
        if n != m {
            differ(json!({"id": {"<": n, ">": m}}), json!({"id": {"<": m, ">": n}}))?;
        }
    }

    #[test]
    fn groups_are_compared_by_their_values_too(call in call(), n in 0..50i64) {
        let all = || json!({});
        let of = |groups: Value| normal(call.clone(), all(), Some(groups));
        let (first, second) = (n, n + 1);
        let zeros = format!("0{n}");
        prop_assert_eq!(of(json!([first, second])), of(json!([second, zeros])));
        prop_assert_eq!(of(json!([first])), of(json!([{"age": zeros}])));
        prop_assert_eq!(of(json!({"age": [first, second]})), of(json!({"age": [second, zeros]})));
        prop_assert_ne!(of(json!([first])), of(json!([second])));
        prop_assert_ne!(of(json!([first])), of(json!([null])));
    }
}
