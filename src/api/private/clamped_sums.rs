//! The aggregates `clamped_sum` and `clamped_sum_squares`: sums in 128 bits, parallel.

use crate::api::prelude::*;

const STATE: Argument<()> = passed("state", Type::Sums);
/// The state of another process.
const OTHER: Argument<()> = passed("other", Type::Sums);
const X: Argument<()> = passed("x", Type::Int8);
const LOW: Argument<()> = passed("low", Type::Int8);
const HIGH: Argument<()> = passed("high", Type::Int8);

/// Adds `term` of the clamped value to the state.
fn add(call: &Call, term: fn(i128) -> i128) -> Result<Datum> {
    let (low, high) = (call.int8_needed(2)?, call.int8_needed(3)?);
    if low > high {
        return Err(Error::argument(
            format!("low is {low} and high is {high}"),
            "low is at most high.",
        ));
    }
    call.summed(call.int8(1)?.map_or(0, |x| term(x.clamp(low, high).into())))
}

const ADDED: &[&dyn Declared] = &[&STATE, &X, &LOW, &HIGH];
const SUM_TRANS: Method = part("clamped_sum_trans", ADDED, Type::Sums, |call| add(call, |x| x))
    .pure()
    .about("part of the aggregate clamped_sum");
const SQUARES_TRANS: Method =
    part("clamped_squares_trans", ADDED, Type::Sums, |call| add(call, |x| x * x))
        .pure()
        .about("part of the aggregate clamped_sum_squares");

const COMBINE: Method = part("clamped_combine", &[&STATE, &OTHER], Type::Sums, |call| {
    let other = call.sum(1)?;
    call.summed(other.unwrap_or(0))
})
.pure()
.about("part of the clamped aggregates");

const FINAL: Method = part("clamped_final", &[&STATE], Type::Int8, |call| {
    // 0 also for no rows: a NULL would show that the group has none.
    let sum = call.sum(0)?.unwrap_or(0);
    Ok(Datum::from(sum.clamp(i64::MIN.into(), i64::MAX.into()) as i64))
})
.pure()
.about("part of the clamped aggregates");

methods! {
    sanitize_clamped_sum_trans => SUM_TRANS;
    sanitize_clamped_squares_trans => SQUARES_TRANS;
    sanitize_clamped_combine => COMBINE;
    sanitize_clamped_final => FINAL;
}
