//! Releases by suppression.

use super::input::{max_length, theta};
use super::typed_source::TypedSource;
use crate::pg::call::{Call, sql_function};
use crate::pg::error::Error;
use pgrx::pg_sys::Datum;
use suppress::Release;
use table::{Bag, Stop, Watch};

impl From<suppress::Error> for Error {
    fn from(error: suppress::Error) -> Self {
        match error {
            suppress::Error::Stopped(stop) => stop.into(),
            suppress::Error::NothingLeft { .. } => Error::argument(
                format!("nothing would be left: {error}"),
                "Give a smaller theta or k, or a relation with more rows.",
            ),
            suppress::Error::WeightCount { .. } | suppress::Error::Weight { .. } => Error::argument(
                format!("weights: {error}"),
                "Weights are positive numbers by column name: {\"zip\": 2, \"age\": 0.5}.",
            ),
            suppress::Error::Broken { .. } => Error::Broken { what: error.to_string() },
        }
    }
}

/// Reads the source (columns in argument 2, keep in argument 3), lets `suppress` decide what of it
/// is released, and returns that.
fn release(
    call: &Call,
    suppress: impl FnOnce(&Bag, &Watch) -> Result<Release, suppress::Error> + Send,
) -> Result<Datum, Error> {
    let source = TypedSource::read(call, 2, Some(3))?;
    let release = source.input.run("suppressing", |bag, watch| match suppress(bag, watch) {
        Err(suppress::Error::Stopped(stop)) => Err::<_, Stop>(stop),
        decided => Ok(decided),
    })??;
    let bag = source.input.bag.clone();
    let pieces = release.pieces().iter().map(|piece| (piece.row, piece.weight));
    source.release(call, pieces, |number, row| release.write(&bag, &release.pieces()[number], row))
}

/// The argument k: how many rows must look alike.
fn k(call: &Call, i: usize) -> Result<u64, Error> {
    match call.value::<i32>(i, "k")? {
        k if k >= 2 => Ok(k as u64),
        k => Err(Error::argument(
            format!("k is {k}"),
            "k is the number of rows that must look alike: 2 or more.",
        )),
    }
}

fn mii_suppress(call: &Call) -> Result<Datum, Error> {
    let theta = theta(call, 1)?;
    let max_length = max_length(call, 4)?;
    release(call, |bag, watch| suppress::mii_suppress(bag, theta, max_length, watch))
}

fn k_mii(call: &Call) -> Result<Datum, Error> {
    let k = k(call, 1)?;
    let max_length = max_length(call, 4)?;
    release(call, |bag, watch| suppress::k_mii(bag, k, max_length, watch))
}

sql_function!(sanitize_mii_suppress, mii_suppress);
sql_function!(sanitize_k_mii, k_mii);
