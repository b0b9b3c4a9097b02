//! What private mechanisms may take as public: whole relations, and the values or binned range of a column.

use crate::catalog::{bounds, domains, protection};
use crate::pg::call::error::{Error, Undeclared};
use crate::pg::catalog::view_tree::Scope;
use crate::pg::prelude::*;
use crate::pg::read::bins::Bins;
use crate::rules::family::{self, has_row_security, is_of_unknown_origin, runs_code};
use std::collections::HashSet;

/// Why a relation is not public for releases of another one.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Private {
    /// It is the source, or holds data about the same units.
    SameUnits,
    /// It holds data about the units of a protected relation.
    Protected,
    /// It has row security.
    RowSecurity,
    /// It is, or reads, something that is not a table of this database.
    UnknownOrigin,
    /// A view that calls functions.
    Functions,
}

impl Private {
    pub fn reason(self) -> &'static str {
        match self {
            Private::SameUnits => "it tells of the same rows or units as the source",
            Private::Protected => "it is protected, or tells of the units of a protected relation",
            Private::RowSecurity => "row security decides who sees which of its rows",
            Private::UnknownOrigin => {
                "it shows a foreign table, a sequence or a catalog, and whose rows these tell of is not known"
            }
            Private::Functions => {
                "it is a view that calls functions, operators or types which can read anything"
            }
        }
    }
}

/// The one rule for whether releases of `source` may take `other` as public: the reason why not, or `None`
/// (mechanisms.md, section 25).
pub fn refusal(source: Oid, other: Oid) -> Result<Option<Private>, Error> {
    let reached = family::reach(other)?;
    // Parse trees of views show what is read now, independent of the snapshot. They also name objects that come with
    // Postgres, for which pg_depend has no entries.
    let mut read = reached.clone();
    let mut calls_unknown = false;
    for &relation in &reached {
        if let Some(view) = Scope::of_view(relation)? {
            let found = view.reach_of_all()?;
            read.extend(found.relations);
            calls_unknown |= found.calls_unknown;
        }
    }
    let unit = protection::units()?.remove(&source);
    let tells_of = |units: &HashSet<Oid>| !read.is_disjoint(units);
    if tells_of(&family::of_units(source, unit.as_deref())?) {
        return Ok(Some(Private::SameUnits));
    }
    if tells_of(&family::of_protected()?) {
        return Ok(Some(Private::Protected));
    }
    if has_row_security(&read)? {
        return Ok(Some(Private::RowSecurity));
    }
    if is_of_unknown_origin(&read)? {
        return Ok(Some(Private::UnknownOrigin));
    }
    Ok((calls_unknown || runs_code(&reached)?).then_some(Private::Functions))
}

/// The number of bins of a range that is known from constraints only.
const BINS: i32 = 32;

/// What is known of a column without its rows.
pub enum Public {
    Values(Vec<String>),
    Range { low: String, high: String, bins: Bins },
}

/// What the owner declared, values before bounds; otherwise what the type and constraints imply. Otherwise an error
/// that shows how to declare it.
pub fn find(relation: &Relation, column: &Column) -> Result<Public, Error> {
    let range = |low: String, high: String, bins: i32| {
        let bins = Bins::new(column, &low, &high, u32::try_from(bins).unwrap_or(1))?;
        Ok(Public::Range { low, high, bins })
    };
    let values = domains::find(relation, column)?;
    if values.as_ref().is_none_or(|domain| domain.origin != "declared")
        && let Some(declared) = bounds::declared(relation, column)?
    {
        return range(declared.low, declared.high, declared.bins);
    }
    if let Some(domain) = values {
        return Ok(Public::Values(domain.values));
    }
    if let Some((low, high)) = bounds::find(relation, column)? {
        return range(low, high, BINS);
    }
    Err(Error::NoDomain {
        columns: vec![undeclared(relation, column, bounds::has_range(column))?],
        relation: relation.name.clone(),
    })
}

/// What is missing for a column whose domain is not known, and how to declare it.
pub fn undeclared(
    relation: &Relation,
    column: &Column,
    has_range: bool,
) -> Result<Undeclared, Error> {
    let private = domains::private_reference(relation, column)?;
    let reference = private.map(|(table, why)| (table, why.reason()));
    Ok(Undeclared { column: column.name.clone(), has_range, reference })
}
