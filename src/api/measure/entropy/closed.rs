//! Losses in closed form, and the width of noise.

use super::N;
use crate::api::prelude::*;
use measures::entropy;

const ONES: Argument<u64> = Argument::new("k", Type::Int4, |given| {
    given.at_least(0, "k is a number of records: from 0 to n.")
})
.about("How many of the records are 1.");

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
        call.value(loss)
    })
    .pure()
    .about("the entropy that each of n fair bits loses if it is known that k of them are 1");

pub const EXPECTED_BINARY_ENTROPY_LOSS: Method =
    Method::new("expected_binary_entropy_loss", &[&N], Returns::One(Type::Float8), |call| {
        let loss = entropy::expected_binary_entropy_loss(call.get(&N)?);
        call.value(loss)
    })
    .pure()
    .about(
        "the entropy that each of n fair bits can be expected to lose if their sum is published",
    );

const NOISE: Argument<Vec<f64>> = Argument::new("noise", Type::Floats, |given| {
    let noise = number_list(given, given.floats()?, "Give a list of numbers.")?;
    if noise.is_empty() {
        return Err(given.refuse("empty", "Give at least one value of the noise."));
    }
    match noise.iter().find(|value| !value.is_finite()) {
        Some(value) => {
            Err(given.refuse(format!("a list that has {value}"), "Give finite numbers."))
        }
        None => Ok(noise),
    }
})
.about("Values of the noise, each as likely as the others: a sample, or its quantiles.");

const CONFIDENCE: Argument<f64> = Argument::new("confidence", Type::Float8, |given| {
    given.fitting(|share: f64| share > 0.0 && share <= 1.0, "confidence is above 0 and at most 1.")
})
.about("The share of the noise that the interval holds.");

pub const INTERVAL_PRIVACY: Method =
    Method::new("interval_privacy", &[&NOISE, &CONFIDENCE], Returns::One(Type::Float8), |call| {
        let width = entropy::interval_privacy(&call.get(&NOISE)?, call.get(&CONFIDENCE)?);
        call.value(width)
    })
    .pure()
    .about(
        "the width of the shortest interval that holds a share of the noise: how closely a \
         value is known, with that confidence, to which such noise was added",
    );
