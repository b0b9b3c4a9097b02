//! The parse trees of views: what they are made of. Nothing of them is ever evaluated.
//!
//! Trees come from the catalog's rules, copied into the current memory context, and are read only.

use super::error::Error;
use pgrx::pg_sys::{self, NodeTag, Oid};
use pgrx::{PgList, is_a};
use std::collections::{BTreeSet, HashSet};
use std::ffi::{CStr, c_void};

/// Operators, functions and types below this OID come with Postgres.
pub const FIRST_USER_OID: u32 = 16384;

/// A query and those around it, whose WITH lists it can see.
pub struct Scope<'a> {
    pub query: &'a pg_sys::Query,
    pub outer: Option<&'a Scope<'a>>,
}

/// The query of a view or materialized view, `None` for everything else. Locks it for reading until the
/// transaction ends.
pub fn definition<'a>(relation: Oid) -> Result<Option<&'a pg_sys::Query>, Error> {
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
            None => Err(Error::query("a view has no rule")),
        }
    }
}

/// The nodes of a list.
///
/// # Safety
/// The list holds nodes of type T, which outlive 'a.
pub unsafe fn nodes<'a, T>(list: *mut pg_sys::List) -> Vec<&'a T> {
    // SAFETY: as the caller says.
    unsafe { PgList::<T>::from_pg(list).iter_ptr().filter_map(|node| node.as_ref()).collect() }
}

/// The entry of a query's range table with this index.
///
/// # Safety
/// The query is valid.
pub unsafe fn entry<'a>(
    query: &pg_sys::Query,
    index: usize,
) -> Result<&'a pg_sys::RangeTblEntry, Error> {
    // SAFETY: the range table holds such entries.
    let table = unsafe { nodes::<pg_sys::RangeTblEntry>(query.rtable) };
    let found = index.checked_sub(1).and_then(|index| table.get(index).copied());
    found.ok_or_else(|| Error::query("a view refers to no relation"))
}

/// The query in the WITH list of `scope` or around it that has this name, and where it lies.
///
/// # Safety
/// The queries of the scope are valid.
pub unsafe fn with_query<'a>(
    scope: &'a Scope<'a>,
    entry: &pg_sys::RangeTblEntry,
) -> Result<(&'a pg_sys::Query, &'a Scope<'a>), Error> {
    let missing = || Error::query("a view refers to no WITH query");
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

/// What lies inside an expression but does not change whose value it is: a cast without a function, or
/// another collation.
///
/// # Safety
/// `node` is a valid expression.
pub unsafe fn bare(node: *mut pg_sys::Node) -> *mut pg_sys::Node {
    // SAFETY: every cast follows a check of the node's tag.
    unsafe {
        if is_a(node, NodeTag::T_RelabelType) {
            return bare((*node.cast::<pg_sys::RelabelType>()).arg.cast());
        }
        if is_a(node, NodeTag::T_CollateExpr) {
            return bare((*node.cast::<pg_sys::CollateExpr>()).arg.cast());
        }
        node
    }
}

/// A column of a relation in FROM: its index in the range table and its number.
pub type Place = (usize, i16);

/// The expression behind a column of a join or of a grouping; any other expression as it is.
///
/// # Safety
/// `node` is a valid expression of the query.
pub unsafe fn resolved(
    query: &pg_sys::Query,
    node: *mut pg_sys::Node,
) -> Result<*mut pg_sys::Node, Error> {
    // SAFETY: every cast follows a check of the node's tag.
    unsafe {
        let node = bare(node);
        if !is_a(node, NodeTag::T_Var) {
            return Ok(node);
        }
        let var = &*node.cast::<pg_sys::Var>();
        if var.varlevelsup > 0 {
            return Ok(node);
        }
        let entry = entry(query, var.varno as usize)?;
        let behind = match entry.rtekind {
            pg_sys::RTEKind::RTE_JOIN => entry.joinaliasvars,
            #[cfg(feature = "pg18")]
            pg_sys::RTEKind::RTE_GROUP => entry.groupexprs,
            _ => return Ok(node),
        };
        let column = usize::try_from(var.varattno).ok().and_then(|i| i.checked_sub(1));
        match column.and_then(|i| PgList::<pg_sys::Node>::from_pg(behind).get_ptr(i)) {
            Some(node) if !node.is_null() => resolved(query, node),
            _ => Ok(node),
        }
    }
}

/// The columns that an expression is made of; `None` if one of them belongs to a query around this one.
///
/// # Safety
/// `node` is a valid expression of the query.
pub unsafe fn places(
    query: &pg_sys::Query,
    node: *mut pg_sys::Node,
) -> Result<Option<BTreeSet<Place>>, Error> {
    let mut found = Found { vars: Vec::new() };
    // SAFETY: the walker's context is `found`, which outlives the walk.
    unsafe {
        collect_vars(resolved(query, node)?, (&raw mut found).cast());
        let mut places = BTreeSet::new();
        for var in found.vars {
            if (*var).varlevelsup > 0 {
                return Ok(None);
            }
            let behind = resolved(query, var.cast())?;
            if behind == var.cast() {
                places.insert(((*var).varno as usize, (*var).varattno));
            } else if let Some(more) = self::places(query, behind)? {
                places.extend(more);
            } else {
                return Ok(None);
            }
        }
        Ok(Some(places))
    }
}

struct Found {
    vars: Vec<*mut pg_sys::Var>,
}

#[pgrx::pg_guard]
unsafe extern "C-unwind" fn collect_vars(node: *mut pg_sys::Node, context: *mut c_void) -> bool {
    // SAFETY: called with a node or null and with the context of `places`.
    unsafe {
        if node.is_null() {
            return false;
        }
        if is_a(node, NodeTag::T_Var) {
            (*context.cast::<Found>()).vars.push(node.cast());
            return false;
        }
        pg_sys::expression_tree_walker(node, Some(collect_vars), context)
    }
}

/// Everything that a part of a view reaches: through its subqueries, expressions, WITH queries and the
/// views that it reads.
#[derive(Default)]
pub struct Reach {
    pub relations: HashSet<Oid>,
    /// A function whose value may depend on more than its arguments.
    pub free_function: Option<&'static str>,
    seen: HashSet<usize>,
    error: Option<Error>,
}

struct Walk<'a> {
    reach: &'a mut Reach,
    scope: Option<&'a Scope<'a>>,
}

impl Reach {
    /// Adds what `node`, a query, an entry of a range table or an expression, reaches.
    ///
    /// # Safety
    /// `node` is valid and lies in the scope.
    pub unsafe fn add(
        &mut self,
        node: *mut pg_sys::Node,
        scope: Option<&Scope<'_>>,
    ) -> Result<(), Error> {
        let mut walk = Walk { reach: self, scope };
        // SAFETY: the walker's context is `walk`, which outlives the walk.
        unsafe { reach(node, (&raw mut walk).cast()) };
        self.error.take().map_or(Ok(()), Err)
    }

    /// A relation in FROM, and what lies behind it if it is a view.
    fn relation(&mut self, relation: Oid) -> Result<(), Error> {
        if !self.relations.insert(relation) {
            return Ok(());
        }
        match definition(relation)? {
            // SAFETY: the definition is valid; a view sees no WITH list but its own.
            Some(query) => unsafe { self.add(std::ptr::from_ref(query).cast_mut().cast(), None) },
            None => Ok(()),
        }
    }

    /// A reference to a WITH query of that name, whichever of those around it is meant.
    unsafe fn with(
        &mut self,
        entry: &pg_sys::RangeTblEntry,
        scope: Option<&Scope<'_>>,
    ) -> Result<(), Error> {
        let mut place = scope;
        while let Some(scope) = place {
            // SAFETY: WITH lists hold such expressions.
            unsafe {
                for with in nodes::<pg_sys::CommonTableExpr>(scope.query.cteList) {
                    let is_meant = CStr::from_ptr(with.ctename) == CStr::from_ptr(entry.ctename);
                    if is_meant && self.seen.insert(with.ctequery as usize) {
                        self.add(with.ctequery, Some(scope))?;
                    }
                }
            }
            place = scope.outer;
        }
        Ok(())
    }
}

#[pgrx::pg_guard]
unsafe extern "C-unwind" fn reach(node: *mut pg_sys::Node, context: *mut c_void) -> bool {
    // SAFETY: called with a node or null and with the context of `Reach::add`; every cast follows a
    // check of the node's tag.
    unsafe {
        if node.is_null() {
            return false;
        }
        pg_sys::check_stack_depth();
        let walk = &mut *context.cast::<Walk<'_>>();
        if is_a(node, NodeTag::T_RangeTblEntry) {
            let entry = &*node.cast::<pg_sys::RangeTblEntry>();
            let done = match entry.rtekind {
                pg_sys::RTEKind::RTE_RELATION => walk.reach.relation(entry.relid),
                pg_sys::RTEKind::RTE_CTE => walk.reach.with(entry, walk.scope),
                _ => Ok(()),
            };
            walk.reach.error = done.err();
            // The walker goes on into what hangs on the entry by itself.
            return walk.reach.error.is_some();
        }
        if is_a(node, NodeTag::T_Query) {
            let flags = pg_sys::QTW_EXAMINE_RTES_BEFORE as i32;
            return pg_sys::query_tree_walker(node.cast(), Some(reach), context, flags);
        }
        pg_sys::check_functions_in_node(node, Some(look_at_function), context);
        pg_sys::expression_tree_walker(node, Some(reach), context)
    }
}

/// Functions that tie rows together: those of sequences, and those that say that they read tables. For
/// others of a user's the owner of the view answers: unless somebody said more, all of them are volatile.
#[pgrx::pg_guard]
unsafe extern "C-unwind" fn look_at_function(function: Oid, context: *mut c_void) -> bool {
    // SAFETY: catalog look-ups; the context is that of `reach`.
    unsafe {
        let walk = &mut *context.cast::<Walk<'_>>();
        let name = pg_sys::get_func_name(function);
        let name = if name.is_null() { &[] } else { CStr::from_ptr(name).to_bytes() };
        let is_own = function.to_u32() < FIRST_USER_OID;
        let found = match name {
            b"nextval" | b"setval" | b"currval" | b"lastval" if is_own => "a sequence",
            name if is_own && name.windows(7).any(|part| part == b"_to_xml") => READS,
            _ if !is_own && pg_sys::func_volatile(function) as u8 == pg_sys::PROVOLATILE_STABLE => {
                READS
            }
            _ => return false,
        };
        walk.reach.free_function = Some(found);
        false
    }
}

const READS: &str = "a function that reads tables (it is STABLE, or makes XML of them)";
