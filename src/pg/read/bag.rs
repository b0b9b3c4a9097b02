//! Values of type `sanitize.bag`. Their text and binary forms are those of bytea.

use super::cell::MAX_DATUM;
use crate::pg::call::serve::Call;
use crate::pg::prelude::*;
use crate::pg::process::pool;
use pgrx::{direct_function_call_as_datum, varlena};
use table::Bag;

/// Reads a bag's bytes, while the call already holds `held` bytes; every value is checked to be text of this database.
pub fn decode(bytes: &[u8], held: u64) -> Result<Bag, Error> {
    let (bag, encoding) =
        pool::run("reading the bag", held + bytes.len() as u64, |watch| Bag::decode(bytes, watch))?;
    // In SQL_ASCII the meaning of the bytes is unknown: they are accepted if they are valid text here.
    let unknown = ["", "SQL_ASCII"];
    let here = text::encoding();
    if encoding != here && !unknown.contains(&encoding) && !unknown.contains(&&*here) {
        return Err(Error::BagEncoding { of: Some(encoding.into()), here });
    }
    for domain in bag.domains() {
        if !domain.values().all(text::valid) {
            return Err(Error::BagEncoding { of: None, here });
        }
    }
    Ok(bag)
}

/// The bytes of a datum of type `sanitize.bag`.
fn bytes<'a>(datum: Datum) -> &'a [u8] {
    // SAFETY: a varlena, detoasted into the current memory context, which outlives the call.
    unsafe { varlena::varlena_to_byte_slice(pg_sys::pg_detoast_datum_packed(datum.cast_mut_ptr())) }
}

/// The bag of a datum of type `sanitize.bag`.
pub fn read(datum: Datum) -> Result<Bag, Error> {
    read_beside(datum, 0)
}

/// As [`read`], for a call that already holds `held` bytes.
pub fn read_beside(datum: Datum, held: u64) -> Result<Bag, Error> {
    let bytes = bytes(datum);
    // Postgres may also hold the message, in a buffer of up to twice its length.
    decode(bytes, held + bytes.len() as u64)
}

/// A bag as the bytes of a value of Postgres.
pub fn encode(mut bag: Bag) -> Result<Vec<u8>, Error> {
    let held = bag.memory();
    let encoding = text::encoding();
    let encoded = pool::run("writing the bag", held, move |watch| bag.encode(&encoding, watch))?;
    fitting(encoded)
}

/// Refuses what is too long for a value of Postgres.
fn fitting(bag: Vec<u8>) -> Result<Vec<u8>, Error> {
    match bag.len() > MAX_DATUM {
        true => Err(Error::TooLarge { what: "bag", bytes: bag.len() }),
        false => Ok(bag),
    }
}

/// Calls bytea's function of the same kind with the only argument, which has the same form.
fn as_bytea(
    call: &Call,
    function: unsafe fn(pg_sys::FunctionCallInfo) -> Datum,
) -> Result<Datum, Error> {
    let null = Error::Null { argument: "value" };
    let Some(value) = call.datum(0) else { return Err(null) };
    // SAFETY: the argument is what bytea's own function takes.
    let result = unsafe { direct_function_call_as_datum(function, &[Some(value)]) };
    result.ok_or(null)
}

fn checked(datum: Datum) -> Result<Datum, Error> {
    read(datum)?;
    Ok(datum)
}

/// From text, checked.
pub fn input(call: &Call) -> Result<Datum, Error> {
    checked(as_bytea(call, pg_sys::byteain)?)
}

/// To text.
pub fn output(call: &Call) -> Result<Datum, Error> {
    as_bytea(call, pg_sys::byteaout)
}

/// From a message of a client, checked.
pub fn receive(call: &Call) -> Result<Datum, Error> {
    if call.aggregate_context().is_ok() {
        // An aggregate passes a state here, not a message.
        return Err(Error::Context);
    }
    checked(as_bytea(call, pg_sys::bytearecv)?)
}

/// To a message for a client.
pub fn send(call: &Call) -> Result<Datum, Error> {
    as_bytea(call, pg_sys::byteasend)
}

/// The bag as ASCII text with seven bits in each character.
pub fn packed(call: &Call) -> Result<Datum, Error> {
    let Some(value) = call.datum(0) else { return Err(Error::Null { argument: "value" }) };
    let bytes = bytes(value);
    // The bytes; at the end the text and the packed bytes together.
    let held = bytes.len() as u64 * 9 / 4;
    let packed = pool::run("packing the bag", held, |watch| table::pack(bytes, watch))?;
    Ok(text::datum(&fitting(packed)?))
}
