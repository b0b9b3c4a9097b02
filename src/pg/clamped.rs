//! The aggregates `clamped_sum` and `clamped_sum_squares`: sums in 128 bits, parallel.

use super::call::{Call, sql_function};
use super::error::Error;
use pgrx::pg_sys::{self, Datum};
use pgrx::{PgMemoryContexts, varlena};

/// The state in argument `i`.
fn state(call: &Call, i: usize) -> Option<i128> {
    // SAFETY: only the functions here make values of type internal that reach these aggregates.
    call.datum(i).map(|datum| unsafe { *datum.cast_mut_ptr::<i128>() })
}

fn keep(context: pg_sys::MemoryContext, sum: i128) -> Datum {
    PgMemoryContexts::For(context).leak_and_drop_on_delete(sum).into()
}

/// Adds `term` of the clamped value to the state.
fn add(call: &Call, term: fn(i128) -> i128) -> Result<Datum, Error> {
    let context = call.aggregate_context()?;
    let datum = call.datum(0).unwrap_or_else(|| keep(context, 0));
    let (low, high) = (call.value::<i64>(2, "low")?, call.value::<i64>(3, "high")?);
    if low > high {
        return Err(Error::argument(
            format!("low is {low} and high is {high}"),
            "low is at most high.",
        ));
    }
    if let Some(x) = call.optional::<i64>(1) {
        // SAFETY: as in `state`; the state is this call's alone.
        let sum = unsafe { &mut *datum.cast_mut_ptr::<i128>() };
        *sum = sum.saturating_add(term(x.clamp(low, high).into()));
    }
    Ok(datum)
}

fn sum_trans(call: &Call) -> Result<Datum, Error> {
    add(call, |x| x)
}

fn squares_trans(call: &Call) -> Result<Datum, Error> {
    add(call, |x| x * x)
}

fn combine(call: &Call) -> Result<Datum, Error> {
    let context = call.aggregate_context()?;
    let sums = [state(call, 0), state(call, 1)];
    match sums {
        [None, None] => Ok(call.null()),
        [a, b] => Ok(keep(context, a.unwrap_or(0).saturating_add(b.unwrap_or(0)))),
    }
}

fn serial(call: &Call) -> Result<Datum, Error> {
    call.aggregate_context()?;
    match state(call, 0) {
        Some(sum) => Ok(varlena::rust_byte_slice_to_bytea(&sum.to_le_bytes()).into_pg().into()),
        None => Ok(call.null()),
    }
}

fn deserial(call: &Call) -> Result<Datum, Error> {
    call.aggregate_context()?;
    let bytes = call.value::<&[u8]>(0, "state")?;
    let bytes = bytes.try_into().map_err(|_| Error::Context)?;
    // SAFETY: the current context is where the executor wants the result.
    Ok(keep(unsafe { pg_sys::CurrentMemoryContext }, i128::from_le_bytes(bytes)))
}

fn finish(call: &Call) -> Result<Datum, Error> {
    call.aggregate_context()?;
    // Of no rows as well: whether a group has rows must not show in the result's being NULL.
    let sum = state(call, 0).unwrap_or(0);
    Ok(Datum::from(sum.clamp(i64::MIN.into(), i64::MAX.into()) as i64))
}

sql_function!(sanitize_clamped_sum_trans, sum_trans);
sql_function!(sanitize_clamped_squares_trans, squares_trans);
sql_function!(sanitize_clamped_combine, combine);
sql_function!(sanitize_clamped_serial, serial);
sql_function!(sanitize_clamped_deserial, deserial);
sql_function!(sanitize_clamped_final, finish);
