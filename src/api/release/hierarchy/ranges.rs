//! Ranges of numbers, by exact decimal arithmetic of Postgres.

use super::spec::Ranges;
use crate::api::prelude::*;
use crate::pg::read::text_chunks;
use crate::pg::write::range;
use suppress::General;
use suppress::levels::{Growing, Numbered, covered};

/// The texts of the values of a column of numbers; `None` for those that are not finite.
pub fn finite(domain: &Domain) -> impl Iterator<Item = Option<String>> {
    let is_finite = |value: &&[u8]| !value.iter().any(|b| b"fFaA".contains(b));
    domain.values().map(move |value| Some(value).filter(is_finite).map(to_utf8))
}

/// The smallest and the largest finite value of a column of numbers.
pub fn extremes(domain: &Domain) -> Result<Option<(AnyNumeric, AnyNumeric)>> {
    let mut ends: Option<(AnyNumeric, AnyNumeric)> = None;
    let query = "SELECT pg_catalog.min(v)::pg_catalog.text, pg_catalog.max(v)::pg_catalog.text
                   FROM (SELECT t::pg_catalog.numeric AS v FROM pg_catalog.unnest($1) AS t OFFSET 0) AS x";
    text_chunks::each(finite(domain), |texts| {
        for row in sql::rows::<2>(query, &[texts.into()])? {
            let end = |i: usize| AnyNumeric::try_from(row[i].as_deref()?).ok();
            if let (Some(low), Some(high)) = (end(0), end(1)) {
                ends = Some(match ends.take() {
                    None => (low, high),
                    Some((from, to)) => {
                        (if low < from { low } else { from }, if high > to { high } else { to })
                    }
                });
            }
        }
        Ok(())
    })?;
    Ok(ends)
}

/// The declared bounds of a column, or the extremes of its values.
fn ends(
    relation: &Relation,
    column: &Column,
    domain: &Domain,
) -> Result<Option<(AnyNumeric, AnyNumeric)>> {
    match bounds::declared(relation, column)? {
        Some(declared) => {
            let end = |text: &str| AnyNumeric::try_from(text).map_err(Error::query);
            Ok(Some((end(&declared.low)?, end(&declared.high)?)))
        }
        None => extremes(domain),
    }
}

/// The levels of a column by ranges. A node is known by its lower end.
pub fn grow(
    relation: &Relation,
    column: &Column,
    domain: &Domain,
    ranges: &Ranges,
) -> Result<Growing> {
    let ends = ends(relation, column, domain)?;
    let mut growing = Growing::default();
    let mut below: Option<Vec<String>> = None;
    for width in &ranges.widths {
        let query = low_end(ranges, width);
        let lows: Vec<Option<String>> = match below {
            None => text_chunks::map(finite(domain), &query, |low| low)?,
            Some(keys) => text_chunks::map(keys.into_iter().map(Some), &query, |low| low)?,
        };
        let mut nodes = Numbered::default();
        let parents = lows.into_iter().map(|low| Some(nodes.number(low?))).collect();
        growing.add(parents, generals(column, ranges, width, &nodes.keys, ends.as_ref())?);
        below = Some(nodes.keys);
    }
    Ok(growing)
}

/// A number for a query.
fn literal(number: &AnyNumeric) -> String {
    format!("'{number}'::pg_catalog.numeric")
}

/// The lower ends of the ranges in which the numbers `$1` are.
fn low_end(ranges: &Ranges, width: &AnyNumeric) -> String {
    let (from, width) = (literal(&ranges.from), literal(width));
    // The remainder has the sign of the dividend. OFFSET keeps Postgres from parsing the text and dividing each time
    // the result is used.
    format!(
        "SELECT pg_catalog.trim_scale(v OPERATOR(pg_catalog.-) m OPERATOR(pg_catalog.-)
                  CASE WHEN m OPERATOR(pg_catalog.<) 0::pg_catalog.numeric THEN {width} ELSE 0::pg_catalog.numeric END)::pg_catalog.text
           FROM (SELECT v, pg_catalog.mod(v OPERATOR(pg_catalog.-) {from}, {width}) AS m, i
                   FROM (SELECT t::pg_catalog.numeric AS v, i
                           FROM pg_catalog.unnest($1) WITH ORDINALITY AS u(t, i) OFFSET 0) AS x OFFSET 0) AS y
          ORDER BY i"
    )
}

/// The general values of ranges with the given lower ends, with their losses.
fn generals(
    column: &Column,
    ranges: &Ranges,
    width: &AnyNumeric,
    lows: &[String],
    ends: Option<&(AnyNumeric, AnyNumeric)>,
) -> Result<Vec<General>> {
    // How far the last value of a range is from its first.
    let is_integer = types::is_integer(column.base_type);
    let reach = if is_integer { width.clone() - 1 } else { width.clone() };
    let shown_at = match ranges.shows_middle {
        false => AnyNumeric::from(0),
        true => {
            let half: AnyNumeric = reach.clone() / AnyNumeric::from(2);
            if is_integer { half.floor() } else { half }
        }
    };
    // Ranges are compared with the ends as distances from the lower end, because floats are more precise for small
    // numbers.
    let query = format!(
        "SELECT pg_catalog.trim_scale(v OPERATOR(pg_catalog.+) {})::pg_catalog.text,
                pg_catalog.trim_scale(v OPERATOR(pg_catalog.+) {})::pg_catalog.text,
                (v OPERATOR(pg_catalog.-) $2::pg_catalog.numeric)::pg_catalog.text, t
           FROM (SELECT t, t::pg_catalog.numeric AS v, i
                   FROM pg_catalog.unnest($1) WITH ORDINALITY AS u(t, i) OFFSET 0) AS x ORDER BY i",
        literal(&shown_at),
        literal(width),
    );
    let float = |number: &str| number.parse::<f64>().map_err(Error::query);
    let reach = float(&reach.to_string())?;
    let span = match ends {
        Some((low, high)) => float(&(high.clone() - low.clone()).to_string())?,
        None => 0.0,
    };
    let low_end = ends.map(|(low, _)| Text(low.to_string()));
    let mut generals = Vec::with_capacity(lows.len());
    text_chunks::each(lows.iter().cloned().map(Some), |texts| {
        for row in sql::rows(&query, &[texts.into(), low_end.clone().into()])? {
            let [Some(shown), Some(next), from, Some(low)] = row else {
                return Err(Error::query("a range has no end"));
            };
            let from = from.map_or(Ok(0.0), |from| float(&from))?;
            let loss = covered((from, from + reach), (0.0, span));
            let text = match column.range {
                Some(range) => range::text(range, &low, &next),
                None => types::accepted(column, &shown)?,
            };
            generals.push(General { text: from_utf8(&text), loss });
        }
        Ok(())
    })?;
    Ok(generals)
}
