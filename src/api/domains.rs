//! Public domains of columns: declared ones, and those that types and constraints tell.

use crate::catalog::bounds::{self, Bounds};
use crate::catalog::domains;
use crate::pg::call::{Call, sql_function};
use crate::pg::error::Error;
use crate::pg::relation::Relation;
use crate::pg::rowset::{ResultRows, Value};
use crate::pg::text::{self, Text};
use crate::pg::{rights, types};
use pgrx::IntoDatum;
use pgrx::pg_sys::{self, Datum};
use std::collections::BTreeSet;

/// The relation in argument 0 and the position of the column that argument 1 names.
fn column(call: &Call) -> Result<(Relation, usize), Error> {
    let relation = Relation::open(call.value::<pg_sys::Oid>(0, "source")?)?;
    let name = call.text(1, "column_name")?;
    let position = relation.positions("column_name", Some(&[name]))?[0];
    Ok((relation, position))
}

fn declare_domain(call: &Call) -> Result<Datum, Error> {
    let (relation, position) = column(call)?;
    let column = &relation.columns[position];
    let values = call.texts(2).ok_or(Error::Null { argument: "domain_values" })?;
    if !rights::owns(rights::current_user(), relation.oid) {
        return Err(Error::NotOwner { relation: relation.name });
    }
    if values.is_empty() || values.contains(&None) {
        return Err(Error::argument(
            "domain_values is empty or contains NULL",
            "Name every value that the column may have. NULL belongs to every domain by itself.",
        ));
    }
    // Text that is no value of the column's type is an error in Postgres' own words.
    let canonical = |value: &String| types::canonical(column.type_oid, column.typmod, value);
    let values: Result<BTreeSet<String>, Error> = values.iter().flatten().map(canonical).collect();
    let values: Vec<String> = values?.into_iter().collect();
    domains::declare(&relation, column, values)?;
    Ok(call.null())
}

fn declare_bounds(call: &Call) -> Result<Datum, Error> {
    let (relation, position) = column(call)?;
    let column = &relation.columns[position];
    if !rights::owns(rights::current_user(), relation.oid) {
        return Err(Error::NotOwner { relation: relation.name });
    }
    let (low, high) = match (call.optional_text(2), call.optional_text(3)) {
        (Some(low), Some(high)) => (low, high),
        (None, None) => {
            bounds::forget(&relation, column)?;
            return Ok(call.null());
        }
        (low, _) => {
            let argument = if low.is_none() { "low" } else { "high" };
            return Err(Error::Null { argument });
        }
    };
    let bins = call.value::<i32>(4, "bins")?;
    if bins < 1 {
        return Err(Error::argument(
            format!("bins is {bins}"),
            "It is into how many parts low..high is cut: 1 or more.",
        ));
    }
    if !bounds::has_range(column) {
        return Err(Error::argument(
            format!("column \"{}\" is neither a number nor a date or timestamp", column.name),
            "Name its values with sanitize.declare_domain.",
        ));
    }
    let (low, high) = (types::canonical_iso(column, &low)?, types::canonical_iso(column, &high)?);
    if !bounds::is_range(column, &low, &high)? {
        return Err(Error::argument(
            format!("low is {low} and high is {high}"),
            "Both are finite, and low is below high.",
        ));
    }
    bounds::declare(&relation, column, Bounds { low, high, bins })?;
    Ok(call.null())
}

fn column_domain(call: &Call) -> Result<Datum, Error> {
    let (relation, position) = column(call)?;
    let mut rows = ResultRows::begin(call)?;
    let column = &relation.columns[position];
    let domain = domains::find(&relation, column)?.map(|found| (found.values, found.origin));
    let range = bounds::declared(&relation, column)?;
    let range = range.map(|bounds| (vec![bounds.low, bounds.high], "bounds"));
    for (values, origin) in domain.into_iter().chain(range) {
        let texts: Vec<Text> = values.into_iter().map(Text).collect();
        let values = || texts.clone().into_datum().unwrap_or(Datum::null());
        rows.push([Value::Made(&values), Value::Text(&text::from_utf8(origin))]);
    }
    Ok(rows.finish(call))
}

fn column_bounds(call: &Call) -> Result<Datum, Error> {
    let (relation, position) = column(call)?;
    let mut rows = ResultRows::begin(call)?;
    if let Some((low, high)) = bounds::find(&relation, &relation.columns[position])? {
        let (low, high) = (text::from_utf8(&low), text::from_utf8(&high));
        rows.push([Value::Text(&low), Value::Text(&high)]);
    }
    Ok(rows.finish(call))
}

sql_function!(sanitize_declare_domain, declare_domain);
sql_function!(sanitize_declare_bounds, declare_bounds);
sql_function!(sanitize_column_bounds, column_bounds);
sql_function!(sanitize_column_domain, column_domain);
