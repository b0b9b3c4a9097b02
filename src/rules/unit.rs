//! Units: which columns can tell them apart, and by what.
//!
//! Every mechanism that counts units compares them by [`identity`], and calls [`check`] with each call: a column
//! that could tell units apart when its relation was protected may have another type or collation by now.

use crate::pg::call::error::Error;
use crate::pg::catalog::relation::{Column, Relation};
use crate::pg::catalog::types;
use pgrx::pg_sys;

/// The position of the column that tells the units of a relation apart, if it can: equal units must have equal
/// bytes under [`identity`], or one person would count as several.
pub fn check(relation: &Relation, unit: &str) -> Result<usize, Error> {
    let position = relation.position(unit)?;
    let column = &relation.columns[position];
    if !types::identifies(column.base_type) {
        return Err(Error::NoUnit {
            column: unit.into(),
            relation: relation.name.clone(),
            why: format!(
                "Its type is {}, of which equal values may differ.",
                types::name(column.type_oid)
            ),
            hint: "The unit column is an integer, text, uuid, date, time or enum. The owner can protect a view that makes one of it, such that equal values become the same: a numeric as bigint, a citext in lower case.",
        });
    }
    if relation.compares_loosely(column) {
        return Err(Error::NoUnit {
            column: unit.into(),
            relation: relation.name.clone(),
            why: "Its collation is nondeterministic: texts that differ would be one unit or two, depending on who compares.".into(),
            hint: "Give the column another collation, or let the owner protect a view that has it COLLATE \"C\".",
        });
    }
    Ok(position)
}

/// What tells two units apart, as an SQL expression: two rows belong to one unit if and only if this has the same
/// bytes, or the same text, in both. It does not depend on settings.
pub fn identity(column: &Column) -> String {
    match column.base_type {
        base if types::is_text(base) => as_text(column),
        // The text of a timestamptz may have the name of its zone, which may stand for two offsets.
        pg_sys::TIMESTAMPTZOID => format!("pg_catalog.timezone('UTC', {})", column.quoted()),
        _ => column.quoted(),
    }
}

/// [`identity`], but never long: of a unit that is among the rows that count nobody may see by the time how long it is.
/// Long texts are told by a hash that no two of them share, and that no short one is.
pub fn short_identity(column: &Column) -> String {
    let identity = identity(column);
    if types::whole(column.base_type, "").is_none() {
        return identity;
    }
    format!(
        "(CASE WHEN pg_catalog.octet_length({identity}) OPERATOR(pg_catalog.>) {SHORT} \
         THEN '#' OPERATOR(pg_catalog.||) pg_catalog.encode(pg_catalog.sha256(pg_catalog.convert_to(\
         {identity}, pg_catalog.getdatabaseencoding())), 'hex') ELSE {identity} END) COLLATE pg_catalog.\"C\""
    )
}

/// As many bytes as the digits of a SHA-256 hash.
const SHORT: usize = 64;

/// A value as text that is equal where the texts' bytes are: without the blanks that pad it.
pub fn as_text(column: &Column) -> String {
    let text = types::text_expression(column.base_type, &column.quoted());
    format!("{text} COLLATE pg_catalog.\"C\"")
}
