//! The public range of a column of numbers or times: declared, or known from its constraints. Texts are
//! written in the ISO style, whatever the session's settings.

use super::domain::{self, literals, output, strings, unwrapped};
use super::error::Error;
use super::relation::{Column, Relation};
use super::rights;
use super::text::Text;
use super::tree::FIRST_USER_OID;
use super::types;
use pgrx::pg_sys::{self, NodeTag, Oid};
use pgrx::{AnyNumeric, PgList, is_a};
use std::ffi::{CStr, CString};

/// The types that have a range, and the one in which their values are compared.
fn compared_as(base: Oid) -> Option<&'static str> {
    match base {
        pg_sys::DATEOID => Some("date"),
        pg_sys::TIMESTAMPOID => Some("timestamp"),
        pg_sys::TIMESTAMPTZOID => Some("timestamptz"),
        base if types::is_number(base) => Some("numeric"),
        _ => None,
    }
}

/// True if a column can have bounds.
pub fn has_range(column: &Column) -> bool {
    compared_as(column.base_type).is_some()
}

/// A value of the column's type from its text, in the ISO style.
pub fn canonical(column: &Column, value: &str) -> Result<String, Error> {
    // The caller's text is read with the caller's settings.
    let value = types::input(column.type_oid, column.typmod, value)?;
    // SAFETY: the value is of that type.
    rights::with_fixed_formats(|| Ok(unsafe { output(column.type_oid, value) }))
}

/// True if these two values of the column are finite and the first is the smaller one.
pub fn is_range(column: &Column, low: &str, high: &str) -> Result<bool, Error> {
    let Some(type_name) = compared_as(column.base_type) else {
        return Ok(false);
    };
    Ok(ends(type_name, &[low.to_string()], &[high.to_string()], false)?.is_some())
}

/// The range of a column from its public facts: what its owner declared, else what the constraints leave,
/// else the ends of its public domain. `None` if it is not bounded on both sides.
pub fn bounds(relation: &Relation, column: &Column) -> Result<Option<(String, String)>, Error> {
    if let Some(declared) = declared(relation, column)? {
        return Ok(Some(declared));
    }
    let Some(type_name) = compared_as(column.base_type) else {
        return Ok(None);
    };
    rights::with_fixed_formats(|| {
        let mut limits = Limits::default();
        // SAFETY: trees of the catalog.
        unsafe { limits.add_constraints(relation, column)? };
        for list in std::mem::take(&mut limits.lists) {
            if let Some((low, high)) = ends(type_name, &list, &list, true)? {
                limits.lows.push(low);
                limits.highs.push(high);
            }
        }
        if let Some(found) = ends(type_name, &limits.lows, &limits.highs, false)? {
            return Ok(Some(found));
        }
        match domain::find(relation, column)? {
            Some(domain) => ends(type_name, &domain.values, &domain.values, true),
            None => Ok(None),
        }
    })
}

/// What the owner declared for the column.
pub fn declared(relation: &Relation, column: &Column) -> Result<Option<(String, String)>, Error> {
    let query = "SELECT pg_catalog.unnest(ARRAY[low, high]) FROM sanitize.declared_bounds
                  WHERE source OPERATOR(pg_catalog.=) $1 AND column_name OPERATOR(pg_catalog.=) $2";
    let found = strings(query, &[relation.oid.into(), Text(column.name.clone()).into()])?;
    Ok(<[String; 2]>::try_from(found).ok().map(|[low, high]| (low, high)))
}

/// The ends of a range: the narrowest that the limits leave, or the widest of the values themselves.
/// `None` if they are no range.
fn ends(
    type_name: &str,
    lows: &[String],
    highs: &[String],
    of_values: bool,
) -> Result<Option<(String, String)>, Error> {
    let (low, high) = if of_values { ("min", "max") } else { ("max", "min") };
    let finite = match type_name {
        "numeric" => "v::pg_catalog.text OPERATOR(pg_catalog.!~) '[a-zA-Z]'",
        _ => "pg_catalog.isfinite(v)",
    };
    let end = |which: &str, list: &str| {
        format!(
            "(SELECT pg_catalog.{which}(v) FROM pg_catalog.unnest({list}) AS t
                CROSS JOIN LATERAL (SELECT t::pg_catalog.{type_name} AS v) AS x WHERE {finite})"
        )
    };
    let query = format!(
        "SELECT pg_catalog.unnest(ARRAY[low::pg_catalog.text, high::pg_catalog.text])
           FROM (SELECT {} AS low, {} AS high) AS e WHERE low OPERATOR(pg_catalog.<) high",
        end(low, "$1"),
        end(high, "$2")
    );
    let texts = |list: &[String]| list.iter().cloned().map(Text).collect::<Vec<_>>();
    let found = strings(&query, &[texts(lows).into(), texts(highs).into()])?;
    Ok(<[String; 2]>::try_from(found).ok().map(|[low, high]| (low, high)))
}

/// Whether a literal of this type says something about values of the other without a time zone.
fn is_akin(column: Oid, literal: Oid) -> bool {
    match column {
        pg_sys::TIMESTAMPOID => [pg_sys::TIMESTAMPOID, pg_sys::DATEOID].contains(&literal),
        pg_sys::DATEOID => [pg_sys::TIMESTAMPOID, pg_sys::DATEOID].contains(&literal),
        pg_sys::TIMESTAMPTZOID => literal == pg_sys::TIMESTAMPTZOID,
        _ => types::is_number(literal),
    }
}

/// What the CHECK constraints of a column say about its values.
#[derive(Default)]
struct Limits {
    lows: Vec<String>,
    highs: Vec<String>,
    lists: Vec<Vec<String>>,
}

impl Limits {
    /// Only literals are read: nothing of an expression is evaluated, because its functions belong to the
    /// table's owner and would run with the caller's rights.
    unsafe fn add_constraints(
        &mut self,
        relation: &Relation,
        column: &Column,
    ) -> Result<(), Error> {
        let query = "SELECT conbin::pg_catalog.text FROM pg_catalog.pg_constraint
                      WHERE contype OPERATOR(pg_catalog.=) 'c' AND convalidated AND (
                            conrelid OPERATOR(pg_catalog.=) $1
                            AND $2 OPERATOR(pg_catalog.=) ANY (conkey)
                            OR contypid OPERATOR(pg_catalog.<>) 0 AND contypid OPERATOR(pg_catalog.=) $3)";
        let arguments = [relation.oid.into(), column.number.into(), column.type_oid.into()];
        for tree in strings(query, &arguments)? {
            let Ok(tree) = CString::new(tree) else { continue };
            // SAFETY: the text is a node tree of the catalog.
            unsafe { self.add(column, pg_sys::stringToNode(tree.as_ptr()).cast()) };
        }
        Ok(())
    }

    /// Adds what a condition says, and every one of those that AND combines.
    unsafe fn add(&mut self, column: &Column, node: *mut pg_sys::Node) {
        // SAFETY: every cast follows a check of the node's tag.
        unsafe {
            if is_a(node, NodeTag::T_BoolExpr) {
                let all = &*node.cast::<pg_sys::BoolExpr>();
                if all.boolop == pg_sys::BoolExprType::AND_EXPR {
                    for part in PgList::<pg_sys::Node>::from_pg(all.args).iter_ptr() {
                        self.add(column, part);
                    }
                }
            } else if is_a(node, NodeTag::T_OpExpr) {
                self.add_comparison(column, &*node.cast::<pg_sys::OpExpr>());
            } else if is_a(node, NodeTag::T_ScalarArrayOpExpr) {
                let operation = &*node.cast::<pg_sys::ScalarArrayOpExpr>();
                let subject = PgList::<pg_sys::Node>::from_pg(operation.args).get_ptr(0);
                if subject.is_some_and(|subject| is_subject(column, subject))
                    && let Some(list) = literals(node)
                {
                    self.lists.push(list);
                }
            }
        }
    }

    unsafe fn add_comparison(&mut self, column: &Column, operation: &pg_sys::OpExpr) {
        // SAFETY: every cast follows a check of the node's tag.
        unsafe {
            let sides = PgList::<pg_sys::Node>::from_pg(operation.args);
            let (Some(left), Some(right)) = (sides.get_ptr(0), sides.get_ptr(1)) else { return };
            let name = pg_sys::get_opname(operation.opno);
            if name.is_null() || operation.opno.to_u32() >= FIRST_USER_OID {
                return;
            }
            let (is_left, literal) = match is_subject(column, left) {
                true => (true, unwrapped(right)),
                false if is_subject(column, right) => (false, unwrapped(left)),
                false => return,
            };
            if !is_a(literal, NodeTag::T_Const) {
                return;
            }
            let literal = &*literal.cast::<pg_sys::Const>();
            if literal.constisnull || !is_akin(column.base_type, literal.consttype) {
                return;
            }
            let value = output(literal.consttype, literal.constvalue);
            let limit = |is_low, excludes| limit(column, &value, is_low, excludes);
            match (CStr::from_ptr(name).to_bytes(), is_left) {
                (b">=", true) | (b"<=", false) => self.lows.push(limit(true, false)),
                (b">", true) | (b"<", false) => self.lows.push(limit(true, true)),
                (b"<=", true) | (b">=", false) => self.highs.push(limit(false, false)),
                (b"<", true) | (b">", false) => self.highs.push(limit(false, true)),
                (b"=", _) => self.lists.push(vec![value]),
                _ => {}
            }
        }
    }
}

/// A limit as a value of the column: the next integer if it is a column of integers.
fn limit(column: &Column, value: &str, is_low: bool, excludes: bool) -> String {
    let number = match AnyNumeric::try_from(value) {
        Ok(number) if types::is_integer(column.base_type) => number,
        _ => return value.to_string(),
    };
    match (is_low, excludes) {
        (true, false) => number.ceil(),
        (true, true) => number.floor() + 1,
        (false, false) => number.floor(),
        (false, true) => number.ceil() - 1,
    }
    .to_string()
}

/// True if the expression is the column itself, or the value of its domain type.
unsafe fn is_subject(column: &Column, node: *mut pg_sys::Node) -> bool {
    // SAFETY: the cast follows a check of the node's tag.
    unsafe {
        let node = unwrapped(node);
        is_a(node, NodeTag::T_CoerceToDomainValue)
            || is_a(node, NodeTag::T_Var) && (*node.cast::<pg_sys::Var>()).varattno == column.number
    }
}
