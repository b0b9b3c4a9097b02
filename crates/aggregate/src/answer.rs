//! Turns the integers of a group into answers: adds noise, computes values and their intervals.

use crate::FINE;
use crate::calibration::Selection;
use crate::interval::{Level, Spread};
use crate::measure::{MeasureKind, Range, Step};
use crate::plan::{NoisePlan, Planned};
use crate::quantile::{self, Tree};
use rand::Rng;
use random::Noise;

/// A released number, computed from noisy and public integers only.
#[derive(Debug, Clone, PartialEq)]
pub struct Answer {
    pub measure: String,
    /// A decimal number; `None` if the noise leaves nothing to report.
    pub value: Option<String>,
    /// The standard deviation of the noise; to first order for a mean and a variance. A quantile has none, because
    /// its error depends on where the values lie.
    pub stddev: Option<f64>,
    /// The bounds of the 95 % interval.
    pub low: f64,
    pub high: f64,
}

const FINE_F: f64 = FINE as f64;

impl NoisePlan {
    /// Every integer of a group that gets noise, in units of 1/1024, with its noise. An answer is computed from
    /// nothing else. Parts of a measure that are alike share one `Noise`.
    pub fn noised(&self, slots: &[i128]) -> Vec<(i128, &Noise)> {
        self.planned.iter().flat_map(|planned| planned.noised(slots)).collect()
    }

    /// How groups are chosen, if the data chooses them.
    pub fn selection(&self) -> Option<&Selection> {
        self.selection.as_ref()
    }

    /// Adds noise to the integers of one group and returns its answers. There are none if the group's noisy number of
    /// units is below the minimum.
    pub fn answers<R: Rng + ?Sized>(&self, slots: &[i128], rng: &mut R) -> Vec<Answer> {
        let draw = |planned: &Planned, rng: &mut R| -> Vec<i128> {
            planned.noised(slots).map(|(value, noise)| noise.add(rng, value)).collect()
        };
        // One draw decides; the same draw is reported if units were asked for.
        let mut units = self.min_units.map(|(_, counter)| draw(&self.planned[counter], rng));
        let least = self.min_units.map_or(0, |(least, _)| least);
        let mut answers = Vec::new();
        if units.as_ref().is_some_and(|units| whole(units[0]) < least) {
            return answers;
        }
        for (i, planned) in self.planned.iter().enumerate().filter(|(_, planned)| planned.told) {
            let counter = self.min_units.filter(|&(_, counter)| counter == i);
            let drawn = counter.and_then(|_| units.take()).unwrap_or_else(|| draw(planned, rng));
            planned.answer(&drawn, &mut answers);
        }
        answers
    }

    /// The standard deviations of every measure's noisy numbers, by name; for quantiles that of a count.
    pub fn stddevs(&self) -> Vec<(&str, Vec<(&'static str, f64)>)> {
        let of = |planned: &Planned| -> Vec<(&'static str, f64)> {
            let kind = &planned.measure.kind;
            let step = kind.range().map_or(1.0, |range| range.step.to_f64());
            let unit = |i: usize, unit: f64| planned.noises[i].stddev() / FINE_F * unit;
            match kind {
                MeasureKind::Sum(_) => vec![("value", unit(0, step))],
                MeasureKind::Mean(_) => vec![("count", unit(0, 1.0)), ("sum", unit(1, step / 2.0))],
                MeasureKind::Variance(_) => vec![
                    ("count", unit(0, 1.0)),
                    ("sum", unit(1, step / 2.0)),
                    ("squares", unit(2, step * step / 8.0)),
                ],
                MeasureKind::Quantiles(..) => vec![("count", unit(0, 1.0))],
                // Counts of any kind.
                _ => vec![("value", unit(0, 1.0))],
            }
        };
        let told = self.planned.iter().filter(|planned| planned.told);
        told.map(|planned| (planned.measure.name.as_str(), of(planned))).collect()
    }
}

/// The nearest whole number to `fine` / 1024.
fn whole(fine: i128) -> i128 {
    (fine.saturating_add(FINE / 2)).div_euclid(FINE)
}

impl Planned {
    /// The integers of the measure that get noise, with their noises.
    fn noised(&self, slots: &[i128]) -> impl Iterator<Item = (i128, &Noise)> {
        let slots = &slots[self.slot..][..self.measure.kind.slots()];
        let integers: Vec<i128> = match self.measure.kind {
            MeasureKind::Quantiles(..) => quantile::levels(slots).collect(),
            _ => slots.to_vec(),
        };
        // Counts of one kind share a single noise.
        let noise = |i: usize| self.noises.get(i).unwrap_or(&self.noises[0]);
        let fine = |value: i128| value.saturating_mul(FINE);
        integers.into_iter().enumerate().map(move |(i, value)| (fine(value), noise(i)))
    }

    fn answer(&self, drawn: &[i128], answers: &mut Vec<Answer>) {
        let name = || self.measure.name.clone();
        let part = |i: usize| drawn[i] as f64 / FINE_F;
        match &self.measure.kind {
            MeasureKind::Count
            | MeasureKind::CountOf
            | MeasureKind::Units
            | MeasureKind::Distinct => {
                answers.push(self.number(name(), drawn[0], Step::ONE));
            }
            MeasureKind::Sum(range) => answers.push(self.number(name(), drawn[0], range.step)),
            MeasureKind::Mean(range) => answers.push(self.mean(name(), range, [0, 1].map(part))),
            MeasureKind::Variance(range) => {
                answers.push(self.variance(name(), range, [0, 1, 2].map(part)))
            }
            MeasureKind::Quantiles(range, shares) => {
                let counts: Vec<f64> = (0..drawn.len()).map(part).collect();
                let tree = Tree::new(*range, &counts, &self.noises[0]);
                for &q in shares {
                    let (value, low, high) = tree.quantile(q);
                    let measure =
                        if shares.len() == 1 { name() } else { format!("{}[{q}]", name()) };
                    let value = Some(format!("{value}"));
                    answers.push(Answer { measure, value, stddev: None, low, high });
                }
            }
            MeasureKind::Histogram(range, bins) => {
                let edge = |bin: u32| range.edge(bin, *bins);
                for (bin, &count) in (0..*bins).zip(drawn) {
                    let close = if bin + 1 == *bins { ']' } else { ')' };
                    let measure = format!("{}[{},{}{close}", name(), edge(bin), edge(bin + 1));
                    answers.push(self.number(measure, count, Step::ONE));
                }
            }
        }
    }

    /// A count or a sum with noise.
    fn number(&self, measure: String, fine: i128, step: Step) -> Answer {
        let noise = &self.noises[0];
        let value = whole(fine);
        let unit = step.to_f64();
        let (centre, half) = (fine as f64 / FINE_F, Spread::of(noise).half_width() / FINE_F);
        Answer {
            measure,
            value: Some(step.times(value)),
            stddev: Some(noise.stddev() / FINE_F * unit),
            // Very narrow noise may leave the rounded value outside the interval.
            low: (centre - half).min(value as f64) * unit,
            high: (centre + half).max(value as f64) * unit,
        }
    }

    /// The noise of the measure's noisy numbers, multiplied by these factors.
    fn spread(&self, factors: &[f64]) -> Spread {
        let mut spread = Spread::default();
        for (noise, factor) in self.noises.iter().zip(factors) {
            spread.add(noise, factor / FINE_F, 1.0);
        }
        spread
    }

    /// The means, in half steps from the middle, that are compatible with these sums, by Fieller's interval: all m
    /// for which sum - m count lies within its noise, whose law is known for each m.
    fn means(&self, span: f64, [count, sum]: [f64; 2], level: Level) -> (f64, f64) {
        let half = |m: f64| self.spread(&[m, 1.0]).half_width_at(level);
        fieller([count, sum], (-span, span), half)
    }

    fn mean(&self, measure: String, range: &Range, [count, sum]: [f64; 2]) -> Answer {
        let span = range.span() as f64;
        let middle = (range.low as f64 + range.high as f64) / 2.0;
        let value = |m: f64| range.at(middle + m / 2.0);
        if count < 1.0 {
            let stddev = Some(value(span) - value(0.0));
            return Answer { measure, value: None, stddev, low: value(-span), high: value(span) };
        }
        let mean = (sum / count).clamp(-span, span);
        let (low, high) = self.means(span, [count, sum], Level::L95);
        let stddev = self.spread(&[mean, 1.0]).stddev() / count * range.step.to_f64() / 2.0;
        Answer {
            measure,
            value: Some(format!("{}", value(mean))),
            stddev: Some(stddev),
            low: value(low.min(mean)),
            high: value(high.max(mean)),
        }
    }

    /// The mean square less the squared mean.
    ///
    /// If the mean is m and the variance v, then squares - 2 m sum + (m^2 - v) count is 0 up to noise of a known law.
    /// The interval holds all v that this allows at 96 % for a mean within its own 99 % interval. So it fails with
    /// probability at most 5 %, however few the values are. The squares about m are least at the estimated mean and
    /// largest at the ends.
    fn variance(&self, measure: String, range: &Range, [count, sum, squares]: [f64; 3]) -> Answer {
        let span = range.span() as f64;
        let largest = span * span;
        // From half steps to the column's own unit, squared.
        let value = |v: f64| v * (range.step.to_f64() / 2.0).powi(2);
        if count < 1.0 {
            let stddev = Some(value(largest));
            return Answer { measure, value: None, stddev, low: 0.0, high: value(largest) };
        }
        // From the middle of the range of a square to the square itself.
        let squares = squares / 2.0 + count * largest / 2.0;
        let mean = (sum / count).clamp(-span, span);
        let variance = (squares / count - mean * mean).clamp(0.0, largest);
        let factors = |m: f64, v: f64| [largest / 2.0 + m * m - v, -2.0 * m, 0.5];
        let (least, most) = self.means(span, [count, sum], Level::L99);
        let (mut low, mut high) = (variance, variance);
        for m in [least, (least + mean) / 2.0, mean, (mean + most) / 2.0, most] {
            let about = squares - 2.0 * m * sum + m * m * count;
            let half = |v: f64| self.spread(&factors(m, v)).half_width_at(Level::L96);
            let (from, to) = fieller([count, about], (0.0, largest), half);
            (low, high) = (low.min(from), high.max(to));
        }
        let stddev = self.spread(&factors(mean, variance)).stddev() / count;
        Answer {
            measure,
            value: Some(format!("{}", value(variance))),
            stddev: Some(value(stddev)),
            low: value(low),
            high: value(high),
        }
    }
}

/// The ends of all x between the bounds for which |total - x count| <= half(x). As `half` is convex, the values that
/// are too low form an interval from the lower bound on, and the values that are too high one up to the upper bound.
fn fieller(
    [count, total]: [f64; 2],
    (least, most): (f64, f64),
    half: impl Fn(f64) -> f64,
) -> (f64, f64) {
    let ratio = (total / count).clamp(least, most);
    let end = |sign: f64, mut outside: f64| {
        let excess = |x: f64| sign * (total - x * count) - half(x);
        if excess(outside) <= 0.0 {
            return outside;
        }
        let mut inside = ratio;
        for _ in 0..40 {
            let x = 0.5 * (inside + outside);
            if excess(x) <= 0.0 { inside = x } else { outside = x }
        }
        outside
    };
    (end(1.0, least), end(-1.0, most))
}
