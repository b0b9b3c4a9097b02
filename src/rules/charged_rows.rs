//! Rows that a mechanism was charged for by the row: of a protected relation at most so many of each unit.
//!
//! Such a mechanism does not bound the rows of a unit, so they must be bounded already. That is checked on the rows
//! that are used, and on no others: units are read beside them, by the same query. Whoever calls one of these
//! mechanisms can read the relation, so being told that the bound does not hold is no news.

use crate::pg::call::error::Error;
use crate::pg::catalog::relation::Relation;
use crate::pg::process::pool;
use crate::pg::read::reader;
use crate::rules::unit;
use question::Terms;
use table::CodedTable;

/// How many rows of a unit were charged for.
pub struct Bound {
    unit: usize,
    rows: u64,
    /// No unit has more than one row, by the schema.
    is_key: bool,
}

impl Bound {
    /// The bound that the terms lay down for the relation.
    pub fn new(relation: &Relation, terms: &Terms) -> Result<Self, Error> {
        let unit = unit::check(relation, &terms.unit)?;
        let is_key = relation.is_key(&relation.columns[unit])?;
        Ok(Bound { unit, is_key, rows: if is_key { 1 } else { terms.max_rows_per_unit } })
    }

    /// The most rows of a unit.
    pub fn rows(&self) -> u64 {
        self.rows
    }

    /// Refuses, without a look at a row, what the caller could not read after the charge.
    pub fn check_readable(&self, relation: &Relation, columns: &[usize]) -> Result<(), Error> {
        relation.check_readable(columns.iter().copied().chain([self.unit]))
    }
}

/// Reads columns of a relation, with `expression` as for [`Relation::asked_with`], and after them the identity of
/// the unit that column `unit` tells.
pub fn read_with_unit(
    relation: &Relation,
    columns: &[usize],
    unit: usize,
    expression: impl Fn(usize, &str) -> Option<String>,
) -> Result<CodedTable, Error> {
    let identity = unit::identity(&relation.columns[unit]);
    let all: Vec<usize> = columns.iter().copied().chain([unit]).collect();
    let asked = relation.asked_with(&all, |i, quoted| match i == columns.len() {
        true => Some(identity.clone()),
        false => expression(i, quoted),
    });
    reader::read_asked(relation, &asked, 0)
}

/// Reads columns of a relation, with `expression` as for [`Relation::asked_with`], that were charged for.
/// Without a bound the relation is not protected.
pub fn read(
    relation: &Relation,
    columns: &[usize],
    bound: Option<&Bound>,
    expression: impl Fn(usize, &str) -> Option<String>,
) -> Result<CodedTable, Error> {
    let Some(bound) = bound.filter(|bound| !bound.is_key) else {
        return reader::read_asked(relation, &relation.asked_with(columns, expression), 0);
    };
    let table = read_with_unit(relation, columns, bound.unit, expression)?;
    let checked = pool::run("counting rows of units", table.memory(), |watch| {
        match table.bag.exceeds(bound.rows, watch)? {
            true => Ok(None),
            false => table.without_last(watch).map(Some),
        }
    })?;
    checked.ok_or_else(|| Error::UnitRows { relation: relation.name.clone(), most: bound.rows })
}
