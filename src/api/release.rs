//! Releases by suppression.

use super::input::{k, max_length, theta};
use super::typed_source::TypedSource;
use crate::pg::call::{Call, sql_function};
use crate::pg::error::Error;
use crate::pg::jsonb;
use crate::pg::relation::positions;
use dp::Coins;
use pgrx::pg_sys::Datum;
use serde_json::Value;
use suppress::Method;
use table::{Bag, Release, Stop, Watch};

impl From<suppress::Error> for Error {
    fn from(error: suppress::Error) -> Self {
        match error {
            suppress::Error::Stopped(stop) => stop.into(),
            suppress::Error::NothingLeft { .. } => Error::argument(
                format!("nothing would be left: {error}"),
                "Give a smaller theta or k, or a relation with more rows.",
            ),
            suppress::Error::WeightCount { .. } | suppress::Error::Weight { .. } => {
                Error::argument(
                    format!("weights: {error}"),
                    "Weights are positive numbers by column name: {\"zip\": 2, \"age\": 0.5}.",
                )
            }
            suppress::Error::Broken { .. } => Error::Broken { what: error.to_string() },
        }
    }
}

/// Lets `suppress` decide what of the source is released, and returns that.
fn release(
    call: &Call,
    source: TypedSource,
    suppress: impl FnOnce(&Bag, &Watch) -> Result<Release, suppress::Error> + Send,
) -> Result<Datum, Error> {
    let release = source.run("suppressing", |bag, watch| match suppress(bag, watch) {
        Err(suppress::Error::Stopped(stop)) => Err::<_, Stop>(stop),
        decided => Ok(decided),
    })??;
    source.release(call, release)
}

fn mii_suppress(call: &Call) -> Result<Datum, Error> {
    let theta = theta(call, 1)?;
    let max_length = max_length(call, 4)?;
    let source = TypedSource::read(call, 2, Some(3))?.with_rows()?;
    release(call, source, |bag, watch| suppress::mii_suppress(bag, theta, max_length, watch))
}

fn k_mii(call: &Call) -> Result<Datum, Error> {
    let k = k(call, 1)?;
    let max_length = max_length(call, 4)?;
    let source = TypedSource::read(call, 2, Some(3))?.with_rows()?;
    release(call, source, |bag, watch| suppress::k_mii(bag, k, max_length, watch))
}

/// The argument weights: what a cell of each column is worth, by name; 1 where it says nothing.
fn weights(call: &Call, i: usize, source: &TypedSource) -> Result<Option<Vec<f64>>, Error> {
    let Some(weights) = jsonb::argument(call, i, "weights")? else { return Ok(None) };
    let hint = "Weights are positive numbers by column name: {\"zip\": 2, \"age\": 0.5}.";
    let Value::Object(weights) = weights else {
        return Err(Error::argument("weights is no object", hint));
    };
    let names: Vec<&str> = source.bag().domains().iter().map(|d| d.name()).collect();
    let mut values = vec![1.0; names.len()];
    for (name, weight) in &weights {
        let position =
            positions(source.name(), &names, "weights", Some(std::slice::from_ref(name)))?[0];
        values[position] =
            weight.as_f64().filter(|&w| w > 0.0 && w.is_finite()).ok_or_else(|| {
                Error::argument(format!("the weight of column \"{name}\" is {weight}"), hint)
            })?;
    }
    Ok(Some(values))
}

fn k_anonymize(call: &Call) -> Result<Datum, Error> {
    let k = k(call, 1)?;
    let max_length = max_length(call, 5)?;
    let source = TypedSource::read(call, 2, Some(3))?.with_rows()?;
    let weights = weights(call, 4, &source)?;
    release(call, source, |bag, watch| {
        suppress::k_anonymize(bag, k, weights.as_deref(), max_length, watch)
    })
}

fn impute(call: &Call) -> Result<Datum, Error> {
    let method = match call.text(2, "method")?.as_str() {
        "conditional" => Method::Conditional,
        "marginal" => Method::Marginal,
        method => {
            return Err(Error::argument(
                format!("method is \"{method}\""),
                "method is 'conditional' or 'marginal'.",
            ));
        }
    };
    let names = call.names(1, "columns")?;
    let mut coins = Coins::new(call.optional::<i64>(3))?;
    let source = TypedSource::read_all(call)?;
    let existing: Vec<&str> = source.bag().domains().iter().map(|d| d.name()).collect();
    let columns = positions(source.name(), &existing, "columns", names.as_deref())?;
    let filled = source.run("filling", |bag, watch| {
        suppress::impute(bag, &columns, method, |n| dp::below(&mut coins, n), watch)
    })?;
    source.release(call, filled)
}

sql_function!(sanitize_impute, impute);
sql_function!(sanitize_mii_suppress, mii_suppress);
sql_function!(sanitize_k_anonymize, k_anonymize);
sql_function!(sanitize_k_mii, k_mii);
