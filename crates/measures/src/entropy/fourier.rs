//! The same weights as in `polynomial_sums` for too many records: by inverting characteristic functions on a grid
//! that covers only the sums that matter.
//!
//! Under the tilted laws the sum lies within a half-length of its centre, up to a probability of 1e-25 (by Hoeffding
//! or Bernstein, whichever is shorter), so a grid of both halves and the steps of one record has every sum once. All
//! phases are multiples of one turn / M, taken from a table by exact remainders, and logarithms are computed from φ -
//! 1, so that a power of a million loses no digits. The results are correct to about 1e-13 of the largest weight;
//! less than 1e-12 of it counts as impossible.

use super::lattice::Lattice;
use super::tilting::Tilted;
use rayon::prelude::*;
use std::f64::consts::TAU;
use table::{Stop, Watch};

/// The logarithm of twice the reciprocal of the probability of a sum outside the grid.
const OUTSIDE: f64 = 58.3;
/// Terms below exp of this are left out.
const NEGLIGIBLE: f64 = -70.0;
/// The share of the largest weight below which a weight counts as 0.
const NOTHING: f64 = 1e-12;
/// The longest grid, and the largest number of evaluations of a phase.
const MOST_POINTS: f64 = (1u64 << 26) as f64;
const MOST_PHASES: f64 = 2e10;
/// The number of parts that are added up separately, whatever the number of threads.
const PARTS: u64 = 64;

#[derive(Debug, Clone, Copy)]
struct Complex {
    re: f64,
    im: f64,
}

impl Complex {
    fn times(self, other: Complex) -> Complex {
        Complex {
            re: self.re * other.re - self.im * other.im,
            im: self.re * other.im + self.im * other.re,
        }
    }

    fn size(self) -> f64 {
        self.re.hypot(self.im)
    }

    fn exp(self) -> Complex {
        let (sin, cos) = self.im.sin_cos();
        Complex { re: self.re.exp() * cos, im: self.re.exp() * sin }
    }
}

/// A group on the grid.
struct GridGroup {
    records: u64,
    /// For each step of the law: its position relative to the middle of the law, its own position, its probability.
    law: Vec<(u64, u64, f64)>,
    /// The position of the middles of all other records.
    middle: u64,
}

/// Weights by Fourier sums.
pub(super) struct Sums {
    groups: Vec<GridGroup>,
    points: u64,
    theta: f64,
    /// The end of the window with the largest weight, its position, and the number of sums that follow.
    start: u64,
    start_weight: f64,
    count: u64,
}

impl Sums {
    /// `None` if that is too much work.
    pub fn new(lattice: &Lattice, tilted: &Tilted) -> Option<Self> {
        let most = lattice.groups.iter().map(|group| group.most()).max().unwrap_or(0);
        let squares = lattice.groups.iter();
        let squares: f64 =
            squares.map(|group| group.records as f64 * (group.most() as f64).powi(2)).sum();
        let hoeffding = (0.5 * OUTSIDE * squares).sqrt();
        let linear = most as f64 * OUTSIDE / 3.0;
        let bernstein =
            linear + (linear * linear + 2.0 * OUTSIDE * tilted.variance(lattice)).sqrt();
        let half = hoeffding.min(bernstein).ceil() + 1.0;
        let whole = lattice.total() as f64 + most as f64 + 1.0;
        let points = (2.0 * half + 2.0 * most as f64 + 1.0).min(whole);
        let values: usize = lattice.groups.iter().map(|group| group.law.len()).sum();
        if points > MOST_POINTS || points * values as f64 > MOST_PHASES {
            return None;
        }
        let points = points as u64;
        let place = |step: i128| step.rem_euclid(i128::from(points)) as u64;
        let (low, high) = match whole <= points as f64 {
            true => (lattice.low, lattice.high),
            false => (
                lattice.low.max((tilted.centre - half).max(0.0) as u64),
                lattice.high.min((tilted.centre + half) as u64),
            ),
        };
        let middles: Vec<u64> = tilted.laws.iter().map(|law| middle(law)).collect();
        let all: i128 = (lattice.groups.iter().zip(&middles))
            .map(|(group, &middle)| i128::from(group.records) * i128::from(middle))
            .sum();
        let groups = lattice.groups.iter().zip(&tilted.laws).zip(&middles);
        let groups = groups.map(|((group, law), &middle)| GridGroup {
            records: group.records,
            law: (law.iter())
                .map(|&(step, p)| {
                    (place(i128::from(step) - i128::from(middle)), place(step.into()), p)
                })
                .collect(),
            middle: place(all - i128::from(middle)),
        });
        let start = if tilted.theta < 0.0 { high } else { low };
        Some(Sums {
            groups: groups.collect(),
            points,
            theta: tilted.theta,
            start: place(start.into()),
            start_weight: -tilted.theta * (start as f64 - tilted.centre),
            count: high - low + 1,
        })
    }

    /// Same as [`super::polynomial_sums::weights`].
    pub fn weights(&self, watch: &Watch) -> Result<Vec<Vec<f64>>, Stop> {
        let _held = watch.hold(self.points * 16)?;
        let turns = Turns::new(self.points, watch)?;
        let last = self.points / 2;
        let part = last / PARTS + 1;
        let parts: Vec<PartialSums> = (0..PARTS)
            .into_par_iter()
            .map(|i| self.part(&turns, i * part, ((i + 1) * part).min(last + 1), watch))
            .collect::<Result<_, Stop>>()?;
        let mut found: Vec<Vec<f64>> = Vec::with_capacity(self.groups.len());
        for (g, group) in self.groups.iter().enumerate() {
            let scale: f64 = parts.iter().map(|part| part.scales[g]).sum();
            let weight = |v: usize| -> f64 {
                let weight: f64 = parts.iter().map(|part| part.weights[g][v]).sum();
                if weight < NOTHING * scale { 0.0 } else { weight / self.points as f64 }
            };
            found.push((0..group.law.len()).map(weight).collect());
        }
        Ok(found)
    }

    /// The contribution of the frequencies `from..to`.
    fn part(&self, turns: &Turns, from: u64, to: u64, watch: &Watch) -> Result<PartialSums, Stop> {
        let mut part = PartialSums {
            weights: self.groups.iter().map(|group| vec![0.0; group.law.len()]).collect(),
            scales: vec![0.0; self.groups.len()],
        };
        let values: usize = self.groups.iter().map(|group| group.law.len()).sum();
        let step = (Watch::STEP / values.max(1)).max(1);
        let mut others = Vec::with_capacity(self.groups.len());
        for j in from..to {
            watch.poll_every(step, (j - from) as usize)?;
            self.others(turns, j, &mut others);
            if others.iter().all(|log| log.re < NEGLIGIBLE) {
                continue;
            }
            // A frequency and its negative are conjugates.
            let times = if j == 0 || 2 * j == self.points { 1.0 } else { 2.0 };
            let window = self.window(turns, j);
            for (g, group) in self.groups.iter().enumerate() {
                if others[g].re < NEGLIGIBLE {
                    continue;
                }
                let shift = turns.unit(j, (self.points - self.start + group.middle) % self.points);
                let term = others[g].exp().times(window).times(shift);
                part.scales[g] += times * term.size();
                for (weight, &(_, place, _)) in part.weights[g].iter_mut().zip(&group.law) {
                    *weight += times * term.times(turns.unit(j, place)).re;
                }
            }
        }
        Ok(part)
    }

    /// For each group the logarithm of the characteristic function of all other records about their middles.
    fn others(&self, turns: &Turns, j: u64, others: &mut Vec<Complex>) {
        let logs: Vec<Complex> = self.groups.iter().map(|group| group.log(turns, j)).collect();
        let power = |log: Complex, n: u64| match n {
            0 => Complex { re: 0.0, im: 0.0 },
            n => Complex { re: n as f64 * log.re, im: n as f64 * log.im },
        };
        let add = |a: Complex, b: Complex| Complex { re: a.re + b.re, im: a.im + b.im };
        others.clear();
        let mut before = Complex { re: 0.0, im: 0.0 };
        for (group, &log) in self.groups.iter().zip(&logs) {
            others.push(add(before, power(log, group.records - 1)));
            before = add(before, power(log, group.records));
        }
        let mut after = Complex { re: 0.0, im: 0.0 };
        for ((group, &log), other) in self.groups.iter().zip(&logs).zip(others.iter_mut()).rev() {
            *other = add(*other, after);
            after = add(after, power(log, group.records));
        }
    }

    /// The sum of exp(-θ (s - centre)) over the window, each turned by the distance of s from the start.
    fn window(&self, turns: &Turns, j: u64) -> Complex {
        let first = Complex { re: self.start_weight.exp(), im: 0.0 };
        if self.count == 1 {
            return first;
        }
        // Upwards a step turns by -j, downwards by j.
        let ahead = if self.theta < 0.0 { 1 } else { self.points - 1 };
        let decay = -self.theta.abs();
        let whole = turns.exp_m1(j, ahead, self.count, decay);
        let single = turns.exp_m1(j, ahead, 1, decay);
        let size = single.re * single.re + single.im * single.im;
        if size == 0.0 {
            return Complex { re: first.re * self.count as f64, im: 0.0 };
        }
        // (z^count - 1) / (z - 1)
        let inverse = Complex { re: single.re / size, im: -single.im / size };
        first.times(whole.times(inverse))
    }
}

struct PartialSums {
    weights: Vec<Vec<f64>>,
    /// The sums of the sizes of all terms.
    scales: Vec<f64>,
}

impl GridGroup {
    /// The logarithm of the characteristic function of one record about the middle of its law.
    fn log(&self, turns: &Turns, j: u64) -> Complex {
        let (mut re, mut im) = (0.0, 0.0);
        for &(place, _, p) in &self.law {
            let (cos_m1, sin) = turns.get(j, place);
            re += p * cos_m1;
            im += p * sin;
        }
        Complex { re: 0.5 * (2.0 * re + re * re + im * im).ln_1p(), im: im.atan2(1.0 + re) }
    }
}

/// The step of a law that is nearest to its mean. Wherever a characteristic function has size 1, all steps turn like
/// this one, so that φ - 1 about it is small and exact.
fn middle(law: &[(u64, f64)]) -> u64 {
    let mean = law.iter().map(|&(step, p)| step as f64 * p).sum::<f64>();
    let distance = |step: u64| (step as f64 - mean).abs();
    let nearest = law.iter().min_by(|a, b| distance(a.0).total_cmp(&distance(b.0)));
    nearest.map_or(0, |&(step, _)| step)
}

/// cos - 1 and sin of every multiple of one turn / M.
struct Turns {
    points: u64,
    table: Vec<(f64, f64)>,
}

impl Turns {
    fn new(points: u64, watch: &Watch) -> Result<Self, Stop> {
        let turn = |m: u64| {
            let angle = TAU * (m as f64 / points as f64);
            let half = (0.5 * angle).sin();
            (-2.0 * half * half, angle.sin())
        };
        let mut table = vec![(0.0, 0.0); points as usize];
        table.par_chunks_mut(Watch::STEP).enumerate().try_for_each(|(i, part)| {
            watch.check()?;
            let first = i * Watch::STEP;
            part.iter_mut().zip(first..).for_each(|(place, m)| *place = turn(m as u64));
            Ok(())
        })?;
        Ok(Turns { points, table })
    }

    #[inline]
    fn get(&self, j: u64, place: u64) -> (f64, f64) {
        self.table[(j * place % self.points) as usize]
    }

    #[inline]
    fn unit(&self, j: u64, place: u64) -> Complex {
        let (cos_m1, sin) = self.get(j, place);
        Complex { re: 1.0 + cos_m1, im: sin }
    }

    /// z^count - 1, where z has the logarithm `decay` and turns by j times `place`.
    fn exp_m1(&self, j: u64, place: u64, count: u64, decay: f64) -> Complex {
        let (cos_m1, sin) = self.table[(u128::from(j * place % self.points) * u128::from(count)
            % u128::from(self.points)) as usize];
        let log = decay * count as f64;
        Complex { re: log.exp_m1() * (1.0 + cos_m1) + cos_m1, im: log.exp() * sin }
    }
}
