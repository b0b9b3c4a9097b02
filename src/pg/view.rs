//! Views as protected relations: whether each of their rows depends on its own unit alone. Only then
//! does a bound on the rows of a unit bound what the unit changes.
//!
//! The unit column is followed down to the tables that it comes from. On the way every query may filter,
//! compute and join; it may put rows together only by the unit. Relations that are not protected, and
//! not the one that the unit comes from, are taken for public: a row may depend on all of them.

use super::error::Error;
use super::from_clause::Sources;
use super::relation::Relation;
use super::tree::{self, Place, Reach, Scope};
use super::{rights, sql, text, types};
use pgrx::pg_sys::{self, NodeTag, Oid};
use pgrx::{PgList, is_a};
use std::collections::{BTreeSet, HashMap, HashSet};
use std::ffi::CStr;

/// Why a row of the relation may depend on other units than its own; `None` if none can, as in every
/// table.
///
/// `protected` has the unit column of every protected relation. A view can be replaced at any time: this is
/// to be asked with each question.
pub fn unstable(
    relation: &Relation,
    unit: &str,
    protected: impl FnOnce() -> Result<HashMap<Oid, String>, Error>,
) -> Result<Option<String>, Error> {
    let position = relation.position(unit)?;
    let Some(query) = tree::definition(relation.oid)? else {
        return Ok(None);
    };
    let mut all = Reach::default();
    // SAFETY: the definition is a valid tree.
    unsafe { all.add(std::ptr::from_ref(query).cast_mut().cast(), None)? };
    if let Some(function) = all.free_function {
        return Ok(Some(function.to_string()));
    }
    let check = Check { protected: protected()? };
    let scope = Scope { query, outer: None };
    // SAFETY: as above.
    match unsafe { check.query(&scope, relation.columns[position].number) } {
        Ok(_) => Ok(None),
        Err(Refusal::Unstable(reason)) => Ok(Some(reason.to_string())),
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

/// A column that the unit comes from, of a table or of a view on the way.
struct Origin {
    relation: Oid,
    column: String,
}

/// The relations and those that they are partitions or children of: what is in one is in the other.
fn families(relations: impl IntoIterator<Item = Oid>) -> Result<HashSet<Oid>, Error> {
    let mut all: HashSet<Oid> = relations.into_iter().collect();
    let list: Vec<String> = all.iter().map(|oid| oid.to_u32().to_string()).collect();
    let rows = rights::with_extension_rights(|| {
        sql::run(
            "WITH RECURSIVE up AS (
                 SELECT inhparent FROM pg_inherits WHERE inhrelid = ANY ($1::oid[])
                 UNION SELECT i.inhparent FROM up JOIN pg_inherits i ON i.inhrelid = up.inhparent)
             SELECT inhparent::text FROM up",
            &[Some(&format!("{{{}}}", list.join(",")))],
        )
    })?;
    for oid in rows.into_iter().flatten().flatten() {
        all.insert(oid.parse::<u32>().map_err(Error::query)?.into());
    }
    Ok(all)
}

/// True if equal values of the type, compared in that way, have equal bytes.
fn is_exact(type_oid: Oid, collation: Oid) -> bool {
    // SAFETY: catalog look-ups.
    unsafe {
        types::identifies(pg_sys::getBaseType(type_oid))
            && (collation == pg_sys::InvalidOid || pg_sys::get_collation_isdeterministic(collation))
    }
}

struct Check {
    protected: HashMap<Oid, String>,
}

impl Check {
    /// Where the unit, which is column `unit` of the scope's query, comes from, if every row of the
    /// query depends on its own unit alone.
    ///
    /// # Safety
    /// The scope holds valid trees.
    unsafe fn query(&self, scope: &Scope<'_>, unit: i16) -> Result<Vec<Origin>, Refusal> {
        let query = scope.query;
        // SAFETY: the stack is checked as Postgres does; trees are valid as the caller says.
        unsafe {
            pg_sys::check_stack_depth();
            if !query.limitCount.is_null() || !query.limitOffset.is_null() {
                return refuse("LIMIT or OFFSET");
            }
            let with = tree::nodes::<pg_sys::CommonTableExpr>(query.cteList);
            if query.hasRecursive || with.iter().any(|with| with.cterefcount > 1) {
                return refuse("a WITH query that is recursive or used twice");
            }
            if !query.setOperations.is_null() {
                return self.set_operation(scope, query.setOperations, unit);
            }
            for (has, what) in [
                (query.hasWindowFuncs, "a window function"),
                (query.hasDistinctOn, "DISTINCT ON"),
                (query.hasSubLinks, "a subquery in an expression"),
                (!query.groupingSets.is_null(), "GROUPING SETS, ROLLUP or CUBE"),
            ] {
                if has {
                    return refuse(what);
                }
            }
            let entry = tree::nodes::<pg_sys::TargetEntry>(query.targetList)
                .into_iter()
                .find(|entry| entry.resno == unit && !entry.resjunk)
                .ok_or_else(|| Error::query("a view lacks a column"))?;
            self.target(scope, entry)
        }
    }

    unsafe fn target(
        &self,
        scope: &Scope<'_>,
        unit: &pg_sys::TargetEntry,
    ) -> Result<Vec<Origin>, Refusal> {
        let query = scope.query;
        // SAFETY: as for `query`.
        unsafe {
            let keys = tree::nodes::<pg_sys::SortGroupClause>(query.groupClause);
            let is_grouped = !keys.is_empty() || query.hasAggs || !query.havingQual.is_null();
            let is_key = unit.ressortgroupref > 0
                && keys.iter().any(|key| key.tleSortGroupRef == unit.ressortgroupref);
            if is_grouped && !is_key {
                return refuse("an aggregate that is not grouped by the unit");
            }
            let is_merged = is_grouped || !query.distinctClause.is_null();
            let expression: *mut pg_sys::Node = unit.expr.cast();
            if is_merged
                && !is_exact(pg_sys::exprType(expression), pg_sys::exprCollation(expression))
            {
                return refuse("groups of units that are only nearly equal");
            }
            let expression = tree::resolved(query, expression)?;
            if pg_sys::expression_returns_set(expression) {
                return refuse("a unit that a set-returning function makes");
            }
            let from_one_relation = "a unit that is not made of columns of one relation";
            let Some(places) = tree::places(query, expression)? else {
                return refuse(from_one_relation);
            };
            let entries: BTreeSet<usize> = places.iter().map(|place| place.0).collect();
            let (1, Some(&of_unit)) = (entries.len(), entries.first()) else {
                return refuse(from_one_relation);
            };
            let mut from = Sources::default();
            from.add(query, query.jointree.cast())?;
            if from.has_outer_join && pg_sys::contain_nonstrict_functions(expression) {
                return refuse("an outer join, and a unit that is not NULL where it finds nothing");
            }
            let origins = self.entry(scope, of_unit, &places)?;
            // Through which the rest must hang together.
            let linked = match places.first() {
                Some(&place) if places.len() == 1 => from.equal_to(place),
                _ => BTreeSet::new(),
            };
            for &other in from.entries.iter().filter(|&&other| other != of_unit) {
                let places = linked.iter().copied().filter(|place| place.0 == other);
                self.joined(scope, other, places, &origins)?;
            }
            Ok(origins)
        }
    }

    unsafe fn set_operation(
        &self,
        scope: &Scope<'_>,
        node: *mut pg_sys::Node,
        unit: i16,
    ) -> Result<Vec<Origin>, Refusal> {
        // SAFETY: every cast follows a check of the node's tag.
        unsafe {
            pg_sys::check_stack_depth();
            if is_a(node, NodeTag::T_RangeTblRef) {
                let index = (*node.cast::<pg_sys::RangeTblRef>()).rtindex as usize;
                return self.entry(scope, index, &BTreeSet::from([(index, unit)]));
            }
            let operation = &*node.cast::<pg_sys::SetOperationStmt>();
            if operation.op != pg_sys::SetOperation::SETOP_UNION {
                return refuse("EXCEPT or INTERSECT");
            }
            let position = usize::try_from(unit - 1).unwrap_or_default();
            let at = |list| PgList::<Oid>::from_pg(list).get_oid(position);
            let exact = at(operation.colTypes)
                .zip(at(operation.colCollations))
                .is_some_and(|(type_oid, collation)| is_exact(type_oid, collation));
            if !operation.all && !exact {
                return refuse("groups of units that are only nearly equal");
            }
            let mut origins = self.set_operation(scope, operation.larg, unit)?;
            origins.extend(self.set_operation(scope, operation.rarg, unit)?);
            Ok(origins)
        }
    }

    /// Where columns of an entry in FROM come from, if its rows depend on these alone.
    unsafe fn entry(
        &self,
        scope: &Scope<'_>,
        index: usize,
        places: &BTreeSet<Place>,
    ) -> Result<Vec<Origin>, Refusal> {
        use pg_sys::RTEKind::{RTE_CTE, RTE_RELATION, RTE_SUBQUERY};
        // SAFETY: as for `query`.
        unsafe {
            let entry = tree::entry(scope.query, index)?;
            if places.iter().any(|place| place.1 <= 0) {
                return refuse("a unit that is a whole row or a system column");
            }
            let single = || match places.first() {
                Some(place) if places.len() == 1 => Ok(place.1),
                _ => refuse("a unit that is made of several columns of a view or subquery"),
            };
            match entry.rtekind {
                RTE_RELATION => {
                    if !entry.tablesample.is_null() {
                        return refuse("TABLESAMPLE");
                    }
                    let mut origins = match tree::definition(entry.relid)? {
                        Some(query) => self.query(&Scope { query, outer: None }, single()?)?,
                        None => Vec::new(),
                    };
                    for place in places {
                        let name = pg_sys::get_attname(entry.relid, place.1, false);
                        let column = text::to_utf8(CStr::from_ptr(name).to_bytes());
                        origins.push(Origin { relation: entry.relid, column });
                    }
                    Ok(origins)
                }
                RTE_SUBQUERY => {
                    let query = entry.subquery.as_ref();
                    let query = query.ok_or_else(|| Error::query("a subquery is missing"))?;
                    self.query(&Scope { query, outer: Some(scope) }, single()?)
                }
                RTE_CTE => {
                    let (query, place) = tree::with_query(scope, entry)?;
                    self.query(&Scope { query, outer: Some(place) }, single()?)
                }
                _ => refuse("a unit that does not come from a table"),
            }
        }
    }

    /// Refuses another entry in FROM if it is about units and not joined by them. `places` are those of
    /// its columns that equal the unit, which comes from `origins`.
    unsafe fn joined(
        &self,
        scope: &Scope<'_>,
        index: usize,
        places: impl Iterator<Item = Place>,
        origins: &[Origin],
    ) -> Result<(), Refusal> {
        // SAFETY: as for `query`.
        unsafe {
            let entry = tree::entry(scope.query, index)?;
            let mut reach = Reach::default();
            reach.add(std::ptr::from_ref(entry).cast_mut().cast(), Some(scope))?;
            if entry.rtekind == pg_sys::RTEKind::RTE_SUBQUERY {
                reach.add(entry.subquery.cast(), Some(scope))?;
            }
            let there = families(reach.relations)?;
            let of_unit = families(origins.iter().map(|origin| origin.relation))?;
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
    }

    /// True if the columns are the units of what they belong to.
    fn are_units(&self, columns: &[Origin], origins: &[Origin]) -> Result<bool, Error> {
        for column in columns {
            let family = families([column.relation])?;
            let is_declared = family
                .iter()
                .filter_map(|relation| self.protected.get(relation))
                .all(|unit| *unit == column.column);
            let mut is_same = true;
            for origin in origins {
                let related = !families([origin.relation])?.is_disjoint(&family);
                is_same &= !related || origin.column == column.column;
            }
            if !is_declared || !is_same {
                return Ok(false);
            }
        }
        Ok(true)
    }
}
