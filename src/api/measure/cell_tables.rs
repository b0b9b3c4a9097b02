//! Tables of counts without their small cells, and audits of such tables.

use crate::api::prelude::*;
use measures::cells::{
    self, CellCounts, Layout, MOST_CELLS, MOST_COUNT, Place, Protection, Status,
};
use std::collections::HashMap;

const ROW_COLUMN: Argument<String> =
    Argument::of("row_column").about("The column whose values are the rows of the table.");

const COLUMN_COLUMN: Argument<String> =
    Argument::of("column_column").about("The column whose values are the columns of the table.");

const THRESHOLD: Argument<u64> =
    Argument::new("threshold", Type::Int8, |given| match given.needed(given.int8()?)? {
        threshold if (1..=MOST_COUNT as i64).contains(&threshold) => Ok(threshold as u64),
        threshold => Err(given.refuse(threshold, "threshold is a count: 1 or more.")),
    })
    .or("5")
    .about("Counts from 1 to one below it are small.");

const PROTECTION: Argument<Option<u64>> = Argument::optional("protection", Type::Int8, |given| match given.int8()? {
    None => Ok(None),
    Some(width) if (0..=MOST_COUNT as i64).contains(&width) => Ok(Some(width as u64)),
    Some(width) => {
        Err(given.refuse(width, "protection is the width of an interval: 0 or more."))
    }
})
.about("How wide the interval is at the least that can be told of a small cell; as threshold if it is left out.");

const GROUP_COLUMN: Argument<Option<String>> = Argument::of("group_column")
    .about("A coarser column that groups the rows, whose totals are published too.");

const SUPPRESS_CELLS: Method = Method::new(
    "suppress_cells",
    &[&RELATION, &ROW_COLUMN, &COLUMN_COLUMN, &THRESHOLD, &PROTECTION, &GROUP_COLUMN, &UNIT],
    columns![row_value: Text, column_value: Text, cell: Int8, status: Text, group_value: Text],
    suppress_cells,
)
.reading()
.about(
    "counts of two columns with totals, without the small ones and without those from which \
         these could be computed back. Cells count rows, or people each of whom is in one cell",
);

fn suppress_cells(call: &Call) -> Result<Datum> {
    let relation = Relation::open(call.get(&RELATION)?)?;
    let threshold = call.get(&THRESHOLD)?;
    let width = call.get(&PROTECTION)?.unwrap_or(threshold);
    let names =
        [Some(call.get(&ROW_COLUMN)?), Some(call.get(&COLUMN_COLUMN)?), call.get(&GROUP_COLUMN)?];
    let names: Vec<String> = names.into_iter().flatten().collect();
    if let Some(i) = (1..names.len()).find(|&i| names[..i].contains(&names[i])) {
        return Err(Error::argument(
            format!("column \"{}\" is named twice", names[i]),
            "Rows, columns and groups are different columns.",
        ));
    }
    let positions: Vec<usize> =
        names.iter().map(|name| relation.position(name)).collect::<Result<_, _>>()?;
    let unit = counted_unit(&call.arguments, &relation)?;
    if let Some(i) = positions.iter().position(|&at| unit.as_ref().is_some_and(|one| one.is(at))) {
        let arguments = [ROW_COLUMN.name, COLUMN_COLUMN.name, GROUP_COLUMN.name];
        return Err(counted::takes_no_part(arguments[i], &names[i]));
    }
    let bag = counted::read(&relation, &positions, unit.as_ref())?.bag;
    let input = Input::counting(relation.name, bag, unit.is_some())?;
    let counted = input.run("counting", CellCounts::new)?;
    if counted.left_out > 0 {
        notice_hint(
            &format!("{} rows with NULL are not in the table", counted.left_out),
            "NULL stands for totals. To count them, read a view that gives NULL a name of its own.",
        );
    }
    let counts = counted.layout.counts(&counted.inner);
    let protection = Protection { threshold, width };
    let made = pool::run("suppressing", input.memory(), |watch| {
        cells::suppress(&counted.layout, &counts, protection, watch)
    })?;
    if !made.is_safe {
        return Err(Error::Broken { what: "a small cell could be computed back".into() });
    }
    let places = counted.layout.places();
    let mut order: Vec<usize> = (0..places.len()).collect();
    // Totals come after the cells that they add up.
    let last = |code: Option<u32>| code.unwrap_or(u32::MAX);
    order.sort_by_key(|&cell| {
        let place = places[cell];
        (last(place.group), last(place.row), last(place.column))
    });
    let text =
        |column: usize, code: Option<u32>| code.map(|code| input.bag.domain(column).value(code));
    let mut rows = ResultRows::begin(call)?;
    for cell in order {
        let place = places[cell];
        let row = text(0, place.row.map(|row| counted.rows[row as usize].1));
        let column = text(1, place.column.map(|column| counted.columns[column as usize]));
        let group = text(2, place.group.map(|group| counted.groups[group as usize]));
        let status = match made.statuses[cell] {
            Status::Shown => "shown",
            Status::Primary => "primary",
            Status::Complementary => "complementary",
        };
        rows.push([
            row.map_or(Value::Null, Value::Text),
            column.map_or(Value::Null, Value::Text),
            if status == "shown" { Value::count(counts[cell]) } else { Value::Null },
            Value::Text(status.as_bytes()),
            group.map_or(Value::Null, Value::Text),
        ]);
    }
    Ok(rows.finish(call))
}

const CELLS: Argument<Published> = Argument::new("cells", Type::Json, |given| {
    Published::read(given.needed(given.json()?)?.as_ref())
})
.about("The cells of a table as a list of {\"row_value\": …, \"column_value\": …, \"cell\": …}, with null for totals and for suppressed cells.");

const AUDIT_CELLS: Method = Method::new(
    "audit_cells",
    &[&CELLS],
    columns![row_value: Text, column_value: Text, low: Int8, high: Int8, group_value: Text],
    audit_cells,
)
.immutable()
.parallel_restricted()
.about(
    "what the shown cells of a table of counts tell of each suppressed one: the least and \
         the largest count that it can have",
);

fn audit_cells(call: &Call) -> Result<Datum> {
    let Published { layout, shown, listed } = &call.get(&CELLS)?;
    let found = pool::run("auditing", 0, |watch| cells::audit(layout, shown, watch))?;
    let Some(found) = found else {
        return Err(Error::argument(
            "cells contradict each other: no table has them all",
            "Inner cells are counts of 0 or more that add up to their totals.",
        ));
    };
    let hidden = (0..shown.len()).filter(|&cell| shown[cell].is_none());
    let intervals: HashMap<usize, cells::Interval> = hidden.zip(found).collect();
    let text = |name: &Option<String>| name.as_ref().map(|name| from_utf8(name));
    let mut rows = ResultRows::begin(call)?;
    for (cell, named) in listed {
        let Some(interval) = intervals.get(cell) else { continue };
        let [group, row, column] = named.each_ref().map(text);
        rows.push([
            row.as_deref().map_or(Value::Null, Value::Text),
            column.as_deref().map_or(Value::Null, Value::Text),
            Value::count(interval.low),
            interval.high.map_or(Value::Null, Value::count),
            group.as_deref().map_or(Value::Null, Value::Text),
        ]);
    }
    Ok(rows.finish(call))
}

const ONE_CELL: &str = "A cell is {\"row_value\": \"a\", \"column_value\": \"b\", \"cell\": 12}; a value of null is a total, a cell of null is suppressed. With groups each cell has a \"group_value\" too.";

/// A table as it was published.
struct Published {
    layout: Layout,
    /// The counts of all cells; `None` where they are suppressed, or not in the list.
    shown: Vec<Option<u64>>,
    /// The number and the names (group, row, column) of each cell that is listed.
    listed: Vec<(usize, [Option<String>; 3])>,
}

impl Published {
    fn read(given: &Json) -> Result<Self> {
        let Json::Array(list) = given else {
            return Err(Error::argument(format!("cells is {}", shortened(given)), ONE_CELL));
        };
        if list.len() > MOST_CELLS {
            return Err(Error::argument(
                format!("cells is a list of {}", list.len()),
                format!("A table has {MOST_CELLS} cells at the most, totals included."),
            ));
        }
        let mut cells = Vec::with_capacity(list.len());
        for one in list {
            let Json::Object(object) = one else {
                return Err(Error::argument(format!("cells has {}", shortened(one)), ONE_CELL));
            };
            cells.push((names(object)?, count(object)?));
        }
        // Numbers in the order of first mention.
        let mut codes: [HashMap<[Option<String>; 2], u32>; 3] = Default::default();
        let mut code = |of: usize, key: [Option<String>; 2]| {
            let next = codes[of].len() as u32;
            *codes[of].entry(key).or_insert(next)
        };
        let (mut places, mut group_of_row) = (Vec::with_capacity(cells.len()), HashMap::new());
        for ([group, row, column], _) in &cells {
            let group_code = group.clone().map(|group| code(0, [Some(group), None]));
            let row_code = row.clone().map(|row| code(1, [group.clone(), Some(row)]));
            let column_code = column.clone().map(|column| code(2, [None, Some(column)]));
            if let Some(row) = row_code {
                group_of_row.insert(row, group_code);
            }
            places.push(Place { group: group_code, row: row_code, column: column_code });
        }
        let [groups, rows, columns] = codes.map(|codes| codes.len());
        let layout = if groups == 0 {
            Layout::flat(rows, columns)
        } else {
            let of = |row: u32| group_of_row.get(&row).copied().flatten();
            let of_rows: Option<Vec<u32>> = (0..rows as u32).map(of).collect();
            let of_rows = of_rows.ok_or_else(|| {
                Error::argument("cells has rows with and without a group_value", ONE_CELL)
            })?;
            if let Some(empty) = (0..groups as u32).find(|group| !of_rows.contains(group)) {
                let named = places.iter().position(|place| place.group == Some(empty));
                let named = named.and_then(|i| cells[i].0[0].clone()).unwrap_or_default();
                return Err(Error::argument(
                    format!("cells has group \"{named}\" without rows"),
                    "Give every cell of the table.",
                ));
            }
            Layout::grouped(of_rows, columns)
        };
        if layout.len() > MOST_CELLS {
            return Err(Error::argument(
                format!("cells has {rows} rows and {columns} columns"),
                format!("A table has {MOST_CELLS} cells at the most, totals included."),
            ));
        }
        let mut shown = vec![None; layout.len()];
        let mut is_listed = vec![false; layout.len()];
        let mut listed = Vec::with_capacity(cells.len());
        for (place, (names, count)) in places.into_iter().zip(cells) {
            // A place of codes that were assigned above.
            let cell = layout.cell(place).ok_or_else(|| Error::fault("a cell without a place"))?;
            if std::mem::replace(&mut is_listed[cell], true) {
                return Err(Error::argument(
                    format!("cells has {} twice", named(&names)),
                    "Give each cell once.",
                ));
            }
            shown[cell] = count;
            listed.push((cell, names));
        }
        let inner = layout.places().into_iter().enumerate();
        let missing = inner.take(rows * columns).find(|(cell, _)| !is_listed[*cell]);
        if let Some((_, place)) = missing {
            let places = layout.places();
            let of = |what: usize, has: &dyn Fn(&Place) -> bool| {
                let found = listed.iter().find(|(cell, _)| has(&places[*cell]));
                found.and_then(|(_, names)| names[what].clone())
            };
            let names = [
                of(0, &|other| other.group == place.group),
                of(1, &|other| other.row == place.row),
                of(2, &|other| other.column == place.column),
            ];
            return Err(Error::argument(
                format!("cells has no {}", named(&names)),
                "Give every inner cell of the table, with a cell of null where it is suppressed and of 0 where there is nothing.",
            ));
        }
        Ok(Published { layout, shown, listed })
    }
}

/// Group, row and column of a cell.
fn names(object: &Map<String, Json>) -> Result<[Option<String>; 3]> {
    let name = |key: &str| match object.get(key) {
        None | Some(Json::Null) => Ok(None),
        Some(Json::String(text)) => Ok(Some(text.clone())),
        Some(value @ (Json::Number(_) | Json::Bool(_))) => Ok(Some(value.to_string())),
        Some(other) => Err(Error::argument(format!("{key} is {}", shortened(other)), ONE_CELL)),
    };
    Ok([name("group_value")?, name("row_value")?, name("column_value")?])
}

/// The count of a cell; `None` if it is suppressed.
fn count(object: &Map<String, Json>) -> Result<Option<u64>> {
    match object.get("cell") {
        Some(Json::Null) => Ok(None),
        Some(value) => match value.as_u64().filter(|&count| count <= MOST_COUNT) {
            Some(count) => Ok(Some(count)),
            None => Err(Error::argument(
                format!("cell is {}", shortened(value)),
                format!("A cell is a count from 0 to {MOST_COUNT}, or null."),
            )),
        },
        None => Err(Error::argument("a cell has no \"cell\"", ONE_CELL)),
    }
}

fn named([group, row, column]: &[Option<String>; 3]) -> String {
    let shown =
        |name: &Option<String>| name.as_ref().map_or("total".into(), |name| format!("\"{name}\""));
    let group = group.as_ref().map_or(String::new(), |group| format!(" of group \"{group}\""));
    format!("cell ({}, {}){group}", shown(row), shown(column))
}

/// The beginning of a JSON value, for a message.
fn shortened(value: &Json) -> String {
    let text = value.to_string();
    match text.char_indices().nth(60) {
        Some((end, _)) => format!("{}…", &text[..end]),
        None => text,
    }
}

methods! {
    sanitize_suppress_cells => SUPPRESS_CELLS;
    sanitize_audit_cells => AUDIT_CELLS;
}
