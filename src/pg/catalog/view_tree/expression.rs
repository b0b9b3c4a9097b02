//! Expressions: the columns in them, and the columns that conditions equate.

use super::{Place, entry, node_of, own_operator};
use crate::pg::call::error::Error;
use pgrx::pg_sys::{self, NodeTag};
use pgrx::{PgList, is_a};
use std::collections::BTreeSet;
use std::ffi::c_void;

/// The expression inside nodes that do not change the value: casts without a function, and collations.
///
/// # Safety
/// `node` is a valid expression.
unsafe fn bare(node: *mut pg_sys::Node) -> *mut pg_sys::Node {
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

/// A column, if the expression is nothing else.
///
/// # Safety
/// `node` is a valid expression.
unsafe fn var<'a>(node: *mut pg_sys::Node) -> Option<&'a pg_sys::Var> {
    // SAFETY: as the caller says.
    unsafe { node_of(node, NodeTag::T_Var) }
}

/// The expression behind a column of a join or of a grouping; any other expression as it is.
///
/// # Safety
/// `node` is a valid expression of the query.
pub(super) unsafe fn resolved(
    query: &pg_sys::Query,
    node: *mut pg_sys::Node,
) -> Result<*mut pg_sys::Node, Error> {
    // SAFETY: every cast follows a check of the node's tag.
    unsafe {
        let node = bare(node);
        let Some(var) = var(node).filter(|var| var.varlevelsup == 0) else { return Ok(node) };
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
pub(super) unsafe fn places(
    query: &pg_sys::Query,
    node: *mut pg_sys::Node,
) -> Result<Option<BTreeSet<Place>>, Error> {
    let mut vars: Vec<*mut pg_sys::Var> = Vec::new();
    // SAFETY: the walker's context is `vars`, which outlives the walk.
    unsafe {
        collect_vars(resolved(query, node)?, (&raw mut vars).cast());
        let mut places = BTreeSet::new();
        for var in vars {
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

#[pgrx::pg_guard]
unsafe extern "C-unwind" fn collect_vars(node: *mut pg_sys::Node, context: *mut c_void) -> bool {
    // SAFETY: called with a node or null and with the context of `places`.
    unsafe {
        if node.is_null() {
            return false;
        }
        if is_a(node, NodeTag::T_Var) {
            (*context.cast::<Vec<*mut pg_sys::Var>>()).push(node.cast());
            return false;
        }
        pg_sys::expression_tree_walker(node, Some(collect_vars), context)
    }
}

/// The conditions `column = column` among those that must all hold.
///
/// # Safety
/// `node` is a valid expression of the query, or null.
pub(super) unsafe fn equalities(
    query: &pg_sys::Query,
    node: *mut pg_sys::Node,
) -> Result<Vec<(Place, Place)>, Error> {
    // SAFETY: every cast follows a check of the node's tag.
    unsafe {
        if let Some(all) = node_of::<pg_sys::BoolExpr>(node, NodeTag::T_BoolExpr) {
            let mut found = Vec::new();
            if all.boolop == pg_sys::BoolExprType::AND_EXPR {
                for part in PgList::<pg_sys::Node>::from_pg(all.args).iter_ptr() {
                    found.extend(equalities(query, part)?);
                }
            }
            return Ok(found);
        }
        let Some(operation) = node_of::<pg_sys::OpExpr>(node, NodeTag::T_OpExpr) else {
            return Ok(Vec::new());
        };
        let is_equality = own_operator(operation.opno) == Some(c"=")
            && (operation.inputcollid == pg_sys::InvalidOid
                || pg_sys::get_collation_isdeterministic(operation.inputcollid));
        let sides = PgList::<pg_sys::Node>::from_pg(operation.args);
        let (Some(a), Some(b), true) = (sides.get_ptr(0), sides.get_ptr(1), is_equality) else {
            return Ok(Vec::new());
        };
        Ok(column(query, a)?.zip(column(query, b)?).into_iter().collect())
    }
}

/// The column that an expression is, if it is nothing else.
///
/// # Safety
/// `node` is a valid expression of the query.
unsafe fn column(query: &pg_sys::Query, node: *mut pg_sys::Node) -> Result<Option<Place>, Error> {
    // SAFETY: as the caller says.
    unsafe {
        let var = var(resolved(query, node)?).filter(|var| var.varlevelsup == 0);
        Ok(var.map(|var| (var.varno as usize, var.varattno)))
    }
}
