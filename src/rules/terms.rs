//! How the terms of a protection change a label, so that the label says what the ledger counts.

use crate::api::shared::arguments::{self, COLUMNS, KEEP};
use crate::catalog::protection;
use crate::method::{Label, Method};
use crate::pg::call::argument::{Argument, Arguments, Declared, Given, Type};
use crate::pg::prelude::*;
use crate::rules::counted;
use guarantee::{Charge, Guarantee, PrivacyUnit, Protected, Protects};
use question::Terms;
use serde_json::{Map, Value as Json};

/// The options by which a label learns the terms that a call finds.
pub const TERMS: &[&dyn Declared] = &[&UNIT, &MAX_ROWS_PER_UNIT, &ASSUME_STABLE];

pub const UNIT: Argument<Option<String>> =
    Argument::of("unit").about("The column that tells units apart.");

pub const MAX_ROWS_PER_UNIT: Argument<Option<u64>> =
    Argument::optional("max_rows_per_unit", Type::Int8, at_least_one)
        .about("How many rows of a unit count at most.");

pub const ASSUME_STABLE: Argument<bool> = Argument::of("assume_stable")
    .or("false")
    .about("True if the owner vouches that a row of the view depends on its own unit alone.");

pub fn at_least_one(given: &Given<'_>) -> Result<Option<u64>, Error> {
    given.if_given(|given| given.at_least(1, format!("{} is 1 or more.", given.name())))
}

/// The charge for a unit of at most `rows_per_unit` rows, if `charge` is the price of one row or one unit.
pub fn charged(method: &Method, charge: Charge, rows_per_unit: u64) -> Charge {
    match method.price.as_ref().map(|price| price.counts) {
        Some(Protects::Units) => charge,
        Some(Protects::Rows | Protects::Contents) | None => charge.of_rows(rows_per_unit),
    }
}

/// The unit that a label protects, and the terms about it.
pub struct Told<'a> {
    pub unit: &'a str,
    pub rows_per_unit: u64,
    pub assumed_stable: bool,
}

/// The label of a release of a protected relation by a private method with this price for a row or a unit.
pub fn of_units(label: Guarantee, method: &Method, told: &Told<'_>, price: Charge) -> Guarantee {
    let Some(counts) = method.price.as_ref().map(|price| price.counts) else { return label };
    label.of_units(&Protected {
        unit: told.unit,
        rows_per_unit: told.rows_per_unit,
        assumed_stable: told.assumed_stable,
        counts,
        cost: charged(method, price, told.rows_per_unit).whole,
    })
}

/// The label under the terms in the options, if there are any.
pub fn under_options(
    label: Guarantee,
    method: &Method,
    declared: &Label,
    options: &Arguments<'_>,
) -> Result<Guarantee, Error> {
    // Some labels are about people in any case.
    if !tells_terms(declared) || label.unit == Some(PrivacyUnit::Person) {
        return Ok(label);
    }
    let Some(unit) = options.get(&UNIT)? else { return Ok(label) };
    let rows_per_unit = options.get(&MAX_ROWS_PER_UNIT)?.unwrap_or(1);
    let assumed_stable = options.get(&ASSUME_STABLE)?;
    let label = match rows_per_unit {
        1 if label.says_k() => label.with_one_row_each(),
        _ => label,
    };
    let columns = options.get_if_declared(&COLUMNS)?.map_or(1, |columns| columns.len());
    let Some(charge) = method.charge(options, columns)? else { return Ok(label) };
    Ok(of_units(label, method, &Told { unit: &unit, rows_per_unit, assumed_stable }, charge))
}

/// True if a label depends on who is a unit.
fn tells_terms(label: &Label) -> bool {
    label.further.iter().any(|further| further.name() == UNIT.name)
}

/// Refuses a method that shows the number of rows, if that has not been declared public.
pub fn check_row_count(method: &Method, relation: &Relation, terms: &Terms) -> Result<(), Error> {
    let contents = method.price.as_ref().is_some_and(|price| price.counts == Protects::Contents);
    match contents && !terms.row_count_public {
        true => Err(Error::RowCount { relation: relation.name.clone(), method: method.name }),
        false => Ok(()),
    }
}

/// What a call with these options would find about the source, as further options of its label: its columns, the unit
/// whose rows it counts, and the terms of its protection. Without a price, k rows are k people only if the unit is a key.
pub fn of_source(
    options: &Map<String, Json>,
    method: &Method,
    label: &Label,
    source: &Relation,
) -> Result<Map<String, Json>, Error> {
    let declares = |name: &str| method.arguments.iter().any(|argument| argument.name() == name);
    let is_told = |one: &&&dyn Declared| {
        !declares(one.name()) && options.get(one.name()).is_some_and(|told| !told.is_null())
    };
    if let Some(told) = TERMS.iter().find(is_told) {
        return Err(Error::argument(
            format!("option {} is given beside a source", told.name()),
            "The terms of a source are those of its protection: leave the option out, or the source.",
        ));
    }
    let mut found = Map::new();
    let lists = |option: &str| options.get(option).and_then(Json::as_array);
    if method.price.is_some() && declares(COLUMNS.name) && lists(COLUMNS.name).is_none() {
        let keep = lists(KEEP.name).cloned().unwrap_or_default();
        let names = source.columns.iter().map(|column| Json::from(column.name.as_str()));
        let columns = names.filter(|name| !keep.contains(name)).collect();
        found.insert(COLUMNS.name.into(), columns);
    }
    if method.counts_units() {
        let given = Arguments::of_options(method.arguments, options).get(&arguments::UNIT)?;
        let unit = counted::resolved(source, given.as_deref())?;
        found.insert(arguments::UNIT.name.into(), unit.into());
    }
    if !tells_terms(label) {
        return Ok(found);
    }
    let Some(terms) = protection::terms(source.oid)? else { return Ok(found) };
    check_row_count(method, source, &terms)?;
    let is_key = source.is_key(&source.columns[source.position(&terms.unit)?])?;
    if method.price.is_none() && !is_key {
        return Ok(found);
    }
    let rows = if is_key { 1 } else { terms.max_rows_per_unit };
    found.insert(UNIT.name.into(), terms.unit.into());
    found.insert(MAX_ROWS_PER_UNIT.name.into(), rows.into());
    found.insert(ASSUME_STABLE.name.into(), terms.assume_stable.into());
    if label.further.iter().any(|further| further.name() == "max_groups_per_unit") {
        found.insert("max_groups_per_unit".into(), terms.max_groups_per_unit.into());
    }
    Ok(found)
}
