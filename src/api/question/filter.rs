//! The filter of a question, from JSON to SQL. Identifiers are quoted, operators are those of
//! pg_catalog, and values are literals of the column's own built-in type: nothing of the question can
//! become code.

use crate::pg::error::Error;
use crate::pg::relation::{Column, Relation};
use crate::pg::types;
use serde_json::Value;

const FILTER: &str = "A filter is {\"sex\": \"F\", \"age\": {\">=\": 18, \"<\": 65}, \"ward\": [\"A\", \"B\"], \"died\": null}.";

/// The condition of a filter, as SQL.
pub fn condition(relation: &Relation, filter: Option<&Value>) -> Result<Vec<String>, Error> {
    let object = match filter {
        None | Some(Value::Null) => return Ok(Vec::new()),
        Some(Value::Object(object)) => object,
        Some(other) => return Err(Error::argument(format!("filter is {other}"), FILTER)),
    };
    let mut conditions = Vec::new();
    for (name, wanted) in object {
        let column = &relation.columns[relation.position(name)?];
        let quoted = column.quoted();
        match wanted {
            Value::Object(comparisons) if !comparisons.is_empty() => {
                for (operator, value) in comparisons {
                    let operator = match operator.as_str() {
                        "=" | "<" | "<=" | ">" | ">=" | "<>" => operator,
                        "!=" => "<>",
                        _ => {
                            return Err(Error::argument(
                                format!("the filter on \"{name}\" has the operator {operator}"),
                                "Operators are =, <>, <, <=, > and >=.",
                            ));
                        }
                    };
                    let value = literal(column, value)?;
                    conditions.push(format!("{quoted} OPERATOR(pg_catalog.{operator}) {value}"));
                }
            }
            Value::Object(_) => {
                return Err(Error::argument(format!("the filter on \"{name}\" is empty"), FILTER));
            }
            Value::Array(list) => {
                let one = |value: &Value| equals(column, &quoted, value);
                let list: Result<Vec<String>, Error> = list.iter().map(one).collect();
                // An empty list matches no row.
                let list = list?;
                conditions.push(if list.is_empty() {
                    "false".into()
                } else {
                    format!("({})", list.join(" OR "))
                });
            }
            value => conditions.push(equals(column, &quoted, value)?),
        }
    }
    Ok(conditions)
}

fn equals(column: &Column, quoted: &str, value: &Value) -> Result<String, Error> {
    match value {
        Value::Null => Ok(format!("{quoted} IS NULL")),
        value => Ok(format!("{quoted} OPERATOR(pg_catalog.=) {}", literal(column, value)?)),
    }
}

/// A JSON scalar as the text of a value.
pub fn scalar(column: &Column, value: &Value) -> Result<String, Error> {
    match value {
        Value::String(text) => Ok(text.clone()),
        Value::Number(number) => Ok(number.to_string()),
        Value::Bool(truth) => Ok(truth.to_string()),
        other => Err(Error::argument(
            format!("column \"{}\" is compared with {other}", column.name),
            "Compare with a text, a number, true or false.",
        )),
    }
}

fn literal(column: &Column, value: &Value) -> Result<String, Error> {
    if !types::is_comparable(column.base_type) {
        return Err(Error::argument(
            format!("column \"{}\" cannot be used in a filter", column.name),
            "Filters take columns of built-in types: numbers, text, dates and times, boolean, uuid, enums.",
        ));
    }
    types::literal(column.base_type, &scalar(column, value)?)
}
