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

pub const BINARY_ENTROPY_LOSS: Method = Method {
    name: "binary_entropy_loss",
    arguments: &[&N, &ONES],
    returns: Returns::One(Type::Float8),
    run: |call| {
        let (n, k) = (call.get(&N)?, call.get(&ONES)?);
        if k > n {
            return Err(Error::argument(
                format!("k is {k}, but n is {n}"),
                "k is a number of records: from 0 to n.",
            ));
        }
        let loss = entropy::binary_entropy_loss(n, k);
        Ok(loss.and_then(IntoDatum::into_datum).unwrap_or_else(|| call.null()))
    },
    label: None,
    price: None,
};

pub const EXPECTED_BINARY_ENTROPY_LOSS: Method = Method {
    name: "expected_binary_entropy_loss",
    arguments: &[&N],
    returns: Returns::One(Type::Float8),
    run: |call| {
        let loss = entropy::expected_binary_entropy_loss(call.get(&N)?);
        Ok(loss.and_then(IntoDatum::into_datum).unwrap_or_else(|| call.null()))
    },
    label: None,
    price: None,
};

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

pub const INTERVAL_PRIVACY: Method = Method {
    name: "interval_privacy",
    arguments: &[&NOISE, &CONFIDENCE],
    returns: Returns::One(Type::Float8),
    run: |call| {
        let width = entropy::interval_privacy(&call.get(&NOISE)?, call.get(&CONFIDENCE)?);
        Ok(width.and_then(IntoDatum::into_datum).unwrap_or_else(|| call.null()))
    },
    label: None,
    price: None,
};
