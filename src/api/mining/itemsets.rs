//! Mining: infrequent itemsets, by which rows stand out, and frequent ones.

use crate::api::prelude::*;
use crate::api::release::levels;
use mining::orthogonal::{OrthogonalArray, OrthogonalError};
use table::Itemsets;

const ITEMSETS: Returns = columns![items: Json, length: Int4, support: Int8];

/// Mines, sorts and returns (items, length, support).
fn itemsets(
    call: &Call,
    input: &Input,
    mine: impl FnOnce(&Bag, Option<&Units>, &Watch) -> Result<Itemsets, Stop> + Send,
) -> Result<Datum> {
    let mut rows = ResultRows::begin(call)?;
    let (itemsets, order) = input.run("mining", |bag, units, watch| {
        let itemsets = mine(bag, units, watch)?;
        watch.reserve(4 * itemsets.len() as u64)?;
        let order = itemsets.result_order(watch)?;
        Ok::<_, Stop>((itemsets, order))
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

const MINE_MIIS: Method = Method::new(
    "mine_miis",
    &[&SOURCE, &THETA, &COLUMNS, &MAX_LENGTH, &levels::LEVELS, &UNIT],
    ITEMSETS,
    |call| {
        let (theta, max_length) = (call.get(&THETA)?, call.get(&MAX_LENGTH)?);
        let input = Input::read_at_levels(call, &SOURCE)?.with_rows()?.with_more_than(theta)?;
        itemsets(call, &input, |bag, units, watch| {
            mining::miis(bag, units, theta, max_length, watch)
        })
    },
)
.reading()
.rows(1000)
.about(
    "every minimal infrequent itemset: the smallest value combinations that at least one \
         and at most theta rows share, or the rows of as many people; ordered by length, \
         support, items",
);

const CLOSED: Argument<bool> = Argument::of("closed")
    .or("false")
    .about("Only combinations that no larger one shares the rows of.");

const FREQUENT_ITEMSETS: Method = Method::new(
    "frequent_itemsets",
    &[&SOURCE, &MIN_SUPPORT, &COLUMNS, &MAX_LENGTH, &CLOSED, &UNIT],
    ITEMSETS,
    |call| {
        let (min_support, max_length) = (call.get(&MIN_SUPPORT)?, call.get(&MAX_LENGTH)?);
        let mine = if call.get(&CLOSED)? { mining::closed } else { mining::frequent };
        let input = Input::read(call, &SOURCE)?.with_rows()?;
        itemsets(call, &input, |bag, units, watch| mine(bag, units, min_support, max_length, watch))
    },
)
.reading()
.rows(1000)
.about(
    "every value combination that at least min_support rows share, or the rows of as many \
         people; closed: only those that no larger combination shares the rows of; ordered by \
         length, support, items",
);

pub const MII_RISK: Method = Method::new(
    "mii_risk",
    &[&SOURCE, &THETA, &COLUMNS, &MAX_LENGTH, &levels::LEVELS, &UNIT],
    columns![column_name: Text, value: Text, miis: Int8, rows: Int8, cells: Int8],
    mii_risk,
)
.reading()
.rows(100)
.about(
    "what each column (value NULL) and each value contributes to minimal infrequent \
         itemsets: how many contain it, how many rows with it stand out, how many of its cells \
         suppression would blank",
);

fn mii_risk(call: &Call) -> Result<Datum> {
    let (theta, max_length) = (call.get(&THETA)?, call.get(&MAX_LENGTH)?);
    let input = Input::read_at_levels(call, &SOURCE)?.with_rows()?.with_more_than(theta)?;
    let mut rows = ResultRows::begin(call)?;
    let risk = input
        .run("mining", |bag, units, watch| mining::risk(bag, units, theta, max_length, watch))?;
    for (domain, column) in input.bag.domains().iter().zip(&risk) {
        let name = from_utf8(domain.name());
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

const ROW_COUNT: Argument<i64> = Argument::of("row_count").about("How many rows the table has.");

const COLUMN_COUNT: Argument<i32> =
    Argument::of("column_count").about("How many columns the table has.");

const MII_BOUND: Method =
    Method::new("mii_bound", &[&ROW_COUNT, &COLUMN_COUNT], Returns::One(Type::Numeric), mii_bound)
        .pure()
        .about(
            "the most minimal infrequent itemsets that a table of that size can have: row_count * \
         C(column_count, column_count / 2), exact",
        );

fn mii_bound(call: &Call) -> Result<Datum> {
    let (rows, columns) = (call.get(&ROW_COUNT)?, call.get(&COLUMN_COUNT)?);
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

/// A size of an orthogonal array.
const fn size(name: &'static str, about: &'static str) -> Argument<u32> {
    Argument::new(name, Type::Int4, |given| {
        given.at_least(0, format!("{} is 1 or more.", given.name()))
    })
    .about(about)
}

const ARRAY_COLUMNS: Argument<u32> = size("columns", "How many columns: at most levels + 1.");
const LEVELS: Argument<u32> = size("levels", "How many values each column has: a prime power.");
const STRENGTH: Argument<u32> =
    size("strength", "In how many columns every combination occurs equally often.");

const ORTHOGONAL_ARRAY: Method = Method::new(
    "orthogonal_array",
    &[&ARRAY_COLUMNS, &LEVELS, &STRENGTH],
    Returns::Set(Type::Ints),
    orthogonal_array,
)
.pure()
.rows(1000)
.about(
    "the rows of an orthogonal array of index 1 (Bush): a table with as many minimal \
         infrequent itemsets as can be; for stress tests",
);

fn orthogonal_array(call: &Call) -> Result<Datum> {
    let (columns, levels) = (call.get(&ARRAY_COLUMNS)?, call.get(&LEVELS)?);
    let array = OrthogonalArray::new(columns, levels, call.get(&STRENGTH)?).map_err(|error| {
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

methods! {
    sanitize_mine_miis => MINE_MIIS;
    sanitize_mii_risk => MII_RISK;
    sanitize_frequent_itemsets => FREQUENT_ITEMSETS;
    sanitize_mii_bound => MII_BOUND;
    sanitize_orthogonal_array => ORTHOGONAL_ARRAY;
}
