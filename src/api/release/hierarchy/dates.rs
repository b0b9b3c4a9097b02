//! Calendar units over dates and timestamps. Postgres computes in which month or hour a value is, and when that begins;
//! units of several months or hours are counted from the year 0 and from a Monday.

use crate::api::prelude::*;
use crate::pg::read::text_chunks;
use crate::pg::write::range;
use suppress::General;
use suppress::levels::{Growing, Length, Numbered, Unit, covered};

/// The Monday from which hours are counted.
const MONDAY: &str = "'2000-01-03'::pg_catalog.date";

/// Its seconds, as Postgres counts them.
const MONDAY_EPOCH: i64 = 946_857_600;

/// The number of the hour or month that a timestamp is in.
fn number_of(length: Length, local: &str) -> String {
    let part = |part: &str| format!("pg_catalog.date_part('{part}', {local})::pg_catalog.int8");
    match length {
        // A whole number of hours, so nothing is rounded.
        Length::Hours(_) => format!(
            "(pg_catalog.date_part('epoch', pg_catalog.date_trunc('hour', {local}))::pg_catalog.int8
               OPERATOR(pg_catalog.-) {MONDAY_EPOCH}::pg_catalog.int8) OPERATOR(pg_catalog./) 3600::pg_catalog.int8"
        ),
        // Before the year 1 comes the year -1.
        Length::Months(_) => format!(
            "({year} OPERATOR(pg_catalog.+) CASE WHEN {year} OPERATOR(pg_catalog.<) 0::pg_catalog.int8
                THEN 1::pg_catalog.int8 ELSE 0::pg_catalog.int8 END) OPERATOR(pg_catalog.*) 12::pg_catalog.int8
              OPERATOR(pg_catalog.+) {} OPERATOR(pg_catalog.-) 1::pg_catalog.int8",
            part("month"),
            year = part("year"),
        ),
    }
}

/// The timestamp at which an hour or month begins.
fn beginning(length: Length, number: &str) -> String {
    match length {
        Length::Hours(_) => format!(
            "({MONDAY} OPERATOR(pg_catalog.+) pg_catalog.floor(({number})::pg_catalog.float8 OPERATOR(pg_catalog./) 24::pg_catalog.float8)::pg_catalog.int4)::pg_catalog.timestamp
              OPERATOR(pg_catalog.+) pg_catalog.make_interval(hours => pg_catalog.mod(pg_catalog.mod({number}, 24::pg_catalog.int8) OPERATOR(pg_catalog.+) 24::pg_catalog.int8, 24::pg_catalog.int8)::pg_catalog.int4)"
        ),
        Length::Months(_) => format!(
            "'2000-01-01 00:00:00'::pg_catalog.timestamp OPERATOR(pg_catalog.+)
             pg_catalog.make_interval(months => (({number}) OPERATOR(pg_catalog.-) 24000::pg_catalog.int8)::pg_catalog.int4)"
        ),
    }
}

/// The type's name in queries.
fn type_name(column: &Column) -> &'static str {
    match column.base_type {
        pg_sys::DATEOID => "date",
        pg_sys::TIMESTAMPOID => "timestamp",
        _ => "timestamptz",
    }
}

/// The texts `$1` of values as timestamps `l` in the session's time zone, in their order `i`: NULL for infinite values,
/// and for those so far away that a unit around them may have no beginning. OFFSET keeps Postgres from parsing a text
/// each time its timestamp is used.
fn local(column: &Column) -> String {
    let of = type_name(column);
    format!(
        "(SELECT CASE WHEN v OPERATOR(pg_catalog.>=) '3000-01-01 BC'::pg_catalog.{of}
                       AND v OPERATOR(pg_catalog.<) '200000-01-01'::pg_catalog.{of}
                 THEN v::pg_catalog.timestamp END AS l, i
            FROM (SELECT t::pg_catalog.{of} AS v, i
                    FROM pg_catalog.unnest($1) WITH ORDINALITY AS u(t, i) OFFSET 0) AS x OFFSET 0) AS y"
    )
}

/// The query for the smallest and the largest of the values, in hours from the Monday.
fn ends_query(column: &Column) -> String {
    let hours = |end: &str| {
        format!(
            "((pg_catalog.date_part('epoch', pg_catalog.{end}(l)) OPERATOR(pg_catalog.-) {MONDAY_EPOCH}::pg_catalog.float8)
              OPERATOR(pg_catalog./) 3600::pg_catalog.float8)::pg_catalog.text"
        )
    };
    format!("SELECT {}, {} FROM {}", hours("min"), hours("max"), local(column))
}

/// Both ends of some texts, if any of them is finite.
fn ends_of(query: &str, texts: Vec<Option<Text>>) -> Result<Option<(f64, f64)>> {
    let rows = sql::rows::<2>(query, &[texts.into()])?;
    let end = |i: usize| rows.first()?[i].as_deref()?.parse::<f64>().ok();
    Ok(end(0).zip(end(1)))
}

/// The smallest and the largest finite value of a domain, in hours from the Monday.
pub fn extremes(column: &Column, domain: &Domain) -> Result<Option<(f64, f64)>> {
    let query = ends_query(column);
    let mut ends: Option<(f64, f64)> = None;
    text_chunks::each(domain.values().map(|value| Some(to_utf8(value))), |texts| {
        if let Some((low, high)) = ends_of(&query, texts)? {
            let (from, to) = ends.unwrap_or((low, high));
            ends = Some((from.min(low), to.max(high)));
        }
        Ok(())
    })?;
    Ok(ends)
}

/// The declared bounds of a column, or the extremes of its values.
fn ends(relation: &Relation, column: &Column, domain: &Domain) -> Result<Option<(f64, f64)>> {
    match bounds::declared(relation, column)? {
        Some(declared) => {
            ends_of(&ends_query(column), vec![Some(Text(declared.low)), Some(Text(declared.high))])
        }
        None => extremes(column, domain),
    }
}

/// The levels of a column by calendar units.
pub fn grow(
    relation: &Relation,
    column: &Column,
    domain: &Domain,
    units: &[Unit],
) -> Result<Growing> {
    let ends = ends(relation, column, domain)?;
    let mut growing = Growing::default();
    // The numbers at which the nodes of the level below begin, and their unit.
    let mut below: Option<(Length, Vec<i64>)> = None;
    for unit in units {
        let numbers: Vec<Option<i64>> = match &below {
            None => {
                let query = format!(
                    "SELECT ({})::pg_catalog.text FROM {} ORDER BY i",
                    number_of(unit.length, "l"),
                    local(column)
                );
                text_chunks::map(domain.values().map(|v| Some(to_utf8(v))), &query, |text| {
                    text?.parse().ok()
                })?
            }
            Some((length, numbers)) => match (length, unit.length) {
                (Length::Hours(_), Length::Months(_)) => {
                    let query = format!(
                        "SELECT ({})::pg_catalog.text
                           FROM pg_catalog.unnest($1) WITH ORDINALITY AS u(t, i) ORDER BY i",
                        number_of(unit.length, &beginning(*length, "t::pg_catalog.int8"))
                    );
                    let texts = numbers.iter().map(|number| Some(number.to_string()));
                    text_chunks::map(texts, &query, |text| text?.parse().ok())?
                }
                _ => numbers.iter().copied().map(Some).collect(),
            },
        };
        let count = unit.length.count();
        let mut nodes = Numbered::default();
        let parents = numbers
            .into_iter()
            .map(|number| Some(nodes.number(number?.div_euclid(count) * count)))
            .collect();
        growing.add(parents, generals(column, unit.length, &nodes.keys, ends)?);
        below = Some((unit.length, nodes.keys));
    }
    Ok(growing)
}

/// The general values of the units that begin at the given numbers, with their losses.
fn generals(
    column: &Column,
    length: Length,
    begin: &[i64],
    ends: Option<(f64, f64)>,
) -> Result<Vec<General>> {
    let of = type_name(column);
    let next = format!("(n OPERATOR(pg_catalog.+) {}::pg_catalog.int8)", length.count());
    let at =
        |number: &str| number_of(Length::Hours(1), &format!("({})", beginning(length, number)));
    let query = format!(
        "SELECT (({})::pg_catalog.{of})::pg_catalog.text, (({})::pg_catalog.{of})::pg_catalog.text,
                ({})::pg_catalog.text, ({})::pg_catalog.text
           FROM pg_catalog.unnest($1) WITH ORDINALITY AS u(t, i)
          CROSS JOIN LATERAL (SELECT t::pg_catalog.int8 AS n) AS x ORDER BY i",
        beginning(length, "n"),
        beginning(length, &next),
        at("n"),
        at(&next),
    );
    let mut generals = Vec::with_capacity(begin.len());
    text_chunks::each(begin.iter().map(|number| Some(number.to_string())), |texts| {
        for row in sql::rows(&query, &[texts.into()])? {
            let [Some(shown), Some(end), Some(low), Some(next)] = row else {
                return Err(Error::query("a calendar unit has no beginning"));
            };
            let hours = |text: &str| text.parse::<f64>().map_err(Error::query);
            // For dates the last day of a unit is its high end; timestamps have no last value.
            let last = if column.base_type == pg_sys::DATEOID { 24.0 } else { 0.0 };
            let (low, high) = (hours(&low)?, hours(&next)? - last);
            let loss = ends.map_or(0.0, |ends| covered((low, high), ends));
            let text = match column.range {
                Some(range) => range::text(range, &shown, &end),
                None => types::accepted(column, &shown)?,
            };
            generals.push(General { text: from_utf8(&text), loss });
        }
        Ok(())
    })?;
    Ok(generals)
}
