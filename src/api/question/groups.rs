//! The groups of a question: columns, and the public list.

use super::filter::scalar;
use crate::pg::error::Error;
use crate::pg::relation::{Column, Relation};
use crate::pg::types;
use crate::pg::unit_rows::Key;
use serde_json::{Map, Value};

/// The columns that make the groups.
pub fn group_columns(relation: &Relation, names: &[String]) -> Result<Vec<usize>, Error> {
    let mut columns = Vec::with_capacity(names.len());
    for name in names {
        let position = relation.position(name)?;
        if columns.contains(&position) {
            return Err(Error::argument(
                format!("group_by names column \"{name}\" twice"),
                "Name every column once.",
            ));
        }
        if !types::identifies(relation.columns[position].base_type) {
            return Err(Error::argument(
                format!("column \"{name}\" cannot make groups"),
                "Groups are made by integers, text, dates and times, boolean, uuid and enums.",
            ));
        }
        columns.push(position);
    }
    Ok(columns)
}

const GROUPS: &str = "Public groups are [{\"ward\": \"A\"}, {\"ward\": \"B\"}], or [\"A\", \"B\"] for one column, or {\"ward\": [\"A\", \"B\"], \"sex\": [\"F\", \"M\"]} for all combinations.";
/// More public groups than anybody reads.
const MAX_GROUPS: usize = 100_000;

/// The public list of groups.
pub fn public_groups(columns: &[&Column], value: &Value) -> Result<Vec<Key>, Error> {
    let text = |column: &Column, value: &Value| match value {
        Value::Null => Ok(None),
        value => types::canonical(column.base_type, -1, &scalar(column, value)?).map(Some),
    };
    let wrong = |what: String| Error::argument(what, GROUPS);
    let of = |object: &Map<String, Value>, column: &Column| {
        object
            .get(&column.name)
            .cloned()
            .ok_or_else(|| wrong(format!("groups lacks column \"{}\"", column.name)))
    };
    let known = |object: &Map<String, Value>| match object
        .keys()
        .find(|key| columns.iter().all(|c| c.name != **key))
    {
        Some(key) => Err(wrong(format!("groups names \"{key}\", which is not in group_by"))),
        None => Ok(()),
    };
    let mut keys: Vec<Key> = Vec::new();
    match value {
        Value::Array(list) => {
            for group in list {
                let key: Result<Key, Error> = match (group, columns) {
                    (Value::Object(object), _) => {
                        known(object)?;
                        columns.iter().map(|column| text(column, &of(object, column)?)).collect()
                    }
                    (value, [column]) => text(column, value).map(|text| vec![text]),
                    (other, _) => Err(wrong(format!("groups holds {other}"))),
                };
                keys.push(key?);
            }
        }
        Value::Object(object) => {
            known(object)?;
            keys.push(Vec::new());
            for column in columns {
                let list = of(object, column)?;
                let list = list.as_array().ok_or_else(|| {
                    wrong(format!("groups has {list} for column \"{}\"", column.name))
                })?;
                let texts: Result<Vec<_>, Error> =
                    list.iter().map(|value| text(column, value)).collect();
                let texts = texts?;
                if keys.len().saturating_mul(texts.len()) > MAX_GROUPS {
                    return Err(wrong(format!("there are more than {MAX_GROUPS} groups")));
                }
                let with = |key: &Key| -> Vec<Key> {
                    texts
                        .iter()
                        .map(|text| key.iter().cloned().chain([text.clone()]).collect())
                        .collect()
                };
                keys = keys.iter().flat_map(with).collect();
            }
        }
        other => return Err(wrong(format!("groups is {other}"))),
    }
    if keys.is_empty() || keys.len() > MAX_GROUPS {
        return Err(wrong(format!("groups holds {} groups", keys.len())));
    }
    let mut sorted: Vec<&Key> = keys.iter().collect();
    sorted.sort_unstable();
    if sorted.windows(2).any(|pair| pair[0] == pair[1]) {
        return Err(wrong("groups holds a group twice".into()));
    }
    Ok(keys)
}
