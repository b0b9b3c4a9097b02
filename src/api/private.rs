//! Differentially private releases, and the arithmetic behind them.

use super::input::k;
use crate::pg::call::{Call, sql_function};
use crate::pg::error::Error;
use crate::pg::rowset::{ResultRows, Value};
use dp::Method;
use pgrx::pg_sys::Datum;

impl From<dp::Error> for Error {
    fn from(error: dp::Error) -> Self {
        let message = error.to_string();
        match error {
            dp::Error::Stop(stop) => stop.into(),
            dp::Error::Argument { name, .. } => {
                Error::argument(message, format!("Give another value for {name}."))
            }
            dp::Error::Infeasible { .. } => Error::argument(message, "Raise epsilon, delta or k."),
            dp::Error::Entropy(_) => Error::NoEntropy { what: message },
        }
    }
}

fn dp_mii_parameters(call: &Call) -> Result<Datum, Error> {
    let epsilon = call.value::<f64>(0, "epsilon")?;
    let delta = call.value::<f64>(1, "delta")?;
    let k = k(call, 2)?;
    let split = call.value::<f64>(3, "split")?;
    let method = match call.value::<String>(4, "method")?.as_str() {
        "exact" => Method::Exact,
        "li" => Method::Li,
        method => {
            return Err(Error::argument(
                format!("method is \"{method}\""),
                "method is 'exact' or 'li'.",
            ));
        }
    };
    let found = dp::parameters(epsilon, delta, k, split, method)?;
    let mut rows = ResultRows::begin(call)?;
    rows.push([
        Value::Float(found.beta.get()),
        Value::Int(i32::try_from(found.theta1).unwrap_or(i32::MAX)),
        Value::Float(found.delta),
        Value::Float(found.delta_li),
    ]);
    Ok(rows.finish(call))
}

fn sampling_delta(call: &Call) -> Result<Datum, Error> {
    let k = call.value::<i32>(0, "k")?;
    let k = u64::try_from(k).ok().filter(|&k| k >= 1).ok_or_else(|| {
        Error::argument(format!("k is {k}"), "k is a number of sampled rows: 1 or more.")
    })?;
    let beta = call.value::<f64>(1, "beta")?;
    let epsilon = call.value::<f64>(2, "epsilon")?;
    let found = dp::sampling_delta(k, beta, epsilon)?;
    let mut rows = ResultRows::begin(call)?;
    rows.push([Value::Float(found.delta), Value::Float(found.delta_li)]);
    Ok(rows.finish(call))
}

sql_function!(sanitize_dp_mii_parameters, dp_mii_parameters);
sql_function!(sanitize_sampling_delta, sampling_delta);
