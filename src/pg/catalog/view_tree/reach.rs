//! What a part of a view reaches.

use super::{FIRST_USER_OID, Scope, definition, node_of, nodes};
use crate::pg::call::error::Error;
use pgrx::is_a;
use pgrx::pg_sys::{self, NodeTag, Oid};
use std::collections::HashSet;
use std::ffi::{CStr, c_void};

/// Everything that a part of a view reaches: through its subqueries, expressions, WITH queries and the
/// views that it reads.
#[derive(Default)]
pub struct Reach {
    pub relations: HashSet<Oid>,
    /// A function whose value may depend on more than its arguments.
    pub free_function: Option<&'static str>,
    /// A function is called that may read anything: it is not IMMUTABLE, and more than the conversion of a type from or
    /// to text, which is STABLE for most types as it depends on settings.
    pub calls_unknown: bool,
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
    pub(super) unsafe fn add(
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

    /// A reference to a WITH query of that name, in this query or one around it.
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
        if let Some(entry) = node_of::<pg_sys::RangeTblEntry>(node, NodeTag::T_RangeTblEntry) {
            let done = match entry.rtekind {
                pg_sys::RTEKind::RTE_RELATION => walk.reach.relation(entry.relid),
                pg_sys::RTEKind::RTE_CTE => walk.reach.with(entry, walk.scope),
                _ => Ok(()),
            };
            walk.reach.error = done.err();
            // The walker itself continues below the entry.
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

/// Notes functions whose result may depend on other rows: those of sequences, and those that are declared to read
/// tables. For other user-defined functions the owner of the view is responsible: undeclared functions are all
/// volatile.
#[pgrx::pg_guard]
unsafe extern "C-unwind" fn look_at_function(function: Oid, context: *mut c_void) -> bool {
    // SAFETY: catalog look-ups; the context is that of `reach`.
    unsafe {
        let walk = &mut *context.cast::<Walk<'_>>();
        let volatility = pg_sys::func_volatile(function) as u8;
        let name = pg_sys::get_func_name(function);
        let name = if name.is_null() { &[] } else { CStr::from_ptr(name).to_bytes() };
        walk.reach.calls_unknown |=
            volatility != pg_sys::PROVOLATILE_IMMUTABLE && !is_conversion(function, name);
        let is_own = function.to_u32() < FIRST_USER_OID;
        let found = match name {
            b"nextval" | b"setval" | b"currval" | b"lastval" if is_own => "a sequence",
            name if is_own && name.windows(7).any(|part| part == b"_to_xml") => READS,
            // These take the text of a query.
            b"ts_stat" | b"ts_rewrite" if is_own => READS,
            _ if !is_own && volatility == pg_sys::PROVOLATILE_STABLE => READS,
            _ => return false,
        };
        walk.reach.free_function = Some(found);
        false
    }
}

/// True for a conversion of a value to text or back. Not for the types of names in catalogs, which read the catalogs.
///
/// # Safety
/// The function exists and has this name.
unsafe fn is_conversion(function: Oid, name: &[u8]) -> bool {
    let (mut arguments, mut count) = (std::ptr::null_mut(), 0);
    // SAFETY: a catalog look-up; the types are as many as it says.
    let returned =
        unsafe { pg_sys::get_func_signature(function, &raw mut arguments, &raw mut count) };
    let text = pg_sys::CSTRINGOID;
    // SAFETY: there is a first one.
    let of_text = || count > 0 && unsafe { *arguments } == text;
    !name.starts_with(b"reg") && (returned == text || of_text())
}

const READS: &str = "a function that reads tables (it is STABLE, or runs a query)";
