//! The public domain of a column: the values that it may have, known without looking at its rows.

use super::error::Error;
use super::reader;
use super::relation::{Column, Relation};
use super::text::Text;
use super::tree::FIRST_USER_OID;
use super::{text, types};
use pgrx::pg_sys::{self, NodeTag};
use pgrx::{PgList, Spi, is_a};
use std::ffi::{CStr, CString};

/// The values of a column and where they are known from.
pub struct PublicDomain {
    pub values: Vec<String>,
    pub origin: &'static str,
}

/// The text that a column shows for a value given as text. Text that is no value of its type is an
/// error in Postgres' own words.
pub fn canonical(column: &Column, value: &str) -> Result<String, Error> {
    types::canonical(column.type_oid, column.typmod, value)
}

/// The text form of a value.
///
/// # Safety
/// `datum` is of that type.
pub(super) unsafe fn output(type_oid: pg_sys::Oid, datum: pg_sys::Datum) -> String {
    // SAFETY: the type's own output function.
    unsafe {
        let mut function = pg_sys::InvalidOid;
        let mut is_varlena = false;
        pg_sys::getTypeOutputInfo(type_oid, &mut function, &mut is_varlena);
        text::to_utf8(CStr::from_ptr(pg_sys::OidOutputFunctionCall(function, datum)).to_bytes())
    }
}

/// The public domain of a column: declared, or known from its type or a constraint.
pub fn find(relation: &Relation, column: &Column) -> Result<Option<PublicDomain>, Error> {
    if let Some(values) = declared(relation, column)? {
        return Ok(Some(PublicDomain { values, origin: "declared" }));
    }
    // SAFETY: look-ups by type OID.
    let base = unsafe { pg_sys::getBaseType(column.type_oid) };
    if base == pg_sys::BOOLOID {
        let values = vec!["f".to_string(), "t".to_string()];
        return Ok(Some(PublicDomain { values, origin: "boolean" }));
    }
    // SAFETY: as above.
    if unsafe { pg_sys::get_typtype(base) } as u8 == pg_sys::TYPTYPE_ENUM {
        let query = "SELECT enumlabel::pg_catalog.text FROM pg_catalog.pg_enum
                      WHERE enumtypid OPERATOR(pg_catalog.=) $1 ORDER BY enumsortorder";
        let values = strings(query, &[base.into()])?;
        return Ok(Some(PublicDomain { values, origin: "enum" }));
    }
    if let Some(values) = check(relation, column)? {
        return Ok(Some(PublicDomain { values, origin: "check" }));
    }
    let values = foreign_key(relation, column)?;
    Ok(values.map(|values| PublicDomain { values, origin: "foreign key" }))
}

/// The first column of a query's rows.
pub(super) fn strings(
    query: &str,
    arguments: &[pgrx::datum::DatumWithOid<'_>],
) -> Result<Vec<String>, Error> {
    let read = Spi::connect(|client| {
        let rows = client.select(query, None, arguments)?;
        rows.map(|row| row.get::<Text>(1)).collect::<Result<Vec<_>, _>>()
    });
    Ok(read.map_err(Error::query)?.into_iter().flatten().map(|Text(text)| text).collect())
}

fn declared(relation: &Relation, column: &Column) -> Result<Option<Vec<String>>, Error> {
    let query = "SELECT pg_catalog.unnest(domain_values) FROM sanitize.declared_domain
                  WHERE source OPERATOR(pg_catalog.=) $1 AND column_name OPERATOR(pg_catalog.=) $2";
    let values = strings(query, &[relation.oid.into(), Text(column.name.clone()).into()])?;
    Ok((!values.is_empty()).then_some(values))
}

/// The values of a constraint `CHECK (column IN (…))` on the column or on its domain type.
///
/// Only literals are read: nothing of the expression is evaluated, because its functions belong to
/// the table's owner and would run with the caller's rights.
fn check(relation: &Relation, column: &Column) -> Result<Option<Vec<String>>, Error> {
    let query = "SELECT conbin::pg_catalog.text FROM pg_catalog.pg_constraint
                  WHERE contype OPERATOR(pg_catalog.=) 'c' AND convalidated AND (
                        conrelid OPERATOR(pg_catalog.=) $1
                        AND conkey OPERATOR(pg_catalog.=) ARRAY[$2]
                        OR contypid OPERATOR(pg_catalog.<>) 0 AND contypid OPERATOR(pg_catalog.=) $3)
                  ORDER BY conname";
    let attribute = (column.attribute + 1) as i16;
    let arguments = [relation.oid.into(), attribute.into(), column.type_oid.into()];
    for tree in strings(query, &arguments)? {
        let Ok(tree) = CString::new(tree) else { continue };
        // SAFETY: the text is a node tree of the catalog.
        let literals = unsafe { literals(pg_sys::stringToNode(tree.as_ptr()).cast()) };
        if let Some(literals) = literals {
            let values: Result<Vec<String>, Error> =
                literals.iter().map(|v| canonical(column, v)).collect();
            let mut values = values?;
            values.sort_unstable();
            values.dedup();
            return Ok(Some(values));
        }
    }
    Ok(None)
}

/// The literals of `x = ANY (ARRAY[…])` with Postgres' own equality; `None` for anything else.
///
/// # Safety
/// `node` is a valid expression tree.
pub(super) unsafe fn literals(node: *mut pg_sys::Node) -> Option<Vec<String>> {
    // SAFETY: every cast follows a check of the node's tag.
    unsafe {
        if !is_a(node, NodeTag::T_ScalarArrayOpExpr) {
            return None;
        }
        let operation = &*node.cast::<pg_sys::ScalarArrayOpExpr>();
        let name = pg_sys::get_opname(operation.opno);
        let is_equality = !name.is_null() && CStr::from_ptr(name) == c"=";
        if !operation.useOr || !is_equality || operation.opno.to_u32() >= FIRST_USER_OID {
            return None;
        }
        let arguments = PgList::<pg_sys::Node>::from_pg(operation.args);
        let subject = unwrapped(arguments.get_ptr(0)?);
        if !is_a(subject, NodeTag::T_Var) && !is_a(subject, NodeTag::T_CoerceToDomainValue) {
            return None;
        }
        let list = unwrapped(arguments.get_ptr(1)?);
        if is_a(list, NodeTag::T_Const) {
            return elements(&*list.cast::<pg_sys::Const>());
        }
        if !is_a(list, NodeTag::T_ArrayExpr) {
            return None;
        }
        PgList::<pg_sys::Node>::from_pg((*list.cast::<pg_sys::ArrayExpr>()).elements)
            .iter_ptr()
            .map(|element| {
                let element = unwrapped(element);
                if !is_a(element, NodeTag::T_Const) {
                    return None;
                }
                let literal = &*element.cast::<pg_sys::Const>();
                (!literal.constisnull).then(|| output(literal.consttype, literal.constvalue))
            })
            .collect()
    }
}

/// The elements of a literal array; `None` if it is none or holds NULL.
///
/// # Safety
/// `literal` is a valid constant.
unsafe fn elements(literal: &pg_sys::Const) -> Option<Vec<String>> {
    // SAFETY: the array is taken apart by the description of its own element type.
    unsafe {
        let element_type = pg_sys::get_element_type(literal.consttype);
        if literal.constisnull || element_type == pg_sys::InvalidOid {
            return None;
        }
        let (mut length, mut by_value, mut align) = (0, false, 0);
        pg_sys::get_typlenbyvalalign(element_type, &mut length, &mut by_value, &mut align);
        let (mut values, mut nulls, mut count) = (std::ptr::null_mut(), std::ptr::null_mut(), 0);
        pg_sys::deconstruct_array(
            pg_sys::pg_detoast_datum(literal.constvalue.cast_mut_ptr()).cast(),
            element_type,
            length.into(),
            by_value,
            align,
            &mut values,
            &mut nulls,
            &mut count,
        );
        (0..count as usize)
            .map(|i| (!*nulls.add(i)).then(|| output(element_type, *values.add(i))))
            .collect()
    }
}

/// The expression inside casts that Postgres put there, which do not change the value's text
/// beyond what the column's type does to it again.
///
/// # Safety
/// `node` is a valid expression tree.
pub(super) unsafe fn unwrapped(node: *mut pg_sys::Node) -> *mut pg_sys::Node {
    // SAFETY: every cast follows a check of the node's tag.
    unsafe {
        if is_a(node, NodeTag::T_RelabelType) {
            return unwrapped((*node.cast::<pg_sys::RelabelType>()).arg.cast());
        }
        if is_a(node, NodeTag::T_ArrayCoerceExpr) {
            return unwrapped((*node.cast::<pg_sys::ArrayCoerceExpr>()).arg.cast());
        }
        if is_a(node, NodeTag::T_FuncExpr) {
            let call = &*node.cast::<pg_sys::FuncExpr>();
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

/// True if the current user may read the relation as a whole.
fn readable(relation: pg_sys::Oid) -> bool {
    // SAFETY: a catalog look-up.
    unsafe {
        pg_sys::pg_class_aclcheck(
            relation,
            pg_sys::GetUserId(),
            pg_sys::ACL_SELECT as pg_sys::AclMode,
        ) == pg_sys::AclResult::ACLCHECK_OK
    }
}

/// The values of the column that a foreign key of this column alone refers to. Who may not read
/// them there does not learn them here: for them the domain is not known.
fn foreign_key(relation: &Relation, column: &Column) -> Result<Option<Vec<String>>, Error> {
    let query = "SELECT pg_catalog.concat(confrelid::pg_catalog.int8, ' ', confkey[1])
                   FROM pg_catalog.pg_constraint
                  WHERE contype OPERATOR(pg_catalog.=) 'f' AND convalidated
                    AND conrelid OPERATOR(pg_catalog.=) $1
                    AND conkey OPERATOR(pg_catalog.=) ARRAY[$2]
                  ORDER BY conname LIMIT 1";
    let attribute = (column.attribute + 1) as i16;
    let found = strings(query, &[relation.oid.into(), attribute.into()])?;
    let Some((oid, attribute)) = found.first().and_then(|pair| pair.split_once(' ')) else {
        return Ok(None);
    };
    let (Ok(oid), Ok(attribute)) = (oid.parse::<u32>(), attribute.parse::<usize>()) else {
        return Ok(None);
    };
    if !readable(oid.into()) {
        return Ok(None);
    }
    let lookup = Relation::open(oid.into())?;
    let Some(position) = lookup.columns.iter().position(|c| c.attribute + 1 == attribute) else {
        return Ok(None);
    };
    let table = reader::read(&lookup, &[position])?;
    Ok(Some(table.bag.domain(0).values().map(text::to_utf8).collect()))
}
