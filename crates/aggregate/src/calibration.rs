//! Noise calibration: splits epsilon and delta over the measures and chooses the noise of each number.

use crate::FINE;
use crate::measure::Measure;
use crate::plan::Query;
use crate::sensitivity::{self, Sensitivity};
use guarantee::{Charge, Cost, add_up, gaussian_rho, pure_rho, zcdp_rho};
use random::{Error, Noise, within_decimal};

/// How groups are chosen: those whose noisy number of units reaches the threshold.
#[derive(Debug, Clone)]
pub struct Selection {
    pub noise: Noise,
    /// In units of 1/1024.
    pub threshold: f64,
}

/// The noises of a call and its price.
pub struct Spending {
    /// The noises of each measure's noisy numbers.
    pub noises: Vec<Vec<Noise>>,
    pub selection: Option<Selection>,
    pub charge: Charge,
}

/// Just below 1, so that shares of a whole never add up to more than the whole.
const WHOLE: f64 = 1.0 - 1e-14;

/// From this epsilon on a call is assumed to be one of few, and Gaussian noise is made as narrow as its (epsilon,
/// delta) allows. Smaller calls are meant to be added up by rho, where narrower noise would cost more. They take the
/// noise that zCDP allows, which is 6 % wider and costs 13 % less rho.
const FEW: f64 = 0.2;

fn laplace(sensitivity: &Sensitivity, epsilon: f64) -> Result<Noise, Error> {
    Noise::laplace_big(&sensitivity.l1, epsilon)
}

fn gaussian(sensitivity: &Sensitivity, rho: f64) -> Result<Noise, Error> {
    Noise::gaussian(sensitivity.l2_squared_up(), rho)
}

/// The rho of Gaussian parts that together may cost (epsilon, delta).
fn rho(epsilon: f64, delta: f64) -> Result<f64, Error> {
    // Every part is calibrated to a change of at least one count.
    if epsilon >= FEW {
        gaussian_rho(epsilon, delta, FINE as f64)
    } else {
        zcdp_rho(epsilon, delta)
    }
}

/// The numbers that get noise, each with its share of the whole.
struct NoiseShares {
    parts: Vec<Vec<Sensitivity>>,
    shares: Vec<f64>,
}

impl NoiseShares {
    /// Epsilon or rho is split over the measures by weight, and each share evenly over the noisy
    /// numbers of a measure.
    fn new(measures: &[Measure], query: &Query) -> Result<Self, Error> {
        let weights: f64 = measures.iter().map(|measure| measure.weight).sum();
        let is_valid = weights.is_finite() && measures.iter().all(|measure| measure.weight > 0.0);
        Error::require(is_valid, "weight", weights, "weights must be above 0")?;
        let parts: Vec<Vec<Sensitivity>> =
            measures.iter().map(|measure| sensitivity::of_measure(measure, query)).collect();
        let share = |(measure, parts): (&Measure, &Vec<Sensitivity>)| {
            measure.weight / weights / parts.len() as f64 * WHOLE
        };
        let shares = measures.iter().zip(&parts).map(share).collect();
        Ok(NoiseShares { parts, shares })
    }

    /// The noises of parts that get `whole` times their shares, and their total price by `price`.
    fn noises(
        &self,
        whole: f64,
        noise: impl Fn(&Sensitivity, f64) -> Result<Noise, Error>,
        price: impl Fn(f64) -> f64,
    ) -> Result<(Vec<Vec<Noise>>, f64), Error> {
        let mut rho = 0.0;
        let mut noises = Vec::with_capacity(self.parts.len());
        for (parts, share) in self.parts.iter().zip(&self.shares) {
            let part = |part| {
                rho = add_up(rho, price(whole * share));
                noise(part, whole * share)
            };
            noises.push(parts.iter().map(part).collect::<Result<_, Error>>()?);
        }
        Ok((noises, rho))
    }
}

/// A measure of the width of all noises together, to compare two sets of noises.
fn spread(noises: &[Vec<Noise>]) -> f64 {
    noises.iter().flatten().map(|noise| noise.stddev().ln()).sum()
}

/// The choice of groups by a noise, which may show a group of one unit with probability `delta`.
fn choice(noise: Noise, query: &Query, delta: f64) -> Result<Selection, Error> {
    let threshold = noise.threshold(FINE as u64, query.groups_counted(), delta)?;
    Ok(Selection { noise, threshold })
}

/// Chooses the noises by public arguments alone. One share of epsilon, as large as that of an average measure, is for
/// choosing groups. If delta is above 0, Gaussian noise replaces Laplace noise where it is narrower overall, and in
/// the choice of groups where its threshold is lower.
pub fn spend(
    measures: &[Measure],
    query: &Query,
    epsilon: f64,
    delta: f64,
) -> Result<Spending, Error> {
    let parts = NoiseShares::new(measures, query)?;
    let private = query.private_groups;
    let count = measures.len() as f64;
    let choosing = if private { epsilon / (count + 1.0) * WHOLE } else { 0.0 };
    let measuring = (epsilon - choosing) * WHOLE;
    // Noise is drawn for the decimal number that is charged; the shares of epsilon lie below it anyway.
    let drawn = within_decimal("delta", delta)?;
    // Half of delta for Gaussian tails if the other half is needed for showing groups.
    let tail = if private { drawn / 2.0 } else { drawn };

    let (laplace_noises, laplace_rho) = parts.noises(measuring, laplace, pure_rho)?;
    let with_gaussian = |rho: f64| parts.noises(rho, gaussian, |rho| rho);
    let narrower = |noises: &[Vec<Noise>]| spread(noises) < spread(&laplace_noises);
    let gaussian_noises = match delta > 0.0 {
        true => rho(measuring, tail).and_then(with_gaussian).ok(),
        false => None,
    };
    let gaussian_noises = gaussian_noises.filter(|(noises, _)| narrower(noises));
    let of_units = sensitivity::of_units(query);

    let charge = |delta: f64, rho: f64, shown: f64| Charge {
        whole: Cost { epsilon, delta },
        rho: Some(rho),
        rest: Cost { epsilon: 0.0, delta: shown },
    };

    let Some((gaussian_noises, rho_measured)) = gaussian_noises else {
        if !private {
            let (selection, charge) = (None, charge(0.0, laplace_rho, 0.0));
            return Ok(Spending { noises: laplace_noises, selection, charge });
        }
        let plain = choice(laplace(&of_units, choosing)?, query, drawn)?;
        let normal = rho(choosing, tail)
            .and_then(|rho| Ok((choice(gaussian(&of_units, rho)?, query, tail)?, rho)));
        let (selection, charge) = match normal {
            Ok((normal, rho)) if normal.threshold < plain.threshold => {
                (normal, charge(delta, add_up(laplace_rho, rho), tail))
            }
            _ => (plain, charge(delta, add_up(laplace_rho, pure_rho(choosing)), delta)),
        };
        return Ok(Spending { noises: laplace_noises, selection: Some(selection), charge });
    };

    if !private {
        let charge = charge(delta, rho_measured, 0.0);
        return Ok(Spending { noises: gaussian_noises, selection: None, charge });
    }
    let plain = choice(laplace(&of_units, choosing)?, query, tail)?;
    // All Gaussian: the choice and the measures form one vector, so they share rho, not epsilon.
    let all = rho(epsilon * WHOLE, tail)?;
    let chosen = all / (count + 1.0) * WHOLE;
    let normal = choice(gaussian(&of_units, chosen)?, query, tail)?;
    if normal.threshold < plain.threshold {
        let (noises, measured) = with_gaussian((all - chosen) * WHOLE)?;
        let charge = charge(delta, add_up(measured, chosen), tail);
        return Ok(Spending { noises, selection: Some(normal), charge });
    }
    let charge = charge(delta, add_up(rho_measured, pure_rho(choosing)), tail);
    Ok(Spending { noises: gaussian_noises, selection: Some(plain), charge })
}
