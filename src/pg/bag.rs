//! The type `sanitize.bag` and the parallel aggregate `row_bag`.

use super::call::{Call, sql_function};
use super::cell::MAX_DATUM;
use super::error::Error;
use super::reader::{self, RowCoder};
use super::{pool, text};
use pgrx::pg_sys::{self, Datum};
use pgrx::{PgMemoryContexts, PgTupleDesc, direct_function_call_as_datum, varlena};
use table::{Bag, Coder, Encoding, WireError};

/// Reads a bag's bytes; every value is checked to be text of this database.
fn decode(bytes: &[u8]) -> Result<Bag, Error> {
    let bag = pool::run("reading the bag", bytes.len() as u64, |watch| {
        Ok(match Bag::decode(bytes, watch) {
            Err(WireError::Stopped(stop)) => return Err(stop),
            decoded => decoded,
        })
    })??;
    for domain in bag.domains() {
        if !domain.values().all(text::valid) {
            return Err(Error::BagEncoding);
        }
    }
    Ok(bag)
}

/// The bytes of a bag or bytea datum, detoasted into the current memory context.
fn bytes<'a>(datum: Datum) -> &'a [u8] {
    // SAFETY: the SQL declarations give such arguments a varlena type; the context outlives the call.
    unsafe { varlena::varlena_to_byte_slice(pg_sys::pg_detoast_datum_packed(datum.cast_mut_ptr())) }
}

/// The bag of a datum of type `sanitize.bag`.
pub fn read(datum: Datum) -> Result<Bag, Error> {
    decode(bytes(datum))
}

fn encode(mut bag: Bag) -> Result<Datum, Error> {
    let held = bag.memory();
    let encoded = pool::run("writing the bag", held, move |watch| bag.encode(watch))?;
    if encoded.len() > MAX_DATUM {
        return Err(Error::TooLarge { what: "bag", bytes: encoded.len() });
    }
    Ok(varlena::rust_byte_slice_to_bytea(&encoded).into_pg().into())
}

/// Calls bytea's function of the same kind, whose form bags share.
fn as_bytea(
    call: &Call,
    function: unsafe fn(pg_sys::FunctionCallInfo) -> Datum,
) -> Result<Datum, Error> {
    // SAFETY: the argument is what bytea's own function takes.
    let result = unsafe { direct_function_call_as_datum(function, &[call.datum(0)]) };
    result.ok_or(Error::Null { argument: "value" })
}

fn checked(datum: Datum) -> Result<Datum, Error> {
    decode(bytes(datum))?;
    Ok(datum)
}

fn bag_in(call: &Call) -> Result<Datum, Error> {
    checked(as_bytea(call, pg_sys::byteain)?)
}

fn bag_out(call: &Call) -> Result<Datum, Error> {
    as_bytea(call, pg_sys::byteaout)
}

fn bag_recv(call: &Call) -> Result<Datum, Error> {
    checked(as_bytea(call, pg_sys::bytearecv)?)
}

fn bag_send(call: &Call) -> Result<Datum, Error> {
    as_bytea(call, pg_sys::byteasend)
}

sql_function!(sanitize_bag_in, bag_in);
sql_function!(sanitize_bag_out, bag_out);
sql_function!(sanitize_bag_recv, bag_recv);
sql_function!(sanitize_bag_send, bag_send);

/// The state of `row_bag`.
enum State {
    /// Reads rows.
    Rows(Rows),
    /// Adds up the states of other workers.
    Sum(Coder),
    /// Came from another worker.
    Bag(Bag),
    /// Was taken out.
    Spent,
}

struct Rows {
    type_oid: pg_sys::Oid,
    typmod: i32,
    descriptor: PgTupleDesc<'static>,
    values: Vec<Datum>,
    nulls: Vec<bool>,
    coder: RowCoder,
}

impl State {
    fn into_bag(self) -> Result<Bag, Error> {
        match self {
            State::Rows(rows) => Ok(rows.coder.finish()?.bag),
            State::Sum(coder) => Ok(reader::finish(coder, 0)?.bag),
            State::Bag(bag) => Ok(bag),
            State::Spent => Err(Error::Context),
        }
    }
}

/// The state that a datum of type internal points to; the aggregate has no other reference to it
/// during the call.
fn state<'a>(datum: Option<Datum>) -> Option<&'a mut State> {
    // SAFETY: only the functions here make values of type internal that reach this aggregate.
    datum.and_then(|datum| unsafe { datum.cast_mut_ptr::<State>().as_mut() })
}

/// Moves a state into `context`, which drops it when it goes.
fn keep(context: pg_sys::MemoryContext, state: State) -> Datum {
    PgMemoryContexts::For(context).leak_and_drop_on_delete(state).into()
}

fn row_bag_trans(call: &Call) -> Result<Datum, Error> {
    let context = call.aggregate_context()?;
    let Some(record) = call.datum(1) else {
        // A row that does not exist (the empty side of an outer join).
        return Ok(call.datum(0).unwrap_or_else(|| call.null()));
    };
    // SAFETY: argument 1 is a record by declaration; its header tells its type, and the deformed
    // row has the length of that type's descriptor.
    unsafe {
        let header =
            pg_sys::pg_detoast_datum(record.cast_mut_ptr()).cast::<pg_sys::HeapTupleHeaderData>();
        let fields = (*header).t_choice.t_datum;
        let (type_oid, typmod) = (fields.datum_typeid, fields.datum_typmod);
        let state_datum = match call.datum(0) {
            Some(datum) => datum,
            None => PgMemoryContexts::For(context).switch_to(|_| {
                Ok::<_, Error>(keep(context, State::Rows(Rows::new(type_oid, typmod, context)?)))
            })?,
        };
        let Some(State::Rows(rows)) = state_datum.cast_mut_ptr::<State>().as_mut() else {
            return Err(Error::Context);
        };
        if (rows.type_oid, rows.typmod) != (type_oid, typmod) {
            return Err(Error::argument(
                "the rows given to row_bag are of different types",
                "Aggregate the rows of one relation or subquery.",
            ));
        }
        let mut tuple = pg_sys::HeapTupleData {
            t_len: varlena::varsize(header.cast()) as u32,
            t_data: header,
            ..Default::default()
        };
        pg_sys::heap_deform_tuple(
            &mut tuple,
            rows.descriptor.as_ptr(),
            rows.values.as_mut_ptr(),
            rows.nulls.as_mut_ptr(),
        );
        rows.coder.row(rows.values.as_ptr(), rows.nulls.as_ptr())?;
        Ok(state_datum)
    }
}

impl Rows {
    /// # Safety
    /// `context` lives as long as the value.
    unsafe fn new(
        type_oid: pg_sys::Oid,
        typmod: i32,
        context: pg_sys::MemoryContext,
    ) -> Result<Self, Error> {
        // SAFETY: the descriptor is copied and its reference given back.
        unsafe {
            let shared = pg_sys::lookup_rowtype_tupdesc(type_oid, typmod);
            let descriptor = PgTupleDesc::from_pg_is_copy(pg_sys::CreateTupleDescCopy(shared));
            pgrx::tupdesc::release_tupdesc(shared);
            let mut coder = RowCoder::new(&descriptor, context);
            let names: Vec<&str> = coder.coder().names().collect();
            if let Some(i) = (1..names.len()).find(|&i| names[..i].contains(&names[i])) {
                return Err(Error::argument(
                    format!("two columns of the rows are called \"{}\"", names[i]),
                    "Give every column a name of its own.",
                ));
            }
            let natts = descriptor.len();
            Ok(Rows {
                type_oid,
                typmod,
                descriptor,
                values: vec![Datum::null(); natts],
                nulls: vec![true; natts],
                coder,
            })
        }
    }
}

fn row_bag_combine(call: &Call) -> Result<Datum, Error> {
    let context = call.aggregate_context()?;
    let Some(other) = state(call.datum(1)) else {
        return Ok(call.datum(0).unwrap_or_else(|| call.null()));
    };
    let bag = std::mem::replace(other, State::Spent).into_bag()?;
    let datum = call.datum(0).unwrap_or_else(|| {
        let columns = bag.domains().iter().map(|d| (d.name().to_string(), Encoding::Text));
        keep(context, State::Sum(Coder::new(columns)))
    });
    // SAFETY: as in `state`.
    let coder = match unsafe { datum.cast_mut_ptr::<State>().as_mut() } {
        Some(State::Sum(coder)) => coder,
        Some(State::Rows(rows)) => rows.coder.coder(),
        _ => return Err(Error::Context),
    };
    let held = bag.memory() + coder.memory();
    pool::run("merging bags", held, |watch| coder.absorb(&bag, watch))?;
    Ok(datum)
}

fn row_bag_serial(call: &Call) -> Result<Datum, Error> {
    call.aggregate_context()?;
    match state(call.datum(0)) {
        Some(state) => encode(std::mem::replace(state, State::Spent).into_bag()?),
        None => Ok(call.null()),
    }
}

fn row_bag_deserial(call: &Call) -> Result<Datum, Error> {
    call.aggregate_context()?;
    let bag = decode(bytes(call.datum(0).ok_or(Error::Null { argument: "state" })?))?;
    // SAFETY: the current context is where the executor wants the result.
    Ok(keep(unsafe { pg_sys::CurrentMemoryContext }, State::Bag(bag)))
}

sql_function!(sanitize_row_bag_trans, row_bag_trans);
sql_function!(sanitize_row_bag_combine, row_bag_combine);
sql_function!(sanitize_row_bag_serial, row_bag_serial);
sql_function!(sanitize_row_bag_deserial, row_bag_deserial);
// The final result is the serialised state.
sql_function!(sanitize_row_bag_final, row_bag_serial);
