//! The values with which a column's CHECK constraints compare it. Only literals are read: expressions are not
//! evaluated, because the table's owner wrote their functions, which would run with the caller's rights.

use super::types::output;
use super::view_tree::{FIRST_USER_OID, node_of, own_operator};
use crate::pg::call::array::Elements;
use crate::pg::prelude::*;
use pgrx::pg_sys::NodeTag;
use pgrx::{PgList, is_a};
use std::ffi::{CStr, CString};

/// A condition of a constraint on the column, with Postgres' own operators. Literals are texts in the style of the
/// session.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Condition {
    /// The column is one of these.
    OneOf(Vec<String>),
    /// The column is the left operand.
    Compare { operator: Comparison, literal: String, literal_type: Oid },
}

/// How a column is compared with a literal.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Comparison {
    Equal,
    Below,
    AtMost,
    Above,
    AtLeast,
}

impl Comparison {
    fn named(operator: &CStr) -> Option<Self> {
        match operator.to_bytes() {
            b"=" => Some(Comparison::Equal),
            b"<" => Some(Comparison::Below),
            b"<=" => Some(Comparison::AtMost),
            b">" => Some(Comparison::Above),
            b">=" => Some(Comparison::AtLeast),
            _ => None,
        }
    }

    /// The same with the sides exchanged.
    fn turned(self) -> Self {
        match self {
            Comparison::Equal => Comparison::Equal,
            Comparison::Below => Comparison::Above,
            Comparison::AtMost => Comparison::AtLeast,
            Comparison::Above => Comparison::Below,
            Comparison::AtLeast => Comparison::AtMost,
        }
    }
}

/// A constraint of the column or of its domain type.
pub struct Constraint {
    /// It consists of one condition, on this column alone.
    pub is_single: bool,
    /// Those of its conditions, joined by AND, that are understood.
    pub conditions: Vec<Condition>,
}

/// The constraints that name the column, in the order of their names.
pub fn constraints(relation: &Relation, column: &Column) -> Result<Vec<Constraint>, Error> {
    let query = "SELECT pg_catalog.concat(coalesce(conkey OPERATOR(pg_catalog.=) ARRAY[$2], true), ' ', conbin)
                   FROM pg_catalog.pg_constraint
                  WHERE contype OPERATOR(pg_catalog.=) 'c' AND convalidated AND (
                        conrelid OPERATOR(pg_catalog.=) $1
                        AND $2 OPERATOR(pg_catalog.=) ANY (conkey)
                        OR contypid OPERATOR(pg_catalog.<>) 0 AND contypid OPERATOR(pg_catalog.=) $3)
                  ORDER BY conname";
    let arguments = [relation.oid.into(), column.number.into(), column.type_oid.into()];
    let mut found = Vec::new();
    for row in sql::texts(query, &arguments)?.into_iter().flatten() {
        let Some((is_alone, tree)) = row.split_once(' ') else { continue };
        let Ok(tree) = CString::new(tree) else { continue };
        let mut conditions = Vec::new();
        // SAFETY: the text is a node tree of the catalog.
        let is_combined = unsafe {
            let node: *mut pg_sys::Node = pg_sys::stringToNode(tree.as_ptr()).cast();
            add(&mut conditions, column, node);
            is_a(node, NodeTag::T_BoolExpr)
        };
        found.push(Constraint { is_single: is_alone == "t" && !is_combined, conditions });
    }
    Ok(found)
}

/// Adds a condition, or each of the conditions that AND combines.
///
/// # Safety
/// `node` is a valid expression tree.
unsafe fn add(found: &mut Vec<Condition>, column: &Column, node: *mut pg_sys::Node) {
    // SAFETY: every cast follows a check of the node's tag.
    unsafe {
        if let Some(all) = node_of::<pg_sys::BoolExpr>(node, NodeTag::T_BoolExpr) {
            if all.boolop == pg_sys::BoolExprType::AND_EXPR {
                for part in PgList::<pg_sys::Node>::from_pg(all.args).iter_ptr() {
                    add(found, column, part);
                }
            }
        } else if let Some(operation) = node_of(node, NodeTag::T_OpExpr) {
            found.extend(comparison(column, operation));
        } else {
            found.extend(literals(column, node).map(Condition::OneOf));
        }
    }
}

/// `column operator literal`, in either order; `None` for anything else.
///
/// # Safety
/// `operation` is a valid expression tree.
unsafe fn comparison(column: &Column, operation: &pg_sys::OpExpr) -> Option<Condition> {
    // SAFETY: every cast follows a check of the node's tag.
    unsafe {
        let sides = PgList::<pg_sys::Node>::from_pg(operation.args);
        let (left, right) = (sides.get_ptr(0)?, sides.get_ptr(1)?);
        let operator = Comparison::named(own_operator(operation.opno)?)?;
        let (operator, other) = match is_subject(column, left) {
            true => (operator, right),
            false if is_subject(column, right) => (operator.turned(), left),
            false => return None,
        };
        let (literal_type, literal) = literal(other)?;
        Some(Condition::Compare { operator, literal, literal_type })
    }
}

/// The type and the text of a literal that is not NULL; `None` for anything else.
///
/// # Safety
/// `node` is a valid expression tree.
unsafe fn literal(node: *mut pg_sys::Node) -> Option<(Oid, String)> {
    // SAFETY: a literal's value is of its type.
    unsafe {
        let literal = node_of::<pg_sys::Const>(unwrapped(node), NodeTag::T_Const)?;
        (!literal.constisnull)
            .then(|| (literal.consttype, output(literal.consttype, literal.constvalue)))
    }
}

/// The literals of `x = ANY (ARRAY[…])` with Postgres' own equality; `None` for anything else.
///
/// # Safety
/// `node` is a valid expression tree.
unsafe fn literals(column: &Column, node: *mut pg_sys::Node) -> Option<Vec<String>> {
    // SAFETY: every cast follows a check of the node's tag.
    unsafe {
        let operation = node_of::<pg_sys::ScalarArrayOpExpr>(node, NodeTag::T_ScalarArrayOpExpr)?;
        if !operation.useOr || own_operator(operation.opno) != Some(c"=") {
            return None;
        }
        let arguments = PgList::<pg_sys::Node>::from_pg(operation.args);
        if !is_subject(column, arguments.get_ptr(0)?) {
            return None;
        }
        let list = unwrapped(arguments.get_ptr(1)?);
        if let Some(list) = node_of(list, NodeTag::T_Const) {
            return elements(list);
        }
        let list = node_of::<pg_sys::ArrayExpr>(list, NodeTag::T_ArrayExpr)?;
        let list = PgList::<pg_sys::Node>::from_pg(list.elements);
        list.iter_ptr().map(|element| Some(literal(element)?.1)).collect()
    }
}

/// The elements of a literal array; `None` if it is not an array or has NULL.
///
/// # Safety
/// `literal` is a valid constant.
unsafe fn elements(literal: &pg_sys::Const) -> Option<Vec<String>> {
    // SAFETY: the array is taken apart by the description of its own element type.
    unsafe {
        if literal.constisnull || pg_sys::get_element_type(literal.consttype) == pg_sys::InvalidOid
        {
            return None;
        }
        let array = pg_sys::pg_detoast_datum(literal.constvalue.cast_mut_ptr()).cast();
        let elements = Elements::new(array);
        let text = |i: usize| match elements.get(i) {
            (_, true) => None,
            (value, false) => Some(output(elements.of, value)),
        };
        (0..elements.len()).map(text).collect()
    }
}

/// The expression inside casts that Postgres added, which change a value's text at most as the column's type itself
/// does.
///
/// # Safety
/// `node` is a valid expression tree.
unsafe fn unwrapped(node: *mut pg_sys::Node) -> *mut pg_sys::Node {
    // SAFETY: every cast follows a check of the node's tag.
    unsafe {
        if let Some(cast) = node_of::<pg_sys::RelabelType>(node, NodeTag::T_RelabelType) {
            return unwrapped(cast.arg.cast());
        }
        if let Some(cast) = node_of::<pg_sys::ArrayCoerceExpr>(node, NodeTag::T_ArrayCoerceExpr) {
            return unwrapped(cast.arg.cast());
        }
        if let Some(call) = node_of::<pg_sys::FuncExpr>(node, NodeTag::T_FuncExpr) {
            let implicit = call.funcformat == pg_sys::CoercionForm::COERCE_IMPLICIT_CAST;
            let own = call.funcid.to_u32() < FIRST_USER_OID;
            let arguments = PgList::<pg_sys::Node>::from_pg(call.args);
            if implicit
                && own
                && let Some(argument) = arguments.get_ptr(0)
            {
                return unwrapped(argument);
            }
        }
        node
    }
}

/// True if the expression is the column itself, or the value of its domain type.
unsafe fn is_subject(column: &Column, node: *mut pg_sys::Node) -> bool {
    // SAFETY: the cast follows a check of the node's tag.
    unsafe {
        let node = unwrapped(node);
        is_a(node, NodeTag::T_CoerceToDomainValue)
            || node_of::<pg_sys::Var>(node, NodeTag::T_Var)
                .is_some_and(|var| var.varattno == column.number)
    }
}
