//! The design of a private sample: rate, noise, threshold and cost, known before the table is read.

mod counts;
mod label;
mod request;

pub use request::{SampleRequest, Scheme};

use crate::draw::ClassWorth;
use crate::sampling::{check_delta, check_split};
use crate::{Parameters, Rate, parameters};
use counts::{count_noise, count_rho, marginals, with_margin};
use guarantee::{Charge, Cost, DeltaMethod, check_epsilon, mixture, pure_rho, rest_of};
use random::{Error, Noise, within_decimal};

/// How a private sample is made. It depends on the request only, never on the table.
///
/// Made from a [`SampleRequest`]; used by [`crate::draw()`], by the ledger for its charge and by the label.
#[derive(Debug, Clone, PartialEq)]
pub struct Design {
    pub request: SampleRequest,
    /// The probability with which a row is sampled.
    pub beta: Rate,
    /// The probability with which a row goes to the part in which `dp_split` counts.
    pub part: Option<Rate>,
    /// Combinations of at most this support, noise included, are rare.
    pub theta: u64,
    /// The noise on each count.
    pub noise: Option<Noise>,
    /// The value of a class of rows when `dp_select` chooses columns.
    pub(crate) worth: Option<ClassWorth>,
    /// What finding the rare combinations, or choosing the columns, costs.
    pub scheme_cost: Cost,
    /// The same in zCDP, if all rows pass through the scheme and through the sampling.
    scheme_rho: Option<f64>,
    /// What sampling costs.
    pub sample_cost: Cost,
    /// What both cost together; `None` if nothing is guaranteed.
    pub total: Option<Cost>,
    /// The bound of Li, Qardaji and Su on the delta of the sampling.
    pub delta_li: f64,
}

impl Design {
    /// Divides the budget and fixes rate, noise and threshold.
    pub fn new(request: SampleRequest) -> Result<Self, Error> {
        check_epsilon(request.epsilon)?;
        check_split(request.split)?;
        check_delta(request.delta)?;
        Error::require(request.columns > 0, "columns", 0, "there must be at least one")?;
        Error::require(request.max_length != Some(0), "max_length", 0, "it must be at least 1")?;
        // Rate and noise are chosen for the decimal numbers that are charged.
        let drawn = SampleRequest {
            epsilon: within_decimal("epsilon", request.epsilon)?,
            delta: within_decimal("delta", request.delta)?,
            ..request
        };
        let design = match request.scheme {
            Scheme::Public => Design::public(drawn),
            Scheme::DpCounts => Design::dp_counts(drawn),
            Scheme::DpSplit => Design::dp_split(drawn),
            Scheme::DpSelect => Design::dp_select(drawn),
            Scheme::Paper => Design::paper(drawn),
        };
        design.map(|design| Design { request, ..design })
    }

    /// What the sample takes out of a budget; `None` if nothing is guaranteed.
    pub fn charge(&self) -> Option<Charge> {
        let total = self.total?;
        // The epsilon of the request, unless rounding raised it: a number that people recognise.
        let whole = Cost { epsilon: total.epsilon.max(self.request.epsilon), ..total };
        Some(match self.scheme_rho {
            Some(rho) => Charge { whole, rho: Some(rho), rest: self.sample_cost },
            None => Charge::plain(whole),
        })
    }

    fn public(request: SampleRequest) -> Result<Self, Error> {
        let SampleRequest { epsilon, delta, k, split, .. } = request;
        let sampling = parameters(epsilon, delta, k, split, DeltaMethod::Exact)?;
        let cost = Cost { epsilon, delta: sampling.delta };
        Ok(Design {
            scheme_cost: Cost::default(),
            sample_cost: cost,
            total: Some(cost),
            ..Design::of(request, &sampling)
        })
    }

    /// The scheme gets the share `split` of epsilon. The sampling gets the rest, and of delta as much as it can use
    /// of its own share; the scheme gets the remaining delta.
    fn dp_counts(request: SampleRequest) -> Result<Self, Error> {
        let SampleRequest { epsilon, delta, k, split, .. } = request;
        let marginals = marginals(&request)?;
        let epsilon1 = epsilon * split;
        let epsilon2 = rest_of(epsilon, epsilon1);
        let rate = |delta| parameters(epsilon2, delta, k, split, DeltaMethod::Exact);

        let mut sampling = rate(delta * (1.0 - split))?;
        let (noise, mut delta1) = count_noise(marginals, epsilon1, rest_of(delta, sampling.delta))?;
        if let Noise::Laplace { .. } = noise {
            // Laplace noise leaves all of delta to the sampling.
            delta1 = 0.0;
            sampling = rate(delta)?;
        }
        let scheme_cost = Cost { epsilon: epsilon1, delta: delta1 };
        let sample_cost = Cost { epsilon: epsilon2, delta: sampling.delta };
        let theta = (k as f64 / sampling.beta.get()).ceil() as u64;
        Ok(Design {
            theta: with_margin(request.theta1.unwrap_or(theta), &noise),
            scheme_rho: Some(match &noise {
                Noise::Laplace { .. } => pure_rho(epsilon1),
                Noise::Gaussian { sigma2 } => count_rho(marginals, sigma2),
            }),
            noise: Some(noise),
            scheme_cost,
            sample_cost,
            total: Some(scheme_cost.plus(sample_cost)),
            ..Design::of(request, &sampling)
        })
    }

    /// A row is either counted or sampled, so each part may have the whole budget.
    fn dp_split(request: SampleRequest) -> Result<Self, Error> {
        let SampleRequest { epsilon, delta, k, split, .. } = request;
        let range = "it must be at least 2^-32";
        let part = Rate::at_most(split).ok_or_else(|| Error::argument("split", split, range))?;
        let sampling = parameters(epsilon, delta, k, part.get(), DeltaMethod::Exact)?;
        let (noise, delta1) = count_noise(marginals(&request)?, epsilon, delta)?;
        let scheme_cost = Cost { epsilon, delta: delta1 };
        let sample_cost = Cost { epsilon, delta: sampling.delta };
        Ok(Design {
            theta: with_margin(request.theta1.unwrap_or(sampling.theta1), &noise),
            part: Some(part),
            noise: Some(noise),
            scheme_cost,
            sample_cost,
            total: Some(mixture(part.get(), scheme_cost, sample_cost)),
            ..Design::of(request, &sampling)
        })
    }

    /// The choice of columns gets the share `split` of epsilon; only the sampling needs delta.
    fn dp_select(request: SampleRequest) -> Result<Self, Error> {
        let SampleRequest { epsilon, delta, k, split, .. } = request;
        if let Some(length) = request.max_length {
            let range = "this scheme looks at whole rows and takes none";
            return Err(Error::argument("max_length", length, range));
        }
        let epsilon1 = epsilon * split;
        let epsilon2 = rest_of(epsilon, epsilon1);
        let sampling = parameters(epsilon2, delta, k, split, DeltaMethod::Exact)?;
        let worth = match request.theta1 {
            Some(theta1) => ClassWorth::above(theta1),
            None => ClassWorth::of_sampling(k, sampling.beta),
        };
        let scheme_cost = Cost { epsilon: epsilon1, delta: 0.0 };
        let sample_cost = Cost { epsilon: epsilon2, delta: sampling.delta };
        Ok(Design {
            theta: worth.nothing(),
            worth: Some(worth),
            scheme_cost,
            // The exponential mechanism is of bounded range: `schemes.md`.
            scheme_rho: Some((epsilon1 * epsilon1 / 8.0).next_up()),
            sample_cost,
            total: Some(scheme_cost.plus(sample_cost)),
            ..Design::of(request, &sampling)
        })
    }

    fn paper(request: SampleRequest) -> Result<Self, Error> {
        let SampleRequest { epsilon, delta, k, split, .. } = request;
        let sampling = parameters(epsilon, delta, k, split, DeltaMethod::Li)?;
        Ok(Design::of(request, &sampling))
    }

    /// A design without noise that guarantees nothing.
    fn of(request: SampleRequest, sampling: &Parameters) -> Self {
        Design {
            request,
            beta: sampling.beta,
            part: None,
            theta: request.theta1.unwrap_or(sampling.theta1),
            noise: None,
            worth: None,
            scheme_rho: None,
            scheme_cost: Cost::default(),
            sample_cost: Cost::default(),
            total: None,
            delta_li: sampling.delta_li,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use guarantee::zcdp_delta;
    use random::Ratio;

    fn request(scheme: Scheme) -> SampleRequest {
        SampleRequest {
            scheme,
            epsilon: 1.0,
            delta: 1e-6,
            k: 10,
            split: 0.1,
            max_length: scheme.usual_length(),
            columns: 15,
            theta1: None,
        }
    }

    const PRIVATE: [Scheme; 4] =
        [Scheme::Public, Scheme::DpCounts, Scheme::DpSplit, Scheme::DpSelect];

    #[test]
    fn no_design_costs_more_than_was_asked() {
        for scheme in PRIVATE {
            for epsilon in [0.01, 0.1, 1.0, 3.0] {
                for delta in [1e-9, 1e-6, 1e-3] {
                    for (columns, split) in [(1, 0.1), (2, 0.3), (15, 0.1), (40, 0.9)] {
                        let request =
                            SampleRequest { epsilon, delta, columns, split, ..request(scheme) };
                        let design = Design::new(request).unwrap();
                        let total = design.total.unwrap();
                        assert!(total.epsilon <= epsilon, "{design:?}");
                        let drawn = Ratio::exact("epsilon", total.epsilon).unwrap();
                        let charged = Ratio::decimal("epsilon", epsilon).unwrap();
                        assert!(!drawn.exceeds(&charged), "{design:?}");
                        assert!(total.delta <= delta, "{design:?}");
                        assert!(total.epsilon > epsilon * 0.999, "{design:?}");
                        let eps2 = design.sample_cost.epsilon;
                        assert!(-(-design.beta.get()).ln_1p() <= eps2, "{design:?}");
                    }
                }
            }
        }
    }

    #[test]
    fn noise_fits_the_share_of_the_scheme() {
        for scheme in [Scheme::DpCounts, Scheme::DpSplit] {
            let design = Design::new(request(scheme)).unwrap();
            let Some(Noise::Gaussian { sigma2 }) = &design.noise else { panic!("{design:?}") };
            let rho = 120.0 / (2.0 * sigma2.to_f64());
            assert!(zcdp_delta(rho, design.scheme_cost.epsilon) <= design.scheme_cost.delta);
        }
        let few = Design::new(SampleRequest { columns: 1, ..request(Scheme::DpCounts) }).unwrap();
        assert!(matches!(few.noise, Some(Noise::Laplace { .. })));
        assert_eq!(few.scheme_cost.delta, 0.0);
    }

    #[test]
    fn the_paper_promises_nothing() {
        let design =
            Design::new(SampleRequest { delta: 0.01, epsilon: 0.1, ..request(Scheme::Paper) })
                .unwrap();
        assert_eq!((design.total, design.theta), (None, 17));
    }

    #[test]
    fn bad_requests_are_refused() {
        let good = SampleRequest { max_length: None, ..request(Scheme::DpCounts) };
        for bad in [
            SampleRequest { epsilon: 0.0, ..good },
            SampleRequest { epsilon: f64::NAN, ..good },
            SampleRequest { delta: 0.0, ..good },
            SampleRequest { delta: 1.5, ..good },
            SampleRequest { split: 1.0, ..good },
            SampleRequest { k: 0, ..good },
            SampleRequest { columns: 0, ..good },
            SampleRequest { max_length: Some(0), ..good },
            SampleRequest { epsilon: 1e-300, ..good },
        ] {
            for scheme in Scheme::ALL {
                assert!(Design::new(SampleRequest { scheme, ..bad }).is_err(), "{bad:?}");
            }
        }
        let long = SampleRequest { max_length: Some(3), ..request(Scheme::DpSelect) };
        assert!(Design::new(long).is_err());
    }

    #[test]
    fn a_threshold_by_hand_takes_the_place_of_ours() {
        for scheme in Scheme::ALL {
            let design = |theta1| Design::new(SampleRequest { theta1, ..request(scheme) }).unwrap();
            let margin = design(None).noise.map_or(0, |noise| (2.0 * noise.stddev()).ceil() as u64);
            assert_eq!(design(Some(1000)).theta, 1000 + margin, "{scheme:?}");
            // Nothing else depends on it.
            assert_eq!(design(Some(1000)).total, design(None).total);
            assert_eq!(design(Some(1000)).beta, design(None).beta);
        }
    }

    #[test]
    fn charges_tell_the_cost_in_both_currencies() {
        for scheme in PRIVATE {
            for (columns, delta) in [(1, 1e-6), (15, 1e-6), (40, 1e-9)] {
                let design =
                    Design::new(SampleRequest { columns, delta, ..request(scheme) }).unwrap();
                let (charge, total) = (design.charge().unwrap(), design.total.unwrap());
                assert_eq!(charge.whole, Cost { epsilon: 1.0, delta: total.delta });
                match scheme {
                    Scheme::Public | Scheme::DpSplit => {
                        assert_eq!(charge, Charge::plain(charge.whole))
                    }
                    _ => {
                        assert_eq!(charge.rest, design.sample_cost);
                        let rho = charge.rho.unwrap();
                        // zCDP with the scheme's delta gives at most the scheme's epsilon, up to the rounding of the
                        // noise; a pure scheme has at most epsilon^2 / 2.
                        if let Some(Noise::Gaussian { .. }) = design.noise {
                            assert!(
                                zcdp_delta(rho, design.scheme_cost.epsilon * (1.0 + 1e-9))
                                    <= design.scheme_cost.delta
                            );
                        } else {
                            assert!(rho <= (design.scheme_cost.epsilon.powi(2) / 2.0).next_up());
                        }
                    }
                }
            }
        }
        assert_eq!(Design::new(request(Scheme::Paper)).unwrap().charge(), None);
    }
}
