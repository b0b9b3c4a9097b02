//! The filter of a question: which rows it is about.

use crate::{Error, Schema};
use serde_json::Value;

const FILTER: &str = "A filter is {\"sex\": \"F\", \"age\": {\">=\": 18, \"<\": 65}, \"ward\": [\"A\", \"B\"], \"died\": null}.";

/// How a value is compared.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Operator {
    Equal,
    Unequal,
    Below,
    AtMost,
    Above,
    AtLeast,
}

impl Operator {
    fn read(text: &str) -> Option<Self> {
        Some(match text {
            "=" => Operator::Equal,
            "<>" | "!=" => Operator::Unequal,
            "<" => Operator::Below,
            "<=" => Operator::AtMost,
            ">" => Operator::Above,
            ">=" => Operator::AtLeast,
            _ => return None,
        })
    }

    /// The operator as SQL writes it.
    pub fn sql(self) -> &'static str {
        match self {
            Operator::Equal => "=",
            Operator::Unequal => "<>",
            Operator::Below => "<",
            Operator::AtMost => "<=",
            Operator::Above => ">",
            Operator::AtLeast => ">=",
        }
    }
}

/// A condition on a row. All conditions of a filter must hold.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Condition {
    /// The column against a value, in the words of the column's type.
    Compare {
        column: usize,
        operator: Operator,
        value: String,
    },
    IsNull {
        column: usize,
    },
    /// One of these holds; of none, no row matches.
    Any(Vec<Condition>),
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
                    let value = comparable(schema, column, value)?;
                    conditions.push(Condition::Compare { column, operator, value });
                }
            }
            Value::Object(_) => {
                Err(Error::argument(format!("the filter on \"{name}\" is empty"), FILTER))?;
            }
            Value::Array(list) => {
                let list: Result<Vec<Condition>, S::Error> =
                    list.iter().map(|value| equals(schema, column, value)).collect();
                conditions.push(Condition::Any(list?));
            }
            value => conditions.push(equals(schema, column, value)?),
        }
    }
    Ok(conditions)
}

fn equals<S: Schema>(schema: &S, column: usize, value: &Value) -> Result<Condition, S::Error> {
    match value {
        Value::Null => Ok(Condition::IsNull { column }),
        value => {
            let value = comparable(schema, column, value)?;
            Ok(Condition::Compare { column, operator: Operator::Equal, value })
        }
    }
}

fn comparable<S: Schema>(schema: &S, column: usize, value: &Value) -> Result<String, S::Error> {
    let of = &schema.columns()[column];
    if !of.of.is_comparable() {
        Err(Error::argument(
            format!("column \"{}\" cannot be used in a filter", of.name),
            "Filters take columns of built-in types: numbers, text, dates and times, boolean, uuid, enums.",
        ))?;
    }
    schema.canonical(column, &scalar(&of.name, value)?)
}

/// A JSON scalar that stands for a value of the column, as text.
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
