//! The distribution of the sum of all records but one, as a product of polynomials. Every number is a sum of products
//! of probabilities, so small ones are as precise as large ones and impossible ones are 0.
//!
//! The groups are halved recursively; each half is passed the product of the other half, until one group is left and
//! everything outside it is multiplied.

use super::lattice::Lattice;
use super::tilting::Tilted;
use table::{Stop, Watch};

/// The approximate number of multiplications of [`weights`].
pub(super) fn cost(lattice: &Lattice) -> f64 {
    let length = lattice.high as f64 + 1.0;
    let halvings = (lattice.groups.len() as f64).log2().ceil() + 1.0;
    let of = |records: u64, values: usize| {
        let records = records as f64;
        one_by_one(records, values, length).min(squaring(records, length))
    };
    halvings * lattice.groups.iter().map(|group| of(group.records, group.law.len())).sum::<f64>()
}

fn one_by_one(records: f64, values: usize, length: f64) -> f64 {
    records * values as f64 * length
}

fn squaring(records: f64, length: f64) -> f64 {
    (2.0 * records.log2() + 2.0) * length * length / 2.0
}

/// For each group and each step of its law: Σ over the sums s of the window of P(all other records add up to
/// s - step) exp(-θ (s - centre)), under the tilted laws.
pub(super) fn weights(
    lattice: &Lattice,
    tilted: &Tilted,
    watch: &Watch,
) -> Result<Vec<Vec<f64>>, Stop> {
    let length = lattice.high as usize + 1;
    let halvings = lattice.groups.len().ilog2() as u64 + 3;
    let _held = watch.hold(length as u64 * 8 * halvings)?;
    let window: Vec<f64> = (lattice.low..=lattice.high)
        .map(|sum| (-tilted.theta * (sum as f64 - tilted.centre)).exp())
        .collect();
    let mut split = HalvedGroups { lattice, tilted, window, length, watch, found: Vec::new() };
    split.halve(0, lattice.groups.len(), vec![1.0])?;
    Ok(split.found)
}

struct HalvedGroups<'a> {
    lattice: &'a Lattice,
    tilted: &'a Tilted,
    /// exp(-θ (s - centre)) for the sums of the window.
    window: Vec<f64>,
    /// The length of a polynomial: higher sums are beyond the window.
    length: usize,
    watch: &'a Watch,
    found: Vec<Vec<f64>>,
}

impl HalvedGroups<'_> {
    /// The weights of the groups `from..to`, where `outside` is the product of all others.
    fn halve(&mut self, from: usize, to: usize, outside: Vec<f64>) -> Result<(), Stop> {
        if to - from == 1 {
            let others = self.times(outside, from, self.lattice.groups[from].records - 1)?;
            self.found.push(self.at_leaf(from, &others));
            return Ok(());
        }
        let middle = from.midpoint(to);
        for (from, to, other) in [(from, middle, middle..to), (middle, to, from..middle)] {
            let mut product = outside.clone();
            for group in other {
                product = self.times(product, group, self.lattice.groups[group].records)?;
            }
            self.halve(from, to, product)?;
        }
        Ok(())
    }

    fn at_leaf(&self, group: usize, others: &[f64]) -> Vec<f64> {
        let low = self.lattice.low;
        let weight = |&(step, _): &(u64, f64)| {
            let sums = (low..).zip(&self.window).filter(|(sum, _)| *sum >= step);
            sums.map(|(sum, tilt)| others.get((sum - step) as usize).copied().unwrap_or(0.0) * tilt)
                .sum()
        };
        self.lattice.groups[group].law.iter().map(weight).collect()
    }

    /// The polynomial times that of this number of records of a group.
    fn times(&self, mut one: Vec<f64>, group: usize, records: u64) -> Result<Vec<f64>, Stop> {
        let law = &self.tilted.laws[group];
        let (n, length) = (records as f64, self.length as f64);
        if records == 0 {
            return Ok(one);
        }
        if one_by_one(n, law.len(), length) <= squaring(n, length) {
            for _ in 0..records {
                self.watch.check()?;
                one = self.times_law(&one, law);
            }
            return Ok(one);
        }
        let mut square = self.times_law(&[1.0], law);
        let mut left = records;
        loop {
            if left % 2 == 1 {
                one = self.product(&one, &square)?;
            }
            left /= 2;
            if left == 0 {
                return Ok(one);
            }
            square = self.product(&square, &square)?;
        }
    }

    fn times_law(&self, one: &[f64], law: &[(u64, f64)]) -> Vec<f64> {
        let most = law.last().map_or(0, |&(step, _)| step);
        let length = self.length.min(one.len().saturating_add(most as usize));
        let mut product = vec![0.0; length];
        for &(step, p) in law.iter().take_while(|&&(step, _)| step < length as u64) {
            for (to, from) in product[step as usize..].iter_mut().zip(one) {
                *to += p * from;
            }
        }
        product
    }

    fn product(&self, one: &[f64], other: &[f64]) -> Result<Vec<f64>, Stop> {
        let length = self.length.min(one.len() + other.len() - 1);
        let mut product = vec![0.0; length];
        for (i, &x) in one.iter().enumerate().take(length) {
            self.watch.poll_every(64, i)?;
            if x > 0.0 {
                for (to, from) in product[i..].iter_mut().zip(other) {
                    *to += x * from;
                }
            }
        }
        Ok(product)
    }
}
