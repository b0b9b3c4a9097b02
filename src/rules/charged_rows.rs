//! Rows of a protected relation for mechanisms that are charged by the row: at most a bounded number per unit.
//!
//! Such a mechanism does not drop rows of a unit, so no unit may have more than was charged for. This is checked on
//! exactly the rows that are used: the same query reads the units beside them. The caller can read the relation, so
//! an error that the bound does not hold reveals nothing new.

use crate::pg::prelude::*;
use crate::pg::process::pool;
use crate::pg::read::reader;
use crate::rules::unit;
use question::Terms;
use table::CodedTable;

/// The number of rows per unit that was charged for.
pub struct Bound {
    unit: usize,
    rows: u64,
    /// The schema guarantees one row per unit.
    is_key: bool,
}

impl Bound {
    /// The bound in the terms of the relation.
    pub fn new(relation: &Relation, terms: &Terms) -> Result<Self, Error> {
        let unit = unit::check(relation, &terms.unit)?;
        let is_key = relation.is_key(&relation.columns[unit])?;
        Ok(Bound { unit, is_key, rows: if is_key { 1 } else { terms.max_rows_per_unit } })
    }

    /// The most rows of a unit.
    pub fn rows(&self) -> u64 {
        self.rows
    }

    /// Refuses, before any row is read, columns that the caller may not read: after the charge it would be too late.
    pub fn check_readable(&self, relation: &Relation, columns: &[usize]) -> Result<(), Error> {
        relation.check_readable(columns.iter().copied().chain([self.unit]))
    }
}

/// Reads columns of a relation, with `expression` as for [`Relation::asked_with`], and after them the identity of
/// the unit in column `unit`.
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
