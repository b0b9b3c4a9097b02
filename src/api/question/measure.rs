//! The measures of a question: from JSON to what is computed of which column, within which bounds.

use crate::pg::bounds;
use crate::pg::error::Error;
use crate::pg::relation::Relation;
use crate::pg::types;
use dp::aggregate::{Kind, Measure, Range, Step};
use serde_json::{Map, Value};

const MEASURES: &str = "Measures are {\"n\": \"count\"}, {\"u\": \"units\"}, {\"d\": {\"distinct\": \"drug\"}}, {\"s\": {\"sum\": \"days\", \"low\": 0, \"high\": 60}} and the like with avg, variance, quantile (and of), histogram (and bins); \"per\": \"unit\" and \"bounds\": \"private\" where there are bounds.";

fn bad(message: String) -> Error {
    Error::argument(message, MEASURES)
}

/// What is computed, but for the bounds.
#[derive(Debug, Clone, PartialEq)]
enum Wanted {
    Count,
    CountOf,
    Units,
    Distinct,
    Sum,
    Mean,
    Variance,
    Quantiles(Vec<f64>),
    Histogram(u32),
}

/// A measure as it was asked for.
#[derive(Debug, Clone)]
pub struct Asked {
    pub name: String,
    wanted: Wanted,
    /// Its share of epsilon, relative to the other measures.
    pub weight: f64,
    /// The column that it looks at.
    pub column: Option<usize>,
    /// The values are the units' own totals, not those of their rows.
    pub per_unit: bool,
    /// The unit's total is its number of values and not their sum.
    pub counts_values: bool,
    /// The bounds of the values; for bounds that are found privately the widest there can be.
    pub range: Option<Range>,
    pub private_bounds: bool,
}

impl Asked {
    /// The measure for a plan, with its own bounds or with those that were found.
    pub fn measure(&self, found: Option<Range>) -> Measure {
        // Only measures with bounds look at the range.
        let range = found.or(self.range).unwrap_or(Range { low: 0, high: 1, step: Step::ONE });
        let kind = match &self.wanted {
            Wanted::Count => Kind::Count,
            Wanted::CountOf => Kind::CountOf,
            Wanted::Units => Kind::Units,
            Wanted::Distinct => Kind::Distinct,
            Wanted::Sum => Kind::Sum(range),
            Wanted::Mean => Kind::Mean(range),
            Wanted::Variance => Kind::Variance(range),
            Wanted::Quantiles(shares) => Kind::Quantiles(range, shares.clone()),
            Wanted::Histogram(bins) => Kind::Histogram(range, *bins),
        };
        let name = self.name.clone();
        Measure { name, kind, weight: self.weight, per_unit: self.per_unit }
    }
}

/// The measures of a call.
pub fn measures(relation: &Relation, value: &Value) -> Result<Vec<Asked>, Error> {
    let object = value.as_object().filter(|object| !object.is_empty());
    let object =
        object.ok_or_else(|| bad("measures is not an object with at least one measure".into()))?;
    if object.len() > MAX_MEASURES {
        return Err(bad(format!("there are {} measures, more than {MAX_MEASURES}", object.len())));
    }
    object.iter().map(|(name, value)| measure(relation, name, value)).collect()
}

/// More measures than anybody reads; every one has columns of its own in the query behind it.
const MAX_MEASURES: usize = 500;

const KINDS: [&str; 7] = ["count", "distinct", "sum", "avg", "variance", "quantile", "histogram"];

fn measure(relation: &Relation, name: &str, value: &Value) -> Result<Asked, Error> {
    let plain = |wanted| Asked {
        name: name.into(),
        wanted,
        weight: 1.0,
        column: None,
        per_unit: false,
        counts_values: false,
        range: None,
        private_bounds: false,
    };
    let object = match value {
        Value::String(kind) if kind == "count" => return Ok(plain(Wanted::Count)),
        Value::String(kind) if kind == "units" => return Ok(plain(Wanted::Units)),
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
    let per_unit = match object.get("per") {
        None => false,
        Some(Value::String(per)) if per == "unit" && kind != "distinct" => true,
        Some(per) => {
            return Err(bad(format!("measure \"{name}\" is computed per {per}")));
        }
    };
    let extra: &[&str] = match kind {
        "count" if per_unit => &["weight", "per", "low", "high", "bounds"],
        "count" | "distinct" => &["weight", "per"],
        "quantile" => &["weight", "per", "low", "high", "step", "bounds", "of"],
        "histogram" => &["weight", "per", "low", "high", "step", "bounds", "bins"],
        _ => &["weight", "per", "low", "high", "step", "bounds"],
    };
    if let Some(key) = object.keys().find(|key| *key != kind && !extra.contains(&key.as_str())) {
        return Err(bad(format!("measure \"{name}\" has an unknown part \"{key}\"")));
    }
    let position = match object.get(if kind == "quantile" { "of" } else { kind }) {
        Some(Value::String(column)) => relation.position(column)?,
        _ => return Err(bad(format!("measure \"{name}\" does not name a column"))),
    };
    let column = &relation.columns[position];
    let counts_values = kind == "count" && per_unit;
    let is_integer = counts_values || types::is_integer(column.base_type);
    let mut asked = Asked { column: Some(position), per_unit, counts_values, ..plain(Wanted::Sum) };
    asked.wanted = match kind {
        "count" if !per_unit => Wanted::CountOf,
        "count" | "sum" => Wanted::Sum,
        "distinct" if types::is_comparable(column.base_type) => Wanted::Distinct,
        "distinct" => {
            return Err(bad(format!(
                "values of column \"{}\" of measure \"{name}\" cannot be told apart",
                column.name
            )));
        }
        "avg" => Wanted::Mean,
        "variance" => Wanted::Variance,
        "quantile" => Wanted::Quantiles(shares(name, &object["quantile"])?),
        _ => Wanted::Histogram(bins(name, object)?),
    };
    if !matches!(asked.wanted, Wanted::CountOf | Wanted::Distinct) {
        if !counts_values && !types::is_number(column.base_type) {
            return Err(bad(format!(
                "column \"{}\" of measure \"{name}\" is not a number",
                column.name
            )));
        }
        asked.private_bounds = match object.get("bounds") {
            None => false,
            Some(Value::String(bounds)) if bounds == "private" => true,
            Some(bounds) => return Err(bad(format!("bounds of measure \"{name}\" is {bounds}"))),
        };
        asked.range = Some(match asked.private_bounds {
            true => private_range(name, object, is_integer)?,
            false => public_range(relation, position, &asked, object, is_integer)?,
        });
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

/// A decimal number, mantissa / 10^scale.
type Decimal = (i128, u32);

fn decimal_of(value: &Value) -> Option<Decimal> {
    match value.as_i64() {
        Some(number) => decimal(&number.to_string()),
        None => decimal(&format!("{}", value.as_f64()?)),
    }
}

fn decimal(text: &str) -> Option<Decimal> {
    let (whole, fraction) = text.split_once('.').unwrap_or((text, ""));
    let fraction = fraction.trim_end_matches('0');
    if fraction.len() > 15 || whole.len() > 20 {
        return None;
    }
    Some((format!("{whole}{fraction}").parse().ok()?, fraction.len() as u32))
}

fn part(name: &str, object: &Map<String, Value>, part: &str) -> Result<Option<Decimal>, Error> {
    match object.get(part) {
        None => Ok(None),
        Some(value) => decimal_of(value)
            .map(Some)
            .ok_or_else(|| bad(format!("{part} of measure \"{name}\" is {value}"))),
    }
}

fn step(name: &str, object: &Map<String, Value>) -> Result<Option<Step>, Error> {
    match part(name, object, "step")? {
        None => Ok(None),
        Some((mantissa, scale)) => match u64::try_from(mantissa) {
            Ok(mantissa) if mantissa > 0 => Ok(Some(Step { mantissa, scale })),
            _ => Err(bad(format!("step of measure \"{name}\" is not above 0"))),
        },
    }
}

/// The bounds of a measure: its own, or what is publicly known of its column.
fn public_range(
    relation: &Relation,
    position: usize,
    asked: &Asked,
    object: &Map<String, Value>,
    is_integer: bool,
) -> Result<Range, Error> {
    let name = &asked.name;
    let column = &relation.columns[position];
    let mut bounds = (part(name, object, "low")?, part(name, object, "high")?);
    // What is known of a column says nothing of a unit's total.
    if (bounds.0.is_none() || bounds.1.is_none())
        && !asked.per_unit
        && let Some((low, high)) = bounds::bounds(relation, column)?
    {
        bounds = (bounds.0.or_else(|| decimal(&low)), bounds.1.or_else(|| decimal(&high)));
    }
    let (Some(low), Some(high)) = bounds else {
        return Err(Error::argument(
            format!("measure \"{name}\" lacks low and high, the public bounds of its values"),
            "Give them, let the owner declare them (sanitize.declare_bounds), or find them with part of epsilon: \"bounds\": \"private\".",
        ));
    };
    range(name, low, high, step(name, object)?, is_integer)
}

fn range(
    name: &str,
    low: Decimal,
    high: Decimal,
    step: Option<Step>,
    is_integer: bool,
) -> Result<Range, Error> {
    let number = |(mantissa, scale): Decimal| mantissa as f64 / 10f64.powi(scale as i32);
    let step = step.unwrap_or_else(|| default_step(number(low), number(high), is_integer));
    // Bounds that are no multiple of the step are moved outwards to the next.
    let steps = |(mantissa, scale): Decimal, up: bool| -> Option<i64> {
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

/// The step in which bounds are looked for, if it is not given: thousandths reach a billion.
const SEARCHED: Step = Step { mantissa: 1, scale: 3 };

/// The widest range, within which bounds are looked for.
fn private_range(
    name: &str,
    object: &Map<String, Value>,
    is_integer: bool,
) -> Result<Range, Error> {
    if object.contains_key("low") || object.contains_key("high") {
        return Err(bad(format!("measure \"{name}\" has bounds and looks for bounds")));
    }
    let step = step(name, object)?.unwrap_or(if is_integer { Step::ONE } else { SEARCHED });
    Ok(Range { low: -Range::LIMIT, high: Range::LIMIT, step })
}
