//! The type `sanitize.bag` and the parallel aggregate `row_bag`.

use super::internal::{BYTES, OTHER, STATE, part, passed};
use crate::method::{Method, methods};
use crate::pg::argument::{Argument, Type};
use crate::pg::call::Call;
use crate::pg::error::Error;
use crate::pg::record::{Record, Records};
use crate::pg::{bag, pool, reader, state};
use pgrx::pg_sys::{Datum, MemoryContext};
use std::cell::Cell;
use table::{Bag, Coder, Encoding};

const VALUE: Argument<()> = passed("value", Type::Bag);

const BAG_IN: Method =
    part("bag_in", &[&passed("value", Type::CString)], Type::Bag, bag::input);
const BAG_OUT: Method = part("bag_out", &[&VALUE], Type::CString, bag::output);
const BAG_RECV: Method =
    part("bag_recv", &[&passed("value", Type::Internal)], Type::Bag, bag::receive);
const BAG_SEND: Method = part("bag_send", &[&VALUE], Type::Bytes, bag::send);

thread_local! {
    /// Bytes of all states of this process. Groups have one each, and the leader of a parallel query gets
    /// those of its workers: the limit is for all of them.
    static HELD: Cell<u64> = const { Cell::new(0) };
}

/// The bytes that a state holds, as long as it lives.
#[derive(Default)]
struct Held(u64);

impl Held {
    fn set(&mut self, bytes: u64) {
        HELD.set(self.beside() + bytes);
        self.0 = bytes;
    }

    /// What the other states hold.
    fn beside(&self) -> u64 {
        HELD.get() - self.0
    }
}

impl Drop for Held {
    fn drop(&mut self) {
        self.set(0);
    }
}

/// The state of `row_bag`.
struct State {
    part: Part,
    held: Held,
}

/// What a state has so far.
enum Part {
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
        Ok(State::new(Part::Rows(rows)))
    }

    fn new(part: Part) -> Self {
        let mut state = State { part, held: Held::default() };
        state.count();
        state
    }

    /// Counts what the state holds now.
    fn count(&mut self) {
        self.held.set(match &mut self.part {
            Part::Rows(rows) => rows.coder.coder().memory(),
            Part::Sum(coder) => coder.memory(),
            Part::Bag(bag) => bag.memory(),
            Part::Spent => 0,
        });
    }

    /// Takes the bag out.
    fn take(&mut self) -> Result<Bag, Error> {
        let beside = self.held.beside();
        self.held.set(0);
        match std::mem::replace(&mut self.part, Part::Spent) {
            Part::Rows(rows) => Ok(rows.coder.finish()?.bag),
            Part::Sum(coder) => Ok(reader::finish(coder, beside)?.bag),
            Part::Bag(bag) => Ok(bag),
            Part::Spent => Err(Error::Context),
        }
    }
}

/// Rows between two counts of what a state holds.
const COUNTED: u64 = 1024;

const ROW: Argument<()> = passed("row", Type::Record);

const TRANS: Method = part("row_bag_trans", &[&STATE, &ROW], Type::Internal, |call| {
    let Some(record) = call.record(1)? else {
        // A row that does not exist (the empty side of an outer join).
        call.aggregate_context()?;
        return Ok(call.datum(0).unwrap_or_else(|| call.null()));
    };
    let datum = call.state_or(0, |context| State::rows(&record, context))?;
    let state: &mut State = state::of_datum(datum)?;
    let Part::Rows(rows) = &mut state.part else {
        return Err(Error::Context);
    };
    match rows.add(&record)? {
        true => {
            if rows.coder.coder().read().is_multiple_of(COUNTED) {
                rows.coder.beside(state.held.beside());
                state.count();
            }
            Ok(datum)
        }
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
        Ok(State::new(Part::Sum(Coder::new(columns))))
    })?;
    let state: &mut State = state::of_datum(datum)?;
    let beside = state.held.beside();
    let coder = match &mut state.part {
        Part::Sum(coder) => coder,
        Part::Rows(rows) => rows.coder.coder(),
        _ => return Err(Error::Context),
    };
    let held = beside + bag.memory() + coder.memory();
    // The bag goes with the job: what the pool frees goes back to the system.
    pool::run("merging bags", held, move |watch| coder.absorb(&bag, watch))?;
    state.count();
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
    // Postgres holds the message too: as it came in, in a buffer of up to twice its length.
    let held = HELD.get() + 2 * bytes.len() as u64;
    call.keep_here(State::new(Part::Bag(bag::decode(bytes, held)?)))
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
