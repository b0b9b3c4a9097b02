//! Rows of a relation as transactions, one item per cell.

use crate::api::prelude::*;
use randomize::transaction::MAX_UNIVERSE;

/// A relation whose cells are items. Values that are not in their public domains are not items.
fn items_of_cells(call: &Call) -> Result<PublicSource> {
    let relation = Relation::open(call.get(&RELATION)?)?;
    let positions = relation.positions("columns", call.get(&COLUMNS)?.as_deref())?;
    let mut source = PublicSource::open(relation, positions)?;
    source.columns.iter_mut().for_each(|column| column.nullable = true);
    let items: usize = source.columns.iter().map(|column| column.values()).sum();
    if items > MAX_UNIVERSE as usize {
        return Err(Error::argument(
            format!("the columns have {items} values"),
            format!("There are at most {MAX_UNIVERSE} items: name fewer columns."),
        ));
    }
    Ok(source)
}

pub const CELLS_AS_ITEMS: Method =
    Method::new("transactions", &[&RELATION, &COLUMNS], columns![items: Ints], |call| {
        let source = items_of_cells(call)?;
        // The random generator is not used, because NULL is a value of its own here.
        let bag = source.read(&mut coins(None)?)?;
        let mut firsts = Vec::with_capacity(source.columns.len());
        let mut first = 1;
        for column in &source.columns {
            firsts.push(first);
            first += column.values() as u32;
        }
        let mut rows = ResultRows::begin(call)?;
        let mut items = Vec::with_capacity(firsts.len());
        for (i, &weight) in bag.weights().iter().enumerate() {
            items.clear();
            let cells = bag.row(i).iter().zip(&firsts).filter(|&(&code, _)| code != NONE);
            items.extend(cells.map(|(code, first)| (first + code) as i32));
            for _ in 0..weight {
                rows.push([Value::IntArray(&items)]);
            }
        }
        Ok(rows.finish(call))
    })
    .reading()
    .rows(1000)
    .about(
        "the rows of a relation as transactions, one item for each cell: nothing is protected \
         yet",
    );

pub const TRANSACTION_ITEMS: Method = Method::new(
    "transaction_items",
    &[&RELATION, &COLUMNS],
    columns![item: Int4, column_name: Text, value: Text],
    |call| {
        let source = items_of_cells(call)?;
        let mut rows = ResultRows::begin(call)?;
        let mut item = 0;
        for column in &source.columns {
            let name = from_utf8(&column.name);
            for place in 0..column.values() {
                item += 1;
                let value = match &column.public {
                    Public::Values(values) => values[place].clone(),
                    Public::Range { low, high, bins } => {
                        format!("part {} of {} from {low} to {high}", place + 1, bins.count())
                    }
                };
                rows.push([Value::Int(item), Value::Text(&name), Value::Text(&from_utf8(&value))]);
            }
        }
        Ok(rows.finish(call))
    },
)
.reading()
.rows(100)
.about(
    "which value of which column each item of sanitize.transactions stands for, by the \
         public domains",
);
