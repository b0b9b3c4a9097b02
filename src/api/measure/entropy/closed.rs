//! Losses in closed form, and the width of noise.

use super::{N, count};
use crate::api::shared::arguments::number;
use crate::method::Method;
use crate::pg::call::argument::{Argument, Type};
use crate::pg::call::error::Error;
use crate::pg::call::signature::Returns;
use measures::entropy;
use pgrx::IntoDatum;

const ONES: Argument<u64> = Argument {
    name: "k",
    of: Type::Int4,
    default: None,
    about: "How many of the records are 1.",
    read: |given| count(given, "k is a number of records: from 0 to n."),
};

pub const BINARY_ENTROPY_LOSS: Method =
    Method::new("binary_entropy_loss", &[&N, &ONES], Returns::One(Type::Float8), |call| {
        let (n, k) = (call.get(&N)?, call.get(&ONES)?);
        if k > n {
            return Err(Error::argument(
                format!("k is {k}, but n is {n}"),
                "k is a number of records: from 0 to n.",
            ));
        }
        let loss = entropy::binary_entropy_loss(n, k);
        Ok(loss.and_then(IntoDatum::into_datum).unwrap_or_else(|| call.null()))
    })
    .immutable()
    .parallel_safe()
    .about("the entropy that each of n fair bits loses if it is known that k of them are 1");

pub const EXPECTED_BINARY_ENTROPY_LOSS: Method =
    Method::new("expected_binary_entropy_loss", &[&N], Returns::One(Type::Float8), |call| {
        let loss = entropy::expected_binary_entropy_loss(call.get(&N)?);
        Ok(loss.and_then(IntoDatum::into_datum).unwrap_or_else(|| call.null()))
    })
    .immutable()
    .parallel_safe()
    .about(
        "the entropy that each of n fair bits can be expected to lose if their sum is published",
    );

const NOISE: Argument<Vec<f64>> = Argument {
    name: "noise",
    of: Type::Floats,
    default: None,
    about: "Values of the noise, each as likely as the others: a sample, or its quantiles.",
    read: |given| {
        let noise = given.needed(given.floats()?)?;
        let noise = noise.vector().map_err(|what| given.refuse(what, "Give a list of numbers."))?;
        if noise.is_empty() {
            return Err(given.refuse("empty", "Give at least one value of the noise."));
        }
        match noise.iter().find(|value| !value.is_finite()) {
            Some(value) => {
                Err(given.refuse(format!("a list that has {value}"), "Give finite numbers."))
            }
            None => Ok(noise),
        }
    },
};

const CONFIDENCE: Argument<f64> = Argument {
    name: "confidence",
    of: Type::Float8,
    default: None,
    about: "The share of the noise that the interval holds.",
    read: |given| match number(given)? {
        confidence if confidence > 0.0 && confidence <= 1.0 => Ok(confidence),
        confidence => Err(given.refuse(confidence, "confidence is above 0 and at most 1.")),
    },
};

pub const INTERVAL_PRIVACY: Method =
    Method::new("interval_privacy", &[&NOISE, &CONFIDENCE], Returns::One(Type::Float8), |call| {
        let width = entropy::interval_privacy(&call.get(&NOISE)?, call.get(&CONFIDENCE)?);
        Ok(width.and_then(IntoDatum::into_datum).unwrap_or_else(|| call.null()))
    })
    .immutable()
    .parallel_safe()
    .about(
        "the width of the shortest interval that holds a share of the noise: how closely a \
         value is known, with that confidence, to which such noise was added",
    );
