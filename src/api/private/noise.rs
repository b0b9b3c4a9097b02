//! Exact noise for one's own aggregates.

use super::budget::{self, EPSILON};
use crate::api::prelude::*;
use guarantee::zcdp_rho;
use random::{Noise, within_decimal};

/// NULL without noise would show that there was nothing to add noise to.
const VALUE: Argument<i64> = Argument::of("value").about("What the noise is added to.");

const SENSITIVITY: Argument<u64> = Argument::new("sensitivity", Type::Int8, |given| {
    given.at_least(1, "It is how far one person can move the value: 1 or more.")
})
.about("How far one person can move the value.");

const MECHANISM: Argument<String> =
    Argument::of("mechanism").or("\"laplace\"").about("Which noise: laplace, or gaussian.");

const DELTA: Argument<Option<f64>> = Argument::optional("delta", Type::Float8, |given| {
    given.float8()?.map(budget::delta).transpose()
})
.about("The chance with which Gaussian noise may pass epsilon; without it the noise is epsilon^2/2-zCDP.");

const DP_NOISE: Method = Method::new(
    "dp_noise",
    &[&VALUE, &SENSITIVITY, &EPSILON, &MECHANISM, &DELTA],
    Returns::One(Type::Int8),
    dp_noise,
)
.parallel_restricted()
.about(
    "the value plus exact discrete noise for that sensitivity: laplace, or gaussian (with \
         delta, or without one epsilon^2/2-zCDP). No ledger: for one's own aggregates",
);

fn dp_noise(call: &Call) -> Result<Datum> {
    let (value, sensitivity) = (call.get(&VALUE)?, call.get(&SENSITIVITY)?);
    let mechanism = call.get(&MECHANISM)?;
    // Drawn for the decimal numbers that sanitize.charge adds up.
    let epsilon = within_decimal("epsilon", call.get(&EPSILON)?)?;
    let delta = call.get(&DELTA)?.map(|delta| within_decimal("delta", delta)).transpose()?;
    let noise = match (mechanism.as_str(), delta) {
        ("laplace", None | Some(0.0)) => Noise::laplace(sensitivity, epsilon)?,
        ("laplace", Some(delta)) => {
            return Err(Error::argument(
                format!("mechanism is laplace and delta is {delta}"),
                "Laplace noise needs no delta: leave it out, or ask for gaussian.",
            ));
        }
        ("gaussian", Some(0.0)) => {
            return Err(Error::argument(
                "mechanism is gaussian and delta is 0",
                "Gaussian noise is (epsilon, delta)-private for a delta above 0 only; without delta it is epsilon^2/2-zCDP.",
            ));
        }
        ("gaussian", delta) => {
            let rho = match delta {
                Some(delta) => zcdp_rho(epsilon, delta)?,
                None => (epsilon * epsilon / 2.0).next_down(),
            };
            Noise::gaussian((sensitivity as f64).powi(2).next_up(), rho)?
        }
        _ => {
            return Err(Error::argument(
                format!("mechanism is {mechanism}"),
                "Mechanisms are laplace and gaussian.",
            ));
        }
    };
    let noisy = noise.add(&mut Coins::os()?, value.into());
    // Clamping to the type's range is post-processing of the noisy value.
    Ok(Datum::from(noisy.clamp(i64::MIN.into(), i64::MAX.into()) as i64))
}

methods! {
    sanitize_dp_noise => DP_NOISE;
}
