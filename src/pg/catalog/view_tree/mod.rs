//! The parse trees of views. They are never evaluated.
//!
//! Trees come from the catalog's rules, copied into the current memory context, and are read only. A [`Scope`] is a
//! query of such a tree; its methods return plain data, whose meaning [`crate::rules::stability`] decides.
//! [`expression`] examines expressions, [`reach`] finds everything that a query reads or calls.

mod expression;
mod reach;

use super::types;
use crate::pg::prelude::*;
use expression::{equalities, places, resolved};
use pgrx::pg_sys::NodeTag;
use pgrx::{PgList, is_a};
use reach::Reach;
use std::collections::{BTreeSet, HashSet};
use std::ffi::CStr;

/// Operators, functions and types below this OID come with Postgres.
pub const FIRST_USER_OID: u32 = 16384;

/// A column of a relation in FROM: its index in the range table and its number.
pub type Place = (usize, i16);

/// A query of a view and the queries around it, whose WITH lists it can see. Made only here, from valid trees.
pub struct Scope<'a> {
    query: &'a pg_sys::Query,
    outer: Option<&'a Scope<'a>>,
}

/// What a query does with rows as a whole.
pub struct Shape {
    pub has_limit: bool,
    /// A WITH query is recursive or used twice.
    pub repeats_with: bool,
    pub has_window_function: bool,
    pub has_distinct_on: bool,
    pub has_subquery_in_expression: bool,
    pub has_grouping_sets: bool,
    /// GROUP BY, an aggregate or HAVING.
    pub is_grouped: bool,
    pub is_distinct: bool,
}

/// UNION, EXCEPT and INTERSECT, for one column of their rows.
pub enum Combined {
    Entry(usize),
    Union {
        all: bool,
        /// Equal values of the column have equal bytes.
        is_exact: bool,
        left: Box<Combined>,
        right: Box<Combined>,
    },
    Other,
}

/// A column that a query returns.
pub struct Target {
    /// The query is grouped by it.
    pub is_key: bool,
    /// Equal values of it have equal bytes.
    pub is_exact: bool,
    pub returns_set: bool,
    /// It may be not NULL where all columns in it are NULL.
    pub is_nonstrict: bool,
    /// The columns that it is made of; `None` if one of them belongs to a query around this one.
    pub places: Option<BTreeSet<Place>>,
}

/// A relation in FROM.
pub enum Entry<'a> {
    Relation { oid: Oid, is_sampled: bool },
    Query(Scope<'a>),
    Other,
}

/// FROM and WHERE, with the columns that their conditions equate.
pub enum From {
    Entry(usize),
    /// A list of items, to which all conditions of WHERE apply.
    List {
        items: Vec<From>,
        equal: Vec<(Place, Place)>,
    },
    Join {
        kind: pg_sys::JoinType::Type,
        left: Box<From>,
        right: Box<From>,
        equal: Vec<(Place, Place)>,
    },
}

impl<'a> Scope<'a> {
    /// The query of a view or materialized view, `None` for everything else. Locks it for reading until
    /// the transaction ends.
    pub fn of_view(relation: Oid) -> Result<Option<Self>, Error> {
        Ok(definition(relation)?.map(|query| Scope { query, outer: None }))
    }

    /// What the query reaches.
    pub fn reach_of_all(&self) -> Result<Reach, Error> {
        let mut all = Reach::default();
        // SAFETY: a valid tree.
        unsafe { all.add(std::ptr::from_ref(self.query).cast_mut().cast(), None)? };
        Ok(all)
    }

    pub fn shape(&self) -> Shape {
        let query = self.query;
        // SAFETY: the stack depth is checked as Postgres does, because queries are nested; valid trees.
        unsafe {
            pg_sys::check_stack_depth();
            let with = nodes::<pg_sys::CommonTableExpr>(query.cteList);
            Shape {
                has_limit: !query.limitCount.is_null() || !query.limitOffset.is_null(),
                repeats_with: query.hasRecursive || with.iter().any(|with| with.cterefcount > 1),
                has_window_function: query.hasWindowFuncs,
                has_distinct_on: query.hasDistinctOn,
                has_subquery_in_expression: query.hasSubLinks,
                has_grouping_sets: !query.groupingSets.is_null(),
                is_grouped: !query.groupClause.is_null()
                    || query.hasAggs
                    || !query.havingQual.is_null(),
                is_distinct: !query.distinctClause.is_null(),
            }
        }
    }

    /// How UNION and the like combine column `number`, if the query has any.
    pub fn combined(&self, number: i16) -> Option<Combined> {
        let operations = self.query.setOperations;
        // SAFETY: a valid tree.
        (!operations.is_null()).then(|| unsafe { combined(operations, number) })
    }

    /// Column `number` of the query.
    pub fn target(&self, number: i16) -> Result<Target, Error> {
        let query = self.query;
        // SAFETY: valid trees.
        unsafe {
            let target = nodes::<pg_sys::TargetEntry>(query.targetList)
                .into_iter()
                .find(|target| target.resno == number && !target.resjunk)
                .ok_or_else(|| Error::fault("a view lacks a column"))?;
            let keys = nodes::<pg_sys::SortGroupClause>(query.groupClause);
            let expression: *mut pg_sys::Node = target.expr.cast();
            let behind = resolved(query, expression)?;
            Ok(Target {
                is_key: target.ressortgroupref > 0
                    && keys.iter().any(|key| key.tleSortGroupRef == target.ressortgroupref),
                is_exact: is_exact(pg_sys::exprType(expression), pg_sys::exprCollation(expression)),
                returns_set: pg_sys::expression_returns_set(behind),
                is_nonstrict: pg_sys::contain_nonstrict_functions(behind),
                places: places(query, behind)?,
            })
        }
    }

    /// FROM and WHERE.
    pub fn from(&self) -> Result<From, Error> {
        // SAFETY: a valid tree.
        unsafe { from(self.query, self.query.jointree.cast()) }
    }

    /// The relation in FROM with this index.
    pub fn entry(&'a self, index: usize) -> Result<Entry<'a>, Error> {
        use pg_sys::RTEKind::{RTE_CTE, RTE_RELATION, RTE_SUBQUERY};
        // SAFETY: valid trees.
        unsafe {
            let entry = entry(self.query, index)?;
            Ok(match entry.rtekind {
                RTE_RELATION => {
                    Entry::Relation { oid: entry.relid, is_sampled: !entry.tablesample.is_null() }
                }
                RTE_SUBQUERY => {
                    let query = entry.subquery.as_ref();
                    let query = query.ok_or_else(|| Error::fault("a subquery is missing"))?;
                    Entry::Query(Scope { query, outer: Some(self) })
                }
                RTE_CTE => {
                    let (query, place) = with_query(self, entry)?;
                    Entry::Query(Scope { query, outer: Some(place) })
                }
                _ => Entry::Other,
            })
        }
    }

    /// The relations that the one in FROM with this index reaches.
    pub fn reach(&self, index: usize) -> Result<HashSet<Oid>, Error> {
        let mut reach = Reach::default();
        // SAFETY: valid trees.
        unsafe {
            let entry = entry(self.query, index)?;
            reach.add(std::ptr::from_ref(entry).cast_mut().cast(), Some(self))?;
            if entry.rtekind == pg_sys::RTEKind::RTE_SUBQUERY {
                reach.add(entry.subquery.cast(), Some(self))?;
            }
        }
        Ok(reach.relations)
    }
}

/// The name of a column.
pub fn column_name(relation: Oid, number: i16) -> String {
    // SAFETY: a catalog look-up, which raises an error for a column that does not exist.
    unsafe { text::name(pg_sys::get_attname(relation, number, false)) }
}

/// True if equal values of the type, compared in that way, have equal bytes.
fn is_exact(type_oid: Oid, collation: Oid) -> bool {
    // SAFETY: catalog look-ups.
    unsafe {
        types::identifies(pg_sys::getBaseType(type_oid))
            && (collation == pg_sys::InvalidOid || pg_sys::get_collation_isdeterministic(collation))
    }
}

/// # Safety
/// `node` is a valid tree of set operations.
unsafe fn combined(node: *mut pg_sys::Node, number: i16) -> Combined {
    // SAFETY: every cast follows a check of the node's tag.
    unsafe {
        pg_sys::check_stack_depth();
        if let Some(entry) = node_of::<pg_sys::RangeTblRef>(node, NodeTag::T_RangeTblRef) {
            return Combined::Entry(entry.rtindex as usize);
        }
        let operation = &*node.cast::<pg_sys::SetOperationStmt>();
        if operation.op != pg_sys::SetOperation::SETOP_UNION {
            return Combined::Other;
        }
        let position = usize::try_from(number - 1).unwrap_or_default();
        let at = |list| PgList::<Oid>::from_pg(list).get_oid(position);
        let is_exact = at(operation.colTypes)
            .zip(at(operation.colCollations))
            .is_some_and(|(type_oid, collation)| is_exact(type_oid, collation));
        let (left, right) = (combined(operation.larg, number), combined(operation.rarg, number));
        Combined::Union { all: operation.all, is_exact, left: left.into(), right: right.into() }
    }
}

/// # Safety
/// The node is a valid one of the query's FROM.
unsafe fn from(query: &pg_sys::Query, node: *mut pg_sys::Node) -> Result<From, Error> {
    // SAFETY: every cast follows a check of the node's tag.
    unsafe {
        pg_sys::check_stack_depth();
        if let Some(entry) = node_of::<pg_sys::RangeTblRef>(node, NodeTag::T_RangeTblRef) {
            return Ok(From::Entry(entry.rtindex as usize));
        }
        if let Some(list) = node_of::<pg_sys::FromExpr>(node, NodeTag::T_FromExpr) {
            let items = PgList::<pg_sys::Node>::from_pg(list.fromlist);
            let items: Result<Vec<From>, Error> =
                items.iter_ptr().map(|item| from(query, item)).collect();
            return Ok(From::List { items: items?, equal: equalities(query, list.quals)? });
        }
        let join = node_of::<pg_sys::JoinExpr>(node, NodeTag::T_JoinExpr);
        let join = join.ok_or_else(|| Error::fault("a view has an unknown kind of FROM"))?;
        Ok(From::Join {
            kind: join.jointype,
            left: from(query, join.larg)?.into(),
            right: from(query, join.rarg)?.into(),
            equal: equalities(query, join.quals)?,
        })
    }
}

/// The query of a view or materialized view, which is locked for reading until the transaction ends.
fn definition<'a>(relation: Oid) -> Result<Option<&'a pg_sys::Query>, Error> {
    // SAFETY: the relation is open while its rules are read; the copy lives in the current context.
    unsafe {
        let kind = pg_sys::get_rel_relkind(relation) as u8;
        if kind != pg_sys::RELKIND_VIEW && kind != pg_sys::RELKIND_MATVIEW {
            return Ok(None);
        }
        let opened = pg_sys::relation_open(relation, pg_sys::AccessShareLock as pg_sys::LOCKMODE);
        let mut query = std::ptr::null_mut();
        if let Some(rules) = (*opened).rd_rules.as_ref() {
            for i in 0..rules.numLocks as usize {
                let rule = &**rules.rules.add(i);
                let actions = PgList::<pg_sys::Query>::from_pg(rule.actions);
                if rule.event == pg_sys::CmdType::CMD_SELECT
                    && let Some(action) = actions.get_ptr(0)
                {
                    query = pg_sys::copyObjectImpl(action.cast()).cast::<pg_sys::Query>();
                }
            }
        }
        pg_sys::relation_close(opened, pg_sys::NoLock as pg_sys::LOCKMODE);
        match query.as_ref() {
            Some(query) => Ok(Some(query)),
            None => Err(Error::fault("a view has no rule")),
        }
    }
}

/// The node as what its tag says, if it has this tag.
///
/// # Safety
/// The node is null or valid, and nodes with the tag are of type T, which outlive 'a.
pub(in crate::pg::catalog) unsafe fn node_of<'a, T>(
    node: *mut pg_sys::Node,
    tag: NodeTag,
) -> Option<&'a T> {
    // SAFETY: as the caller says; the cast follows a check of the node's tag.
    unsafe { is_a(node, tag).then(|| &*node.cast::<T>()) }
}

/// The name of an operator that comes with Postgres; `None` for others.
pub(in crate::pg::catalog) fn own_operator<'a>(operator: Oid) -> Option<&'a CStr> {
    // SAFETY: a catalog look-up; the name is palloc'd.
    unsafe {
        let name = pg_sys::get_opname(operator);
        let is_own = operator.to_u32() < FIRST_USER_OID;
        (!name.is_null() && is_own).then(|| CStr::from_ptr(name))
    }
}

/// The nodes of a list.
///
/// # Safety
/// The list holds nodes of type T, which outlive 'a.
unsafe fn nodes<'a, T>(list: *mut pg_sys::List) -> Vec<&'a T> {
    // SAFETY: as the caller says.
    unsafe { PgList::<T>::from_pg(list).iter_ptr().filter_map(|node| node.as_ref()).collect() }
}

/// The entry of a query's range table with this index.
///
/// # Safety
/// The query is valid.
unsafe fn entry<'a>(
    query: &pg_sys::Query,
    index: usize,
) -> Result<&'a pg_sys::RangeTblEntry, Error> {
    // SAFETY: the range table holds such entries.
    let table = unsafe { nodes::<pg_sys::RangeTblEntry>(query.rtable) };
    let found = index.checked_sub(1).and_then(|index| table.get(index).copied());
    found.ok_or_else(|| Error::fault("a view refers to no relation"))
}

/// The query in the WITH list of `scope` or around it that has this name, and where it lies.
///
/// # Safety
/// The queries of the scope are valid.
unsafe fn with_query<'a>(
    scope: &'a Scope<'a>,
    entry: &pg_sys::RangeTblEntry,
) -> Result<(&'a pg_sys::Query, &'a Scope<'a>), Error> {
    let missing = || Error::fault("a view refers to no WITH query");
    let mut place = scope;
    for _ in 0..entry.ctelevelsup {
        place = place.outer.ok_or_else(missing)?;
    }
    // SAFETY: WITH lists hold such expressions, whose queries are SELECTs in a view.
    unsafe {
        let name = CStr::from_ptr(entry.ctename);
        nodes::<pg_sys::CommonTableExpr>(place.query.cteList)
            .into_iter()
            .find(|with| CStr::from_ptr(with.ctename) == name)
            .and_then(|with| with.ctequery.cast::<pg_sys::Query>().as_ref())
            .map(|query| (query, place))
            .ok_or_else(missing)
    }
}
