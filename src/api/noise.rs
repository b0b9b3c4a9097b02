//! Exact noise for one's own aggregates.

use super::budget;
use crate::pg::call::{Call, sql_function};
use crate::pg::error::Error;
use dp::{Coins, Noise, zcdp_rho};
use pgrx::pg_sys::Datum;

fn dp_noise(call: &Call) -> Result<Datum, Error> {
    // NULL without noise would tell that there was nothing to add noise to.
    let value = call.value::<i64>(0, "value")?;
    let sensitivity = call.value::<i64>(1, "sensitivity")?;
    let sensitivity = u64::try_from(sensitivity).ok().filter(|&s| s > 0).ok_or_else(|| {
        Error::argument(
            format!("sensitivity is {sensitivity}"),
            "It is how far one person can move the value: 1 or more.",
        )
    })?;
    let epsilon = budget::epsilon(call.value(2, "epsilon")?)?;
    let mechanism = call.text(3, "mechanism")?;
    let delta = call.optional(4).map(budget::delta).transpose()?;
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
                None => epsilon * epsilon / 2.0,
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
    // Stopping at the ends of the type looks at the noisy value only.
    Ok(Datum::from(noisy.clamp(i64::MIN.into(), i64::MAX.into()) as i64))
}

sql_function!(sanitize_dp_noise, dp_noise);
