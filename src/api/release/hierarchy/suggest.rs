//! Proposed levels for a column without declared ones.

use super::prefix::characters;
use super::{dates, ranges};
use crate::api::prelude::*;
use crate::pg::call::notice::percent;
use std::collections::BTreeMap;

/// How many levels a proposal has at most.
const LEVELS: usize = 5;

/// The longest codes for which prefixes are proposed.
const LONGEST: usize = 12;

/// Levels for the values of a column, as they could be declared; `None` if no kind of levels fits. For domain types
/// with constraints there is no proposal, because they may refuse general values.
pub fn levels(column: &Column, domain: &Domain) -> Result<Option<Json>> {
    if domain.len() < 2 || types::is_constrained(column.type_oid)? {
        return Ok(None);
    }
    match column.base_type {
        base if types::is_number(base) => of_numbers(column, domain),
        pg_sys::DATEOID | pg_sys::TIMESTAMPOID | pg_sys::TIMESTAMPTZOID => of_dates(column, domain),
        base if types::is_text(base) => Ok(of_codes(column, domain)),
        _ => Ok(None),
    }
}

/// Why there is no proposal for the values of a column, and how many of the values would fit one.
pub fn reason(column: &Column, domain: &Domain) -> Result<String> {
    if domain.len() < 2 {
        return Ok(String::from("it has fewer than two different values"));
    }
    if types::is_constrained(column.type_oid)? {
        return Ok(String::from(
            "its type is a domain with constraints, which may refuse general values",
        ));
    }
    Ok(match column.base_type {
        base if types::is_number(base) => String::from(
            "its numbers lie too close together, or too far apart, for ranges of 5, 10, 20, ...",
        ),
        pg_sys::DATEOID | pg_sys::TIMESTAMPOID | pg_sys::TIMESTAMPTZOID => String::from(
            "its dates span less than two months, or two days if they have a time of day",
        ),
        base if types::is_text(base) => of_texts(column, domain),
        _ => String::from(
            "only numbers, dates and codes of one length have levels that suggest themselves",
        ),
    })
}

/// Why texts have no prefixes: how many are codes of the most common length.
fn of_texts(column: &Column, domain: &Domain) -> String {
    let mut lengths: BTreeMap<usize, (usize, bool)> = BTreeMap::new();
    for value in domain.values() {
        let code = characters(column, value);
        if is_code(&code) && !code.is_empty() {
            let (values, letters) = lengths.entry(code.len()).or_default();
            *values += 1;
            *letters |= code.bytes().any(|b| b.is_ascii_uppercase());
        }
    }
    let most = lengths
        .into_iter()
        .max_by_key(|&(length, (values, _))| (values, std::cmp::Reverse(length)));
    let Some((length, (values, letters))) = most else {
        return String::from("its values are words, not codes of digits and capital letters");
    };
    let all = domain.len();
    let kind = if letters { "digits or capital letters" } else { "digits" };
    let share = percent(values as u128, all as u128);
    let form = match length {
        1 => format!("1 of {kind}"),
        length => format!("{length} {kind}"),
    };
    match values == all {
        true => {
            format!("its values are all of {form}, and prefixes are proposed for 2 to {LONGEST}")
        }
        false => format!(
            "{share} of its values are {form} ({values} of {all}), and prefixes are proposed if all are of one length"
        ),
    }
}

fn is_code(text: &str) -> bool {
    text.bytes().all(|b| b.is_ascii_digit() || b.is_ascii_uppercase())
}

/// Decimal ranges, from about a hundredth of the span of the values to half of it.
fn of_numbers(column: &Column, domain: &Domain) -> Result<Option<Json>> {
    let Some((low, high)) = ranges::extremes(domain)? else { return Ok(None) };
    let number = |text: String| text.parse::<f64>().unwrap_or(f64::INFINITY);
    let (low, high) = (number(low.to_string()), number(high.to_string()));
    let span = high - low;
    // The widths 5, 10, 20, 100, 200 times a power of ten.
    let exponent = (span / 50.0).log10().floor();
    if !(span > 0.0 && exponent.abs() <= 30.0) {
        return Ok(None);
    }
    let smallest = if types::is_integer(column.base_type) { 2.0 } else { 0.0 };
    let least = types::least_number(column.base_type, column.typmod);
    let mut widths: Vec<Json> = Vec::new();
    for factor in [5, 10, 20, 100, 200] {
        let Ok(width) = format!("{factor}e{exponent}").parse::<f64>() else { continue };
        let fits =
            width >= smallest && width <= span / 2.0 && (low / width).floor() * width >= least;
        if fits && widths.len() < LEVELS {
            // Whole widths are written without a point.
            widths.push(if width.fract() == 0.0 && width < 1e15 {
                json!(width as i64)
            } else {
                json!(width)
            });
        }
    }
    Ok((!widths.is_empty()).then(|| json!({ "ranges": widths })))
}

/// Calendar units, as long as the values span at least two of them.
fn of_dates(column: &Column, domain: &Domain) -> Result<Option<Json>> {
    let Some((low, high)) = dates::extremes(column, domain)? else { return Ok(None) };
    let days = (high - low) / 24.0;
    let units = [
        ("day", 1.0),
        ("month", 30.0),
        ("quarter", 91.0),
        ("year", 365.0),
        ("5 years", 1826.0),
        ("decade", 3652.0),
    ];
    let first = if column.base_type == pg_sys::DATEOID { 1 } else { 0 };
    let fitting = units[first..].iter().filter(|(_, length)| 2.0 * length <= days);
    let names: Vec<&str> = fitting.map(|(name, _)| *name).collect();
    Ok((!names.is_empty()).then(|| json!({ "dates": names })))
}

/// Prefixes of codes: digits and capital letters, all of the same length.
fn of_codes(column: &Column, domain: &Domain) -> Option<Json> {
    let mut length = None;
    for value in domain.values() {
        let code = characters(column, value);
        if !is_code(&code) || *length.get_or_insert(code.len()) != code.len() {
            return None;
        }
    }
    let length = length.filter(|length| (2..=LONGEST).contains(length))?;
    let lengths: Vec<usize> = (1..length).rev().collect();
    Some(json!({ "prefix": lengths }))
}
