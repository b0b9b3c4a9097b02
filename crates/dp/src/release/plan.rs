//! What a private sample will cost and how it will be made: known before the table is read.

use crate::accounting::rest_of;
use crate::error::check_epsilon;
use crate::sampling::{check_delta, check_split};
use crate::{Cost, Error, Method, Noise, Parameters, Rate, mixture, parameters};

/// Standard deviations of noise by which a noisy count must exceed the threshold: about one rare
/// combination in 40 passes for a frequent one.
const MARGIN: f64 = 2.0;

/// Marginal cells that one row touches must be countable exactly.
const MAX_MARGINALS: u64 = 1 << 53;

/// Where the rare combinations come from.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Scheme {
    /// From a table that is public.
    Public,
    /// From noisy counts of the whole table.
    DpCounts,
    /// From noisy counts of a random part of the table; rows are released from the rest.
    DpSplit,
    /// As published (ten Tusscher, DP-MII-suppress): from a random part of the table, without noise,
    /// and a sample with replacement. Not differentially private.
    Paper,
}

impl Scheme {
    /// The scheme of a name.
    pub fn parse(name: &str) -> Option<Self> {
        Some(match name {
            "public" => Scheme::Public,
            "dp_counts" => Scheme::DpCounts,
            "dp_split" => Scheme::DpSplit,
            "paper" => Scheme::Paper,
            _ => return None,
        })
    }

    /// The name of the scheme.
    pub fn name(self) -> &'static str {
        match self {
            Scheme::Public => "public",
            Scheme::DpCounts => "dp_counts",
            Scheme::DpSplit => "dp_split",
            Scheme::Paper => "paper",
        }
    }
}

/// What is asked for.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Request {
    pub scheme: Scheme,
    pub epsilon: f64,
    pub delta: f64,
    /// Rows that must share a form.
    pub k: u64,
    /// `dp_counts`: the share of the budget that goes to the rare combinations. `dp_split` and
    /// `paper`: the share of the rows they are found in. `public`: the public table's share of all
    /// rows, public and private, as its owner estimates it.
    pub split: f64,
    /// The longest combinations that are looked at; `None` for any length.
    pub max_length: Option<usize>,
    /// The number of columns.
    pub columns: usize,
}

/// How a private sample is made. Depends on the request only, never on the table.
#[derive(Debug, Clone, PartialEq)]
pub struct Plan {
    pub request: Request,
    /// The probability with which a row is sampled.
    pub beta: Rate,
    /// The probability with which a row goes to the part that `dp_split` counts.
    pub part: Option<Rate>,
    /// Combinations of at most this support, noise included, are rare.
    pub theta: u64,
    /// The noise on each count.
    pub noise: Option<Noise>,
    /// What finding the rare combinations costs.
    pub scheme_cost: Cost,
    /// What sampling costs.
    pub sample_cost: Cost,
    /// What both cost together; `None` if nothing is guaranteed.
    pub total: Option<Cost>,
    /// The bound of Li, Qardaji and Su on the delta of the sampling.
    pub delta_li: f64,
}

impl Plan {
    /// Divides the budget and fixes rate, noise and threshold.
    pub fn new(request: Request) -> Result<Self, Error> {
        check_epsilon(request.epsilon)?;
        check_split(request.split)?;
        check_delta(request.delta)?;
        if request.columns == 0 {
            return Err(Error::argument("columns", 0, "there must be at least one"));
        }
        if request.max_length == Some(0) {
            return Err(Error::argument("max_length", 0, "it must be at least 1"));
        }
        match request.scheme {
            Scheme::Public => Plan::public(request),
            Scheme::DpCounts => Plan::dp_counts(request),
            Scheme::DpSplit => Plan::dp_split(request),
            Scheme::Paper => Plan::paper(request),
        }
    }

    fn public(request: Request) -> Result<Self, Error> {
        let Request { epsilon, delta, k, split, .. } = request;
        let sampling = parameters(epsilon, delta, k, split, Method::Exact)?;
        let cost = Cost { epsilon, delta: sampling.delta };
        Ok(Plan {
            scheme_cost: Cost::default(),
            sample_cost: cost,
            total: Some(cost),
            ..Plan::of(request, &sampling)
        })
    }

    /// The scheme gets the share `split` of epsilon. The sampling gets the rest, and as much of
    /// delta as it can use of its own share; the scheme gets what is left.
    fn dp_counts(request: Request) -> Result<Self, Error> {
        let Request { epsilon, delta, k, split, .. } = request;
        let marginals = marginals(&request)?;
        let epsilon1 = epsilon * split;
        let epsilon2 = rest_of(epsilon, epsilon1);
        let rate = |delta| parameters(epsilon2, delta, k, split, Method::Exact);

        let mut sampling = rate(delta * (1.0 - split))?;
        let (noise, mut delta1) =
            Noise::for_counts(marginals, epsilon1, rest_of(delta, sampling.delta))?;
        if let Noise::Laplace { .. } = noise {
            // Laplace noise leaves all of delta to the sampling.
            delta1 = 0.0;
            sampling = rate(delta)?;
        }
        let scheme_cost = Cost { epsilon: epsilon1, delta: delta1 };
        let sample_cost = Cost { epsilon: epsilon2, delta: sampling.delta };
        let theta = (k as f64 / sampling.beta.get()).ceil();
        Ok(Plan {
            theta: with_margin(theta, &noise),
            noise: Some(noise),
            scheme_cost,
            sample_cost,
            total: Some(scheme_cost.plus(sample_cost)),
            ..Plan::of(request, &sampling)
        })
    }

    /// A row is either counted or sampled, so each part may have the whole budget.
    fn dp_split(request: Request) -> Result<Self, Error> {
        let Request { epsilon, delta, k, split, .. } = request;
        let range = "it must be at least 2^-32";
        let part = Rate::at_most(split).ok_or_else(|| Error::argument("split", split, range))?;
        let sampling = parameters(epsilon, delta, k, part.get(), Method::Exact)?;
        let (noise, delta1) = Noise::for_counts(marginals(&request)?, epsilon, delta)?;
        let scheme_cost = Cost { epsilon, delta: delta1 };
        let sample_cost = Cost { epsilon, delta: sampling.delta };
        Ok(Plan {
            theta: with_margin(sampling.theta1 as f64, &noise),
            part: Some(part),
            noise: Some(noise),
            scheme_cost,
            sample_cost,
            total: Some(mixture(part.get(), scheme_cost, sample_cost)),
            ..Plan::of(request, &sampling)
        })
    }

    fn paper(request: Request) -> Result<Self, Error> {
        let Request { epsilon, delta, k, split, .. } = request;
        let sampling = parameters(epsilon, delta, k, split, Method::Li)?;
        Ok(Plan::of(request, &sampling))
    }

    /// A plan without noise that guarantees nothing.
    fn of(request: Request, sampling: &Parameters) -> Self {
        Plan {
            request,
            beta: sampling.beta,
            part: None,
            theta: sampling.theta1,
            noise: None,
            scheme_cost: Cost::default(),
            sample_cost: Cost::default(),
            total: None,
            delta_li: sampling.delta_li,
        }
    }
}

fn with_margin(theta: f64, noise: &Noise) -> u64 {
    (theta + (MARGIN * noise.stddev()).ceil()) as u64
}

/// The number of marginals of at most the longest length: a row adds 1 to one count of each.
fn marginals(request: &Request) -> Result<u64, Error> {
    let columns = request.columns as u128;
    let longest = request.max_length.unwrap_or(usize::MAX).min(request.columns);
    let (mut choose, mut sum) = (1u128, 0u128);
    for length in 1..=longest as u128 {
        choose = choose * (columns - length + 1) / length;
        sum += choose;
        if sum > u128::from(MAX_MARGINALS) {
            let value = format!("{longest} of {columns} columns");
            return Err(Error::argument(
                "max_length",
                value,
                "that is more marginals than can be counted",
            ));
        }
    }
    Ok(sum as u64)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::zcdp_delta;

    fn request(scheme: Scheme) -> Request {
        Request {
            scheme,
            epsilon: 1.0,
            delta: 1e-6,
            k: 10,
            split: 0.1,
            max_length: Some(2),
            columns: 15,
        }
    }

    #[test]
    fn no_plan_costs_more_than_was_asked() {
        for scheme in [Scheme::Public, Scheme::DpCounts, Scheme::DpSplit] {
            for epsilon in [0.01, 0.1, 1.0, 3.0] {
                for delta in [1e-9, 1e-6, 1e-3] {
                    for (columns, split) in [(1, 0.1), (2, 0.3), (15, 0.1), (40, 0.9)] {
                        let request = Request { epsilon, delta, columns, split, ..request(scheme) };
                        let plan = Plan::new(request).unwrap();
                        let total = plan.total.unwrap();
                        assert!(total.epsilon <= epsilon, "{plan:?}");
                        assert!(total.delta <= delta, "{plan:?}");
                        assert!(total.epsilon > epsilon * 0.999, "{plan:?}");
                        let eps2 = plan.sample_cost.epsilon;
                        assert!(-(-plan.beta.get()).ln_1p() <= eps2, "{plan:?}");
                    }
                }
            }
        }
    }

    #[test]
    fn noise_fits_the_share_of_the_scheme() {
        for scheme in [Scheme::DpCounts, Scheme::DpSplit] {
            let plan = Plan::new(request(scheme)).unwrap();
            let Some(Noise::Gaussian { sigma2 }) = &plan.noise else { panic!("{plan:?}") };
            let rho = 120.0 / (2.0 * sigma2.to_f64());
            assert!(zcdp_delta(rho, plan.scheme_cost.epsilon) <= plan.scheme_cost.delta);
        }
        let few = Plan::new(Request { columns: 1, ..request(Scheme::DpCounts) }).unwrap();
        assert!(matches!(few.noise, Some(Noise::Laplace { .. })));
        assert_eq!(few.scheme_cost.delta, 0.0);
    }

    #[test]
    fn marginals_are_counted_exactly() {
        let count = |columns, max_length| {
            marginals(&Request { columns, max_length, ..request(Scheme::DpCounts) })
        };
        assert_eq!(count(15, Some(2)), Ok(120));
        assert_eq!(count(3, None), Ok(7));
        assert_eq!(count(2, Some(9)), Ok(3));
        assert!(count(200, None).is_err());
        assert!(count(usize::MAX, Some(2)).is_err());
    }

    #[test]
    fn the_paper_promises_nothing() {
        let plan =
            Plan::new(Request { delta: 0.01, epsilon: 0.1, ..request(Scheme::Paper) }).unwrap();
        assert_eq!((plan.total, plan.theta), (None, 17));
    }

    #[test]
    fn bad_requests_are_refused() {
        let good = request(Scheme::DpCounts);
        for bad in [
            Request { epsilon: 0.0, ..good },
            Request { epsilon: f64::NAN, ..good },
            Request { delta: 0.0, ..good },
            Request { delta: 1.5, ..good },
            Request { split: 1.0, ..good },
            Request { k: 0, ..good },
            Request { columns: 0, ..good },
            Request { max_length: Some(0), ..good },
            Request { epsilon: 1e-300, ..good },
        ] {
            for scheme in [Scheme::Public, Scheme::DpCounts, Scheme::DpSplit, Scheme::Paper] {
                assert!(Plan::new(Request { scheme, ..bad }).is_err(), "{bad:?}");
            }
        }
    }

    #[test]
    fn names_come_back() {
        for scheme in [Scheme::Public, Scheme::DpCounts, Scheme::DpSplit, Scheme::Paper] {
            assert_eq!(Scheme::parse(scheme.name()), Some(scheme));
        }
        assert_eq!(Scheme::parse("none"), None);
    }
}
