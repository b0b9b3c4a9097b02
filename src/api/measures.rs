//! Measures of a table: what anybody who reads it can count.

use super::input::{Input, source};
use crate::pg::call::{Call, sql_function};
use crate::pg::error::Error;
use crate::pg::relation::positions;
use crate::pg::rowset::{ResultRows, Value};
use crate::pg::text;
use measures::Diversity;
use pgrx::IntoDatum;
use pgrx::pg_sys::Datum;

fn k_anonymity(call: &Call) -> Result<Datum, Error> {
    let input = source(call, 1)?;
    let k = measures::k_anonymity(&input.bag).map(|k| i64::try_from(k).unwrap_or(i64::MAX));
    Ok(k.and_then(IntoDatum::into_datum).unwrap_or_else(|| call.null()))
}

/// The source cut to the columns of argument 2 (NULL: all others) and the sensitive one of
/// argument 1, and the position of the latter.
fn sensitive(call: &Call) -> Result<(Input, usize), Error> {
    let sensitive = call.text(1, "sensitive")?;
    let columns = call.names(2, "columns")?;
    if columns.as_ref().is_some_and(|columns| columns.contains(&sensitive)) {
        return Err(Error::argument(
            format!("column \"{sensitive}\" is in columns and sensitive"),
            "The columns are what an attacker knows, the sensitive column is what they want to know.",
        ));
    }
    let columns = columns.map(|mut columns| {
        columns.push(sensitive.clone());
        columns
    });
    let input = super::input::source_columns(call, columns)?;
    let names: Vec<&str> = input.bag.domains().iter().map(|d| d.name()).collect();
    let position = positions(&input.name, &names, "sensitive", Some(&[sensitive]))?[0];
    Ok((input, position))
}

fn l_diversity(call: &Call) -> Result<Datum, Error> {
    let kind = match call.text(3, "kind")?.as_str() {
        "distinct" => Diversity::Distinct,
        "entropy" => Diversity::Entropy,
        kind => {
            return Err(Error::argument(
                format!("kind is \"{kind}\""),
                "kind is 'distinct' or 'entropy'.",
            ));
        }
    };
    let (input, position) = sensitive(call)?;
    let l =
        input.run("measuring", |bag, watch| measures::l_diversity(bag, position, kind, watch))?;
    Ok(l.and_then(IntoDatum::into_datum).unwrap_or_else(|| call.null()))
}

fn t_closeness(call: &Call) -> Result<Datum, Error> {
    let ordered = call.value::<bool>(3, "ordered")?;
    let (input, position) = sensitive(call)?;
    let t = input
        .run("measuring", |bag, watch| measures::t_closeness(bag, position, ordered, watch))?;
    Ok(t.and_then(IntoDatum::into_datum).unwrap_or_else(|| call.null()))
}

fn suppression(call: &Call) -> Result<Datum, Error> {
    let input = source(call, 1)?;
    let mut rows = ResultRows::begin(call)?;
    for (domain, column) in input.bag.domains().iter().zip(measures::suppression(&input.bag)) {
        rows.push([
            Value::Text(&text::from_utf8(domain.name())),
            Value::count(column.cells),
            Value::count(column.suppressed),
            column.share().map_or(Value::Null, Value::Float),
        ]);
    }
    Ok(rows.finish(call))
}

sql_function!(sanitize_k_anonymity, k_anonymity);
sql_function!(sanitize_l_diversity, l_diversity);
sql_function!(sanitize_t_closeness, t_closeness);
sql_function!(sanitize_suppression, suppression);
