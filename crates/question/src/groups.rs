//! The groups of a question: the columns that make them, and the public list.

use crate::filter::scalar;
use crate::{Error, Schema};
use serde_json::{Map, Value};
use std::collections::BTreeSet;

/// A group by the text of its columns, `None` for NULL.
pub type Key = Vec<Option<String>>;

/// The columns that make the groups.
pub fn group_columns<S: Schema>(schema: &S, names: &[String]) -> Result<Vec<usize>, S::Error> {
    let mut columns = Vec::with_capacity(names.len());
    for name in names {
        let position = schema.position(name)?;
        if columns.contains(&position) {
            Err(Error::argument(
                format!("group_by names column \"{name}\" twice"),
                "Name every column once.",
            ))?;
        }
        if !schema.columns()[position].of.identifies() {
            Err(Error::argument(
                format!("column \"{name}\" cannot make groups"),
                "Groups are made by integers, text, dates and times, boolean, uuid and enums.",
            ))?;
        }
        columns.push(position);
    }
    Ok(columns)
}

/// How public groups are written.
pub const GROUPS: &str = "Public groups are [{\"ward\": \"A\"}, {\"ward\": \"B\"}], or [\"A\", \"B\"] for one column, or {\"ward\": [\"A\", \"B\"], \"sex\": [\"F\", \"M\"]} for all combinations.";
/// The largest number of public groups.
const MAX_GROUPS: usize = 100_000;
/// The largest number of bytes of all their texts; combinations repeat texts.
const MAX_BYTES: usize = 16 << 20;

fn wrong(message: String) -> Error {
    Error::argument(message, GROUPS)
}

/// The public list of groups.
pub fn public_groups<S: Schema>(
    schema: &S,
    columns: &[usize],
    value: &Value,
) -> Result<Vec<Key>, S::Error> {
    let name = |column: usize| schema.columns()[column].name.as_str();
    let text = |column: usize, value: &Value| match value {
        Value::Null => Ok(None),
        value => schema.canonical(column, &scalar(name(column), value)?).map(Some),
    };
    let of = |object: &Map<String, Value>, column: usize| {
        let name = name(column);
        object.get(name).cloned().ok_or_else(|| wrong(format!("groups lacks column \"{name}\"")))
    };
    let known = |object: &Map<String, Value>| match object
        .keys()
        .find(|key| columns.iter().all(|&column| name(column) != **key))
    {
        Some(key) => Err(wrong(format!("groups names \"{key}\", which is not in group_by"))),
        None => Ok(()),
    };
    let mut keys: Vec<Key> = Vec::new();
    match value {
        Value::Array(list) => {
            for group in list {
                let key: Result<Key, S::Error> = match (group, columns) {
                    (Value::Object(object), _) => {
                        known(object)?;
                        columns.iter().map(|&column| text(column, &of(object, column)?)).collect()
                    }
                    (value, &[column]) => text(column, value).map(|text| vec![text]),
                    (other, _) => Err(wrong(format!("groups holds {other}")).into()),
                };
                keys.push(key?);
            }
        }
        Value::Object(object) => {
            known(object)?;
            keys.push(Vec::new());
            for &column in columns {
                let list = of(object, column)?;
                let list = list.as_array().ok_or_else(|| {
                    wrong(format!("groups has {list} for column \"{}\"", name(column)))
                })?;
                let texts: Result<Vec<_>, S::Error> =
                    list.iter().map(|value| text(column, value)).collect();
                let texts = texts?;
                if keys.len().saturating_mul(texts.len()) > MAX_GROUPS {
                    Err(wrong(format!("there are more than {MAX_GROUPS} groups")))?;
                }
                let length = |text: &Option<String>| text.as_ref().map_or(0, String::len);
                let bytes = |texts: &[Option<String>]| texts.iter().map(length).sum::<usize>();
                let each: usize = keys.iter().map(|key| bytes(key)).sum();
                let all = each.saturating_mul(texts.len());
                if all.saturating_add(bytes(&texts).saturating_mul(keys.len())) > MAX_BYTES {
                    Err(wrong(format!(
                        "the texts of all groups have more than {MAX_BYTES} bytes"
                    )))?;
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
        other => Err(wrong(format!("groups is {other}")))?,
    }
    if keys.is_empty() || keys.len() > MAX_GROUPS {
        Err(wrong(format!("groups holds {} groups", keys.len())))?;
    }
    let mut sorted: Vec<&Key> = keys.iter().collect();
    sorted.sort_unstable();
    if sorted.windows(2).any(|pair| pair[0] == pair[1]) {
        Err(wrong("groups holds a group twice".into()))?;
    }
    Ok(keys)
}

/// The list of groups in the form in which it was given, with values as their columns' types write them. Lists with
/// the same meaning are printed alike, whatever the spelling of their values.
pub fn printed(schema: &impl Schema, columns: &[usize], value: &Value, keys: &[Key]) -> Value {
    let name = |column: usize| schema.columns()[column].name.clone();
    let text = |text: &Option<String>| text.as_deref().map_or(Value::Null, Value::from);
    if !value.is_object() {
        let group = |key: &Key| -> Value {
            columns.iter().zip(key).map(|(&column, key)| (name(column), text(key))).collect()
        };
        return keys.iter().map(group).collect();
    }
    // The keys are all combinations of the texts of each column.
    let list = |(place, &column): (usize, &usize)| {
        let texts: BTreeSet<&Option<String>> = keys.iter().map(|key| &key[place]).collect();
        (name(column), texts.into_iter().map(text).collect::<Value>())
    };
    columns.iter().enumerate().map(list).collect()
}
