//! The aggregates `clamped_sum` and `clamped_sum_squares`: sums in 128 bits, parallel.

use super::internal::{BYTES, OTHER, STATE, part, passed};
use crate::method::{Method, methods};
use crate::pg::argument::{Argument, Declared, Type};
use crate::pg::call::Call;
use crate::pg::error::Error;
use crate::pg::state;
use pgrx::pg_sys::Datum;

const X: Argument<()> = passed("x", Type::Int8);
const LOW: Argument<()> = passed("low", Type::Int8);
const HIGH: Argument<()> = passed("high", Type::Int8);

/// Adds `term` of the clamped value to the state.
fn add(call: &Call, term: fn(i128) -> i128) -> Result<Datum, Error> {
    let datum = call.state_or(0, |_| Ok(0i128))?;
    let (low, high) = (call.int8_needed(2)?, call.int8_needed(3)?);
    if low > high {
        return Err(Error::argument(
            format!("low is {low} and high is {high}"),
            "low is at most high.",
        ));
    }
    if let Some(x) = call.int8(1)? {
        let sum: &mut i128 = state::of_datum(datum)?;
        *sum = sum.saturating_add(term(x.clamp(low, high).into()));
    }
    Ok(datum)
}

const ADDED: &[&dyn Declared] = &[&STATE, &X, &LOW, &HIGH];
const SUM_TRANS: Method =
    part("clamped_sum_trans", ADDED, Type::Internal, |call| add(call, |x| x));
const SQUARES_TRANS: Method =
    part("clamped_squares_trans", ADDED, Type::Internal, |call| add(call, |x| x * x));

const COMBINE: Method = part("clamped_combine", &[&STATE, &OTHER], Type::Internal, |call| {
    let sums = [call.state::<i128>(0)?, call.state::<i128>(1)?].map(|sum| sum.copied());
    match sums {
        [None, None] => Ok(call.null()),
        [a, b] => call.keep(a.unwrap_or(0).saturating_add(b.unwrap_or(0))),
    }
});

const SERIAL: Method = part("clamped_serial", &[&STATE], Type::Bytes, |call| {
    Ok(match call.state::<i128>(0)? {
        Some(sum) => state::bytea(&sum.to_le_bytes()),
        None => call.null(),
    })
});

const DESERIAL: Method = part("clamped_deserial", &[&BYTES, &OTHER], Type::Internal, |call| {
    call.aggregate_context()?;
    let bytes = call.bytes(0)?.ok_or(Error::Null { argument: "state" })?;
    call.keep_here(i128::from_le_bytes(bytes.try_into().map_err(|_| Error::Context)?))
});

const FINAL: Method = part("clamped_final", &[&STATE], Type::Int8, |call| {
    // Of no rows as well: whether a group has rows must not show in the result's being NULL.
    let sum = call.state::<i128>(0)?.copied().unwrap_or(0);
    Ok(Datum::from(sum.clamp(i64::MIN.into(), i64::MAX.into()) as i64))
});

methods! {
    sanitize_clamped_sum_trans => SUM_TRANS;
    sanitize_clamped_squares_trans => SQUARES_TRANS;
    sanitize_clamped_combine => COMBINE;
    sanitize_clamped_serial => SERIAL;
    sanitize_clamped_deserial => DESERIAL;
    sanitize_clamped_final => FINAL;
}
