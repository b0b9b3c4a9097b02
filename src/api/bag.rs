//! The type `sanitize.bag` and the parallel aggregate `row_bag`.

use super::internal::{BYTES, OTHER, STATE, part, passed};
use crate::method::{Method, methods};
use crate::pg::argument::{Argument, Type};
use crate::pg::call::Call;
use crate::pg::error::Error;
use crate::pg::record::{Record, Records};
use crate::pg::{bag, pool, reader, state};
use pgrx::pg_sys::{Datum, MemoryContext};
use table::{Bag, Coder, Encoding};

const VALUE: Argument<()> = passed("value", Type::Bag);

const BAG_IN: Method =
    part("bag_in", &[&passed("value", Type::CString)], Type::Bag, bag::input);
const BAG_OUT: Method = part("bag_out", &[&VALUE], Type::CString, bag::output);
const BAG_RECV: Method =
    part("bag_recv", &[&passed("value", Type::Internal)], Type::Bag, bag::receive);
const BAG_SEND: Method = part("bag_send", &[&VALUE], Type::Bytes, bag::send);

/// The state of `row_bag`.
enum State {
    /// Reads rows.
    Rows(Records),
    /// Adds up the states of other workers.
    Sum(Coder),
    /// Came from another worker.
    Bag(Bag),
    /// Was taken out.
    Spent,
}

impl State {
    /// What reads rows of the type of the first.
    fn rows(first: &Record<'_>, context: MemoryContext) -> Result<Self, Error> {
        let mut rows = Records::new(first, context);
        let names: Vec<&str> = rows.coder.coder().names().collect();
        if let Some(i) = (1..names.len()).find(|&i| names[..i].contains(&names[i])) {
            return Err(Error::argument(
                format!("two columns of the rows are called \"{}\"", names[i]),
                "Give every column a name of its own.",
            ));
        }
        Ok(State::Rows(rows))
    }

    /// Takes the bag out.
    fn take(&mut self) -> Result<Bag, Error> {
        match std::mem::replace(self, State::Spent) {
            State::Rows(rows) => Ok(rows.coder.finish()?.bag),
            State::Sum(coder) => Ok(reader::finish(coder, 0)?.bag),
            State::Bag(bag) => Ok(bag),
            State::Spent => Err(Error::Context),
        }
    }
}

const ROW: Argument<()> = passed("row", Type::Record);

const TRANS: Method = part("row_bag_trans", &[&STATE, &ROW], Type::Internal, |call| {
    let Some(record) = call.record(1)? else {
        // A row that does not exist (the empty side of an outer join).
        call.aggregate_context()?;
        return Ok(call.datum(0).unwrap_or_else(|| call.null()));
    };
    let datum = call.state_or(0, |context| State::rows(&record, context))?;
    let State::Rows(rows) = state::of_datum(datum)? else {
        return Err(Error::Context);
    };
    match rows.add(&record)? {
        true => Ok(datum),
        false => Err(Error::argument(
            "the rows given to row_bag are of different types",
            "Aggregate the rows of one relation or subquery.",
        )),
    }
});

const COMBINE: Method = part("row_bag_combine", &[&STATE, &OTHER], Type::Internal, |call| {
    let Some(other) = call.state::<State>(1)? else {
        return Ok(call.datum(0).unwrap_or_else(|| call.null()));
    };
    let bag = other.take()?;
    let datum = call.state_or(0, |_| {
        let columns = bag.domains().iter().map(|d| (d.name().to_string(), Encoding::Text));
        Ok(State::Sum(Coder::new(columns)))
    })?;
    let coder = match state::of_datum(datum)? {
        State::Sum(coder) => coder,
        State::Rows(rows) => rows.coder.coder(),
        _ => return Err(Error::Context),
    };
    let held = bag.memory() + coder.memory();
    pool::run("merging bags", held, |watch| coder.absorb(&bag, watch))?;
    Ok(datum)
});

/// The bag of the state, which is both what travels and the result.
fn written(call: &Call) -> Result<Datum, Error> {
    match call.state::<State>(0)? {
        Some(state) => bag::write(state.take()?),
        None => Ok(call.null()),
    }
}

const SERIAL: Method = part("row_bag_serial", &[&STATE], Type::Bytes, written);
const FINAL: Method = part("row_bag_final", &[&STATE], Type::Bag, written);

const DESERIAL: Method = part("row_bag_deserial", &[&BYTES, &OTHER], Type::Internal, |call| {
    call.aggregate_context()?;
    let bytes = call.bytes(0)?.ok_or(Error::Null { argument: "state" })?;
    call.keep_here(State::Bag(bag::decode(bytes)?))
});

methods! {
    sanitize_bag_in => BAG_IN;
    sanitize_bag_out => BAG_OUT;
    sanitize_bag_recv => BAG_RECV;
    sanitize_bag_send => BAG_SEND;
    sanitize_row_bag_trans => TRANS;
    sanitize_row_bag_combine => COMBINE;
    sanitize_row_bag_serial => SERIAL;
    sanitize_row_bag_deserial => DESERIAL;
    sanitize_row_bag_final => FINAL;
}
