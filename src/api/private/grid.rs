//! The grid of answering times: when a finished answer is returned, and to which precision views show times.

use crate::api::prelude::*;
use crate::pg::process::worker::isolated;
use std::time::{Duration, Instant};

/// Waits until an answer whose question was charged at `began` may be given.
pub fn wait(began: Instant) {
    if let Some(grid) = settings::answer_grid() {
        isolated::wait_until(began + slot(began.elapsed(), grid));
    }
}

/// How long an answer takes that was ready after `taken`: the grid, or twice, four times, … as much. So the time of a
/// late answer reveals little: few different times are possible.
fn slot(taken: Duration, grid: Duration) -> Duration {
    let mut slot = grid;
    while slot < taken {
        slot *= 2;
    }
    slot
}

/// A time in microseconds, moved back to the grid; infinite ones stay.
fn moved(time: i64, grid: Option<Duration>) -> i64 {
    let step = grid.map_or(1, |grid| i64::try_from(grid.as_micros()).unwrap_or(i64::MAX));
    match time {
        i64::MIN | i64::MAX => time,
        time => time.saturating_sub(time.rem_euclid(step.max(1))),
    }
}

/// In microseconds.
const TIME: Argument<Option<i64>> =
    Argument::new("moment", Type::Time, |given| given.time()).about("A moment.");

const GRID_TIME: Method = Method::new("grid_time", &[&TIME], Returns::One(Type::Time), |call| {
    let time = call.get(&TIME)?.map(|time| moved(time, settings::answer_grid()));
    call.value(time)
})
.internal()
.stable()
.strict()
.parallel_safe()
.about("the moment as the views tell it: moved back to a multiple of pg_sanitize.answer_grid");

methods! {
    sanitize_grid_time => GRID_TIME;
}
