//! The filter of a question: which rows it is about.

use crate::{Error, Schema};
use serde_json::{Map, Value};
use table::Choice;

const FILTER: &str = "A filter is {\"sex\": \"F\", \"age\": {\">=\": 18, \"<\": 65}, \"ward\": [\"A\", \"B\"], \"died\": null}.";

/// How a value is compared.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Operator {
    Equal,
    Unequal,
    Below,
    AtMost,
    Above,
    AtLeast,
}

impl Choice for Operator {
    const NAMES: &'static [(&'static str, Self)] = &[
        ("=", Operator::Equal),
        ("<>", Operator::Unequal),
        ("<", Operator::Below),
        ("<=", Operator::AtMost),
        (">", Operator::Above),
        (">=", Operator::AtLeast),
    ];
}

impl Operator {
    fn read(text: &str) -> Option<Self> {
        Operator::named(if text == "!=" { "<>" } else { text })
    }
}

/// A condition on a row. All conditions of a filter must hold.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub enum Condition {
    /// The column against a value, as the column's type writes it.
    Compare {
        column: usize,
        operator: Operator,
        value: String,
    },
    IsNull {
        column: usize,
    },
    /// At least one of these holds; an empty list matches no row.
    Any(Vec<Condition>),
}

impl Condition {
    /// The columns that the condition looks at.
    pub fn columns(&self) -> Vec<usize> {
        match self {
            Condition::Compare { column, .. } | Condition::IsNull { column } => vec![*column],
            Condition::Any(parts) => parts.iter().flat_map(Condition::columns).collect(),
        }
    }
}

/// The largest number of values in a filter; each is compared with every row.
const MAX_VALUES: usize = 10_000;
/// The largest number of bytes of all values as their columns' types write them: 1e131071 is a number of 131072
/// digits.
const MAX_BYTES: usize = 1 << 20;

/// The number of values and bytes that a filter may still add.
struct Room {
    values: usize,
    bytes: usize,
}

impl Room {
    fn take(&mut self, value: &str) -> Result<(), Error> {
        let room = self.values.checked_sub(1).zip(self.bytes.checked_sub(value.len()));
        let (values, bytes) = room.ok_or_else(|| {
            Error::argument(
                format!("the filter holds more than {MAX_VALUES} values, or more than {MAX_BYTES} bytes of them"),
                "Compare with a range, or have the owner protect a view with a column for what you look for.",
            )
        })?;
        *self = Room { values, bytes };
        Ok(())
    }
}

/// The conditions of a filter.
pub fn conditions<S: Schema>(
    schema: &S,
    filter: Option<&Value>,
) -> Result<Vec<Condition>, S::Error> {
    let object = match filter {
        None | Some(Value::Null) => return Ok(Vec::new()),
        Some(Value::Object(object)) => object,
        Some(other) => Err(Error::argument(format!("filter is {other}"), FILTER))?,
    };
    let mut conditions = Vec::new();
    let mut room = Room { values: MAX_VALUES, bytes: MAX_BYTES };
    for (name, wanted) in object {
        let column = schema.position(name)?;
        match wanted {
            Value::Object(comparisons) if !comparisons.is_empty() => {
                for (operator, value) in comparisons {
                    let operator = Operator::read(operator).ok_or_else(|| {
                        Error::argument(
                            format!("the filter on \"{name}\" has the operator {operator}"),
                            "Operators are =, <>, <, <=, > and >=.",
                        )
                    })?;
                    let value = comparable(schema, column, value, &mut room)?;
                    conditions.push(Condition::Compare { column, operator, value });
                }
            }
            Value::Object(_) => {
                Err(Error::argument(format!("the filter on \"{name}\" is empty"), FILTER))?;
            }
            Value::Array(list) => {
                let list: Result<Vec<Condition>, S::Error> =
                    list.iter().map(|value| equals(schema, column, value, &mut room)).collect();
                conditions.push(any(list?));
            }
            value => conditions.push(equals(schema, column, value, &mut room)?),
        }
    }
    // No row matches, even if other conditions are true.
    let nothing = Condition::Any(Vec::new());
    match conditions.contains(&nothing) {
        true => Ok(vec![nothing]),
        false => Ok(conditions),
    }
}

/// At least one of these holds. A condition that is listed twice, perhaps in two spellings, counts once.
fn any(mut list: Vec<Condition>) -> Condition {
    list.sort();
    list.dedup();
    match <[Condition; 1]>::try_from(list) {
        Ok([only]) => only,
        Err(list) => Condition::Any(list),
    }
}

/// The filter of these conditions, with values as their columns' types write them. Filters with the same meaning are
/// printed alike, whatever the spelling of their values.
pub fn printed<S: Schema>(schema: &S, conditions: &[Condition]) -> Value {
    let mut filter = Map::new();
    for condition in conditions {
        let (column, wanted) = match condition {
            Condition::Compare { column, operator: Operator::Equal, value } => {
                (*column, Value::from(value.as_str()))
            }
            Condition::Compare { column, operator, value } => {
                let name = schema.columns()[*column].name.as_str();
                add_comparison(&mut filter, name, *operator, value);
                continue;
            }
            Condition::IsNull { column } => (*column, Value::Null),
            Condition::Any(list) => match condition.columns().first() {
                Some(&column) => (column, list.iter().map(value_of).collect()),
                None => {
                    let first = schema.columns().first().map_or("", |column| &column.name);
                    return Map::from_iter([(first.to_string(), Value::Array(Vec::new()))]).into();
                }
            },
        };
        let name = schema.columns()[column].name.as_str();
        match filter.get_mut(name) {
            Some(Value::Object(comparisons)) => {
                comparisons.insert("=".into(), wanted);
            }
            _ => {
                filter.insert(name.into(), wanted);
            }
        }
    }
    filter.into()
}

/// Adds a comparison to those of its column. "<>" and "!=" mean the same, so there may be two.
fn add_comparison(filter: &mut Map<String, Value>, name: &str, operator: Operator, value: &str) {
    let mut comparisons = match filter.remove(name) {
        Some(Value::Object(comparisons)) => comparisons,
        Some(equal) => Map::from_iter([("=".to_string(), equal)]),
        None => Map::new(),
    };
    let value = Value::from(value);
    match comparisons.remove(operator.name()) {
        Some(other) if other != value => {
            let text = |value: &Value| value.as_str().map(String::from);
            let (first, second) =
                if text(&other) < text(&value) { (other, value) } else { (value, other) };
            comparisons.insert(operator.name().into(), first);
            comparisons.insert("!=".into(), second);
        }
        _ => {
            comparisons.insert(operator.name().into(), value);
        }
    }
    filter.insert(name.into(), comparisons.into());
}

fn value_of(condition: &Condition) -> Value {
    match condition {
        Condition::Compare { value, .. } => Value::from(value.as_str()),
        _ => Value::Null,
    }
}

fn equals<S: Schema>(
    schema: &S,
    column: usize,
    value: &Value,
    room: &mut Room,
) -> Result<Condition, S::Error> {
    match value {
        Value::Null => {
            room.take("")?;
            Ok(Condition::IsNull { column })
        }
        value => {
            let value = comparable(schema, column, value, room)?;
            Ok(Condition::Compare { column, operator: Operator::Equal, value })
        }
    }
}

fn comparable<S: Schema>(
    schema: &S,
    column: usize,
    value: &Value,
    room: &mut Room,
) -> Result<String, S::Error> {
    let of = &schema.columns()[column];
    if !of.of.is_comparable() {
        Err(Error::argument(
            format!("column \"{}\" cannot be used in a filter", of.name),
            "Filters take columns of built-in types: numbers, text, dates and times, boolean, uuid, enums.",
        ))?;
    }
    let value = schema.canonical(column, &scalar(&of.name, value)?)?;
    room.take(&value)?;
    Ok(value)
}

/// A JSON scalar as the text of a value of the column.
pub fn scalar(column: &str, value: &Value) -> Result<String, Error> {
    match value {
        Value::String(text) => Ok(text.clone()),
        Value::Number(number) => Ok(number.to_string()),
        Value::Bool(truth) => Ok(truth.to_string()),
        other => Err(Error::argument(
            format!("column \"{column}\" is compared with {other}"),
            "Compare with a text, a number, true or false.",
        )),
    }
}
