//! Range types, in which a release shows coarser numbers and dates if its publisher asks for that.

use pgrx::pg_sys::{self, Oid};

/// The range type for values of a base type of numbers or dates.
pub fn over(base: Oid) -> Option<Oid> {
    Some(match base {
        pg_sys::INT2OID | pg_sys::INT4OID => pg_sys::INT4RANGEOID,
        pg_sys::INT8OID => pg_sys::INT8RANGEOID,
        pg_sys::NUMERICOID | pg_sys::FLOAT4OID | pg_sys::FLOAT8OID => pg_sys::NUMRANGEOID,
        pg_sys::DATEOID => pg_sys::DATERANGEOID,
        pg_sys::TIMESTAMPOID => pg_sys::TSRANGEOID,
        pg_sys::TIMESTAMPTZOID => pg_sys::TSTZRANGEOID,
        _ => return None,
    })
}

/// The values from `low` to below `high`, as a text that the range type accepts. An end that the type of its ends
/// cannot represent is left out.
pub fn text(range: Oid, low: &str, high: &str) -> String {
    let end = |end| if is_end(range, end) { format!("\"{end}\"") } else { String::new() };
    let (low, high) = (end(low), end(high));
    let open = if low.is_empty() { "(" } else { "[" };
    format!("{open}{low},{high})")
}

/// A single value as such a text. No integer comes after the last one, so there the range has no end.
pub fn single(range: Oid, value: &str) -> String {
    let next = value.parse::<i128>().map(|value| (value + 1).to_string());
    match next {
        Ok(next) if is_of_integers(range) => text(range, value, &next),
        _ => format!("[\"{value}\",\"{value}\"]"),
    }
}

fn is_of_integers(range: Oid) -> bool {
    range == pg_sys::INT4RANGEOID || range == pg_sys::INT8RANGEOID
}

fn is_end(range: Oid, end: &str) -> bool {
    match range {
        pg_sys::INT4RANGEOID => end.parse::<i32>().is_ok(),
        pg_sys::INT8RANGEOID => end.parse::<i64>().is_ok(),
        _ => true,
    }
}
