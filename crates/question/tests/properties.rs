//! Properties that hold for every question.

mod common;

use aggregate::{MeasureKind, Range, Step};
use common::{Call, call, json};
use pg_sanitize_question::{Condition, Question};
use proptest::prelude::*;
use random::Coins;
use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet};

/// JSON text with keys and lists in an order that the numbers of `order` choose.
fn written(value: &Value, order: &mut impl Iterator<Item = u32>) -> String {
    let (open, parts, close): (_, Vec<String>, _) = match value {
        Value::Array(list) => ("[", list.iter().map(|part| written(part, order)).collect(), "]"),
        Value::Object(object) => {
            let part = |(key, value): (&String, &Value)| {
                format!("{}: {}", Value::from(key.as_str()), written(value, order))
            };
            ("{", object.iter().map(part).collect(), "}")
        }
        other => return other.to_string(),
    };
    let mut parts: Vec<(u32, String)> = order.by_ref().zip(parts).collect();
    parts.sort();
    let parts: Vec<String> = parts.into_iter().map(|(_, part)| part).collect();
    format!("{open}{}{close}", parts.join(", "))
}

fn conditions(parts: &[Condition]) -> BTreeSet<String> {
    let text = |part: &Condition| match part {
        Condition::Any(list) => format!("any of {:?}", conditions(list)),
        other => format!("{other:?}"),
    };
    parts.iter().map(text).collect()
}

/// The groups, each as a map from column to value.
fn groups(question: &Question) -> Option<BTreeSet<BTreeMap<usize, Option<String>>>> {
    let group = |key: &Vec<Option<String>>| {
        question.group_by.iter().copied().zip(key.iter().cloned()).collect()
    };
    question.public.as_ref().map(|keys| keys.iter().map(group).collect())
}

fn assert_same(a: &Question, b: &Question) {
    assert_eq!(a.normal, b.normal);
    assert_eq!(a.charge, b.charge);
    assert_eq!(a.terms, b.terms);
    assert_eq!((a.rows_per_unit, a.groups_per_unit), (b.rows_per_unit, b.groups_per_unit));
    assert_eq!(conditions(&a.conditions), conditions(&b.conditions));
    let columns = |question: &Question| question.group_by.iter().copied().collect::<BTreeSet<_>>();
    assert_eq!(columns(a), columns(b));
    assert_eq!(groups(a), groups(b));
}

/// The slots that a value of measure `i` changes.
fn touched(question: &Question, i: usize, values: &[i64]) -> BTreeSet<usize> {
    let plan = question.plan(&[]).unwrap();
    let mut slots = vec![0i128; plan.slots()];
    let mut touched = BTreeSet::new();
    for &value in values {
        slots.fill(0);
        plan.add(&mut slots, i, value);
        touched.extend((0..slots.len()).filter(|&slot| slots[slot] != 0));
    }
    touched
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2000))]

    #[test]
    fn any_json_is_an_error_or_a_question(
        mut call in call(),
        (measures, filter, groups) in (json(), json(), json()),
        parts in 0..8u8,
    ) {
        if parts & 1 > 0 {
            call.measures = measures;
        }
        if parts & 2 > 0 {
            call.filter = Some(filter);
        }
        if parts & 4 > 0 {
            call.groups = Some(groups);
        }
        if let Ok(question) = call.read() {
            prop_assert!(question.covers(&question.plan(&[]).unwrap()).unwrap());
        }
    }

    #[test]
    fn a_measure_of_any_json_is_an_error_or_a_measure(
        mut call in call(),
        parts in proptest::collection::vec(json(), 1..4),
    ) {
        let named = parts.into_iter().enumerate().map(|(i, part)| (i.to_string(), part));
        call.measures = Value::Object(named.collect());
        let _ = call.read();
    }

    #[test]
    fn a_printed_question_is_the_same_question(call in call()) {
        let question = call.read().unwrap();
        let again = Call::printed(&question, call.one_row_each).read().unwrap();
        assert_same(&question, &again);
        prop_assert_eq!(question.asked, again.asked);
    }

    #[test]
    fn order_does_not_matter(
        call in call(),
        order in proptest::collection::vec(any::<u32>(), 400),
        turn in any::<bool>(),
    ) {
        let question = call.read().unwrap();
        let mut order = order.into_iter();
        let mut parse = |value: &Value| serde_json::from_str(&written(value, &mut order)).unwrap();
        let mut other = call.clone();
        other.measures = parse(&call.measures);
        other.filter = call.filter.as_ref().map(&mut parse);
        other.groups = call.groups.as_ref().map(&mut parse);
        if turn {
            other.group_by.reverse();
        }
        assert_same(&question, &other.read().unwrap());
    }

    #[test]
    fn the_price_is_what_was_offered(call in call()) {
        let question = call.read().unwrap();
        prop_assert_eq!(question.charge.whole.epsilon, call.epsilon);
        let most = call.delta.unwrap_or(call.terms.delta / 99.0);
        prop_assert!(question.charge.whole.delta <= most);
        let plan = question.plan(&[]).unwrap();
        prop_assert!(question.covers(&plan).unwrap());
        // The search for bounds and the answers are paid from one epsilon.
        let searching = question.scales().unwrap().map_or(0.0, |s| s.charge().whole.epsilon);
        prop_assert!(plan.charge().whole.epsilon + searching <= call.epsilon);
    }

    #[test]
    fn bounds_that_are_found_cost_no_more(
        call in call(),
        found in proptest::collection::vec((-Range::LIMIT..Range::LIMIT, 1..1i64 << 20), 8),
    ) {
        let question = call.read().unwrap();
        let found: Vec<(usize, Range)> = question
            .searched()
            .zip(found)
            .map(|((i, asked), (low, span))| {
                let step = asked.range.map_or(Step::ONE, |range| range.step);
                (i, Range::new(low, (low + span).min(Range::LIMIT), step).unwrap())
            })
            .collect();
        prop_assert!(question.covers(&question.plan(&found).unwrap()).unwrap());
    }

    #[test]
    fn slots_lie_within_the_plan(call in call()) {
        let question = call.read().unwrap();
        let plan = question.plan(&[]).unwrap();
        let mut taken = BTreeSet::new();
        for (i, measure) in plan.measures() {
            let range = measure.kind.range();
            let mut values = vec![i64::MIN + 1, -1, 0, 1, i64::MAX];
            if let Some(Range { low, high, .. }) = range {
                let parts = (0..=64).map(|part| low + (high - low) / 64 * part);
                values.extend(parts.chain([low, high]));
            }
            if measure.kind == MeasureKind::Units {
                continue;
            }
            let touched = touched(&question, i, &values);
            prop_assert!(!touched.is_empty());
            prop_assert!(touched.is_disjoint(&taken));
            taken.extend(touched);
        }
        // There is an integer for every number of the answers.
        let answers = plan.answers(&vec![0; plan.slots()], &mut Coins::seeded(1));
        prop_assert!(question.terms.min_query_set.is_some() || !answers.is_empty());
    }

    /// Bounds are moved outwards to a step, by less than one step.
    #[test]
    fn ranges_hold_their_bounds(
        low in -10_000_000..10_000_000i64,
        span in 1..10_000_000i64,
        step in proptest::option::of(1..5_000i64),
        column in proptest::sample::select(vec!["age", "weight"]),
    ) {
        // All in thousandths, which floats of this size print exactly.
        let decimal = |n: i64| n as f64 / 1000.0;
        let mut measure = serde_json::json!({"sum": column, "low": decimal(low), "high": decimal(low + span)});
        if let Some(step) = step {
            measure["step"] = decimal(step).into();
        }
        let call = Call {
            measures: serde_json::json!({ "s": measure }),
            filter: None,
            groups: None,
            group_by: Vec::new(),
            epsilon: 1.0,
            delta: None,
            terms: serde_json::from_value(serde_json::json!({
                "unit": "id", "max_rows_per_unit": 1, "max_groups_per_unit": null, "delta": 0,
                "min_epsilon": 0, "min_query_set": null, "assume_stable": false
            })).unwrap(),
            one_row_each: false,
        };
        let question = call.read().unwrap();
        let range = question.asked[0].range.unwrap();
        // In units of 10^-15.
        let one = i128::from(range.step.mantissa) * 10i128.pow(15 - range.step.scale);
        let exact = |n: i64| i128::from(n) * 10i128.pow(12);
        let (below, above) = (i128::from(range.low) * one, i128::from(range.high) * one);
        prop_assert!(below <= exact(low) && exact(low) - below < one);
        prop_assert!(above >= exact(low + span) && above - exact(low + span) < one);
        if let Some(step) = step {
            prop_assert_eq!(one, exact(step));
        }
    }
}
