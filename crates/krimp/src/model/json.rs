//! The JSON form of models: written, read and checked.

use crate::model::{Model, ModelColumn, Pattern};
use crate::{CodeTable, Error, Nulls, Options};
use serde::Deserialize;
use serde_json::{Value, json};
use std::cmp::Reverse;
use std::collections::BTreeSet;

/// The value of the field `format` of every model.
const FORMAT: &str = "pg_sanitize.krimp";

/// The version of the schema that this code writes.
const VERSION: u64 = 1;

/// Numbers above this are not counts of rows.
const LARGEST: u64 = i64::MAX as u64;

/// Items as pairs of column and code, for fields that are stored `with` this.
pub(crate) mod pairs {
    use serde::{Deserialize, Deserializer, Serializer};
    use table::Item;

    pub fn serialize<S: Serializer>(items: &[Item], to: S) -> Result<S::Ok, S::Error> {
        to.collect_seq(items.iter().map(|item| (item.column, item.code)))
    }

    pub fn deserialize<'a, D: Deserializer<'a>>(from: D) -> Result<Vec<Item>, D::Error> {
        let pairs = Vec::<(u32, u32)>::deserialize(from)?;
        Ok(pairs.into_iter().map(|(column, code)| Item { column, code }).collect())
    }
}

impl Model {
    /// The model as a JSON object.
    ///
    /// | field | content |
    /// |---|---|
    /// | `format` | `"pg_sanitize.krimp"` |
    /// | `version` | 1 |
    /// | `rows` | rows of the data it was fitted to |
    /// | `options` | what the fit was asked for: `min_support`, `max_length` or null, `candidates` (`"all"`, `"closed"`, `"pairs"`), `forbidden` (`{"columns": [0, 2]}` or `{"items": [[0, 1]]}` each), `prune`, `nulls` (`"missing"`, `"value"`) |
    /// | `columns` | an object per column: `name`; `values`, texts in ascending order of their bytes, with a null at the end where NULL is an item; `supports` and `usages` of these values as singletons, in the same order; `nulls`, the NULL cells where NULL is no item |
    /// | `patterns` | an object per itemset of two or more items, in cover order: `items`, pairs of column and value as positions in the lists above; `support`; `usage` |
    ///
    /// Fields that are not named here are ignored.
    pub fn to_json(&self) -> Value {
        json!({
            "format": FORMAT,
            "version": VERSION,
            "rows": self.rows,
            "options": self.options,
            "columns": self.columns,
            "patterns": self.patterns,
        })
    }

    /// The model in a JSON value. Whatever the value is, everything that later code relies on is checked here.
    pub fn from_json(value: &Value) -> Result<Self, Error> {
        if value.get("format").and_then(Value::as_str) != Some(FORMAT) {
            return Err(Error::Model(format!("field \"format\" is not \"{FORMAT}\"")));
        }
        match value.get("version").and_then(Value::as_u64) {
            Some(VERSION) => {}
            Some(version) => {
                return Err(Error::Model(format!(
                    "version {version} is not known here, only version {VERSION}"
                )));
            }
            None => return Err(Error::Model("field \"version\" is not a number".to_string())),
        }
        read(value).map_err(Error::Model)
    }
}

/// The content of the field of this name.
fn field<'a, T: Deserialize<'a>>(value: &'a Value, name: &str) -> Result<T, String> {
    let value = value.get(name).ok_or_else(|| format!("there is no field \"{name}\""))?;
    T::deserialize(value).map_err(|e| format!("field \"{name}\": {e}"))
}

/// The elements of the field of this name.
fn list<'a>(value: &'a Value, name: &str) -> Result<&'a [Value], String> {
    let list = value.get(name).and_then(Value::as_array);
    list.map(Vec::as_slice).ok_or_else(|| format!("there is no list \"{name}\""))
}

fn read(value: &Value) -> Result<Model, String> {
    let rows: u64 = field(value, "rows")?;
    if rows > LARGEST {
        return Err(format!("{rows} rows"));
    }
    let options: Options = field(value, "options")?;
    let mut names = BTreeSet::new();
    let mut columns: Vec<ModelColumn> = Vec::new();
    for (i, value) in list(value, "columns")?.iter().enumerate() {
        let column = column(value, rows, options.nulls).map_err(|e| format!("column {i}: {e}"))?;
        if !names.insert(column.name.clone()) {
            return Err(format!("there are two columns \"{}\"", column.name));
        }
        columns.push(column);
    }
    if columns.is_empty() {
        return Err("there are no columns".to_string());
    }
    if columns.len() > CodeTable::MAX_COLUMNS {
        return Err(format!("{} columns", columns.len()));
    }
    let mut patterns: Vec<Pattern> = Vec::new();
    for (i, value) in list(value, "patterns")?.iter().enumerate() {
        let pattern = pattern(value, &columns, rows).map_err(|e| format!("pattern {i}: {e}"))?;
        let key = |p: &Pattern| (Reverse(p.items.len()), Reverse(p.support), p.items.clone());
        if patterns.last().is_some_and(|last| key(last) >= key(&pattern)) {
            return Err(format!("pattern {i} is not in cover order"));
        }
        patterns.push(pattern);
    }
    let usages = columns.iter().flat_map(|c| &c.usages).chain(patterns.iter().map(|p| &p.usage));
    let supports = columns.iter().flat_map(|c| &c.supports);
    for (sum, what) in [(total(usages), "usages"), (total(supports), "supports")] {
        // Completing a model adds one to each, so there must be room.
        if sum.is_none_or(|sum| sum > LARGEST) {
            return Err(format!("the sum of {what} is too large"));
        }
    }
    Ok(Model { rows, options, columns, patterns })
}

fn total<'a>(mut numbers: impl Iterator<Item = &'a u64>) -> Option<u64> {
    numbers.try_fold(0u64, |sum, &number| sum.checked_add(number))
}

fn column(value: &Value, rows: u64, nulls: Nulls) -> Result<ModelColumn, String> {
    let column = ModelColumn::deserialize(value).map_err(|e| e.to_string())?;
    let ModelColumn { values, supports, usages, .. } = &column;
    if supports.len() != values.len() || usages.len() != values.len() {
        return Err(format!(
            "{} values, {} supports and {} usages",
            values.len(),
            supports.len(),
            usages.len()
        ));
    }
    if values.len() >= u32::MAX as usize {
        return Err("too many values".to_string());
    }
    let null_item = values.last().is_some_and(Option::is_none);
    let texts = &values[..values.len() - usize::from(null_item)];
    if texts.iter().any(Option::is_none) || !texts.is_sorted_by(|a, b| a < b) {
        return Err("the values are not in ascending order".to_string());
    }
    if null_item && nulls == Nulls::Missing {
        return Err("NULL is a value, but the option says that it is missing".to_string());
    }
    if let Some(i) = (0..values.len()).find(|&i| usages[i] > supports[i]) {
        return Err(format!("value {i} is used by more rows than contain it"));
    }
    let cells = total(supports.iter().chain([&column.nulls]));
    if cells.is_none_or(|cells| cells > rows) {
        return Err(format!("more cells than the {rows} rows have"));
    }
    Ok(column)
}

fn pattern(value: &Value, columns: &[ModelColumn], rows: u64) -> Result<Pattern, String> {
    let pattern = Pattern::deserialize(value).map_err(|e| e.to_string())?;
    let items = &pattern.items;
    if items.len() < 2 {
        return Err("fewer than two items".to_string());
    }
    if !items.is_sorted_by(|a, b| a.column < b.column) {
        return Err("the items are not in ascending order of different columns".to_string());
    }
    for item in items {
        let known = columns
            .get(item.column as usize)
            .is_some_and(|c| (item.code as usize) < c.values.len());
        if !known {
            return Err(format!("there is no item [{}, {}]", item.column, item.code));
        }
    }
    if pattern.usage > pattern.support || pattern.support > rows {
        return Err(format!("usage {}, support {}, {rows} rows", pattern.usage, pattern.support));
    }
    Ok(pattern)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Forbidden, Progress, fit_model};
    use table::{Bag, Item, Watch};

    fn model(nulls: Nulls) -> Model {
        let rows = [
            [Some("a"), Some("x"), None],
            [Some("a"), Some("x"), None],
            [Some("a"), Some("x"), Some("1")],
            [Some("b"), Some("é"), Some("1")],
            [Some("b"), None, Some("2")],
            [Some("b"), Some("é"), Some("2")],
        ];
        let options = Options {
            nulls,
            max_length: Some(3),
            forbidden: vec![
                Forbidden::Columns(vec![1, 2]),
                Forbidden::Items(vec![Item { column: 0, code: 1 }, Item { column: 1, code: 0 }]),
            ],
            ..Options::new(1)
        };
        fit_model(&Bag::from_text(3, rows), &options, &Watch::unlimited(), &Progress::new())
            .unwrap()
    }

    #[test]
    fn a_model_survives_being_stored() {
        for nulls in [Nulls::Missing, Nulls::Value] {
            let model = model(nulls);
            assert!(!model.patterns().is_empty());
            let text = model.to_json().to_string();
            let value: Value = serde_json::from_str(&text).unwrap();
            assert_eq!(Model::from_json(&value).unwrap(), model);
        }
    }

    #[test]
    fn more_fields_are_no_damage() {
        let mut value = model(Nulls::Missing).to_json();
        value["note"] = json!("kept elsewhere");
        assert!(Model::from_json(&value).is_ok());
    }

    fn refused(change: impl FnOnce(&mut Value), why: &str) {
        let mut value = model(Nulls::Missing).to_json();
        change(&mut value);
        match Model::from_json(&value) {
            Err(Error::Model(what)) => assert!(what.contains(why), "{what}"),
            other => panic!("{other:?} instead of {why}"),
        }
    }

    #[test]
    fn a_damaged_model_is_refused_with_the_reason() {
        refused(|v| *v = json!(null), "format");
        refused(|v| *v = json!([1, 2]), "format");
        refused(|v| *v = json!({"a": 1}), "format");
        refused(|v| v["format"] = json!("other"), "format");
        refused(|v| v["version"] = json!(2), "version 2");
        refused(|v| v["version"] = json!("1"), "version");
        refused(|v| v["rows"] = json!(-1), "field \"rows\": invalid value");
        refused(|v| v["rows"] = json!(u64::MAX), "rows");
        refused(|v| v["rows"] = json!(3), "column 0: more cells");
        refused(|v| v["options"]["prune"] = json!(3), "field \"options\": invalid type");
        refused(|v| v["columns"] = json!({}), "no list \"columns\"");
        refused(|v| v["columns"] = json!([3]), "column 0: invalid type");
        refused(|v| v["columns"] = json!([]), "no columns");
        refused(|v| v["columns"][1]["name"] = json!("c1"), "two columns");
        refused(|v| v["columns"][0]["values"] = json!(["b", "a"]), "ascending");
        refused(|v| v["columns"][0]["values"] = json!(["a", null]), "NULL");
        refused(|v| v["columns"][0]["values"] = json!([null, "a"]), "ascending");
        refused(|v| v["columns"][0]["supports"] = json!([1]), "1 supports");
        refused(|v| v["columns"][0]["usages"] = json!([7, 0]), "more rows than contain it");
        refused(|v| v["columns"][0]["supports"] = json!([u64::MAX, 1]), "more cells");
        refused(|v| v["patterns"][0]["items"] = json!([[0, 0]]), "pattern 0: fewer");
        refused(|v| v["patterns"][0]["items"] = json!([[0, 0], [0, 1]]), "different columns");
        refused(|v| v["patterns"][0]["items"] = json!([[0, 0], [9, 0]]), "no item [9, 0]");
        refused(|v| v["patterns"][0]["items"] = json!([[0, 0], [1, 9]]), "no item [1, 9]");
        refused(|v| v["patterns"][0]["support"] = json!(99), "support 99");
        refused(
            |v| {
                let first = v["patterns"][0].clone();
                v["patterns"] = json!([first, first]);
            },
            "cover order",
        );
    }
}
