//! How well a released table serves in place of its original.

use super::compare::Pair;
use crate::api::prelude::*;

const UTILITY: Method = Method::new(
    "utility",
    &[&ORIGINAL, &RELEASED, &COLUMNS],
    columns![measure: Text, value: Float8],
    |call| {
        let pair = Pair::of(call)?;
        let mut rows = ResultRows::begin(call)?;
        let found = pair.run("comparing", |released, original, watch| {
            measures::utility::utility(original, released, watch)
        })?;
        for (measure, value) in found.measures() {
            rows.push([Value::Text(measure.as_bytes()), value.map_or(Value::Null, Value::Float)]);
        }
        Ok(rows.finish(call))
    },
)
.reading()
.rows(10)
.about(
    "how well a released table serves in place of its original: how far the shares of \
         values and of pairs of values are apart, how far associations are, and how well a \
         model tells the rows of the two apart",
);

methods! {
    sanitize_utility => UTILITY;
}
