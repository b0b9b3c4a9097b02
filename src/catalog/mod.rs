//! The extension's own tables, one file per family: typed rows in and out. Every statement that names a
//! table of the schema `sanitize` is here.
//!
//! * [`protection`]: which relations are protected, and who may ask (`protection`, `allowance`). Read where a question
//!   is priced, and by the ledger to decide.
//! * [`population`]: accounts that several relations share (`population`, `member`), and which account a relation has.
//! * [`ledger`]: decides about charges and records them (`ledger_entry`, `ledger_home`).
//! * [`answers`]: answers that are kept (`answer`).
//! * [`domains`] and [`bounds`]: which values a column may have, declared (`declared_domain`,
//!   `declared_bounds`) or known from types and constraints.
//! * [`hierarchies`]: what a column's values can be shown as (`declared_hierarchy`).
//! * [`releases`]: what was published, and how (`published`, `release_entry`).
//! * [`sharded`]: where the rows of sharded releases are (`sharded_release`).
//!
//! A row counts only while the relation for which it was written exists. OIDs are used again after a drop, so every row
//! also stores `sanitize_internal.row_type` of the relation, and every look-up compares it.
//!
//! A stored value that cannot be read is an error, and nothing is charged or released: no default would be safe.

pub mod answers;
pub mod bounds;
pub mod domains;
pub mod hierarchies;
pub mod ledger;
pub mod population;
pub mod protection;
pub mod releases;
pub mod sharded;

use crate::pg::call::signature;
use crate::pg::call::sql::{self, Row};
use crate::pg::prelude::*;
use pgrx::AnyNumeric;
use pgrx::datum::DatumWithOid;

/// Runs a statement with the rights to the extension's tables.
fn run(statement: &str, arguments: &[Option<&str>]) -> Result<Vec<Row>, Error> {
    signature::check_tables()?;
    rights::with_extension_rights(|| sql::run(statement, arguments))
}

/// As [`run`], of a statement whose rows do not matter.
fn execute(statement: &str, arguments: &[Option<&str>]) -> Result<(), Error> {
    run(statement, arguments).map(drop)
}

/// As [`run`]: the first value, if there is one.
fn value(statement: &str, arguments: &[Option<&str>]) -> Result<Option<String>, Error> {
    Ok(run(statement, arguments)?.into_iter().flatten().flatten().next())
}

/// The rows of a query that only reads, with the rights to the extension's tables. Works on a standby too.
pub fn look<const N: usize>(
    query: &str,
    arguments: &[Option<&str>],
) -> Result<Vec<[Option<String>; N]>, Error> {
    let text = |argument: &Option<&str>| argument.map(|text| Text(text.into())).into();
    let arguments: Vec<_> = arguments.iter().map(text).collect();
    signature::check_tables()?;
    rights::with_extension_rights(|| sql::rows(query, &arguments))
}

/// Runs a statement without a result, with the rights to the extension's tables.
fn write(statement: &str, arguments: &[DatumWithOid<'_>]) -> Result<(), Error> {
    signature::check_tables()?;
    rights::with_extension_rights(|| sql::run_as_caller(statement, arguments))
}

/// Takes back what was declared in one of the tables of declarations, for a column that may be gone; false if there was
/// nothing. The caller has checked who owns the relation.
pub fn forget_declared(
    table: &'static str,
    relation: &Relation,
    column_name: &str,
) -> Result<bool, Error> {
    let statement = format!(
        "DELETE FROM sanitize.{table}
          WHERE source = $1::oid AND column_name = $2 AND row_type = sanitize_internal.row_type(source)
         RETURNING column_name"
    );
    Ok(!run(&statement, &[Some(&oid(relation.oid)), Some(column_name)])?.is_empty())
}

/// The longest declaration, in bytes: every call that reads the relation reads its declarations too.
const LONGEST: usize = 16 << 20;

/// Refuses to declare more than that.
fn check_length(what: &str, bytes: usize) -> Result<(), Error> {
    match bytes <= LONGEST {
        true => Ok(()),
        false => Err(Error::argument(
            format!("{what} has {bytes} bytes"),
            format!("What is declared for a column has at most {LONGEST} bytes."),
        )),
    }
}

/// An OID as an argument of a statement.
pub fn oid(oid: Oid) -> String {
    oid.to_u32().to_string()
}

/// What the owner of a relation declared for a column, in one of the tables of declarations: as many texts as `columns`
/// lists. The caller's rights suffice: every role may read declarations.
fn declared<const N: usize>(
    table: &str,
    columns: &str,
    relation: &Relation,
    column: &Column,
) -> Result<Vec<[Option<String>; N]>, Error> {
    signature::check_tables()?;
    let query = format!(
        "SELECT {columns} FROM sanitize.{table}
          WHERE source OPERATOR(pg_catalog.=) $1 AND column_name OPERATOR(pg_catalog.=) $2
            AND row_type OPERATOR(pg_catalog.=) sanitize_internal.row_type(source)"
    );
    sql::rows(&query, &[relation.oid.into(), Text(column.name.clone()).into()])
}

/// A row of a table, read column by column.
struct Stored {
    table: &'static str,
    row: Row,
}

impl Stored {
    /// The first row that a statement on the table finds.
    fn first(
        table: &'static str,
        statement: &str,
        arguments: &[Option<&str>],
    ) -> Result<Option<Self>, Error> {
        let row = run(statement, arguments)?.into_iter().next();
        Ok(row.map(|row| Stored { table, row }))
    }

    /// What is wrong with a column.
    pub fn damaged(&self, column: &'static str) -> Error {
        damaged(self.table, column)
    }

    /// Column `i` of the row, `None` for NULL.
    pub fn optional(&self, i: usize) -> Option<&str> {
        self.row.get(i).and_then(Option::as_deref)
    }

    /// Column `i`, which is never NULL.
    pub fn text(&self, i: usize, column: &'static str) -> Result<&str, Error> {
        self.optional(i).ok_or_else(|| self.damaged(column))
    }

    /// Column `i`, true or false.
    pub fn truth(&self, i: usize, column: &'static str) -> Result<bool, Error> {
        match self.text(i, column)? {
            "true" => Ok(true),
            "false" => Ok(false),
            _ => Err(self.damaged(column)),
        }
    }

    /// Column `i`, a count of at least 1; `None` for NULL.
    pub fn count(&self, i: usize, column: &'static str) -> Result<Option<u64>, Error> {
        let read = |text: &str| text.parse().ok().filter(|&count| count > 0);
        self.optional(i).map(|text| read(text).ok_or_else(|| self.damaged(column))).transpose()
    }

    /// Column `i`, an OID.
    pub fn oid(&self, i: usize, column: &'static str) -> Result<Oid, Error> {
        let oid: Option<u32> = self.text(i, column)?.parse().ok();
        oid.map(Oid::from).ok_or_else(|| self.damaged(column))
    }

    /// Column `i`, a finite number that is not below 0.
    pub fn amount(&self, i: usize, column: &'static str) -> Result<AnyNumeric, Error> {
        let text = self.text(i, column)?;
        match text.bytes().all(|b| b.is_ascii_digit() || b == b'.') {
            true => AnyNumeric::try_from(text).map_err(|_| self.damaged(column)),
            false => Err(self.damaged(column)),
        }
    }

    /// Column `i` as a float, if `makes_sense` says so.
    pub fn float(
        &self,
        i: usize,
        column: &'static str,
        makes_sense: impl FnOnce(f64) -> bool,
    ) -> Result<f64, Error> {
        let number: Option<f64> = self.text(i, column)?.parse().ok();
        number.filter(|&number| makes_sense(number)).ok_or_else(|| self.damaged(column))
    }
}

pub fn damaged(table: &'static str, column: &'static str) -> Error {
    Error::Damaged { table: table.into(), column: column.into() }
}
