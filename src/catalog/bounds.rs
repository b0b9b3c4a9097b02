//! The public range of a column of numbers or times: declared (the table `declared_bounds`), or known from its
//! constraints. Texts are written in the ISO style, independent of the session's settings.

use crate::catalog::{damaged, domains};
use crate::pg::catalog::check_constraints::{self, Comparison, Condition};
use crate::pg::prelude::*;
use pgrx::AnyNumeric;

/// What the owner declared for a column.
pub struct Bounds {
    pub low: String,
    pub high: String,
    /// Into how many parts the range is cut where values are binned.
    pub bins: i32,
}

/// The types that have a range, and the one in which their values are compared.
pub fn compared_as(base: Oid) -> Option<&'static str> {
    match base {
        pg_sys::DATEOID => Some("date"),
        pg_sys::TIMESTAMPOID => Some("timestamp"),
        pg_sys::TIMESTAMPTZOID => Some("timestamptz"),
        base if types::is_number(base) => Some("numeric"),
        _ => None,
    }
}

/// True if a column can have bounds.
pub fn has_range(column: &Column) -> bool {
    compared_as(column.base_type).is_some()
}

/// True if these two values of the column are finite and the first is the smaller one.
pub fn is_range(column: &Column, low: &str, high: &str) -> Result<bool, Error> {
    let Some(type_name) = compared_as(column.base_type) else {
        return Ok(false);
    };
    Ok(ends(type_name, &[low.to_string()], &[high.to_string()], false)?.is_some())
}

/// The range of a column from its public facts: what its owner declared, else what the constraints leave,
/// else the ends of its public domain. `None` if it is not bounded on both sides.
pub fn find(relation: &Relation, column: &Column) -> Result<Option<(String, String)>, Error> {
    if let Some(declared) = declared(relation, column)? {
        return Ok(Some((declared.low, declared.high)));
    }
    let Some(type_name) = compared_as(column.base_type) else {
        return Ok(None);
    };
    rights::with_fixed_formats(|| {
        let mut limits = Limits::default();
        for constraint in check_constraints::constraints(relation, column)? {
            constraint.conditions.into_iter().for_each(|part| limits.add(column, part));
        }
        for list in std::mem::take(&mut limits.lists) {
            if let Some((low, high)) = ends(type_name, &list, &list, true)? {
                limits.lows.push(low);
                limits.highs.push(high);
            }
        }
        if let Some(found) = ends(type_name, &limits.lows, &limits.highs, false)? {
            return Ok(Some(found));
        }
        match domains::find(relation, column)? {
            Some(domain) => ends(type_name, &domain.values, &domain.values, true),
            None => Ok(None),
        }
    })
}

/// What the owner declared for the column.
pub fn declared(relation: &Relation, column: &Column) -> Result<Option<Bounds>, Error> {
    let columns = "low, high, bins::pg_catalog.text";
    let found = super::declared("declared_bounds", columns, relation, column)?;
    let Some(row) = found.into_iter().next() else { return Ok(None) };
    let wrong = |what| damaged("declared_bounds", what);
    let [Some(low), Some(high), Some(bins)] = row else { return Err(wrong("low, high or bins")) };
    let bins = bins.parse().ok().filter(|&bins| bins > 0).ok_or_else(|| wrong("bins"))?;
    match rights::with_fixed_formats(|| is_range(column, &low, &high))? {
        true => Ok(Some(Bounds { low, high, bins })),
        false => Err(wrong("low or high")),
    }
}

/// Declares the bounds of a column, in place of those declared before. The caller has checked who owns the
/// relation.
pub fn declare(relation: &Relation, column: &Column, bounds: &Bounds) -> Result<(), Error> {
    super::write(
        "INSERT INTO sanitize.declared_bounds (source, column_name, low, high, bins)
         VALUES ($1, $2, $3, $4, $5) ON CONFLICT (source, column_name)
         DO UPDATE SET source = excluded.source, low = excluded.low, high = excluded.high, bins = excluded.bins",
        &[
            relation.oid.into(),
            Text(column.name.clone()).into(),
            Text(bounds.low.clone()).into(),
            Text(bounds.high.clone()).into(),
            bounds.bins.into(),
        ],
    )
}

/// The ends of a range: the narrowest that the limits leave, or the widest of the values themselves.
/// `None` if they are no range.
fn ends(
    type_name: &str,
    lows: &[String],
    highs: &[String],
    of_values: bool,
) -> Result<Option<(String, String)>, Error> {
    let (low, high) = if of_values { ("min", "max") } else { ("max", "min") };
    let finite = match type_name {
        "numeric" => "v::pg_catalog.text OPERATOR(pg_catalog.!~) '[a-zA-Z]'",
        _ => "pg_catalog.isfinite(v)",
    };
    let end = |which: &str, list: &str| {
        format!(
            "(SELECT pg_catalog.{which}(v) FROM pg_catalog.unnest({list}) AS t
                CROSS JOIN LATERAL (SELECT t::pg_catalog.{type_name} AS v) AS x WHERE {finite})"
        )
    };
    let query = format!(
        "SELECT low::pg_catalog.text, high::pg_catalog.text
           FROM (SELECT {} AS low, {} AS high) AS e WHERE low OPERATOR(pg_catalog.<) high",
        end(low, "$1"),
        end(high, "$2")
    );
    let texts = |list: &[String]| list.iter().cloned().map(Text).collect::<Vec<_>>();
    let found = sql::rows(&query, &[texts(lows).into(), texts(highs).into()])?;
    Ok(found.into_iter().next().and_then(|[low, high]| low.zip(high)))
}

/// Whether a literal of one type can be compared with values of the other without a time zone.
fn is_akin(column: Oid, literal: Oid) -> bool {
    match column {
        pg_sys::TIMESTAMPOID => [pg_sys::TIMESTAMPOID, pg_sys::DATEOID].contains(&literal),
        pg_sys::DATEOID => [pg_sys::TIMESTAMPOID, pg_sys::DATEOID].contains(&literal),
        pg_sys::TIMESTAMPTZOID => literal == pg_sys::TIMESTAMPTZOID,
        _ => types::is_number(literal),
    }
}

/// What the CHECK constraints of a column say about its values.
#[derive(Default)]
struct Limits {
    lows: Vec<String>,
    highs: Vec<String>,
    lists: Vec<Vec<String>>,
}

impl Limits {
    fn add(&mut self, column: &Column, condition: Condition) {
        let (operator, literal) = match condition {
            Condition::OneOf(list) => return self.lists.push(list),
            Condition::Compare { operator, literal, literal_type } => {
                if !is_akin(column.base_type, literal_type) {
                    return;
                }
                (operator, literal)
            }
        };
        let limit = |is_low, excludes| limit(column, &literal, is_low, excludes);
        match operator {
            Comparison::AtLeast => self.lows.push(limit(true, false)),
            Comparison::Above => self.lows.push(limit(true, true)),
            Comparison::AtMost => self.highs.push(limit(false, false)),
            Comparison::Below => self.highs.push(limit(false, true)),
            Comparison::Equal => self.lists.push(vec![literal]),
        }
    }
}

/// A limit as a value of the column: the next integer if it is a column of integers.
fn limit(column: &Column, value: &str, is_low: bool, excludes: bool) -> String {
    let number = match AnyNumeric::try_from(value) {
        Ok(number) if types::is_integer(column.base_type) => number,
        _ => return value.to_string(),
    };
    match (is_low, excludes) {
        (true, false) => number.ceil(),
        (true, true) => number.floor() + 1,
        (false, false) => number.floor(),
        (false, true) => number.ceil() - 1,
    }
    .to_string()
}
