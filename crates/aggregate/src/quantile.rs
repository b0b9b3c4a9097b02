//! Quantiles from noisy counts on two levels: 32 nodes, and 32 leaves in each.

use crate::FINE;
use crate::interval::Spread;
use crate::measure::Range;
use random::Noise;

/// The number of children of a node.
const FAN: usize = 32;
/// The largest number of leaves. Two levels of 32 need less noise than one of 1024 or ten of two.
const LEAVES: usize = FAN * FAN;
/// The number of counts that a row is part of.
pub const LEVELS: u64 = 2;

/// The number of leaves of a range: one for each step if these are few.
pub fn leaves(range: &Range) -> usize {
    usize::try_from(range.span() + 1).unwrap_or(LEAVES).min(LEAVES)
}

/// The leaf of a value.
pub fn leaf(range: &Range, value: i64) -> usize {
    let value = value.clamp(range.low, range.high);
    let offset = i128::from(value) - i128::from(range.low);
    (offset * leaves(range) as i128 / (range.span() + 1)) as usize
}

/// The first step of a leaf, counted from the lower bound of the range.
fn first_step(range: &Range, leaf: usize) -> i128 {
    let leaves = leaves(range) as i128;
    (leaf as i128 * (range.span() + 1) + leaves - 1) / leaves
}

/// Noisy counts of nodes and leaves, from which any quantile can be computed.
pub struct Tree {
    range: Range,
    noise: Noise,
    /// The number of values below each of the leaves' bounds, and the total.
    below: Vec<f64>,
    all: f64,
    nodes: usize,
}

/// The counts that noise is added to: those of the nodes, then those of the leaves.
pub fn levels(leaves: &[i128]) -> impl Iterator<Item = i128> {
    leaves.chunks(FAN).map(|leaves| leaves.iter().sum()).chain(leaves.iter().copied())
}

impl Tree {
    /// Makes the tree from the noisy counts of both levels, which have independent noise.
    pub fn new(range: Range, noisy: &[f64], noise: &Noise) -> Self {
        let (nodes, noisy) = noisy.split_at(leaves(&range).div_ceil(FAN));
        let mut below = Vec::with_capacity(LEAVES + 1);
        let mut before = 0.0;
        for (node, leaves) in nodes.iter().zip(noisy.chunks(FAN)) {
            for cut in 0..leaves.len() {
                // Counted from the nearer end of the node, so that fewer noisy counts are added.
                below.push(
                    before
                        + match cut <= leaves.len() / 2 {
                            true => leaves[..cut].iter().sum::<f64>(),
                            false => node - leaves[cut..].iter().sum::<f64>(),
                        },
                );
            }
            before += node;
        }
        below.push(before);
        Tree { range, noise: noise.clone(), below, all: before, nodes: nodes.len() }
    }

    /// The value below which a share `q` of the values lies, with an interval that holds the quantile with
    /// probability at least 95 %, whatever the values.
    ///
    /// Of n values in order let the quantile lie between those of numbers floor(p) and ceil(p), where p = 1 + q(n-1):
    /// this covers the usual definitions. With B(j) values below bound j, the former lies in the leaf j where B(j) <=
    /// q(n-1) < B(j+1). The lower end is that of the first leaf j for which B(j+1) may reach q(n-1). If this end is
    /// too high, then the noise at one bound, which the data fixes, is below its 2.5 % quantile. In the same way the
    /// upper end is that of the last leaf j for which B(j) may still be at most q(n-1) + 1. So the two ends together
    /// fail with probability at most 5 %, with or without ties, however many bounds there are.
    pub fn quantile(&self, q: f64) -> (f64, f64, f64) {
        let leaves = self.below.len() - 1;
        let value = self.crossing(|cut| self.below[cut] - q * self.all);
        let excess = |cut: usize| self.below[cut] - q * (self.all - 1.0);
        let half: Vec<f64> = (0..=leaves).map(|cut| self.half_width(cut, q)).collect();
        let reaches = |&leaf: &usize| excess(leaf + 1) >= -half[leaf + 1];
        let starts = |&leaf: &usize| excess(leaf) <= 1.0 + half[leaf];
        let first = (0..leaves).find(reaches).unwrap_or(leaves - 1);
        let last = (0..leaves).rev().find(starts).unwrap_or(0);
        let at = |step: i128| self.range.at((i128::from(self.range.low) + step) as f64);
        let low = at(first_step(&self.range, first));
        let high = at(first_step(&self.range, last + 1) - 1);
        (value, low.min(value), high.max(value))
    }

    fn half_width(&self, cut: usize, q: f64) -> f64 {
        // The last bound is the end of the last node, which may have fewer leaves than the others.
        let last = self.below.len() - 1;
        let (node, place) = if cut == last { (self.nodes, 0) } else { (cut / FAN, cut % FAN) };
        let width = FAN.min(last.saturating_sub(node * FAN));
        let mut spread = Spread::default();
        let from_right = place > width / 2;
        let left = node + usize::from(from_right);
        let one = 1.0 / FINE as f64;
        spread.add(&self.noise, (1.0 - q) * one, left as f64);
        spread.add(&self.noise, q * one, (self.nodes - left) as f64);
        let leaves = if from_right { width - place } else { place };
        spread.add(&self.noise, one, leaves as f64);
        spread.half_width()
    }

    /// Where a noisy, mostly rising function crosses 0: the middle of its first and last crossing.
    fn crossing(&self, function: impl Fn(usize) -> f64) -> f64 {
        let mut first = None;
        let mut last = None;
        let leaves = self.below.len() - 1;
        for cut in 0..leaves {
            let (a, b) = (function(cut), function(cut + 1));
            if a < 0.0 && b >= 0.0 {
                let place = cut as f64 + a / (a - b);
                first.get_or_insert(place);
                last = Some(place);
            }
        }
        let cut = match (first, last) {
            (Some(first), Some(last)) => 0.5 * (first + last),
            _ if function(leaves) < 0.0 => leaves as f64,
            _ => 0.0,
        };
        let width = (self.range.span() + 1) as f64 / leaves as f64;
        // A leaf holds whole steps; its values lie half a step inside its bounds.
        let steps = self.range.low as f64 + cut * width - 0.5;
        self.range.at(steps.clamp(self.range.low as f64, self.range.high as f64))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::measure::Step;

    /// A tree whose noise is 0.
    fn exact(range: Range, leaves: &[i128], noise: &Noise) -> Tree {
        let counts: Vec<f64> = levels(leaves).map(|count| count as f64).collect();
        Tree::new(range, &counts, noise)
    }

    #[test]
    fn leaves_follow_the_values() {
        let range = Range::new(-1000, 2000, Step::ONE).unwrap();
        assert_eq!(leaf(&range, i64::MIN + 1), 0);
        assert_eq!(leaf(&range, -1000), 0);
        assert_eq!(leaf(&range, 2000), LEAVES - 1);
        assert_eq!(leaf(&range, i64::MAX), LEAVES - 1);
        let mut last = 0;
        for value in -1000..=2000 {
            let leaf = leaf(&range, value);
            assert!(leaf >= last && leaf - last <= 1);
            last = leaf;
        }
    }

    #[test]
    fn without_noise_the_quantile_is_found() {
        let range = Range::new(0, 9999, Step::ONE).unwrap();
        let mut leaves = vec![0; LEAVES];
        for value in 0..10_000 {
            leaves[leaf(&range, value)] += 1;
        }
        let tree = exact(range, &leaves, &Noise::laplace(0, 1.0).unwrap());
        for q in [0.0, 0.01, 0.25, 0.5, 0.9, 1.0] {
            let (value, low, high) = tree.quantile(q);
            assert!((value - q * 10_000.0).abs() < 15.0, "{q}: {value}");
            // Two leaves of ten steps at most.
            assert!(low <= value && value <= high && high - low < 20.0, "{q}: {low} {high}");
        }
    }

    #[test]
    fn few_steps_have_a_leaf_each() {
        let range = Range::new(0, 9, Step::ONE).unwrap();
        let mut counts = vec![0; leaves(&range)];
        assert_eq!(counts.len(), 10);
        for value in 0..10 {
            counts[leaf(&range, value)] += if value == 3 { 500 } else { 10 };
        }
        let tree = exact(range, &counts, &Noise::laplace(0, 1.0).unwrap());
        assert_eq!(tree.quantile(0.5).0.round(), 3.0);
        assert_eq!(tree.quantile(1.0).0, 9.0);
        // Forty leaves make two nodes, the second of which is not full.
        let range = Range::new(0, 39, Step::ONE).unwrap();
        let noise = Noise::laplace(1, 1.0).unwrap();
        let tree = exact(range, &[100; 40], &noise);
        let widths: Vec<f64> = (0..=40).map(|cut| tree.half_width(cut, 0.5)).collect();
        assert!(widths.iter().all(|width| *width > 0.0));
        assert_eq!(tree.quantile(0.5).0.round(), 20.0);
    }

    #[test]
    fn an_empty_group_has_some_quantile() {
        let range = Range::new(0, 10, Step::ONE).unwrap();
        let noise = Noise::laplace(1024, 1.0).unwrap();
        let tree = exact(range, &[0; 11], &noise);
        let (value, low, high) = tree.quantile(0.5);
        assert!(
            (0.0..=10.0).contains(&value) && (0.0, 10.0) == (low, high),
            "{low} {value} {high}"
        );
    }
}
