//! Finds the best select-a-size operator for a breach limit.

use super::discoverable::Convention;
use super::estimate::Estimator;
use super::operator::SizeOperator;
use super::optimal::{check_size, keep, law};
use random::Error;

/// How far below the limit gamma is kept: at the limit itself a prior of exactly rho1 may reach exactly rho2,
/// which is a breach.
const BELOW_LIMIT: f64 = 1e-9;

/// The numbers of values of rho that are tried for each cut: in geometric progression up to the border, evenly spaced
/// above it. The objective has poles and several minima.
const SCAN: usize = 125;
const BORDER: f64 = 0.05;
const RANGE: (f64, f64) = (1e-4, 0.995);

/// The largest number of binary digits of rho for which all values are tried.
const ALL_BITS: u32 = 8;

/// The number of minima of the scan that are refined, and how far.
const REFINED: usize = 3;
const STEPS: usize = 60;

/// The request for an operator.
#[derive(Debug, Clone, Copy)]
pub struct DesignRequest {
    /// The number of items of a transaction.
    pub size: usize,
    /// No property of prior probability below `rho1` may become more likely than `rho2`.
    pub rho1: f64,
    pub rho2: f64,
    /// The expected number of transactions.
    pub transactions: u64,
    /// The size of the largest itemsets whose supports are wanted.
    pub max_itemset: usize,
    pub convention: Convention,
    /// Makes rho a multiple of 2^-bits, as seeds need it.
    pub bits: Option<u32>,
}

/// An operator with its amplification and the supports that it allows to discover.
#[derive(Debug, Clone, PartialEq)]
pub struct OperatorDesign {
    pub rho: f64,
    pub cut: usize,
    pub keep: Vec<f64>,
    /// The amplification of the operator in integers: below what the breach limit allows.
    pub gamma: f64,
    /// The lowest discoverable supports of itemsets of 1, 2, … items.
    pub lds: Vec<f64>,
}

/// The rho and cut with the smallest lowest discoverable support, for the size of itemsets where that is largest.
/// Less than a second for ten items.
pub fn design(request: &DesignRequest) -> Result<OperatorDesign, Error> {
    let gamma = limit(request)? * (1.0 - BELOW_LIMIT);
    let objective = |rho: f64, cut: usize| Candidate::new(request, gamma, rho, cut);
    let mut best = None;
    for cut in 0..request.size {
        for rho in candidates(request.bits, |rho| objective(rho, cut).worst()) {
            let found = objective(rho, cut);
            let is_better = |(best, _): &(Candidate, _)| found.is_better_than(best);
            // For large sizes 63 binary digits cannot represent some laws.
            if found.worst().is_finite()
                && best.as_ref().is_none_or(is_better)
                && let Ok(keep) = keep(request.size, rho, gamma, cut)
            {
                best = Some((found, keep));
            }
        }
    }
    let (best, keep) = best.ok_or_else(|| {
        Error::argument("size", request.size, "no operator lets supports be estimated at this size")
    })?;
    let gamma = SizeOperator::new(best.rho, &keep)?.gamma();
    Ok(OperatorDesign { rho: best.rho, cut: best.cut, keep, gamma, lds: best.lds })
}

/// The amplification at which a breach from rho1 to rho2 becomes possible.
fn limit(request: &DesignRequest) -> Result<f64, Error> {
    let DesignRequest { size, rho1, rho2, transactions, max_itemset, bits, .. } = *request;
    check_size(size)?;
    let range = "it must be a probability above 0 and below 1";
    Error::require(rho1 > 0.0 && rho1 < 1.0, "rho1", rho1, range)?;
    Error::require(rho2 > rho1 && rho2 < 1.0, "rho2", rho2, "it must be above rho1 and below 1")?;
    Error::require(transactions > 0, "transactions", transactions, "it must be at least 1")?;
    Error::require(max_itemset > 0, "max_itemset", max_itemset, "it must be at least 1")?;
    if let Some(bits) = bits.filter(|bits| !(1..=crate::seed::MAX_BITS).contains(bits)) {
        return Err(Error::argument("bits", bits, "it must be from 1 to 16 binary digits of rho"));
    }
    Ok(rho2 * (1.0 - rho1) / (rho1 * (1.0 - rho2)))
}

/// A rho and a cut.
struct Candidate {
    rho: f64,
    cut: usize,
    lds: Vec<f64>,
}

impl Candidate {
    fn new(request: &DesignRequest, gamma: f64, rho: f64, cut: usize) -> Self {
        let keep = law(request.size, rho, gamma, cut);
        let lds = |itemset: usize| {
            Estimator::with(itemset, rho, &keep).map_or(f64::INFINITY, |estimator| {
                estimator.lowest_discoverable(request.transactions, request.convention)
            })
        };
        let lds = (1..=request.max_itemset.min(request.size)).map(lds).collect();
        Candidate { rho, cut, lds }
    }

    fn worst(&self) -> f64 {
        self.lds.iter().fold(0.0, |worst, &lds| worst.max(lds))
    }

    /// By the largest discoverable support, then by the sum, then by rho.
    fn is_better_than(&self, other: &Candidate) -> bool {
        let sum = |one: &Candidate| one.lds.iter().sum::<f64>();
        let order = |a: f64, b: f64| {
            if (a - b).abs() <= 1e-12 * b { std::cmp::Ordering::Equal } else { a.total_cmp(&b) }
        };
        order(self.worst(), other.worst())
            .then_with(|| order(sum(self), sum(other)))
            .then_with(|| self.rho.total_cmp(&other.rho))
            .is_lt()
    }
}

/// Values of rho that may be best: all with few enough digits, or the refined minima of a scan, with their neighbours
/// if the number of digits is limited.
fn candidates(bits: Option<u32>, objective: impl Fn(f64) -> f64) -> Vec<f64> {
    if let Some(bits) = bits.filter(|&bits| bits <= ALL_BITS) {
        return (1..1u32 << bits).map(|a| f64::from(a) / f64::from(1u32 << bits)).collect();
    }
    let geometric = (BORDER / RANGE.0).powf(1.0 / SCAN as f64);
    let even = (RANGE.1 - BORDER) / SCAN as f64;
    let low = (0..SCAN).map(|i| RANGE.0 * geometric.powi(i as i32));
    let rhos: Vec<f64> = low.chain((0..=SCAN).map(|i| BORDER + even * i as f64)).collect();
    let values: Vec<f64> = rhos.iter().map(|&rho| objective(rho)).collect();
    let at = |i: usize| values.get(i).copied().unwrap_or(f64::INFINITY);
    let mut minima: Vec<usize> = (0..rhos.len())
        .filter(|&i| at(i).is_finite() && (i == 0 || at(i) <= at(i - 1)) && at(i) <= at(i + 1))
        .collect();
    minima.sort_by(|&a, &b| at(a).total_cmp(&at(b)));
    minima.truncate(REFINED);
    let refine = |i: usize| {
        let bracket = (rhos[i.saturating_sub(1)], rhos[(i + 1).min(rhos.len() - 1)]);
        golden_section(bracket, &objective)
    };
    let best: Vec<f64> =
        minima.iter().map(|&i| rhos[i]).chain(minima.iter().map(|&i| refine(i))).collect();
    let Some(bits) = bits else { return best };
    let one = f64::from(1u32 << bits);
    let neighbours = |rho: f64| [(rho * one).floor(), (rho * one).ceil()].map(|a| a.max(1.0) / one);
    best.into_iter().flat_map(neighbours).collect()
}

/// The minimum of a function that first falls and then rises.
fn golden_section((mut low, mut high): (f64, f64), objective: impl Fn(f64) -> f64) -> f64 {
    let golden = (5f64.sqrt() - 1.0) / 2.0;
    let (mut a, mut b) = (high - golden * (high - low), low + golden * (high - low));
    let (mut at_a, mut at_b) = (objective(a), objective(b));
    for _ in 0..STEPS {
        if at_a <= at_b {
            (high, b, at_b) = (b, a, at_a);
            a = high - golden * (high - low);
            at_a = objective(a);
        } else {
            (low, a, at_a) = (a, b, at_b);
            b = low + golden * (high - low);
            at_b = objective(b);
        }
    }
    (low + high) / 2.0
}

#[cfg(test)]
mod tests {
    use super::*;

    const USUAL: DesignRequest = DesignRequest {
        size: 5,
        rho1: 0.05,
        rho2: 0.5,
        transactions: 5_000_000,
        max_itemset: 3,
        convention: Convention::AllOrNothing,
        bits: None,
    };

    /// 002-sas-opt-*: size, rho1, transactions, convention; cut, rho, lowest discoverable supports.
    #[test]
    fn public_vectors() {
        use Convention::{AllOrNothing, Null};
        let (few, many) = (1_000_000, 5_000_000);
        for (size, rho1, transactions, convention, cut, rho, lds) in [
            (
                5,
                0.01,
                many,
                AllOrNothing,
                3,
                0.24905000621898266,
                [0.002283547320543576, 0.0019749993971746108, 0.002283547320543575],
            ),
            (
                5,
                0.01,
                many,
                Null,
                3,
                0.2500000000000001,
                [0.0022763657218525216, 0.001971390543428386, 0.0022763657218525237],
            ),
            (
                5,
                0.05,
                many,
                AllOrNothing,
                4,
                0.5116078857393116,
                [0.0047311027264556995, 0.004842080334969585, 0.004955660043708821],
            ),
            (
                5,
                0.05,
                many,
                Null,
                4,
                0.5112998728235687,
                [0.004738728974727492, 0.00484706101692035, 0.004957869636994799],
            ),
            (
                3,
                0.05,
                many,
                AllOrNothing,
                1,
                0.14675995439677014,
                [0.00230053732927798, 0.002316998835631008, 0.0023169988356310065],
            ),
            (
                3,
                0.05,
                many,
                Null,
                1,
                0.1464466094067261,
                [0.002299381992821746, 0.0022993819928217437, 0.0022993819928217463],
            ),
            (
                7,
                0.05,
                many,
                AllOrNothing,
                6,
                0.6317285936620365,
                [0.005580265862572231, 0.007305296864253452, 0.009562725056458403],
            ),
            (
                7,
                0.05,
                many,
                Null,
                6,
                0.6314011009326905,
                [0.005592443685672555, 0.007319430141180723, 0.00957972231868471],
            ),
            (
                5,
                0.05,
                few,
                AllOrNothing,
                4,
                0.511988775920788,
                [0.010558023360723525, 0.010813443999910142, 0.01107503786705414],
            ),
            (
                5,
                0.05,
                few,
                Null,
                4,
                0.5112998747731816,
                [0.010596120031762997, 0.010838357882640356, 0.011086133531902579],
            ),
        ] {
            let found =
                design(&DesignRequest { size, rho1, transactions, convention, ..USUAL }).unwrap();
            assert_eq!(found.cut, cut);
            assert!((found.rho - rho).abs() < 1e-4, "{} {rho}", found.rho);
            let worst = |lds: &[f64]| lds.iter().fold(0.0, |a: f64, &b| a.max(b));
            assert!(
                (worst(&found.lds) / worst(&lds) - 1.0).abs() < 1e-6,
                "{:?} {lds:?}",
                found.lds
            );
            let limit = 0.5 * (1.0 - rho1) / (rho1 * 0.5);
            assert!(found.gamma < limit && found.gamma > limit * (1.0 - 1e-8));
        }
    }

    #[test]
    fn few_digits_of_rho_cost_little() {
        let best = design(&USUAL).unwrap();
        let short = design(&DesignRequest { bits: Some(1), ..USUAL }).unwrap();
        assert_eq!((short.rho, short.cut), (0.5, 4));
        assert!(short.lds[2] > best.lds[2] && short.lds[2] < best.lds[2] * 1.05);
        let longer = design(&DesignRequest { bits: Some(8), ..USUAL }).unwrap();
        assert_eq!(longer.rho, 131.0 / 256.0);
        let longest = design(&DesignRequest { bits: Some(16), ..USUAL }).unwrap();
        assert!((longest.rho - best.rho).abs() < 1.0 / 65536.0);
    }

    #[test]
    fn small_transactions_have_small_itemsets() {
        let found = design(&DesignRequest { size: 1, ..USUAL }).unwrap();
        assert_eq!((found.lds.len(), found.keep.len(), found.cut), (1, 2, 0));
    }

    #[test]
    fn what_makes_no_sense_is_refused() {
        for bad in [
            DesignRequest { size: 0, ..USUAL },
            DesignRequest { size: 65, ..USUAL },
            DesignRequest { rho1: 0.0, ..USUAL },
            DesignRequest { rho1: f64::NAN, ..USUAL },
            DesignRequest { rho1: 0.5, ..USUAL },
            DesignRequest { rho2: 1.0, ..USUAL },
            DesignRequest { rho2: f64::NAN, ..USUAL },
            DesignRequest { transactions: 0, ..USUAL },
            DesignRequest { max_itemset: 0, ..USUAL },
            DesignRequest { bits: Some(0), ..USUAL },
            DesignRequest { bits: Some(17), ..USUAL },
        ] {
            assert!(design(&bad).is_err(), "{bad:?}");
        }
    }
}
