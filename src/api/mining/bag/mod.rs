//! The type `sanitize.bag` and the parallel aggregates that make bags: `row_bag` and `cell_bag`.

mod state;

use crate::api::prelude::*;
use crate::pg::call::aggregate_state::bytea;
use crate::pg::call::expanded::Access;
use crate::pg::read::argument_rows::Given;
use crate::pg::read::bag;
use pgrx::pg_sys::MemoryContext;
use state::{State, held};

const VALUE: Argument<()> = passed("value", Type::Bag);

const BAG_IN: Method = part("bag_in", &[&passed("value", Type::CString)], Type::Bag, bag::input)
    .pure()
    .strict()
    .about("text form of a bag (as bytea), checked");
const BAG_OUT: Method = part("bag_out", &[&VALUE], Type::CString, bag::output)
    .pure()
    .strict()
    .about("text form of a bag (as bytea)");
const BAG_RECV: Method =
    part("bag_recv", &[&passed("value", Type::Internal)], Type::Bag, bag::receive)
        .pure()
        .strict()
        .about("binary form of a bag, checked");
const BAG_SEND: Method = part("bag_send", &[&VALUE], Type::Bytes, bag::send)
    .pure()
    .strict()
    .about("binary form of a bag");
/// For a coordinator, whose postgres_fdw takes every value as text.
const BAG_PACKED: Method = part("bag_packed", &[&VALUE], Type::Text, bag::packed)
    .pure()
    .strict()
    .about("a bag as text of seven bits a character, as a shard sends it: see the page on shards");

const STATE: Argument<()> = passed("state", Type::Bag);
/// The state of another process.
const OTHER: Argument<()> = passed("other", Type::Bag);
const ROW: Argument<()> = passed("row", Type::Record);
/// Texts, or C strings, which have no collation: see the aggregates.
const NAMES: Argument<()> = passed("names", Type::Names);
const TEXTS: Argument<()> = passed("names", Type::Texts);
const COLUMNS: Argument<()> = passed("columns", Type::Columns);
const CELLS: Argument<()> = passed("cells", Type::Texts);

/// The bag in argument `i`: a state that came from elsewhere.
fn bag_of(call: &Call, i: usize) -> Result<Option<Bag>> {
    call.aggregate_context()?;
    let read = |datum| bag::read_beside(datum, held()).map_err(Error::of_merging);
    call.passed_bag(i)?.map(read).transpose()
}

/// The previous state, to which `add` adds. If the state cannot take the addition, it becomes a bag, and a new state
/// from `make` begins with the bag's rows.
fn advanced(
    call: &Call,
    make: impl FnOnce(MemoryContext) -> Result<State>,
    add: impl Fn(&mut State) -> Result<bool>,
) -> Result<Datum> {
    if let Some(state) = call.state(0, Access::Write)?
        && add(state)?
    {
        return Ok(call.datum(0).unwrap_or_else(|| call.null()));
    }
    let before = bag_of(call, 0)?;
    call.keep(|context| {
        let mut state = make(context)?;
        if let Some(bag) = before {
            state.add_bag(bag)?;
        }
        add(&mut state)?.then_some(state).ok_or(Error::NoAggregate)
    })
}

/// The previous state, unchanged.
fn unchanged(call: &Call) -> Result<Datum> {
    call.aggregate_context()?;
    Ok(call.datum(0).unwrap_or_else(|| call.null()))
}

const TRANS: Method = part("row_bag_trans", &[&STATE, &ROW], Type::Bag, |call| {
    // A row that does not exist (the empty side of an outer join) does not count.
    let Some(record) = call.record(1)? else { return unchanged(call) };
    advanced(call, |context| State::records(&record, context), |state| state.add_record(&record))
})
.stable()
.parallel_safe()
.about("part of the aggregate row_bag");

fn add_columns(call: &Call, given: &Given<'_>) -> Result<Datum> {
    advanced(call, |context| State::columns(given, context), |state| state.add_columns(given))
}

const COLUMNS_TRANS: Method =
    part("row_bag_columns_trans", &[&STATE, &NAMES, &COLUMNS], Type::Bag, |call| {
        add_columns(call, &call.columns(1)?)
    })
    .stable()
    .parallel_safe()
    .about("part of the aggregate row_bag");

const CELLS_TRANS: Method =
    part("cell_bag_trans", &[&STATE, &TEXTS, &CELLS], Type::Bag, |call| match call.cells(1)? {
        Some(given) => add_columns(call, &given),
        None => unchanged(call),
    })
    .pure()
    .about("part of the aggregate cell_bag");

const COMBINE: Method = part("row_bag_combine", &[&STATE, &OTHER], Type::Bag, |call| {
    let Some(mut bag) = bag_of(call, 1)? else { return unchanged(call) };
    if let Some(state) = call.state::<State>(0, Access::Write)? {
        match state.add_bag(bag)? {
            None => return unchanged(call),
            Some(back) => bag = back,
        }
    }
    let before = bag_of(call, 0)?;
    call.keep(|_| {
        let mut state = State::sum(before.as_ref().unwrap_or(&bag));
        if let Some(before) = before {
            state.add_bag(before)?;
        }
        state.add_bag(bag)?;
        Ok(state)
    })
})
.pure()
.about("part of the aggregates row_bag and cell_bag");

const FINAL: Method = part("row_bag_final", &[&STATE], Type::Bag, |call| {
    if let Some(state) = call.state::<State>(0, Access::Read)? {
        return Ok(bytea(&state.take()?));
    }
    match bag_of(call, 0)? {
        Some(bag) => Ok(bytea(&bag::encode(bag)?)),
        None => Ok(call.null()),
    }
})
.pure()
.about("part of the aggregates row_bag and cell_bag");

methods! {
    sanitize_bag_in => BAG_IN;
    sanitize_bag_out => BAG_OUT;
    sanitize_bag_recv => BAG_RECV;
    sanitize_bag_send => BAG_SEND;
    sanitize_bag_packed => BAG_PACKED;
    sanitize_row_bag_trans => TRANS;
    sanitize_row_bag_columns_trans => COLUMNS_TRANS;
    sanitize_cell_bag_trans => CELLS_TRANS;
    sanitize_row_bag_combine => COMBINE;
    sanitize_row_bag_final => FINAL;
}
