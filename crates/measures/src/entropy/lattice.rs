//! Sums as integers: every value of a record as a number of steps above the least value of the record.

use super::Refused;
use super::prior::Prior;
use super::release::{Release, Statistic};
use crate::Rational;
use dashu_int::ops::{DivRem, Gcd, UnsignedAbs};
use dashu_int::{IBig, UBig};

/// The largest number of steps of a sum of all records.
const MOST_STEPS: u64 = 1 << 52;

/// Some equal records.
#[derive(Debug, Clone)]
pub(super) struct Steps {
    pub records: u64,
    /// The steps of each value of the domain; `None` for a value that the records cannot have.
    pub of_value: Vec<Option<u64>>,
    /// The distribution of the steps, ascending, without those of probability 0.
    pub law: Vec<(u64, f64)>,
}

impl Steps {
    /// The largest number of steps of a record.
    pub fn most(&self) -> u64 {
        self.law.last().map_or(0, |&(step, _)| step)
    }
}

/// All records, and the sums of steps that agree with the release.
#[derive(Debug, Clone)]
pub(super) struct Lattice {
    pub groups: Vec<Steps>,
    pub low: u64,
    pub high: u64,
}

impl Lattice {
    pub fn new(domain: &[Rational], priors: &[Prior], release: &Release) -> Result<Self, Refused> {
        // What a value adds to the statistic.
        let part = |value: &Rational| match release.statistic {
            Statistic::Count => Rational::from(i64::from(!value.is_zero())),
            _ => value.clone(),
        };
        let parts: Vec<Rational> = domain.iter().map(part).collect();
        let (integers, denom) = integers(&parts);
        let possible = |prior: &Prior| -> Vec<usize> {
            (0..domain.len()).filter(|&v| prior.probabilities[v] > 0.0).collect()
        };
        // The least sum, and the largest step of which all differences are multiples.
        let (mut least, mut unit, mut records) = (IBig::ZERO, UBig::ZERO, 0u64);
        let mut least_of = Vec::with_capacity(priors.len());
        for prior in priors {
            let values = possible(prior);
            let lowest = values.iter().map(|&v| &integers[v]).min().ok_or(Refused::Impossible)?;
            for &v in &values {
                let difference = (&integers[v] - lowest).unsigned_abs();
                if !difference.is_zero() {
                    unit = if unit.is_zero() { difference } else { unit.gcd(difference) };
                }
            }
            least += lowest * IBig::from(prior.records);
            records = records.checked_add(prior.records).ok_or(Refused::TooLarge)?;
            least_of.push(lowest.clone());
        }
        let unit = IBig::from(if unit.is_zero() { UBig::ONE } else { unit });
        let mut groups = Vec::with_capacity(priors.len());
        let mut total: u64 = 0;
        for (prior, lowest) in priors.iter().zip(&least_of) {
            let mut of_value = vec![None; domain.len()];
            for v in possible(prior) {
                let steps = (&integers[v] - lowest) / &unit;
                of_value[v] = Some(u64::try_from(&steps).map_err(|_| Refused::TooLarge)?);
            }
            let group = Steps { records: prior.records, law: law(prior, &of_value), of_value };
            let most = group.most().checked_mul(prior.records).ok_or(Refused::TooLarge)?;
            total =
                total.checked_add(most).filter(|&t| t <= MOST_STEPS).ok_or(Refused::TooLarge)?;
            groups.push(group);
        }
        let steps = |end: &Rational| {
            let end = match release.statistic {
                Statistic::Mean => end * &Rational::from(IBig::from(records)),
                _ => end.clone(),
            };
            let above = &(&end * &Rational::from(IBig::from(denom.clone())))
                - &Rational::from(least.clone());
            above.divide(&Rational::from(unit.clone())).unwrap_or_else(Rational::zero)
        };
        let window = &release.window;
        let (low, high) = (steps(&window.low), steps(&window.high));
        let low = if window.has_low { low.ceil() } else { low.floor() + IBig::ONE };
        let high = if window.has_high { high.floor() } else { high.ceil() - IBig::ONE };
        let low = low.max(IBig::ZERO);
        let high = high.min(IBig::from(total));
        if low > high {
            return Err(Refused::Impossible);
        }
        // Both lie in 0..=total.
        let inside = |end: &IBig| u64::try_from(end).unwrap_or(total);
        Ok(Lattice { low: inside(&low), high: inside(&high), groups })
    }

    /// The largest sum.
    pub fn total(&self) -> u64 {
        self.groups.iter().map(|group| group.most() * group.records).sum()
    }

    /// Steps counted from the largest value of each record downwards.
    pub fn flipped(self) -> Self {
        let total = self.total();
        let flip = |group: Steps| {
            let most = group.most();
            Steps {
                records: group.records,
                of_value: group.of_value.iter().map(|step| step.map(|step| most - step)).collect(),
                law: group.law.iter().rev().map(|&(step, p)| (most - step, p)).collect(),
            }
        };
        Lattice {
            low: total - self.high,
            high: total - self.low,
            groups: self.groups.into_iter().map(flip).collect(),
        }
    }
}

/// The rationals times their common denominator.
fn integers(parts: &[Rational]) -> (Vec<IBig>, UBig) {
    let mut denom = UBig::ONE;
    for part in parts {
        let common = (&denom).gcd(part.denom());
        denom = denom / common * part.denom();
    }
    let scaled = |part: &Rational| part.numer() * IBig::from((&denom).div_rem(part.denom()).0);
    (parts.iter().map(scaled).collect(), denom)
}

/// The distribution of the steps of a record.
fn law(prior: &Prior, of_value: &[Option<u64>]) -> Vec<(u64, f64)> {
    let pairs = of_value.iter().zip(&prior.probabilities);
    let mut law: Vec<(u64, f64)> = pairs.filter_map(|(step, &p)| Some(((*step)?, p))).collect();
    law.sort_unstable_by_key(|&(step, _)| step);
    law.dedup_by(|next, one| {
        let equal = next.0 == one.0;
        if equal {
            one.1 += next.1;
        }
        equal
    });
    law
}
