//! Whose rows these are, where a method counts people: the one rule behind every argument `unit`.
//!
//! The argument names a column, or a [path](unit_path) along foreign keys. NULL stands for the unit that `protect`
//! recorded for the relation, if any. The empty text stands for rows, in any case.

use crate::catalog::protection;
use crate::pg::catalog::relation::{Asked, Joined};
use crate::pg::prelude::*;
use crate::pg::read::reader;
use crate::rules::unit;
use crate::rules::unit_path;
use table::CodedTable;

/// What a caller gives to count rows although the relation is protected.
pub const ROWS: &str = "";

/// The unit of each row of a relation.
pub struct Unit {
    /// The column, by its own name, or the path as it was written.
    pub name: String,
    place: Place,
}

enum Place {
    /// The position of a column of the relation itself.
    Column(usize),
    Joined(Joined),
}

/// The unit that a call counts, by its argument `unit`; `None`: rows.
pub fn unit(relation: &Relation, given: Option<&str>) -> Result<Option<Unit>, Error> {
    match given {
        Some(ROWS) => Ok(None),
        Some(name) => named(relation, name).map(Some),
        None => recorded(relation),
    }
}

/// The column of exactly this name, as other arguments name columns; else what the text means as SQL identifiers.
fn named(relation: &Relation, name: &str) -> Result<Unit, Error> {
    if relation.columns.iter().any(|column| column.name == name) {
        return of_column(relation, name);
    }
    match unit_path::parts(name)?.as_slice() {
        [column] => of_column(relation, column),
        parts => {
            let joined = unit_path::follow(relation, name, parts)?;
            Ok(Unit { name: name.into(), place: Place::Joined(joined) })
        }
    }
}

fn of_column(relation: &Relation, name: &str) -> Result<Unit, Error> {
    let position = unit::check(relation, name)?;
    Ok(Unit { name: relation.columns[position].name.clone(), place: Place::Column(position) })
}

/// The unit of the relation's protection. A caller who may read nothing of the relation does not learn that it is
/// protected: the read fails anyway, with Postgres' own error.
fn recorded(relation: &Relation) -> Result<Option<Unit>, Error> {
    if !rights::may_read_some(relation.oid) {
        return Ok(None);
    }
    let Some(name) = protection::unit(relation.oid)? else { return Ok(None) };
    let position = unit::check(relation, &name)?;
    match rights::may_read_column(relation.oid, relation.columns[position].number) {
        true => Ok(Some(Unit { name, place: Place::Column(position) })),
        false => Err(Error::UnitForbidden { relation: relation.name.clone(), unit: name }),
    }
}

/// The positions of the columns that take part: the named ones, or all but the unit.
pub fn columns(
    relation: &Relation,
    unit: Option<&Unit>,
    names: Option<&[String]>,
) -> Result<Vec<usize>, Error> {
    let mut columns = relation.positions("columns", names)?;
    let Some(unit) = unit.filter(|unit| columns.iter().any(|&column| unit.is(column))) else {
        return Ok(columns);
    };
    if names.is_some() {
        return Err(takes_no_part("columns", &unit.name));
    }
    columns.retain(|&column| !unit.is(column));
    match columns.is_empty() {
        true => Err(unit_alone(&relation.name, &unit.name)),
        false => Ok(columns),
    }
}

/// The refusal of the unit's column in an argument that names columns of itemsets or classes.
pub fn takes_no_part(argument: &str, unit: &str) -> Error {
    Error::argument(
        format!("column \"{unit}\" is in {argument}, and it is the unit"),
        "The unit says whose rows these are: it is part of no itemset and of no class. Leave it out, or count rows with unit => ''.",
    )
}

/// The refusal of a source that has only the unit.
pub fn unit_alone(source: &str, unit: &str) -> Error {
    Error::argument(
        format!("{source} has no column beside its unit \"{unit}\""),
        "Name a relation with columns that people can share, or count rows with unit => ''.",
    )
}

/// The unit that options name for a release of a relation, in the words by which it is found again: a column by its
/// own name, a path as it was written, or the empty text for rows.
pub fn resolved(relation: &Relation, given: Option<&str>) -> Result<String, Error> {
    Ok(unit(relation, given)?.map_or(ROWS.into(), |unit| unit.name))
}

impl Unit {
    /// True if this is the column at that position of the relation.
    pub fn is(&self, position: usize) -> bool {
        matches!(self.place, Place::Column(own) if own == position)
    }

    /// A request for columns of the relation, and after them the identity of each row's unit.
    pub fn asked(&self, relation: &Relation, columns: &[usize]) -> Asked {
        match &self.place {
            Place::Joined(joined) => relation.asked_joined(columns, joined),
            &Place::Column(position) => {
                let identity = unit::read_identity(&relation.columns[position]);
                let all: Vec<usize> = columns.iter().copied().chain([position]).collect();
                relation.asked_with(&all, |i, _| (i == columns.len()).then(|| identity.clone()))
            }
        }
    }
}

/// Reads columns of a relation, and after them the identity of each row's unit if units count.
pub fn read(
    relation: &Relation,
    columns: &[usize],
    unit: Option<&Unit>,
) -> Result<CodedTable, Error> {
    reader::read_asked(relation, &asked(relation, columns, unit), 0)
}

/// A request for what [`read`] reads.
pub fn asked(relation: &Relation, columns: &[usize], unit: Option<&Unit>) -> Asked {
    unit.map_or_else(|| relation.asked(columns), |unit| unit.asked(relation, columns))
}
