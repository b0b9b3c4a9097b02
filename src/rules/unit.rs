//! Units: which columns can identify them, and how two units are compared.
//!
//! Every mechanism that counts units compares them by [`identity`], and calls [`check`] with each call: a column
//! that could identify units when its relation was protected may have another type or collation by now.

use crate::pg::prelude::*;

/// The position of the column that identifies the units of a relation, if its type allows that: equal units must have equal
/// bytes under [`identity`], or one person would count as several.
pub fn check(relation: &Relation, unit: &str) -> Result<usize, Error> {
    let position = relation.position(unit)?;
    let column = &relation.columns[position];
    let refused = |why: String, hint| {
        Err(Error::NoUnit { column: unit.into(), relation: relation.name.clone(), why, hint })
    };
    if !types::identifies(column.base_type) {
        let of = types::name(column.type_oid);
        return refused(
            format!("Its type is {of}, of which equal values may differ."),
            "The unit column is an integer, text, uuid, date, time or enum. The owner can protect a view that makes one of it, such that equal values become the same: a numeric as bigint, a citext in lower case.",
        );
    }
    if relation.compares_loosely(column) {
        return refused(
            "Its collation is nondeterministic: texts that differ would be one unit or two, depending on who compares.".into(),
            "Give the column another collation, or let the owner protect a view that has it COLLATE \"C\".",
        );
    }
    Ok(position)
}

/// The identity of a unit as an SQL expression: two rows belong to one unit if and only if the expression has the same
/// bytes, or the same text, for both. It does not depend on settings.
pub fn identity(column: &Column) -> String {
    match column.base_type {
        base if types::is_text(base) => as_text(column),
        // The text of a timestamptz may have the name of its zone, which may stand for two offsets.
        pg_sys::TIMESTAMPTZOID => format!("pg_catalog.timezone('UTC', {})", column.quoted()),
        _ => column.quoted(),
    }
}

/// [`identity`] where values are read and compared by their bytes: without the collation of texts, for which other
/// servers could not be asked.
pub fn read_identity(column: &Column) -> String {
    match types::is_text(column.base_type) {
        true => types::text_expression(column.base_type, &column.quoted()),
        false => identity(column),
    }
}

/// [`identity`], but always short, so that response times do not reveal the length of a unit among the matching rows.
/// Long texts are replaced by a hash, which no short text equals.
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
