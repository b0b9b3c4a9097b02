//! Views as protected relations: whether each of their rows depends on its own unit alone. Only then
//! does a bound on the rows per unit bound the effect of a unit.
//!
//! The unit column is followed down to the tables that it comes from. On the way every query may filter,
//! compute and join; it may put rows together only by the unit. Relations that are not protected, and
//! not the one that the unit comes from, are taken for public: a row may depend on all of them.

use crate::catalog::protection;
use crate::pg::catalog::view_tree::{Combined, Entry, Place, Scope, column_name};
use crate::pg::prelude::*;
use crate::rules::family::{Unit, inherited};
use crate::rules::joins::Sources;
use std::collections::{BTreeSet, HashMap, HashSet};

/// Why a row of the relation may depend on other units than its own; `None` if none can, as in every
/// table.
///
/// A view can be replaced at any time, so every question calls this.
pub fn unstable(relation: &Relation, unit: &str) -> Result<Option<String>, Error> {
    let position = relation.position(unit)?;
    let Some(scope) = Scope::of_view(relation.oid)? else { return Ok(None) };
    if let Some(function) = scope.reach_of_all()?.free_function {
        return Ok(Some(function.to_string()));
    }
    Ok(followed(&scope, relation, position)?.err().map(String::from))
}

/// The columns, of tables and of views on the way, that the unit of a view comes from; `None` if
/// unknown.
pub fn origins(relation: &Relation, unit: &str) -> Result<Option<Vec<Unit>>, Error> {
    let (Ok(position), Some(scope)) = (relation.position(unit), Scope::of_view(relation.oid)?)
    else {
        return Ok(None);
    };
    Ok(followed(&scope, relation, position)?.ok())
}

/// Where the unit of a view comes from, or why its rows may depend on other units.
fn followed(
    scope: &Scope<'_>,
    relation: &Relation,
    unit: usize,
) -> Result<Result<Vec<Unit>, &'static str>, Error> {
    let check = Check { protected: protection::units()? };
    match check.query(scope, relation.columns[unit].number) {
        Ok(found) => Ok(Ok(found)),
        Err(Refusal::Unstable(reason)) => Ok(Err(reason)),
        Err(Refusal::Failed(error)) => Err(error),
    }
}

enum Refusal {
    Unstable(&'static str),
    Failed(Error),
}

impl From<Error> for Refusal {
    fn from(error: Error) -> Self {
        Refusal::Failed(error)
    }
}

fn refuse<T>(reason: &'static str) -> Result<T, Refusal> {
    Err(Refusal::Unstable(reason))
}

struct Check {
    /// The unit column of every protected relation.
    protected: HashMap<Oid, String>,
}

impl Check {
    /// Where the unit, which is column `unit` of the scope's query, comes from, if every row of the
    /// query depends on its own unit alone.
    fn query(&self, scope: &Scope<'_>, unit: i16) -> Result<Vec<Unit>, Refusal> {
        let shape = scope.shape();
        if shape.has_limit {
            return refuse("LIMIT or OFFSET");
        }
        if shape.repeats_with {
            return refuse("a WITH query that is recursive or used twice");
        }
        if let Some(combined) = scope.combined(unit) {
            return self.combined(scope, &combined, unit);
        }
        for (has, what) in [
            (shape.has_window_function, "a window function"),
            (shape.has_distinct_on, "DISTINCT ON"),
            (shape.has_subquery_in_expression, "a subquery in an expression"),
            (shape.has_grouping_sets, "GROUPING SETS, ROLLUP or CUBE"),
        ] {
            if has {
                return refuse(what);
            }
        }
        let target = scope.target(unit)?;
        if shape.is_grouped && !target.is_key {
            return refuse("an aggregate that is not grouped by the unit");
        }
        if (shape.is_grouped || shape.is_distinct) && !target.is_exact {
            return refuse("groups of units that are only nearly equal");
        }
        if target.returns_set {
            return refuse("a unit that a set-returning function makes");
        }
        let from_one_relation = "a unit that is not made of columns of one relation";
        let Some(places) = target.places else {
            return refuse(from_one_relation);
        };
        let entries: BTreeSet<usize> = places.iter().map(|place| place.0).collect();
        let (1, Some(&of_unit)) = (entries.len(), entries.first()) else {
            return refuse(from_one_relation);
        };
        let sources = Sources::new(&scope.from()?);
        if sources.has_outer_join && target.is_nonstrict {
            return refuse("an outer join, and a unit that is not NULL where it finds nothing");
        }
        let origins = self.entry(scope, of_unit, &places)?;
        // The columns that equal the unit: all other entries must be joined by them.
        let linked = match places.first() {
            Some(&place) if places.len() == 1 => sources.equal_to(place),
            _ => BTreeSet::new(),
        };
        for &other in sources.entries.iter().filter(|&&other| other != of_unit) {
            let places = linked.iter().copied().filter(|place| place.0 == other);
            self.joined(scope, other, places, &origins)?;
        }
        Ok(origins)
    }

    fn combined(
        &self,
        scope: &Scope<'_>,
        combined: &Combined,
        unit: i16,
    ) -> Result<Vec<Unit>, Refusal> {
        match combined {
            Combined::Entry(index) => self.entry(scope, *index, &BTreeSet::from([(*index, unit)])),
            Combined::Other => refuse("EXCEPT or INTERSECT"),
            Combined::Union { all, is_exact, .. } if !all && !is_exact => {
                refuse("groups of units that are only nearly equal")
            }
            Combined::Union { left, right, .. } => {
                let mut origins = self.combined(scope, left, unit)?;
                origins.extend(self.combined(scope, right, unit)?);
                Ok(origins)
            }
        }
    }

    /// Where columns of an entry in FROM come from, if its rows depend on these alone.
    fn entry(
        &self,
        scope: &Scope<'_>,
        index: usize,
        places: &BTreeSet<Place>,
    ) -> Result<Vec<Unit>, Refusal> {
        let entry = scope.entry(index)?;
        if places.iter().any(|place| place.1 <= 0) {
            return refuse("a unit that is a whole row or a system column");
        }
        let single = || match places.first() {
            Some(place) if places.len() == 1 => Ok(place.1),
            _ => refuse("a unit that is made of several columns of a view or subquery"),
        };
        match entry {
            Entry::Relation { is_sampled: true, .. } => refuse("TABLESAMPLE"),
            Entry::Relation { oid, .. } => {
                let mut origins = match Scope::of_view(oid)? {
                    Some(view) => self.query(&view, single()?)?,
                    None => Vec::new(),
                };
                for place in places {
                    origins.push((oid, column_name(oid, place.1)));
                }
                Ok(origins)
            }
            Entry::Query(scope) => self.query(&scope, single()?),
            Entry::Other => refuse("a unit that does not come from a table"),
        }
    }

    /// Refuses another entry in FROM if it is about units and not joined by them. `places` are those of
    /// its columns that equal the unit, which comes from `origins`.
    fn joined(
        &self,
        scope: &Scope<'_>,
        index: usize,
        places: impl Iterator<Item = Place>,
        origins: &[Unit],
    ) -> Result<(), Refusal> {
        let there = inherited(&scope.reach(index)?)?;
        let of_unit = inherited(&origins.iter().map(|origin| origin.0).collect())?;
        let is_public = there.is_disjoint(&of_unit)
            && !there.iter().any(|relation| self.protected.contains_key(relation));
        if is_public {
            return Ok(());
        }
        let mut reason = "a join of protected relations on something else than the unit";
        for place in places {
            match self.entry(scope, index, &BTreeSet::from([place])) {
                Ok(found) if self.are_units(&found, origins)? => return Ok(()),
                Ok(_) => {}
                Err(Refusal::Unstable(there)) => reason = there,
                Err(error) => return Err(error),
            }
        }
        refuse(reason)
    }

    /// True if the columns are the units of what they belong to.
    fn are_units(&self, columns: &[Unit], origins: &[Unit]) -> Result<bool, Error> {
        for (relation, column) in columns {
            let family = inherited(&HashSet::from([*relation]))?;
            let is_declared = family
                .iter()
                .filter_map(|relation| self.protected.get(relation))
                .all(|unit| unit == column);
            let is_same = origins.iter().all(|(at, unit)| !family.contains(at) || unit == column);
            if !is_declared || !is_same {
                return Ok(false);
            }
        }
        Ok(true)
    }
}
