//! A range of numbers or times cut into bins: which bin a value is in, as an SQL expression, and random values of a
//! bin.

use crate::pg::prelude::*;
use pgrx::IntoDatum;
use random::{Coins, below};

/// The range of a column in bins of equal width. Made from public bounds, or from a stored model.
pub struct Bins {
    count: u32,
    scale: Scale,
    /// The ends as literals of the column's base type.
    low: String,
    high: String,
    type_oid: Oid,
    base_type: Oid,
    typmod: i32,
}

/// How the values of a range are counted off.
enum Scale {
    /// In whole steps: integers, days, microseconds since 2000.
    Whole { low: i64, high: i64 },
    /// Not in steps; `decimals` is the number of decimals with which values of a bin are written.
    Real { low: f64, high: f64, decimals: usize },
}

impl Bins {
    /// `bins` bins from `low` to `high`, two values of the column as the ISO style writes them. A column of
    /// integers or days has at most one bin for each value.
    pub fn new(column: &Column, low: &str, high: &str, bins: u32) -> Result<Self, Error> {
        let base_type = column.base_type;
        let scale = match whole_type(base_type) {
            Some(whole) => {
                let end = |value: &str| whole_value(whole, base_type, value);
                Scale::Whole { low: end(low)?, high: end(high)? }
            }
            None => {
                let end = |value: &str| value.parse().map_err(|_| outside(low, high));
                let (from, to): (f64, f64) = (end(low)?, end(high)?);
                let decimals = decimals(column, (to - from) / f64::from(bins.max(1)));
                Scale::Real { low: from, high: to, decimals }
            }
        };
        let count = match scale {
            Scale::Whole { low: from, high: to } if from < to => {
                bins.max(1).min(u32::try_from(span(from, to)).unwrap_or(u32::MAX))
            }
            Scale::Real { low: from, high: to, .. } if from < to && (to - from).is_finite() => {
                bins.max(1)
            }
            _ => return Err(outside(low, high)),
        };
        Ok(Bins {
            count,
            scale,
            low: types::literal(base_type, low),
            high: types::literal(base_type, high),
            type_oid: column.type_oid,
            base_type,
            typmod: column.typmod,
        })
    }

    /// How many bins there are.
    pub fn count(&self) -> u32 {
        self.count
    }

    /// The number of the bin of an expression's value, from 0 on, as SQL: values beyond an end are in the bin at that
    /// end, NULL is in none. It raises no error for any value.
    pub fn expression(&self, value: &str) -> String {
        let Bins { count, low, high, .. } = self;
        let last = count - 1;
        let inside = match self.scale {
            Scale::Whole { low: from, high: to } => {
                let step = whole_expression(self.base_type, value);
                // In 64 bits wherever the product stays within them.
                if span(from, to) < (1 << 62) / i128::from(*count) {
                    format!(
                        "(({step}) OPERATOR(pg_catalog.-) ({from})::pg_catalog.int8) OPERATOR(pg_catalog.*) {count}::pg_catalog.int8
                         OPERATOR(pg_catalog./) {}::pg_catalog.int8",
                        span(from, to)
                    )
                } else {
                    format!(
                        "pg_catalog.div((({step})::pg_catalog.numeric OPERATOR(pg_catalog.-) ({from})::pg_catalog.numeric)
                         OPERATOR(pg_catalog.*) {count}::pg_catalog.numeric, {}::pg_catalog.numeric)::pg_catalog.int8",
                        span(from, to)
                    )
                }
            }
            Scale::Real { .. } => {
                let of = if self.base_type == pg_sys::NUMERICOID { "numeric" } else { "float8" };
                format!(
                    "LEAST(pg_catalog.width_bucket(({value})::pg_catalog.{of}, {low}::pg_catalog.{of}, {high}::pg_catalog.{of}, {count}),
                     {count}) OPERATOR(pg_catalog.-) 1"
                )
            }
        };
        format!(
            "CASE WHEN {value} OPERATOR(pg_catalog.<=) {low} THEN 0::pg_catalog.int8
                  WHEN {value} OPERATOR(pg_catalog.>=) {high} THEN {last}::pg_catalog.int8
                  WHEN {value} IS NOT NULL THEN ({inside})::pg_catalog.int8 END"
        )
    }

    /// A random value of the bin, each equally likely, in the current memory context.
    pub fn draw(&self, bin: u32, coins: &mut Coins) -> Datum {
        let bin = bin.min(self.count - 1);
        let datum = match self.scale {
            Scale::Whole { low, high } => {
                let edge = |bin: u32| {
                    let scaled = i128::from(bin) * span(low, high);
                    scaled.div_euclid(i128::from(self.count))
                        + i128::from(scaled.rem_euclid(i128::from(self.count)) > 0)
                };
                let (first, after) = (edge(bin), edge(bin + 1));
                let values = u64::try_from(after - first).unwrap_or(u64::MAX);
                let value = i128::from(low) + first + i128::from(below(coins, values));
                self.whole_datum(value.clamp(i128::from(low), i128::from(high)) as i64)
            }
            Scale::Real { low, high, decimals } => {
                let share = below(coins, 1 << 53) as f64 / (1u64 << 53) as f64;
                let width = (high - low) / f64::from(self.count);
                let value = (low + (f64::from(bin) + share) * width).clamp(low, high);
                self.real_datum(value, decimals)
            }
        };
        if self.type_oid != self.base_type {
            types::check_domain(self.type_oid, Some(datum));
        }
        datum
    }

    fn whole_datum(&self, value: i64) -> Datum {
        match self.base_type {
            pg_sys::INT2OID => Datum::from(value as i16),
            pg_sys::INT4OID | pg_sys::DATEOID => Datum::from(value as i32),
            _ => Datum::from(value),
        }
    }

    fn real_datum(&self, value: f64, decimals: usize) -> Datum {
        let text = format!("{value:.decimals$}");
        match self.base_type {
            pg_sys::FLOAT4OID => text.parse::<f32>().unwrap_or(0.0).into_datum(),
            pg_sys::FLOAT8OID => text.parse::<f64>().unwrap_or(0.0).into_datum(),
            _ => types::input(self.base_type, self.typmod, &text).ok(),
        }
        .unwrap_or(Datum::null())
    }
}

/// How many values lie between two, both included.
fn span(low: i64, high: i64) -> i128 {
    i128::from(high) - i128::from(low) + 1
}

fn outside(low: &str, high: &str) -> Error {
    Error::argument(
        format!("the range of a column is {low} to {high}"),
        "Both are finite, and low is below high.",
    )
}

/// The types whose values are counted in steps.
#[derive(Clone, Copy)]
enum Whole {
    Integer,
    Day,
    Microsecond,
}

fn whole_type(base: Oid) -> Option<Whole> {
    match base {
        pg_sys::DATEOID => Some(Whole::Day),
        pg_sys::TIMESTAMPOID | pg_sys::TIMESTAMPTZOID => Some(Whole::Microsecond),
        base if types::is_integer(base) => Some(Whole::Integer),
        _ => None,
    }
}

/// The steps from 2000, or from 0, to a value that lies within the range, as SQL of type bigint.
fn whole_expression(base: Oid, value: &str) -> String {
    match whole_type(base) {
        Some(Whole::Day) => format!(
            "(({value})::pg_catalog.date OPERATOR(pg_catalog.-) '2000-01-01'::pg_catalog.date)::pg_catalog.int8"
        ),
        Some(Whole::Microsecond) => {
            let of = if base == pg_sys::TIMESTAMPOID { "timestamp" } else { "timestamptz" };
            let zone = if base == pg_sys::TIMESTAMPOID { "" } else { "+00" };
            // The part before the point counts whole seconds, so nothing is rounded.
            format!(
                "((pg_catalog.date_part('epoch', pg_catalog.date_trunc('second', ({value})::pg_catalog.{of}))::pg_catalog.int8
                   OPERATOR(pg_catalog.-) pg_catalog.date_part('epoch', '2000-01-01 00:00:00{zone}'::pg_catalog.{of})::pg_catalog.int8)
                  OPERATOR(pg_catalog.*) 1000000::pg_catalog.int8)
                 OPERATOR(pg_catalog.+) (pg_catalog.date_part('microseconds', ({value})::pg_catalog.{of})::pg_catalog.int8
                  OPERATOR(pg_catalog.%) 1000000::pg_catalog.int8)"
            )
        }
        _ => format!("({value})::pg_catalog.int8"),
    }
}

/// The steps of one end of a range.
fn whole_value(whole: Whole, base: Oid, value: &str) -> Result<i64, Error> {
    if let Whole::Integer = whole {
        return value.parse().map_err(|_| outside(value, value));
    }
    let literal = types::literal(base, value);
    let query = format!("SELECT ({})::pg_catalog.text", whole_expression(base, &literal));
    let found = rights::with_fixed_formats(|| sql::texts(&query, &[]))?;
    let steps = found.into_iter().flatten().next().and_then(|steps| steps.parse().ok());
    steps.ok_or_else(|| outside(value, value))
}

/// The number of decimals with which values of a bin are written: that of the column's type, or enough for a thousand
/// different values in a bin.
fn decimals(column: &Column, width: f64) -> usize {
    if column.base_type == pg_sys::NUMERICOID && column.typmod >= 4 {
        // As numeric.c packs it: eleven bits, with a sign.
        let scale = (column.typmod - 4) & 0x7ff;
        return ((scale ^ 1024) - 1024).max(0) as usize;
    }
    (3.0 - width.log10().floor()).clamp(0.0, 300.0) as usize
}
