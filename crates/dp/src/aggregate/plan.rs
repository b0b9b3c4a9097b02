//! How epsilon and delta are spent, fixed before any data is looked at.

use super::measure::{Kind, Measure};
use super::quantile::LEVELS;
use super::{Bounded, FINE, NO_VALUE, quantile};
use crate::{Cost, Error, Noise, Ratio, zcdp_rho};
use dashu_int::UBig;
use rand_core::Rng;
use std::collections::HashMap;

/// What is asked for.
#[derive(Debug, Clone)]
pub struct Query {
    pub measures: Vec<Measure>,
    /// At most so many rows of a unit count.
    pub rows_per_unit: u64,
    /// A unit's rows may lie in several groups.
    pub grouped: bool,
    /// Which groups there are must not tell about anybody.
    pub private_groups: bool,
}

/// How groups are chosen: those whose noisy number of units reaches the threshold.
#[derive(Debug, Clone)]
pub struct Selection {
    pub noise: Noise,
    /// In units of 1/1024.
    pub threshold: f64,
}

/// A measure with its noises and its place among the integers of a group.
#[derive(Debug, Clone)]
pub(super) struct Planned {
    pub measure: Measure,
    pub noises: Vec<Noise>,
    pub slot: usize,
    /// Which of a row's values it looks at.
    pub value: Option<usize>,
}

/// Everything that is public about a call: noises, thresholds, cost.
#[derive(Debug, Clone)]
pub struct Plan {
    pub(super) planned: Vec<Planned>,
    slots: usize,
    selection: Option<Selection>,
    cost: Cost,
}

/// How far one unit can move a vector of integers.
struct Sensitivity {
    /// In the sum of absolute changes.
    l1: u128,
    /// In the sum of squared changes.
    l2_squared: f64,
}

impl Sensitivity {
    /// `rows` changes of at most `size` each, all of which may meet in one place, on each of
    /// `levels` levels.
    fn of_rows(rows: u64, size: u128, levels: u64) -> Self {
        let l1 = u128::from(rows).saturating_mul(size).saturating_mul(FINE as u128);
        Sensitivity {
            l1: l1.saturating_mul(levels.into()),
            l2_squared: (l1 as f64).powi(2) * levels as f64,
        }
    }

    /// A change of 1 in each of `groups` places.
    fn of_groups(groups: u64) -> Self {
        let l1 = u128::from(groups).saturating_mul(FINE as u128);
        Sensitivity { l1, l2_squared: (FINE as f64).powi(2) * groups as f64 }
    }
}

fn sensitivities(kind: &Kind, query: &Query) -> Vec<Sensitivity> {
    let rows = query.rows_per_unit;
    let of = |size: i128| Sensitivity::of_rows(rows, size.unsigned_abs(), 1);
    match kind {
        Kind::Count | Kind::CountOf | Kind::Histogram(..) => vec![of(1)],
        Kind::Units => vec![Sensitivity::of_groups(if query.grouped { rows } else { 1 })],
        Kind::Sum(range) => vec![of(range.largest())],
        // Values are counted from the middle of their range, in half steps.
        Kind::Mean(range) => vec![of(1), of(range.span())],
        Kind::Variance(range) => vec![of(1), of(range.span()), of(range.span() * range.span())],
        Kind::Quantiles(..) => vec![Sensitivity::of_rows(rows, 1, LEVELS)],
    }
}

/// Laplace noise for a sensitivity of any size.
fn laplace(sensitivity: u128, epsilon: f64) -> Result<Noise, Error> {
    let epsilon_ratio = Ratio::exact("epsilon", epsilon)?;
    let scale =
        Ratio::new(UBig::from(sensitivity) * epsilon_ratio.denom(), epsilon_ratio.numer().clone());
    let scale = scale
        .ok_or_else(|| Error::argument("epsilon", epsilon, "it must be a finite number above 0"))?;
    Ok(Noise::Laplace { scale })
}

/// Just below 1: shares of a whole never add up to more than the whole.
const WHOLE: f64 = 1.0 - 1e-14;

impl Plan {
    /// Splits epsilon over the measures by weight (and one more share for choosing groups), and each
    /// share evenly over the noisy numbers of a measure. With a delta to spend, Gaussian noise takes
    /// the place of Laplace noise where it is narrower overall; its parts add up in zCDP.
    pub fn new(query: Query, epsilon: f64, delta: f64) -> Result<Self, Error> {
        if query.measures.is_empty() {
            return Err(Error::argument("measures", 0, "there must be at least one"));
        }
        if query.private_groups && delta <= 0.0 {
            return Err(Error::argument("delta", delta, "choosing groups needs one above 0"));
        }
        let weights: f64 = query.measures.iter().map(|measure| measure.weight).sum();
        if !(weights.is_finite() && query.measures.iter().all(|measure| measure.weight > 0.0)) {
            return Err(Error::argument("weight", weights, "weights must be above 0"));
        }
        let choosing =
            if query.private_groups { epsilon / (query.measures.len() as f64 + 1.0) } else { 0.0 };
        let parts: Vec<Vec<Sensitivity>> =
            query.measures.iter().map(|measure| sensitivities(&measure.kind, &query)).collect();
        let share = |i: usize| query.measures[i].weight / weights / parts[i].len() as f64 * WHOLE;

        let with_laplace = |epsilon: f64| -> Result<Vec<Vec<Noise>>, Error> {
            let noises = parts.iter().enumerate().map(|(i, parts)| {
                parts.iter().map(|part| laplace(part.l1, epsilon * share(i))).collect()
            });
            noises.collect()
        };
        let with_gaussian = |epsilon: f64, delta: f64| -> Result<Vec<Vec<Noise>>, Error> {
            let rho = zcdp_rho(epsilon, delta)?;
            let noises = parts.iter().enumerate().map(|(i, parts)| {
                parts.iter().map(|part| Noise::gaussian(part.l2_squared, rho * share(i))).collect()
            });
            noises.collect()
        };
        let spread = |noises: &[Vec<Noise>]| -> f64 {
            noises.iter().flatten().map(|noise| noise.stddev().ln()).sum()
        };

        let measuring = (epsilon - choosing) * WHOLE;
        let mut noises = with_laplace(measuring)?;
        let mut cost = Cost { epsilon, delta: if query.private_groups { delta } else { 0.0 } };
        let mut choosing_delta = delta;
        if delta > 0.0 {
            let (gaussian_delta, rest) =
                if query.private_groups { (delta / 2.0, delta / 2.0) } else { (delta, 0.0) };
            if let Ok(gaussian) = with_gaussian(measuring, gaussian_delta)
                && spread(&gaussian) < spread(&noises)
            {
                noises = gaussian;
                cost.delta = delta;
                choosing_delta = rest;
            }
        }
        let selection = match query.private_groups {
            false => None,
            true => {
                let groups = query.rows_per_unit;
                let noise = laplace(Sensitivity::of_groups(groups).l1, choosing * WHOLE)?;
                let threshold = noise.threshold(FINE as u64, groups, choosing_delta)?;
                Some(Selection { noise, threshold })
            }
        };
        let (mut slots, mut values) = (0, 0);
        let mut planned = Vec::with_capacity(query.measures.len());
        for (measure, noises) in query.measures.into_iter().zip(noises) {
            let value = measure.kind.has_value().then_some(values);
            values += usize::from(value.is_some());
            let slot = slots;
            slots += measure.kind.slots();
            planned.push(Planned { measure, noises, slot, value });
        }
        Ok(Plan { planned, slots, selection, cost })
    }

    /// What the call costs, exactly.
    pub fn cost(&self) -> Cost {
        self.cost
    }

    /// Integers that are kept for each group.
    pub fn slots(&self) -> usize {
        self.slots
    }

    /// The measures, each with the place of its first integer.
    pub fn measures(&self) -> impl Iterator<Item = (&Measure, usize)> {
        self.planned.iter().map(|planned| (&planned.measure, planned.slot))
    }

    /// Which groups are shown, if that is private; data decides, through noise.
    pub fn shows<R: Rng + ?Sized>(&self, units: i128, rng: &mut R) -> bool {
        self.selection.as_ref().is_none_or(|selection| {
            units > 0
                && selection.noise.add(rng, units.saturating_mul(FINE)) as f64
                    >= selection.threshold
        })
    }

    /// The integers of each of `groups` groups that are shown.
    pub fn totals<R: Rng + ?Sized>(
        &self,
        rows: &mut Bounded,
        groups: usize,
        rng: &mut R,
    ) -> Vec<(u32, Vec<i128>)> {
        rows.finish(rng);
        let mut units = vec![0i128; groups];
        rows.each_unit(|groups| {
            for &group in groups {
                units[group as usize] += 1;
            }
        });
        let shown = (0..groups as u32).filter(|&group| self.shows(units[group as usize], rng));
        let mut totals: Vec<(u32, Vec<i128>)> =
            shown.map(|group| (group, vec![0; self.slots])).collect();
        let places: HashMap<u32, usize> =
            totals.iter().enumerate().map(|(place, &(group, _))| (group, place)).collect();
        let place = |group: u32| match places.len() == groups {
            true => Some(group as usize),
            false => places.get(&group).copied(),
        };
        rows.each_row(|group, values| {
            if let Some(place) = place(group) {
                self.count(&mut totals[place].1, values);
            }
        });
        for planned in self.planned.iter().filter(|planned| planned.measure.kind == Kind::Units) {
            for (group, slots) in &mut totals {
                slots[planned.slot] = units[*group as usize];
            }
        }
        totals
    }

    /// Counts one row.
    fn count(&self, slots: &mut [i128], values: &[i64]) {
        for planned in &self.planned {
            let slots = &mut slots[planned.slot..];
            let value = planned.value.map_or(0, |value| values[value]);
            if value == NO_VALUE {
                continue;
            }
            match &planned.measure.kind {
                Kind::Count | Kind::CountOf => slots[0] += 1,
                Kind::Units => {}
                Kind::Sum(range) => slots[0] += i128::from(value.clamp(range.low, range.high)),
                Kind::Mean(range) => {
                    slots[0] += 1;
                    slots[1] += range.centred(value);
                }
                Kind::Variance(range) => {
                    let y = range.centred(value);
                    slots[0] += 1;
                    slots[1] += y;
                    slots[2] = slots[2].saturating_add(2 * y * y - range.span() * range.span());
                }
                Kind::Quantiles(range, _) => slots[quantile::leaf(range, value)] += 1,
                Kind::Histogram(range, bins) => slots[range.bin(value, *bins)] += 1,
            }
        }
    }
}
