//! From integers to answers: noise, values, intervals.

use super::FINE;
use super::interval::Spread;
use super::measure::{Kind, Range};
use super::plan::{Plan, Planned};
use super::quantile::Tree;
use crate::Noise;
use rand_core::Rng;

/// A released number. All of it is made of noisy integers and public ones.
#[derive(Debug, Clone, PartialEq)]
pub struct Answer {
    pub measure: String,
    /// A decimal number; `None` if the noise leaves nothing to say.
    pub value: Option<String>,
    /// The standard deviation of the noise.
    pub stddev: f64,
    /// The bounds of the 95 % interval.
    pub low: f64,
    pub high: f64,
}

const FINE_F: f64 = FINE as f64;

impl Plan {
    /// Adds noise to the integers of one group and tells what they say.
    pub fn answers<R: Rng + ?Sized>(&self, slots: &[i128], rng: &mut R) -> Vec<Answer> {
        let mut answers = Vec::new();
        for planned in &self.planned {
            let slots = &slots[planned.slot..][..planned.measure.kind.slots()];
            planned.answer(slots, rng, &mut answers);
        }
        answers
    }

    /// The standard deviations of every measure's noisy numbers, by what these are.
    pub fn stddevs(&self) -> Vec<(&str, Vec<(&'static str, f64)>)> {
        let of = |planned: &Planned| -> Vec<(&'static str, f64)> {
            let kind = &planned.measure.kind;
            let step = kind.range().map_or(1.0, |range| range.step.to_f64());
            let unit = |i: usize, unit: f64| planned.noises[i].stddev() / FINE_F * unit;
            match kind {
                Kind::Count | Kind::CountOf | Kind::Units => vec![("value", unit(0, 1.0))],
                Kind::Sum(_) => vec![("value", unit(0, step))],
                Kind::Mean(_) => vec![("count", unit(0, 1.0)), ("sum", unit(1, step / 2.0))],
                Kind::Variance(_) => vec![
                    ("count", unit(0, 1.0)),
                    ("sum", unit(1, step / 2.0)),
                    ("squares", unit(2, step * step / 8.0)),
                ],
                Kind::Quantiles(..) => vec![("count", unit(0, 1.0))],
                Kind::Histogram(..) => vec![("value", unit(0, 1.0))],
            }
        };
        self.planned.iter().map(|planned| (planned.measure.name.as_str(), of(planned))).collect()
    }
}

fn noisy<R: Rng + ?Sized>(noise: &Noise, value: i128, rng: &mut R) -> i128 {
    noise.add(rng, value.saturating_mul(FINE))
}

/// The nearest whole number to `fine` / 1024.
fn whole(fine: i128) -> i128 {
    (fine.saturating_add(FINE / 2)).div_euclid(FINE)
}

impl Planned {
    fn answer<R: Rng + ?Sized>(&self, slots: &[i128], rng: &mut R, answers: &mut Vec<Answer>) {
        let name = || self.measure.name.clone();
        match &self.measure.kind {
            Kind::Count | Kind::CountOf | Kind::Units => {
                answers.push(self.number(name(), slots[0], rng, None));
            }
            Kind::Sum(range) => answers.push(self.number(name(), slots[0], rng, Some(range))),
            Kind::Mean(range) => {
                let fine = [0, 1].map(|i| noisy(&self.noises[i], slots[i], rng) as f64 / FINE_F);
                answers.push(self.mean(name(), range, fine));
            }
            Kind::Variance(range) => {
                let fine = [0, 1, 2].map(|i| noisy(&self.noises[i], slots[i], rng) as f64 / FINE_F);
                answers.push(self.variance(name(), range, fine));
            }
            Kind::Quantiles(range, shares) => {
                let noise = &self.noises[0];
                let tree = Tree::new(*range, slots, noise, |count| noisy(noise, count, rng));
                for &q in shares {
                    let (value, low, high) = tree.quantile(q);
                    let measure =
                        if shares.len() == 1 { name() } else { format!("{}[{q}]", name()) };
                    // As if the interval were a normal one.
                    let stddev = (high - low) / (2.0 * 1.96);
                    answers.push(Answer {
                        measure,
                        value: Some(format!("{value}")),
                        stddev,
                        low,
                        high,
                    });
                }
            }
            Kind::Histogram(range, bins) => {
                let edge = |bin: u32| {
                    range
                        .at(range.low as f64
                            + range.span() as f64 * f64::from(bin) / f64::from(*bins))
                };
                for (bin, &count) in (0..*bins).zip(slots) {
                    let close = if bin + 1 == *bins { ']' } else { ')' };
                    let measure = format!("{}[{},{}{close}", name(), edge(bin), edge(bin + 1));
                    answers.push(self.number(measure, count, rng, None));
                }
            }
        }
    }

    /// A count or a sum.
    fn number<R: Rng + ?Sized>(
        &self,
        measure: String,
        count: i128,
        rng: &mut R,
        range: Option<&Range>,
    ) -> Answer {
        let noise = &self.noises[0];
        let fine = noisy(noise, count, rng);
        let value = whole(fine);
        let step = range.map_or(super::Step::ONE, |range| range.step);
        let unit = step.to_f64();
        let (centre, half) = (fine as f64 / FINE_F, Spread::of(noise).half_width() / FINE_F);
        Answer {
            measure,
            value: Some(step.times(value)),
            stddev: noise.stddev() / FINE_F * unit,
            // Very narrow noise may leave the rounded value outside.
            low: (centre - half).min(value as f64) * unit,
            high: (centre + half).max(value as f64) * unit,
        }
    }

    /// Sum over count, by Fieller's interval: all m for which sum - m count is within the 95 % of its
    /// noise, whose law is known for each m.
    fn mean(&self, measure: String, range: &Range, [count, sum]: [f64; 2]) -> Answer {
        let span = range.span() as f64;
        let middle = (range.low as f64 + range.high as f64) / 2.0;
        let value = |m: f64| range.at(middle + m / 2.0);
        let spread = |m: f64| {
            let mut spread = Spread::default();
            spread.add(&self.noises[1], 1.0 / FINE_F, 1.0);
            spread.add(&self.noises[0], m / FINE_F, 1.0);
            spread
        };
        if count < 1.0 {
            let stddev = value(span) - value(0.0);
            return Answer { measure, value: None, stddev, low: value(-span), high: value(span) };
        }
        let mean = (sum / count).clamp(-span, span);
        // How far below (sign 1) or above (sign -1) m may lie.
        let end = |sign: f64| {
            let (mut inside, mut outside) = (mean, -sign * span);
            let excess = |m: f64| sign * (sum - m * count) - spread(m).half_width();
            if excess(outside) <= 0.0 {
                return outside;
            }
            for _ in 0..50 {
                let m = 0.5 * (inside + outside);
                if excess(m) <= 0.0 { inside = m } else { outside = m }
            }
            inside
        };
        Answer {
            measure,
            value: Some(format!("{}", value(mean))),
            stddev: spread(mean).stddev() / count * range.step.to_f64() / 2.0,
            low: value(end(1.0)),
            high: value(end(-1.0)),
        }
    }

    /// The mean square less the squared mean; the interval is that of the noise to first order.
    fn variance(&self, measure: String, range: &Range, [count, sum, squares]: [f64; 3]) -> Answer {
        let span = range.span() as f64;
        // From half steps to the column's own unit, squared.
        let unit = (range.step.to_f64() / 2.0).powi(2);
        let largest = span * span * unit;
        if count < 1.0 {
            return Answer { measure, value: None, stddev: largest, low: 0.0, high: largest };
        }
        let mean = (sum / count).clamp(-span, span);
        let centred_squares = squares / (2.0 * count);
        let variance = centred_squares + span * span / 2.0 - mean * mean;
        let mut spread = Spread::default();
        spread.add(&self.noises[2], 0.5 / FINE_F, 1.0);
        spread.add(&self.noises[1], 2.0 * mean / FINE_F, 1.0);
        spread.add(&self.noises[0], (2.0 * mean * mean - centred_squares) / FINE_F, 1.0);
        let half = spread.half_width() / count;
        let value = |v: f64| (v.clamp(0.0, span * span)) * unit;
        Answer {
            measure,
            value: Some(format!("{}", value(variance))),
            stddev: spread.stddev() / count * unit,
            low: value(variance - half),
            high: value(variance + half),
        }
    }
}
