//! The hierarchies that owners declare for columns (the table `declared_hierarchy`).

use crate::catalog::damaged;
use crate::pg::prelude::*;
use serde_json::{Map, Value as Json};

/// What is stored of a hierarchy.
pub struct Stored {
    /// The jsonb as a text.
    pub levels: String,
    /// The relation of a hierarchy that is a table.
    pub lookup: Option<Oid>,
}

impl Stored {
    /// True if general values are names that a tree or a table has, not ranges or units.
    pub fn is_by_name(&self) -> bool {
        let kind = serde_json::from_str::<Map<String, Json>>(&self.levels).unwrap_or_default();
        !["ranges", "dates"].iter().any(|one| kind.contains_key(*one))
    }
}

/// What the owner declared for the column. A lookup table that was dropped, and whose OID another table has now, counts
/// as not declared.
pub fn declared(relation: &Relation, column: &Column) -> Result<Option<Stored>, Error> {
    let columns = "levels::pg_catalog.text, (CASE
        WHEN coalesce(lookup_row_type OPERATOR(pg_catalog.=) sanitize_internal.row_type(lookup), true)
        THEN lookup::pg_catalog.oid ELSE 0 END)::pg_catalog.text";
    let found = super::declared("declared_hierarchy", columns, relation, column)?;
    let Some([levels, lookup]) = found.into_iter().next() else { return Ok(None) };
    let levels = levels.ok_or_else(unreadable)?;
    let lookup = lookup.map(|oid| oid.parse().map(Oid::from_u32).map_err(|_| unreadable()));
    Ok(Some(Stored { levels, lookup: lookup.transpose()? }))
}

/// The error for a stored value that is not a hierarchy.
pub fn unreadable() -> Error {
    damaged("declared_hierarchy", "levels")
}

/// Declares the hierarchy of a column, in place of the one declared before. The caller has checked who owns
/// the relation.
pub fn declare(relation: &Relation, column: &Column, stored: Stored) -> Result<(), Error> {
    super::check_length("levels", stored.levels.len())?;
    super::write(
        "INSERT INTO sanitize.declared_hierarchy (source, column_name, levels, lookup)
         VALUES ($1, $2, $3::pg_catalog.jsonb, $4) ON CONFLICT (source, column_name)
         DO UPDATE SET source = excluded.source, levels = excluded.levels, lookup = excluded.lookup",
        &[
            relation.oid.into(),
            Text(column.name.clone()).into(),
            Text(stored.levels).into(),
            stored.lookup.into(),
        ],
    )
}
