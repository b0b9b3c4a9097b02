//! Which types a private query may touch: built-in ones only, whose operators and casts no user can
//! have defined.

use super::syscache::cached;
use super::view_tree::FIRST_USER_OID;
use crate::pg::call::attempt::caught;
use crate::pg::prelude::*;
use pgrx::PgMemoryContexts;
use pgrx::pg_sys::{FormData_pg_type, SysCacheIdentifier};
use std::ffi::CString;

const INTEGERS: [Oid; 3] = [pg_sys::INT2OID, pg_sys::INT4OID, pg_sys::INT8OID];
const NUMBERS: [Oid; 3] = [pg_sys::NUMERICOID, pg_sys::FLOAT4OID, pg_sys::FLOAT8OID];
/// Types whose equal values have equal bytes.
const EXACT: [Oid; 11] = [
    pg_sys::TEXTOID,
    pg_sys::VARCHAROID,
    pg_sys::BPCHAROID,
    pg_sys::BOOLOID,
    pg_sys::DATEOID,
    pg_sys::TIMEOID,
    pg_sys::TIMESTAMPOID,
    pg_sys::TIMESTAMPTZOID,
    pg_sys::UUIDOID,
    pg_sys::OIDOID,
    pg_sys::NAMEOID,
];

pub fn is_enum(base: Oid) -> bool {
    // SAFETY: a catalog look-up.
    unsafe { pg_sys::type_is_enum(base) }
}

/// Integers, which can be added as they are.
pub fn is_integer(base: Oid) -> bool {
    INTEGERS.contains(&base)
}

/// Integers of at most 32 bits, whose sums over a table stay within 64.
pub fn is_short_integer(base: Oid) -> bool {
    base == pg_sys::INT2OID || base == pg_sys::INT4OID
}

/// Types whose values can be added after scaling.
pub fn is_number(base: Oid) -> bool {
    is_integer(base) || NUMBERS.contains(&base)
}

/// Types whose values are text, with a collation of their own.
pub fn is_text(base: Oid) -> bool {
    [pg_sys::TEXTOID, pg_sys::VARCHAROID, pg_sys::BPCHAROID, pg_sys::NAMEOID].contains(&base)
}

/// Types whose values can identify units or groups by their bytes.
pub fn identifies(base: Oid) -> bool {
    is_integer(base) || EXACT.contains(&base) || is_enum(base)
}

/// Truth values.
pub fn is_boolean(base: Oid) -> bool {
    base == pg_sys::BOOLOID
}

/// Documents of any content, or arrays of them.
pub fn holds_documents(base: Oid) -> bool {
    [pg_sys::JSONOID, pg_sys::JSONBOID, pg_sys::XMLOID].contains(&element(base))
}

/// The type itself, or the base type of a domain.
pub fn base(type_oid: Oid) -> Oid {
    // SAFETY: a catalog look-up.
    unsafe { pg_sys::getBaseType(type_oid) }
}

/// The base type of an array's elements; for other types the base type itself.
pub fn element(array: Oid) -> Oid {
    // SAFETY: a catalog look-up; what is no array has no element type.
    match unsafe { pg_sys::get_element_type(array) } {
        pg_sys::InvalidOid => array,
        element => base(element),
    }
}

/// The labels of an enum in their order; `None` for other types.
pub fn enum_labels(base: Oid) -> Result<Option<Vec<String>>, Error> {
    if !is_enum(base) {
        return Ok(None);
    }
    let query = "SELECT enumlabel::pg_catalog.text FROM pg_catalog.pg_enum
                  WHERE enumtypid OPERATOR(pg_catalog.=) $1 ORDER BY enumsortorder";
    Ok(Some(sql::texts(query, &[base.into()])?.into_iter().flatten().collect()))
}

/// A value of the type from its text. Raises the type's own error if the text is not a value.
pub fn input(type_oid: Oid, typmod: i32, value: &str) -> Result<Datum, Error> {
    let input = CString::new(text::from_utf8(value)).map_err(|_| {
        Error::argument("a value contains a zero byte", "Text of Postgres has none.")
    })?;
    // SAFETY: the input function of the type itself.
    Ok(rights::with_rights_for_type(type_oid, || unsafe {
        let (mut function, mut parameter) = (pg_sys::InvalidOid, pg_sys::InvalidOid);
        pg_sys::getTypeInputInfo(type_oid, &mut function, &mut parameter);
        let input = input.as_ptr().cast_mut();
        pg_sys::OidInputFunctionCall(function, input, parameter, typmod)
    }))
}

/// A value of the type from its text, in the type's own spelling. Raises the type's own error if the text is not a
/// value.
pub fn canonical(type_oid: Oid, typmod: i32, value: &str) -> Result<String, Error> {
    let datum = input(type_oid, typmod, value)?;
    // SAFETY: a value of that type.
    Ok(unsafe { output(type_oid, datum) })
}

/// [`canonical`] for a value of a built-in type that is compared with others: values that are equal for the type have
/// the same text, regardless of padding blanks, trailing zeros and the sign of zero.
pub fn identity(base: Oid, value: &str) -> Result<String, Error> {
    let text = canonical(base, -1, value)?;
    Ok(match base {
        pg_sys::BPCHAROID => text.trim_end_matches(' ').into(),
        pg_sys::NUMERICOID if text.contains('.') => {
            text.trim_end_matches('0').trim_end_matches('.').into()
        }
        pg_sys::FLOAT4OID | pg_sys::FLOAT8OID if text == "-0" => "0".into(),
        _ => text,
    })
}

/// [`canonical`] for a column, but written in the ISO style. The text is read with the caller's settings.
pub fn canonical_iso(column: &Column, value: &str) -> Result<String, Error> {
    let datum = input(column.type_oid, column.typmod, value)?;
    // SAFETY: a value of that type.
    rights::with_fixed_formats(|| Ok(unsafe { output(column.type_oid, datum) }))
}

/// The texts from [`canonical_iso`] in the session's current style. The texts of user-defined types are unchanged.
pub fn from_iso(column: &Column, values: Vec<String>) -> Result<Vec<String>, Error> {
    let base = column.base_type;
    if is_text(base) || base.to_u32() >= FIRST_USER_OID {
        return Ok(values);
    }
    let read = || values.iter().map(|value| input(base, -1, value)).collect::<Result<Vec<_>, _>>();
    let datums = rights::with_fixed_formats(read)?;
    // SAFETY: values of that type.
    Ok(datums.into_iter().map(|datum| unsafe { output(base, datum) }).collect())
}

/// [`canonical`] for a column; for an invalid text, the error names it.
pub fn accepted(column: &Column, value: &str) -> Result<String, Error> {
    // The type accepts every text unchanged.
    if column.type_oid == pg_sys::TEXTOID {
        return Ok(value.into());
    }
    // SAFETY: the value and its text are in the context; what is returned is not.
    let read = || unsafe {
        PgMemoryContexts::new("pg_sanitize value")
            .switch_to(|_| canonical(column.type_oid, column.typmod, value))
    };
    // Interrupts do not mean that the value is invalid. With any other error the statement ends: nothing that the
    // failed input function held is used again.
    caught(read, |error| {
        let Column { name, .. } = column;
        Err(Error::argument(
            format!("\"{value}\" is no value of column \"{name}\": {}", error.message()),
            "Everything that a cell may be shown as is a text that the column's type takes.",
        ))
    })
}

/// [`canonical`] for a column, by the base type of its domain: the constraints of the domain, whose functions any role
/// may have written, are not evaluated.
pub fn canonical_of_base(column: &Column, value: &str) -> Result<String, Error> {
    let mut typmod = column.typmod;
    // SAFETY: a catalog look-up.
    let base = unsafe { pg_sys::getBaseTypeAndTypmod(column.type_oid, &mut typmod) };
    canonical(base, typmod, value)
}

/// The text form of a value.
///
/// # Safety
/// `datum` is of that type.
pub(in crate::pg) unsafe fn output(type_oid: Oid, datum: Datum) -> String {
    // SAFETY: the type's own output function.
    unsafe { text::name(pg_sys::OidOutputFunctionCall(output_function(type_oid), datum)) }
}

/// The function that writes values of a type.
pub(in crate::pg) fn output_function(type_oid: Oid) -> Oid {
    let (mut function, mut is_varlena) = (pg_sys::InvalidOid, false);
    // SAFETY: a catalog look-up.
    unsafe { pg_sys::getTypeOutputInfo(type_oid, &mut function, &mut is_varlena) };
    function
}

/// A column of a query with its values as they are, neither compressed nor in a TOAST table; `None` if the type has no
/// long values. It is wrapped in a function that does not change it: a cast to the greatest length, or a unary plus.
pub fn whole(base: Oid, name: &str) -> Option<String> {
    match base {
        pg_sys::TEXTOID | pg_sys::VARCHAROID => Some(format!(
            "pg_catalog.varchar(({name})::pg_catalog.text::pg_catalog.varchar, 1073741823, true)"
        )),
        pg_sys::BPCHAROID => Some(format!("pg_catalog.bpchar({name}, -1, true)")),
        pg_sys::NUMERICOID => Some(format!("OPERATOR(pg_catalog.+) {name}")),
        _ => None,
    }
}

/// A value as a literal of its type, for a query: `value` is what [`canonical`] made of it.
pub fn literal(base: Oid, value: &str) -> String {
    format!("{}::{}", text_literal(value), type_name(base))
}

/// The name of a type for messages.
pub fn name(type_oid: Oid) -> String {
    // SAFETY: returns a palloc'd C string.
    unsafe { text::name(pg_sys::format_type_be(type_oid)) }
}

/// The name of a type for a query, without a length: `bpchar` and `"bit"`, because `character` and `bit` mean length 1.
fn type_name(base: Oid) -> String {
    let flags = pg_sys::FORMAT_TYPE_FORCE_QUALIFY | pg_sys::FORMAT_TYPE_TYPEMOD_GIVEN;
    // SAFETY: returns a palloc'd C string.
    unsafe { text::name(pg_sys::format_type_extended(base, -1, flags as u16)) }
}

/// An expression of a domain's type as one of the base type, in a way that user-defined casts cannot change.
pub fn of_base(base: Oid, expression: &str) -> String {
    format!("({expression})::{}", type_name(base))
}

/// An expression of this type, which it may name twice, as text. A user-defined type is written by its output function,
/// as SELECT does: its cast to text may be a function of the type's owner.
pub fn text_expression(base: Oid, expression: &str) -> String {
    if is_enum(base) {
        format!("pg_catalog.textin(pg_catalog.enum_out({expression}))")
    } else if base.to_u32() >= FIRST_USER_OID {
        output_expression(expression)
    } else {
        format!("({expression})::pg_catalog.text")
    }
}

/// An expression, which it names twice, as its type's output function writes it.
pub fn output_expression(expression: &str) -> String {
    format!(
        "CASE WHEN ({expression}) IS DISTINCT FROM NULL THEN pg_catalog.format('%s', {expression}) END"
    )
}

/// A text as a literal for a query; text of Postgres has no zero byte.
pub fn text_literal(value: &str) -> String {
    let value = CString::new(text::from_utf8(value)).unwrap_or_default();
    // SAFETY: returns a palloc'd C string.
    unsafe { text::name(pg_sys::quote_literal_cstr(value.as_ptr())) }
}

/// The owners of all domains in a type, whose constraints may call functions when a value of the type is read. Domains
/// may be in an array, a range or a row, or below another domain. Constraints can be added and dropped without a lock,
/// so a domain counts whether it has any or not.
pub fn authors(type_oid: Oid) -> Vec<Oid> {
    let (mut types, mut authors, mut next) = (vec![type_oid], Vec::new(), 0);
    while let Some(&of) = types.get(next) {
        next += 1;
        // Types that come with Postgres belong to a superuser.
        if of.to_u32() < FIRST_USER_OID {
            continue;
        }
        // SAFETY: the cache has rows of pg_type by their OIDs.
        let form = unsafe { cached(SysCacheIdentifier::TYPEOID, of, |of: &FormData_pg_type| *of) };
        let Some(form) = form else { continue };
        let within = match form.typtype as u8 {
            pg_sys::TYPTYPE_DOMAIN => {
                authors.push(form.typowner);
                form.typbasetype
            }
            // SAFETY: look-ups by OID.
            pg_sys::TYPTYPE_RANGE => unsafe { pg_sys::get_range_subtype(of) },
            // SAFETY: as above.
            pg_sys::TYPTYPE_MULTIRANGE => unsafe { pg_sys::get_multirange_range(of) },
            _ => form.typelem,
        };
        let row = Some(form.typrelid).filter(|&row| row != pg_sys::InvalidOid);
        let row = row.and_then(|row| Relation::row_type(row).ok());
        let columns = row.into_iter().flat_map(|row| row.columns);
        for more in columns.map(|column| column.type_oid).chain([within]) {
            if !types.contains(&more) {
                types.push(more);
            }
        }
    }
    authors.sort_unstable_by_key(|author| author.to_u32());
    authors.dedup();
    authors
}

/// Raises the domain's own error if this value of its base type, `None` for NULL, violates its constraints.
pub fn check_domain(domain: Oid, value: Option<Datum>) {
    let mut extra = std::ptr::null_mut();
    let (null, value) = (value.is_none(), value.unwrap_or(Datum::null()));
    // SAFETY: a value of the domain's base type; `extra` is the check's own cache, in this context.
    rights::with_rights_for_type(domain, || unsafe {
        pg_sys::domain_check(value, null, domain, &mut extra, pg_sys::CurrentMemoryContext);
    })
}

/// True for a domain whose values obey a constraint, its own or one of a domain that it is based on.
pub fn is_constrained(type_oid: Oid) -> Result<bool, Error> {
    sql::any(
        "WITH RECURSIVE chain AS (
             SELECT oid, typbasetype FROM pg_catalog.pg_type WHERE oid OPERATOR(pg_catalog.=) $1
              UNION ALL
             SELECT t.oid, t.typbasetype FROM pg_catalog.pg_type AS t
               JOIN chain ON t.oid OPERATOR(pg_catalog.=) chain.typbasetype)
         SELECT conname::pg_catalog.text FROM pg_catalog.pg_constraint
           JOIN chain ON contypid OPERATOR(pg_catalog.=) chain.oid LIMIT 1",
        &[type_oid.into()],
    )
}

/// About the smallest number that a column of the type and modifier holds.
pub fn least_number(base: Oid, typmod: i32) -> f64 {
    match base {
        pg_sys::INT2OID => f64::from(i16::MIN),
        pg_sys::INT4OID => f64::from(i32::MIN),
        pg_sys::INT8OID => i64::MIN as f64,
        // As numeric.c packs them: the precision, and eleven bits of scale with a sign.
        pg_sys::NUMERICOID if typmod >= 4 => {
            let (precision, scale) = ((typmod - 4) >> 16 & 0xffff, (typmod - 4) & 0x7ff);
            1.0 - 10f64.powi(precision - ((scale ^ 1024) - 1024))
        }
        _ => f64::NEG_INFINITY,
    }
}

/// True for a domain that is NOT NULL, by itself or by a domain that it is based on.
pub fn forbids_null(type_oid: Oid) -> Result<bool, Error> {
    sql::any(
        "WITH RECURSIVE chain AS (
             SELECT typbasetype, typnotnull FROM pg_catalog.pg_type WHERE oid OPERATOR(pg_catalog.=) $1
              UNION ALL
             SELECT t.typbasetype, t.typnotnull FROM pg_catalog.pg_type AS t
               JOIN chain ON t.oid OPERATOR(pg_catalog.=) chain.typbasetype)
         SELECT 'yes'::pg_catalog.text FROM chain WHERE typnotnull",
        &[type_oid.into()],
    )
}
