//! Differentially private releases, and the arithmetic behind them.

use super::input::{k, max_length};
use super::ledger;
use super::typed_source::TypedSource;
use crate::pg::call::{Call, sql_function};
use crate::pg::error::Error;
use crate::pg::rowset::{ResultRows, Value};
use crate::pg::typed;
use dp::{Charge, Coins, Cost, Method, Plan, Request, Scheme};
use pgrx::pg_sys::{self, Datum};

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
    let method = match call.text(4, "method")?.as_str() {
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

/// The argument scheme: where the rare combinations come from.
pub fn scheme(name: &str) -> Result<Scheme, Error> {
    Scheme::parse(name).ok_or_else(|| {
        Error::argument(
            format!("scheme is \"{name}\""),
            "scheme is 'public', 'dp_counts', 'dp_split' or 'paper'.",
        )
    })
}

fn dp_mii_sample(call: &Call) -> Result<Datum, Error> {
    let scheme = scheme(&call.text(4, "scheme")?)?;
    let mut request = Request {
        scheme,
        epsilon: call.value(1, "epsilon")?,
        delta: call.value(2, "delta")?,
        k: k(call, 3)?,
        split: call.value(6, "split")?,
        max_length: max_length(call, 7)?,
        columns: 1,
    };
    // All that can be refused without the data is refused before it is read.
    Plan::new(request)?;
    let public_source = call.optional::<pg_sys::Oid>(5);
    if (scheme == Scheme::Public) != public_source.is_some() {
        return Err(Error::argument(
            format!(
                "scheme is '{}' and public_source is {}",
                scheme.name(),
                if public_source.is_some() { "given" } else { "not given" }
            ),
            "Scheme 'public' takes its rare combinations from public_source; the others take none.",
        ));
    }
    let mut source = TypedSource::read(call, 8, Some(9))?;
    request.columns = source.input.bag.width();
    let plan = Plan::new(request)?;
    if matches!(scheme, Scheme::DpCounts | Scheme::DpSplit) {
        source = source.within_public_domains()?;
    }
    let public = public_source.map(|oid| source.same_columns(oid)).transpose()?;
    // A seed makes the rows reproducible, not free.
    let charge = Charge::plain(Cost { epsilon: request.epsilon, delta: request.delta });
    ledger::charge_for_rows(&typed::relation(call, 0)?, "dp_mii_sample", &charge)?;
    let mut coins = Coins::new(call.optional::<i64>(10))?;
    let released = source.input.run("sampling", |bag, watch| {
        match dp::sample(bag, &plan, public.as_ref(), &mut coins, watch) {
            Err(dp::Error::Stop(stop)) => Err(stop),
            drawn => Ok(drawn),
        }
    })??;
    let bag = source.input.bag.clone();
    let pieces = released.pieces().iter().map(|piece| (piece.row, piece.weight));
    source.release(call, pieces, |number, row| released.write(&bag, number, row))
}

sql_function!(sanitize_dp_mii_sample, dp_mii_sample);
sql_function!(sanitize_dp_mii_parameters, dp_mii_parameters);
sql_function!(sanitize_sampling_delta, sampling_delta);
