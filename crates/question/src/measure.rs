//! The measures of a question: reads from JSON what is computed of which column, within which bounds.

use crate::range::{decimal, part, private_range, range, step};
use crate::{Error, Schema};
use aggregate::{Measure, MeasureKind, Range, Step};
use serde_json::{Map, Value};

const MEASURES: &str = "Measures are {\"n\": \"count\"}, {\"u\": \"units\"}, {\"d\": {\"distinct\": \"drug\"}}, {\"s\": {\"sum\": \"days\", \"low\": 0, \"high\": 60}} and the like with avg, variance, quantile (and of), histogram (and bins); \"per\": \"unit\" and \"bounds\": \"private\" where there are bounds.";

/// The error for a measure that makes no sense.
pub(crate) fn bad(message: String) -> Error {
    Error::argument(message, MEASURES)
}

/// A range for a statistic whose bounds are not known yet.
const SOME_RANGE: Range = Range { low: 0, high: 1, step: Step::ONE };

/// A measure as the caller asked for it.
#[derive(Debug, Clone, PartialEq)]
pub struct Asked {
    pub name: String,
    /// The statistic; its own range means nothing.
    kind: MeasureKind,
    /// Its share of epsilon, relative to the other measures.
    pub weight: f64,
    /// The column that it looks at.
    pub column: Option<usize>,
    /// The values are the units' own totals, not those of their rows.
    pub per_unit: bool,
    /// The unit's total is its number of values, not their sum.
    pub counts_values: bool,
    /// The bounds of the values; for bounds that are found privately the widest possible ones.
    pub range: Option<Range>,
    pub private_bounds: bool,
}

impl Asked {
    /// The measure for a plan, with its own bounds or with the bounds that were found.
    pub fn measure(&self, found: Option<Range>) -> Measure {
        let range = found.or(self.range).unwrap_or(SOME_RANGE);
        let kind = self.kind.clone().within(range);
        let name = self.name.clone();
        Measure { name, kind, weight: self.weight, per_unit: self.per_unit }
    }
}

/// The measures of a call.
pub fn measures<S: Schema>(schema: &S, value: &Value) -> Result<Vec<Asked>, S::Error> {
    let object = value.as_object().filter(|object| !object.is_empty());
    let object =
        object.ok_or_else(|| bad("measures is not an object with at least one measure".into()))?;
    if object.len() > MAX_MEASURES {
        Err(bad(format!("there are {} measures, more than {MAX_MEASURES}", object.len())))?;
    }
    let mut unbounded = Vec::new();
    let asked = object.iter().map(|(name, value)| measure(schema, name, value, &mut unbounded));
    let asked: Vec<Asked> = asked.collect::<Result<_, _>>()?;
    if unbounded.is_empty() {
        return Ok(asked);
    }
    let (measures, values) = match unbounded.len() {
        1 => ("measure", "lacks low and high, the public bounds of its values"),
        _ => ("measures", "lack low and high, the public bounds of their values"),
    };
    let names: Vec<String> = unbounded.iter().map(|name| format!("\"{name}\"")).collect();
    Err(Error::argument(
        format!("{measures} {} {values}", names.join(", ")),
        "Give them, let the owner declare them (sanitize.declare_bounds), or find them with part of epsilon: \"bounds\": \"private\".",
    ))?
}

/// The largest number of measures; each has columns of its own in the query behind it.
const MAX_MEASURES: usize = 500;

const KINDS: [&str; 7] = ["count", "distinct", "sum", "avg", "variance", "quantile", "histogram"];

/// Reads one measure. Adds its name to `unbounded` if no bounds of its values are known.
fn measure<S: Schema>(
    schema: &S,
    name: &str,
    value: &Value,
    unbounded: &mut Vec<String>,
) -> Result<Asked, S::Error> {
    let plain = |kind| Asked {
        name: name.into(),
        kind,
        weight: 1.0,
        column: None,
        per_unit: false,
        counts_values: false,
        range: None,
        private_bounds: false,
    };
    let object = match value {
        Value::String(kind) if kind == "count" => return Ok(plain(MeasureKind::Count)),
        Value::String(kind) if kind == "units" => return Ok(plain(MeasureKind::Units)),
        Value::Object(object) => object,
        _ => Err(bad(format!("measure \"{name}\" is {value}")))?,
    };
    let mut kinds = KINDS.iter().filter(|kind| object.contains_key(**kind));
    let (Some(&kind), None) = (kinds.next(), kinds.next()) else {
        let kinds = KINDS.join(", ");
        return Err(bad(format!("measure \"{name}\" does not name exactly one of {kinds}")).into());
    };
    let per_unit = match object.get("per") {
        None => false,
        Some(Value::String(per)) if per == "unit" && kind != "distinct" => true,
        Some(per) => Err(bad(format!("measure \"{name}\" is computed per {per}")))?,
    };
    let extra: &[&str] = match kind {
        "count" if per_unit => &["weight", "per", "low", "high", "bounds"],
        "count" | "distinct" => &["weight", "per"],
        "quantile" => &["weight", "per", "low", "high", "step", "bounds", "of"],
        "histogram" => &["weight", "per", "low", "high", "step", "bounds", "bins"],
        _ => &["weight", "per", "low", "high", "step", "bounds"],
    };
    if let Some(key) = object.keys().find(|key| *key != kind && !extra.contains(&key.as_str())) {
        Err(bad(format!("measure \"{name}\" has an unknown part \"{key}\"")))?;
    }
    let position = match object.get(if kind == "quantile" { "of" } else { kind }) {
        Some(Value::String(column)) => schema.position(column)?,
        _ => Err(bad(format!("measure \"{name}\" does not name a column")))?,
    };
    let column = &schema.columns()[position];
    let counts_values = kind == "count" && per_unit;
    let is_integer = counts_values || column.of.is_integer();
    let mut asked =
        Asked { column: Some(position), per_unit, counts_values, ..plain(MeasureKind::Count) };
    asked.kind = match kind {
        "count" if !per_unit => MeasureKind::CountOf,
        "count" | "sum" => MeasureKind::Sum(SOME_RANGE),
        "distinct" if column.of.is_comparable() => MeasureKind::Distinct,
        "distinct" => Err(bad(format!(
            "values of column \"{}\" of measure \"{name}\" cannot be told apart",
            column.name
        )))?,
        "avg" => MeasureKind::Mean(SOME_RANGE),
        "variance" => MeasureKind::Variance(SOME_RANGE),
        "quantile" => MeasureKind::Quantiles(SOME_RANGE, shares(name, &object["quantile"])?),
        _ => MeasureKind::Histogram(SOME_RANGE, bins(name, object)?),
    };
    if asked.kind.range().is_some() {
        if !counts_values && !column.of.is_number() {
            Err(bad(format!("column \"{}\" of measure \"{name}\" is not a number", column.name)))?;
        }
        asked.private_bounds = match object.get("bounds") {
            None => false,
            Some(Value::String(bounds)) if bounds == "private" => true,
            Some(bounds) => Err(bad(format!("bounds of measure \"{name}\" is {bounds}")))?,
        };
        asked.range = match asked.private_bounds {
            true => Some(private_range(name, object, is_integer)?),
            false => public_range(schema, position, &asked, object)?,
        };
        if asked.range.is_none() {
            unbounded.push(name.into());
        }
    }
    asked.weight = match object.get("weight") {
        None => 1.0,
        Some(weight) => weight
            .as_f64()
            .filter(|weight| (1e-6..=1e6).contains(weight))
            .ok_or_else(|| bad(format!("the weight of measure \"{name}\" is {weight}")))?,
    };
    Ok(asked)
}

/// The bounds of a measure: its own, or the public ones of its column, if there are any.
fn public_range<S: Schema>(
    schema: &S,
    column: usize,
    asked: &Asked,
    object: &Map<String, Value>,
) -> Result<Option<Range>, S::Error> {
    let name = &asked.name;
    let mut bounds = (part(name, object, "low")?, part(name, object, "high")?);
    // The bounds of a column say nothing about a unit's total.
    if (bounds.0.is_none() || bounds.1.is_none())
        && !asked.per_unit
        && let Some((low, high)) = schema.bounds(column)?
    {
        bounds = (bounds.0.or_else(|| decimal(&low)), bounds.1.or_else(|| decimal(&high)));
    }
    let (Some(low), Some(high)) = bounds else {
        return Ok(None);
    };
    let is_integer = asked.counts_values || schema.columns()[column].of.is_integer();
    Ok(Some(range(name, low, high, step(name, object)?, is_integer)?))
}

fn bins(name: &str, object: &Map<String, Value>) -> Result<u32, Error> {
    let bins = object.get("bins").and_then(Value::as_u64).filter(|bins| (1..=1000).contains(bins));
    bins.map(|bins| bins as u32)
        .ok_or_else(|| bad(format!("bins of measure \"{name}\" is not a number from 1 to 1000")))
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
