//! Public domains of columns: declared ones, and those that follow from types and constraints.

use crate::api::prelude::*;
use crate::catalog::bounds::Bounds;
use crate::catalog::{domains, forget_declared};
use crate::pg::call::attempt::attempt;
use crate::pg::call::notice::percent;
use crate::pg::catalog::lookup;
use crate::rules::below;
use pgrx::datum::DatumWithOid;
use std::collections::BTreeSet;
use std::fmt::Arguments;
use table::CodedTable;

pub const COLUMN_NAME: Argument<String> = Argument::of("column_name").about("The column.");

/// The relation of the call and the position of the column that it names.
pub fn column(call: &Call) -> Result<(Relation, usize)> {
    let relation = Relation::open(call.get(&RELATION)?)?;
    let position = relation.positions("column_name", Some(&[call.get(&COLUMN_NAME)?]))?[0];
    Ok((relation, position))
}

/// Refuses a relation that is not the caller's.
pub fn check_owner(relation: &Relation) -> Result<()> {
    match rights::owns(rights::current_user(), relation.oid) {
        true => Ok(()),
        false => Err(Error::NotOwner { relation: relation.name.clone() }),
    }
}

const DOMAIN_VALUES: Argument<Vec<Option<String>>> =
    Argument::new("domain_values", Type::Texts, |given| given.needed(given.texts()?))
        .about("Every value that the column may have; NULL belongs to every domain by itself.");

const DECLARE_DOMAIN: Method = Method::new(
    "declare_domain",
    &[&RELATION, &COLUMN_NAME, &DOMAIN_VALUES],
    Returns::One(Type::Void),
    declare_domain,
)
.about(
    "the owner says which values a column may have; private mechanisms use them in place of \
         what the rows show",
);

fn declare_domain(call: &Call) -> Result<Datum> {
    let (relation, position) = column(call)?;
    let column = &relation.columns[position];
    let values = call.get(&DOMAIN_VALUES)?;
    check_owner(&relation)?;
    if values.is_empty() || values.contains(&None) {
        return Err(Error::argument(
            "domain_values is empty or contains NULL",
            "Name every value that the column may have. NULL belongs to every domain by itself.",
        ));
    }
    // Text that is no value of the column's type is an error in Postgres' own words.
    let canonical = |value: &String| types::canonical_iso(column, value);
    let values: Result<BTreeSet<String>> = values.iter().flatten().map(canonical).collect();
    let values: Vec<String> = values?.into_iter().collect();
    domains::declare(&relation, column, values.clone())?;
    tell_missed(&relation, column, values)?;
    Ok(call.null())
}

/// The column's values, read with the rights of the relation's owner: the caller may be a superuser, and a view may
/// hold code. `None` if the owner may not read them, or if that would run another role's code.
pub fn read_as_owner(relation: &Relation, position: usize) -> Result<Option<CodedTable>> {
    let Some(owner) = below::owner_if_alone(relation)? else { return Ok(None) };
    rights::with_rights_of(owner, || match lookup::may_read(relation, &[position]) {
        true => reader::read(relation, &[position]).map(Some),
        false => Ok(None),
    })
}

/// Notices to the owner, for every column, on values in the rows that are not declared.
pub fn tell_all(relation: &Relation) -> Result<()> {
    for column in &relation.columns {
        if let Some(values) = domains::declared(relation, column)? {
            let iso = |value: &String| types::canonical_iso(column, value);
            tell_missed(relation, column, values.iter().map(iso).collect::<Result<_, _>>()?)?;
        }
        if let Some(bounds) = bounds::declared(relation, column)? {
            tell_beyond(relation, column, &bounds)?;
        }
    }
    Ok(())
}

/// A notice to the owner: the share of the rows whose values are not in the declared domain, which is written in the
/// ISO style. Mechanisms show NULL or another value there.
fn tell_missed(relation: &Relation, column: &Column, declared: Vec<String>) -> Result<()> {
    let query = format!(
        "SELECT (pg_catalog.count(DISTINCT v) FILTER (WHERE missed))::pg_catalog.text,
                (pg_catalog.count(*) FILTER (WHERE missed))::pg_catalog.text, pg_catalog.count(*)::pg_catalog.text
           FROM (SELECT v, v IS NOT NULL AND d IS NULL AS missed
                   FROM (SELECT {} AS v FROM {}) AS r
                   LEFT JOIN pg_catalog.unnest($1) AS d
                     ON d OPERATOR(pg_catalog.=) v COLLATE pg_catalog.\"C\") AS x",
        types::output_expression(&column.quoted()),
        relation.from()
    );
    let declared: Vec<Text> = declared.into_iter().map(Text).collect();
    let Some([values, rows, all]) = counted(relation, &query, &[declared.into()])? else {
        return Ok(());
    };
    let has = if values == 1 { "value" } else { "values" };
    tell(
        format_args!("the declared domain lacks {values} {has} that"),
        (relation, column, rows, all),
        "Whatever builds on the domain shows NULL or another value there.",
    );
    Ok(())
}

/// A notice to the owner: the share of the rows whose values lie beyond the declared bounds. Mechanisms show the nearer
/// bound there.
fn tell_beyond(relation: &Relation, column: &Column, bounds: &Bounds) -> Result<()> {
    let Some(compared) = bounds::compared_as(column.base_type) else { return Ok(()) };
    let query = format!(
        "SELECT '0', (pg_catalog.count(*) FILTER (
                    WHERE v OPERATOR(pg_catalog.<) $1::pg_catalog.{compared}
                       OR v OPERATOR(pg_catalog.>) $2::pg_catalog.{compared}))::pg_catalog.text,
                pg_catalog.count(*)::pg_catalog.text
           FROM (SELECT ({})::pg_catalog.{compared} AS v FROM {}) AS r",
        column.quoted(),
        relation.from()
    );
    let ends = [&bounds.low, &bounds.high].map(|end| Text(end.clone()).into());
    let Some([_, rows, all]) = counted(relation, &query, &ends)? else { return Ok(()) };
    tell(
        format_args!("the declared bounds leave out values that"),
        (relation, column, rows, all),
        "Whatever builds on the bounds takes the nearer bound for them.",
    );
    Ok(())
}

/// Sends a NOTICE, which is not logged, if there are such rows.
fn tell(
    what: Arguments<'_>,
    (relation, column, rows, all): (&Relation, &Column, u64, u64),
    shown: &str,
) {
    if rows == 0 {
        return;
    }
    let share = percent(rows.into(), all.into());
    notice_hint(
        &format!(
            "{what} column \"{}\" of {} has, in {share} of its rows",
            column.name, relation.name
        ),
        &format!(
            "{shown} Declare what may be known of the column to everybody; this line is for the owner alone."
        ),
    );
}

/// Three counts over the rows, read as [`read_as_owner`] reads them; `None` if they cannot be read.
fn counted(
    relation: &Relation,
    query: &str,
    arguments: &[DatumWithOid<'_>],
) -> Result<Option<[u64; 3]>> {
    let Some(owner) = below::owner_if_alone(relation)? else { return Ok(None) };
    let read = || rights::with_fixed_formats(|| sql::rows::<3>(query, arguments));
    let found = attempt(|| rights::with_rights_of(owner, read))?;
    let row = found.and_then(|rows| rows.into_iter().next());
    let number = |text: Option<String>| text.and_then(|text| text.parse().ok());
    let counts: Option<Vec<u64>> = row.and_then(|row| row.into_iter().map(number).collect());
    Ok(counts.and_then(|counts| counts.try_into().ok()))
}

const LOW: Argument<Option<String>> = Argument::new("low", Type::Text, |given| given.text())
    .about("The smallest value that the column may have.");

const HIGH: Argument<Option<String>> = Argument::new("high", Type::Text, |given| given.text())
    .about("The largest; NULL for both takes the bounds back.");

const BINS: Argument<i32> = Argument::new("bins", Type::Int4, |given| {
    given.at_least(1, "It is into how many parts low..high is cut: 1 or more.")
})
.or("32")
.about("Into how many parts the range is cut where values are binned.");

const DECLARE_BOUNDS: Method = Method::new(
    "declare_bounds",
    &[&RELATION, &COLUMN_NAME, &LOW, &HIGH, &BINS],
    Returns::One(Type::Void),
    declare_bounds,
)
.about(
    "the owner says between which values a column of numbers, dates or timestamps lies, and \
         into how many bins it is cut",
);

fn declare_bounds(call: &Call) -> Result<Datum> {
    let (relation, position) = column(call)?;
    let column = &relation.columns[position];
    check_owner(&relation)?;
    let (low, high) = match (call.get(&LOW)?, call.get(&HIGH)?) {
        (Some(low), Some(high)) => (low, high),
        (None, None) => {
            forget_declared("declared_bounds", &relation, &column.name)?;
            return Ok(call.null());
        }
        (low, _) => {
            let argument = if low.is_none() { "low" } else { "high" };
            return Err(Error::Null { argument });
        }
    };
    let bins = call.get(&BINS)?;
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
    let declared = Bounds { low, high, bins };
    bounds::declare(&relation, column, &declared)?;
    tell_beyond(&relation, column, &declared)?;
    Ok(call.null())
}

/// Takes back what the owner declared in that table for the column of the call, which may be gone.
pub fn take_back(call: &Call, table: &'static str) -> Result<Datum> {
    let relation = Relation::open(call.get(&RELATION)?)?;
    let name = call.get(&COLUMN_NAME)?;
    check_owner(&relation)?;
    if !forget_declared(table, &relation, &name)? {
        relation.position(&name)?;
    }
    Ok(call.null())
}

const DROP_DOMAIN: Method =
    Method::new("drop_domain", &[&RELATION, &COLUMN_NAME], Returns::One(Type::Void), |call| {
        take_back(call, "declared_domain")
    })
    .about("the owner takes back the declared domain of a column");

const DROP_BOUNDS: Method =
    Method::new("drop_bounds", &[&RELATION, &COLUMN_NAME], Returns::One(Type::Void), |call| {
        take_back(call, "declared_bounds")
    })
    .about("the owner takes back the declared range of a column");

const COLUMN_DOMAIN: Method = Method::new(
    "column_domain",
    &[&RELATION, &COLUMN_NAME],
    columns![domain_values: Texts, origin: Text],
    |call| {
        let (relation, position) = column(call)?;
        let mut rows = ResultRows::begin(call)?;
        let column = &relation.columns[position];
        let domain = domains::find(&relation, column)?.map(|found| (found.values, found.origin));
        let range = bounds::declared(&relation, column)?;
        let range = range.map(|bounds| (vec![bounds.low, bounds.high], "bounds"));
        for (values, origin) in domain.into_iter().chain(range) {
            let texts: Vec<Text> = values.into_iter().map(Text).collect();
            let values = || texts.clone().into_datum().unwrap_or(Datum::null());
            rows.push([Value::Made(&values), Value::Text(&from_utf8(origin))]);
        }
        Ok(rows.finish(call))
    },
)
.stable()
.rows(1)
.about(
    "the public domain of a column and where it is known from: declared, enum, boolean, \
         check, foreign key; and its declared range: bounds. No row if nothing is known",
);

const COLUMN_BOUNDS: Method = Method::new(
    "column_bounds",
    &[&RELATION, &COLUMN_NAME],
    columns![low: Text, high: Text],
    |call| {
        let (relation, position) = column(call)?;
        let mut rows = ResultRows::begin(call)?;
        if let Some((low, high)) = bounds::find(&relation, &relation.columns[position])? {
            let (low, high) = (from_utf8(&low), from_utf8(&high));
            rows.push([Value::Text(&low), Value::Text(&high)]);
        }
        Ok(rows.finish(call))
    },
)
.stable()
.rows(1)
.about(
    "the public range of a column of numbers, dates or timestamps: declared, or from its \
         CHECK constraints, or from its public domain; no row if it is not known on both sides",
);

methods! {
    sanitize_declare_domain => DECLARE_DOMAIN;
    sanitize_drop_domain => DROP_DOMAIN;
    sanitize_declare_bounds => DECLARE_BOUNDS;
    sanitize_drop_bounds => DROP_BOUNDS;
    sanitize_column_bounds => COLUMN_BOUNDS;
    sanitize_column_domain => COLUMN_DOMAIN;
}
