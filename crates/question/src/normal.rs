//! Questions printed so that equal ones have equal texts.

use serde_json::{Value, json};

/// The same value for every order of keys and lists: all lists of a question are sets.
pub fn normalised(value: Value) -> Value {
    match value {
        Value::Array(list) => {
            let mut list: Vec<Value> = list.into_iter().map(normalised).collect();
            list.sort_by_cached_key(Value::to_string);
            list.dedup();
            list.into()
        }
        Value::Object(object) => {
            let mut parts: Vec<(String, Value)> =
                object.into_iter().map(|(key, value)| (key, normalised(value))).collect();
            parts.sort_by(|a, b| a.0.cmp(&b.0));
            Value::Object(parts.into_iter().collect())
        }
        // 1.0 is 1: the numbers that are left here belong to measures, not to values of columns.
        Value::Number(number) => match number.as_f64() {
            Some(x) if x.fract() == 0.0 && x.abs() < 9e15 => json!(x as i64),
            _ => Value::Number(number),
        },
        other => other,
    }
}
