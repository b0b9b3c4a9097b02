//! The random choices of a private sample, behind a trait: a call makes them with coins, a test enumerates all of
//! them.

use super::column_scores::{self, Subset};
use super::noisy_counts::Noisy;
use super::rare_cells::Verdict;
use crate::{Rate, Thinning};
use random::{Coins, Noise, Ratio, Source, below, bernoulli_exp};
use table::{Bag, Stop, Watch};

/// Every random choice that a scheme makes.
pub(super) trait RandomChoices {
    type Noisy: Verdict;

    /// How many copies of each distinct row are kept at this rate, with one coin for each copy.
    fn thin(&mut self, rate: Rate, weights: &[u64], watch: &Watch) -> Result<Vec<u64>, Stop>;

    /// Judges counts with independent noise on each: above `theta` they are frequent.
    fn noisy(&mut self, noise: &Noise, theta: u64) -> Self::Noisy;

    /// The sets of columns that may be chosen; depends on the number of columns only.
    fn family(&mut self, columns: usize) -> Vec<Subset>;

    /// A place in the list, with probability proportional to exp(-exponent).
    fn choose(&mut self, exponents: &[Ratio], watch: &Watch) -> Result<usize, Stop>;
}

/// Random choices by the coins of a call.
pub(super) struct Flipped<'a> {
    pub(super) coins: &'a mut Coins,
    /// The order in which rows get their coins.
    pub(super) order: Vec<u32>,
}

impl<'a> Flipped<'a> {
    /// With a seed the coins must not depend on the order in which the rows were read; for fresh coins the order does
    /// not matter.
    pub(super) fn new(bag: &Bag, coins: &'a mut Coins, watch: &Watch) -> Result<Self, Stop> {
        let mut order: Vec<u32> = (0..bag.distinct() as u32).collect();
        if coins.source() == Source::Seeded {
            table::sort_watched(&mut order, watch, |a, b| {
                bag.row(a as usize).cmp(bag.row(b as usize))
            })?;
        }
        Ok(Flipped { coins, order })
    }
}

impl RandomChoices for Flipped<'_> {
    type Noisy = Noisy;

    fn thin(&mut self, rate: Rate, weights: &[u64], watch: &Watch) -> Result<Vec<u64>, Stop> {
        let mut thinning = Thinning::new(rate);
        let mut copies = vec![0; weights.len()];
        let mut since = 0u64;
        for &row in &self.order {
            let mut left = weights[row as usize];
            while left > 0 {
                // A distinct row may stand for millions of rows, so the watch is polled by coins, not by rows.
                let some = left.min(1 << 20);
                copies[row as usize] += thinning.keep(self.coins, some);
                left -= some;
                since += some;
                if since > 1 << 20 {
                    watch.check()?;
                    since = 0;
                }
            }
        }
        Ok(copies)
    }

    fn noisy(&mut self, noise: &Noise, theta: u64) -> Noisy {
        Noisy { key: self.coins.key(), noise: noise.clone(), theta }
    }

    fn family(&mut self, columns: usize) -> Vec<Subset> {
        column_scores::family(columns, self.coins)
    }

    /// Proposes uniformly and accepts with probability exp(-exponent): the accepted proposal has the required law.
    /// Some exponent should be 0, or this takes long.
    fn choose(&mut self, exponents: &[Ratio], watch: &Watch) -> Result<usize, Stop> {
        loop {
            watch.check()?;
            let proposed = below(self.coins, exponents.len() as u64) as usize;
            if bernoulli_exp(self.coins, &exponents[proposed]) {
                return Ok(proposed);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use random::testing::assert_fits;

    #[test]
    fn choices_follow_the_exponential_law() {
        let bag = Bag::from_text(1, [[Some("a")]]);
        let watch = Watch::unlimited();
        for parts in [&[(0, 1), (1, 2), (3, 1), (0, 1)][..], &[(0, 1)], &[(7, 5), (0, 1), (40, 1)]]
        {
            let ratio = |&(n, d): &(u64, u64)| Ratio::new(n, d).unwrap();
            let exponents: Vec<Ratio> = parts.iter().map(ratio).collect();
            let weights: Vec<f64> = exponents.iter().map(|x| (-x.to_f64()).exp()).collect();
            let total: f64 = weights.iter().sum();
            let law: Vec<f64> = weights.iter().map(|w| w / total).collect();
            let mut coins = Coins::seeded(parts.len() as i64);
            let mut flipped = Flipped::new(&bag, &mut coins, &watch).unwrap();
            assert_fits(&law, 20_000, || flipped.choose(&exponents, &watch).unwrap() as i64);
        }
        watch.cancel();
        let mut coins = Coins::seeded(1);
        assert!(Flipped { coins: &mut coins, order: vec![] }.choose(&[], &watch).is_err());
    }
}
