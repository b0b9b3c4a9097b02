//! How well a released table serves in place of its original.

use super::compare::Pair;
use crate::api::shared::arguments::{COLUMNS, ORIGINAL, RELEASED};
use crate::method::{Method, methods};
use crate::pg::call::argument::Type;
use crate::pg::call::signature::Returns;
use crate::pg::write::rowset::{ResultRows, Value};

const UTILITY: Method = Method {
    name: "utility",
    arguments: &[&ORIGINAL, &RELEASED, &COLUMNS],
    returns: Returns::Table(&[("measure", Type::Text), ("value", Type::Float8)]),
    run: |call| {
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
    label: None,
    price: None,
};

methods! {
    sanitize_utility => UTILITY;
}
