//! The aggregate `bounded_rows`, with which shards bound the rows of each of their units for `dp_aggregate`.

use crate::api::prelude::*;
use crate::pg::call::aggregate_state::bytea;
use crate::pg::call::expanded::Access;
use crate::pg::read::bag;
use crate::pg::read::bounded_rows::{State, nothing};

const STATE: Argument<()> = passed("state", Type::Bag);
const TERMS: Argument<()> = passed("terms", Type::Json);
const COLUMNS: Argument<()> = passed("columns", Type::Columns);

const TRANS: Method = part("bounded_rows_trans", &[&STATE, &TERMS, &COLUMNS], Type::Bag, |call| {
    match (call.state::<State>(0, Access::Write)?, call.passed_bag(0)?) {
        (Some(state), Some(datum)) => state.row(call).map(|()| datum),
        (_, None) => call.keep(|context| {
            let mut state = State::new(call, context)?;
            state.row(call)?;
            Ok(state)
        }),
        // A bag does not say which unit its rows belong to.
        (None, Some(_)) => Err(Error::NoAggregate),
    }
})
.about("part of the aggregate bounded_rows");

const FINAL: Method = part("bounded_rows_final", &[&STATE], Type::Bag, |call| {
    let kept = match (call.state::<State>(0, Access::Read)?, call.passed_bag(0)?) {
        (Some(state), _) => state.take()?,
        (None, None) => Some(nothing()?),
        (None, Some(_)) => return Err(Error::NoAggregate),
    };
    kept.map_or_else(|| Ok(call.null()), |kept| Ok(bytea(&bag::encode(kept)?)))
})
.about("part of the aggregate bounded_rows");

methods! {
    sanitize_bounded_rows_trans => TRANS;
    sanitize_bounded_rows_final => FINAL;
}
