//! What an analyst asks for, from JSON to a plan and a query. Identifiers are quoted, operators are
//! those of pg_catalog, and values are literals of the column's own built-in type: nothing of the
//! question can become code.

use crate::pg::error::Error;
use crate::pg::relation::{Column, Relation};
use crate::pg::types;
use crate::pg::unit_rows::Key;
use dp::aggregate::{Kind, Measure, Range, Step};
use serde_json::{Map, Value};

/// A measure and the column that it looks at.
pub struct Asked {
    pub measure: Measure,
    pub column: Option<usize>,
}

const MEASURES: &str = "Measures are {\"n\": \"count\"}, {\"u\": \"units\"}, {\"s\": {\"sum\": \"days\", \"low\": 0, \"high\": 60}} and the like with avg, variance, quantile (and of), histogram (and bins).";

fn bad(message: String) -> Error {
    Error::argument(message, MEASURES)
}

/// The measures of a call.
pub fn measures(relation: &Relation, value: &Value) -> Result<Vec<Asked>, Error> {
    let object = value.as_object().filter(|object| !object.is_empty());
    let object =
        object.ok_or_else(|| bad("measures is not an object with at least one measure".into()))?;
    object.iter().map(|(name, value)| measure(relation, name, value)).collect()
}

const KINDS: [&str; 6] = ["count", "sum", "avg", "variance", "quantile", "histogram"];

fn measure(relation: &Relation, name: &str, value: &Value) -> Result<Asked, Error> {
    let plain =
        |kind| Asked { measure: Measure { name: name.into(), kind, weight: 1.0 }, column: None };
    let object = match value {
        Value::String(kind) if kind == "count" => return Ok(plain(Kind::Count)),
        Value::String(kind) if kind == "units" => return Ok(plain(Kind::Units)),
        Value::Object(object) => object,
        _ => return Err(bad(format!("measure \"{name}\" is {value}"))),
    };
    let mut kinds = KINDS.iter().filter(|kind| object.contains_key(**kind));
    let (Some(&kind), None) = (kinds.next(), kinds.next()) else {
        return Err(bad(format!(
            "measure \"{name}\" does not name exactly one of {}",
            KINDS.join(", ")
        )));
    };
    let extra: &[&str] = match kind {
        "count" => &["weight"],
        "quantile" => &["weight", "low", "high", "step", "of"],
        "histogram" => &["weight", "low", "high", "step", "bins"],
        _ => &["weight", "low", "high", "step"],
    };
    if let Some(key) = object.keys().find(|key| *key != kind && !extra.contains(&key.as_str())) {
        return Err(bad(format!("measure \"{name}\" has an unknown part \"{key}\"")));
    }
    let column = match object.get(if kind == "quantile" { "of" } else { kind }) {
        Some(Value::String(column)) => relation.position(column)?,
        _ => return Err(bad(format!("measure \"{name}\" does not name a column"))),
    };
    let column_type = relation.columns[column].base_type;
    let range = || {
        if !types::is_number(column_type) {
            return Err(bad(format!(
                "column \"{}\" of measure \"{name}\" is not a number",
                relation.columns[column].name
            )));
        }
        range(name, object, types::is_integer(column_type))
    };
    let kind = match kind {
        "count" => Kind::CountOf,
        "sum" => Kind::Sum(range()?),
        "avg" => Kind::Mean(range()?),
        "variance" => Kind::Variance(range()?),
        "quantile" => Kind::Quantiles(range()?, shares(name, &object["quantile"])?),
        _ => {
            let bins =
                object.get("bins").and_then(Value::as_u64).filter(|bins| (1..=1000).contains(bins));
            let bins = bins.ok_or_else(|| {
                bad(format!("bins of measure \"{name}\" is not a number from 1 to 1000"))
            })?;
            Kind::Histogram(range()?, bins as u32)
        }
    };
    let weight = match object.get("weight") {
        None => 1.0,
        Some(weight) => weight
            .as_f64()
            .filter(|weight| (1e-6..=1e6).contains(weight))
            .ok_or_else(|| bad(format!("the weight of measure \"{name}\" is {weight}")))?,
    };
    Ok(Asked { measure: Measure { name: name.into(), kind, weight }, column: Some(column) })
}

fn shares(name: &str, value: &Value) -> Result<Vec<f64>, Error> {
    let list = match value {
        Value::Array(list) => list.as_slice(),
        one => std::slice::from_ref(one),
    };
    let shares: Option<Vec<f64>> = list
        .iter()
        .map(|share| share.as_f64().filter(|share| (0.0..=1.0).contains(share)))
        .collect();
    shares.filter(|shares| (1..=1000).contains(&shares.len())).ok_or_else(|| {
        bad(format!("quantile of measure \"{name}\" is {value}, not a share from 0 to 1"))
    })
}

/// A decimal number, mantissa / 10^scale.
fn decimal(value: &Value) -> Option<(i128, u32)> {
    let text = match value.as_i64() {
        Some(number) => number.to_string(),
        None => format!("{}", value.as_f64()?),
    };
    let (whole, fraction) = text.split_once('.').unwrap_or((&text, ""));
    if fraction.len() > 15 || whole.len() > 20 {
        return None;
    }
    Some((format!("{whole}{fraction}").parse().ok()?, fraction.len() as u32))
}

fn range(name: &str, object: &Map<String, Value>, is_integer: bool) -> Result<Range, Error> {
    let part = |part: &str| match object.get(part) {
        None => Ok(None),
        Some(value) => decimal(value)
            .map(Some)
            .ok_or_else(|| bad(format!("{part} of measure \"{name}\" is {value}"))),
    };
    let (Some(low), Some(high)) = (part("low")?, part("high")?) else {
        return Err(bad(format!(
            "measure \"{name}\" lacks low and high, the public bounds of its values"
        )));
    };
    let number = |(mantissa, scale): (i128, u32)| mantissa as f64 / 10f64.powi(scale as i32);
    let step = match part("step")? {
        Some((mantissa, scale)) => match u64::try_from(mantissa) {
            Ok(mantissa) if mantissa > 0 => Step { mantissa, scale },
            _ => return Err(bad(format!("step of measure \"{name}\" is not above 0"))),
        },
        None => default_step(number(low), number(high), is_integer),
    };
    // Bounds that are no multiple of the step are moved outwards to the next.
    let steps = |(mantissa, scale): (i128, u32), up: bool| -> Option<i64> {
        let over = mantissa.checked_mul(10i128.checked_pow(step.scale)?)?;
        let under = i128::from(step.mantissa).checked_mul(10i128.checked_pow(scale)?)?;
        let floor = over.div_euclid(under);
        i64::try_from(if up && over.rem_euclid(under) != 0 { floor + 1 } else { floor }).ok()
    };
    let bounds = steps(low, false).zip(steps(high, true));
    let range = bounds.and_then(|(low, high)| Range::new(low, high, step).ok());
    range.ok_or_else(|| {
        bad(format!(
            "low {} and high {} of measure \"{name}\" make no range: high must be above low, and both within 2^40 steps of {}",
            number(low),
            number(high),
            step.to_f64()
        ))
    })
}

/// Whole numbers for integers, about a million steps for others; a power of ten in any case.
fn default_step(low: f64, high: f64, is_integer: bool) -> Step {
    let widest = low.abs().max(high.abs());
    let mut exponent = ((high - low) / 1e6).log10().floor();
    if is_integer {
        exponent = 0.0;
    }
    let exponent = exponent.max((widest / 1e12).log10().ceil()).clamp(-15.0, 18.0);
    match exponent as i32 {
        e if e >= 0 => Step { mantissa: 10u64.pow(e as u32), scale: 0 },
        e => Step { mantissa: 1, scale: e.unsigned_abs() },
    }
}

/// The value of a measure in a row, as an SQL expression of type int8.
pub fn value_expression(asked: &Asked, relation: &Relation) -> Option<String> {
    let column = &relation.columns[asked.column?];
    let name = column.quoted();
    let Some(range) = asked.measure.kind.range() else {
        return Some(format!("(CASE WHEN {name} IS NOT NULL THEN 0 END)::pg_catalog.int8"));
    };
    if types::is_integer(column.base_type) && range.step == Step::ONE {
        return Some(format!("({name})::pg_catalog.int8"));
    }
    let (low, high, step) = (
        range.step.times(range.low.into()),
        range.step.times(range.high.into()),
        range.step.times(1),
    );
    // Clamped first, so that neither NaN nor infinity nor size can make the cast fail.
    Some(format!(
        "(CASE WHEN {name} IS NOT NULL THEN pg_catalog.round(LEAST(GREATEST(({name})::pg_catalog.numeric, {low}::pg_catalog.numeric), {high}::pg_catalog.numeric) OPERATOR(pg_catalog./) {step}::pg_catalog.numeric) END)::pg_catalog.int8"
    ))
}

/// The totals of a measure over a group, as SQL expressions of type int8, where Postgres can add them
/// up without overflow.
pub fn total_expressions(asked: &Asked, relation: &Relation) -> Option<Vec<String>> {
    let column = asked.column.map(|column| &relation.columns[column]);
    let count = |column: &Column| match column.not_null {
        true => "pg_catalog.count(*)".to_string(),
        false => format!("pg_catalog.count({})", column.quoted()),
    };
    match (&asked.measure.kind, column) {
        (Kind::Count | Kind::Units, _) => Some(vec!["pg_catalog.count(*)".into()]),
        (Kind::CountOf, Some(column)) => Some(vec![count(column)]),
        (Kind::Sum(range) | Kind::Mean(range), Some(column)) => {
            let (low, high) = (i32::try_from(range.low).ok()?, i32::try_from(range.high).ok()?);
            if !types::is_short_integer(column.base_type) || range.step != Step::ONE {
                return None;
            }
            let name = column.quoted();
            // LEAST and GREATEST skip NULL, which must not become a bound.
            let filter = match column.not_null {
                true => String::new(),
                false => format!(" FILTER (WHERE {name} IS NOT NULL)"),
            };
            let sum = format!(
                "pg_catalog.sum(LEAST(GREATEST({name}, '{low}'::pg_catalog.int4), '{high}'::pg_catalog.int4)){filter}"
            );
            Some(match asked.measure.kind {
                Kind::Sum(_) => vec![sum],
                _ => vec![count(column), sum],
            })
        }
        _ => None,
    }
}

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
fn scalar(column: &Column, value: &Value) -> Result<String, Error> {
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
