//! Public domains of columns: declared ones, and those that types and constraints tell.

use crate::pg::call::{Call, sql_function};
use crate::pg::domain::{self, canonical};
use crate::pg::error::Error;
use crate::pg::relation::Relation;
use crate::pg::rights;
use crate::pg::rowset::{ResultRows, Value};
use crate::pg::text::{self, Text};
use pgrx::pg_sys::{self, Datum};
use pgrx::{IntoDatum, Spi};
use std::collections::BTreeSet;

/// The relation in argument 0 and the position of the column that argument 1 names.
fn column(call: &Call) -> Result<(Relation, usize), Error> {
    let relation = Relation::open(call.value::<pg_sys::Oid>(0, "source")?)?;
    let name = call.text(1, "column_name")?;
    let position = relation.positions("column_name", Some(&[name]))?[0];
    Ok((relation, position))
}

fn texts(values: Vec<String>) -> Vec<Text> {
    values.into_iter().map(Text).collect()
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
    let values: Result<BTreeSet<String>, Error> =
        values.iter().flatten().map(|value| canonical(column, value)).collect();
    let values: Vec<String> = values?.into_iter().collect();
    let statement = "INSERT INTO sanitize.declared_domain (source, column_name, domain_values)
                     VALUES ($1, $2, $3) ON CONFLICT (source, column_name)
                     DO UPDATE SET domain_values = excluded.domain_values";
    let arguments = [relation.oid.into(), Text(column.name.clone()).into(), texts(values).into()];
    Spi::run_with_args(statement, &arguments).map_err(Error::query)?;
    Ok(call.null())
}

fn column_domain(call: &Call) -> Result<Datum, Error> {
    let (relation, position) = column(call)?;
    let mut rows = ResultRows::begin(call)?;
    if let Some(found) = domain::find(&relation, &relation.columns[position])? {
        let values = || texts(found.values.clone()).into_datum().unwrap_or(Datum::null());
        rows.push([Value::Made(&values), Value::Text(&text::from_utf8(found.origin))]);
    }
    Ok(rows.finish(call))
}

sql_function!(sanitize_declare_domain, declare_domain);
sql_function!(sanitize_column_domain, column_domain);
