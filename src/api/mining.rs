//! Mining: what makes rows stand out, and what many rows share.

use super::input::{Input, max_length, min_support, source, theta, theta_fits};
use crate::pg::call::{Call, sql_function};
use crate::pg::error::Error;
use crate::pg::jsonb::ItemsetJson;
use crate::pg::rowset::{ResultRows, Value};
use crate::pg::text;
use mining::orthogonal::{OrthogonalArray, OrthogonalError};
use pgrx::pg_sys::Datum;
use pgrx::{AnyNumeric, IntoDatum};
use table::{Bag, Itemsets, Stop, Watch};

/// Mines, sorts and returns (items, length, support).
fn itemsets(
    call: &Call,
    input: &Input,
    mine: impl FnOnce(&Bag, &Watch) -> Result<Itemsets, Stop> + Send,
) -> Result<Datum, Error> {
    let mut rows = ResultRows::begin(call)?;
    let (itemsets, order) = input.run("mining", |bag, watch| {
        let itemsets = mine(bag, watch)?;
        watch.reserve(4 * itemsets.len() as u64)?;
        let order = itemsets.result_order(watch)?;
        Ok((itemsets, order))
    })?;
    let json = ItemsetJson::new(&input.bag);
    for i in order {
        let items = itemsets.items(i as usize);
        rows.push([
            Value::Made(&|| json.datum(items)),
            Value::Int(items.len() as i32),
            Value::count(itemsets.support(i as usize)),
        ]);
    }
    Ok(rows.finish(call))
}

fn mine_miis(call: &Call) -> Result<Datum, Error> {
    let theta = theta(call, 1)?;
    let max_length = max_length(call, 3)?;
    let input = source(call, 2)?.with_rows()?;
    theta_fits(theta, &input)?;
    itemsets(call, &input, |bag, watch| mining::miis(bag, theta, max_length, watch))
}

fn frequent_itemsets(call: &Call) -> Result<Datum, Error> {
    let min_support = min_support(call, 1)?;
    let max_length = max_length(call, 3)?;
    let closed = call.value::<bool>(4, "closed")?;
    let mine = if closed { mining::closed } else { mining::frequent };
    let input = source(call, 2)?.with_rows()?;
    itemsets(call, &input, |bag, watch| mine(bag, min_support, max_length, watch))
}

fn mii_risk(call: &Call) -> Result<Datum, Error> {
    let theta = theta(call, 1)?;
    let max_length = max_length(call, 3)?;
    let input = source(call, 2)?.with_rows()?;
    theta_fits(theta, &input)?;
    let mut rows = ResultRows::begin(call)?;
    let risk = input.run("mining", |bag, watch| mining::risk(bag, theta, max_length, watch))?;
    for (domain, column) in input.bag.domains().iter().zip(&risk) {
        let name = text::from_utf8(domain.name());
        let values = domain.values().map(Value::Text).zip(&column.values);
        for (value, counts) in std::iter::once((Value::Null, &column.total)).chain(values) {
            rows.push([
                Value::Text(&name),
                value,
                Value::count(counts.miis),
                Value::count(counts.rows),
                Value::count(counts.cells),
            ]);
        }
    }
    Ok(rows.finish(call))
}

fn mii_bound(call: &Call) -> Result<Datum, Error> {
    let rows = call.value::<i64>(0, "row_count")?;
    let columns = call.value::<i32>(1, "column_count")?;
    let bound = u64::try_from(rows)
        .ok()
        .zip(u32::try_from(columns).ok())
        .and_then(|(rows, columns)| mining::bound(rows, columns))
        .and_then(|bound| AnyNumeric::try_from(bound.as_str()).ok())
        .and_then(IntoDatum::into_datum);
    bound.ok_or_else(|| {
        Error::argument(
            format!("row_count is {rows} and column_count is {columns}"),
            format!(
                "Neither may be negative, and column_count is at most {}.",
                mining::BOUND_COLUMNS
            ),
        )
    })
}

fn orthogonal_array(call: &Call) -> Result<Datum, Error> {
    let parameter = |i, argument| {
        let number = call.value::<i32>(i, argument)?;
        u32::try_from(number).map_err(|_| {
            Error::argument(format!("{argument} is {number}"), format!("{argument} is 1 or more."))
        })
    };
    let columns = parameter(0, "columns")?;
    let levels = parameter(1, "levels")?;
    let strength = parameter(2, "strength")?;
    let array = OrthogonalArray::new(columns, levels, strength).map_err(|error| {
        let hint = match error {
            OrthogonalError::Levels(_) => {
                "Levels are 2, 3, 4, 5, 7, 8, 9, 11, 13, 16, …: powers of a prime."
            }
            OrthogonalError::Strength { .. } => {
                "The strength is at least 1 and at most the columns and the levels."
            }
            OrthogonalError::Columns { .. } => "There are at most levels + 1 columns.",
            OrthogonalError::Rows { .. } => {
                "The array has levels ^ strength rows: lower one of them."
            }
        };
        Error::argument(format!("no such orthogonal array: {error}"), hint)
    })?;
    let mut rows = ResultRows::begin(call)?;
    let mut row_values = Vec::new();
    for row in array {
        row_values.clear();
        row_values.extend(row.iter().map(|&level| level as i32));
        rows.push([Value::IntArray(&row_values)]);
    }
    Ok(rows.finish(call))
}

sql_function!(sanitize_mine_miis, mine_miis);
sql_function!(sanitize_mii_risk, mii_risk);
sql_function!(sanitize_frequent_itemsets, frequent_itemsets);
sql_function!(sanitize_mii_bound, mii_bound);
sql_function!(sanitize_orthogonal_array, orthogonal_array);
