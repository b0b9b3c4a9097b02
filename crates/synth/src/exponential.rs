//! The exponential mechanism on integer scores, by exact sampling. The proof is in `proof.md`.

use rand::Rng;
use random::{Error, Ratio, below, bernoulli_exp};
use table::Watch;

/// How strongly scores decide: a candidate's weight is exp(rate * score).
///
/// `rate` is an exact fraction, so that the law is exactly the one that is charged.
#[derive(Debug, Clone)]
pub struct ExponentialRate {
    rate: Ratio,
}

impl ExponentialRate {
    /// The largest rate of few bits at which a choice among scores of this sensitivity costs at most `rho`. With
    /// weights exp(rate * score) the log-ratios of a choice have the range 2 * rate * sensitivity, so it costs (2 *
    /// rate * sensitivity)^2 / 8.
    pub fn new(sensitivity: u64, rho: f64) -> Result<Self, Error> {
        let rate = (2.0 * rho).sqrt() / sensitivity as f64 * (1.0 - 1e-12);
        // Few bits keep the sampler within machine words; dropping bits makes the rate smaller.
        let short = f64::from_bits(rate.to_bits() & !((1 << 32) - 1));
        Ok(ExponentialRate { rate: Ratio::exact("rho", short)? })
    }

    /// The rate itself.
    #[cfg(test)]
    pub fn get(&self) -> &Ratio {
        &self.rate
    }

    /// What a choice costs, rounded up.
    pub fn rho(&self, sensitivity: u64) -> f64 {
        let product = self.rate.to_f64() * sensitivity as f64;
        product * product / 2.0 * (1.0 + 1e-14)
    }

    /// Chooses one of the candidates that `fits` accepts by the exponential mechanism; `None` if there are none.
    ///
    /// A candidate is drawn uniformly and accepted with probability exp(-rate * (highest - its score)). If it does
    /// not fit, it is removed and the draw starts again. So each candidate that fits is drawn with a probability
    /// proportional to exp(rate * score), as if the others had never been there. `fits` must not look at private
    /// data. It is slow, and called only for candidates that were drawn.
    pub fn choose<R: Rng + ?Sized>(
        &self,
        rng: &mut R,
        scores: &[(usize, i128)],
        mut fits: impl FnMut(usize) -> bool,
        watch: &Watch,
    ) -> Result<Option<usize>, Error> {
        let mut left = scores.to_vec();
        while let Some(highest) = left.iter().map(|&(_, score)| score).max() {
            let mut tries = 0;
            let place = loop {
                watch.poll(tries)?;
                tries += 1;
                let place = below(rng, left.len() as u64) as usize;
                let behind = highest.abs_diff(left[place].1);
                if bernoulli_exp(rng, &self.rate.times(behind)) {
                    break place;
                }
            };
            let candidate = left[place].0;
            if fits(candidate) {
                return Ok(Some(candidate));
            }
            left.swap_remove(place);
        }
        Ok(None)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use random::Coins;
    use random::testing::assert_fits;

    /// The exponential mechanism by its definition, among those that fit.
    fn law(scores: &[i128], rate: f64, fits: impl Fn(usize) -> bool) -> Vec<f64> {
        let weight = |(i, &score): (usize, &i128)| {
            if fits(i) { (rate * score as f64).exp() } else { 0.0 }
        };
        let weights: Vec<f64> = scores.iter().enumerate().map(weight).collect();
        let sum: f64 = weights.iter().sum();
        weights.iter().map(|weight| weight / sum).collect()
    }

    #[test]
    fn choices_follow_the_law_that_their_price_allows() {
        let watch = Watch::unlimited();
        let scores = [0i128, 300, -100, 40, 300];
        let numbered: Vec<(usize, i128)> = scores.into_iter().enumerate().collect();
        for (seed, sensitivity, rho) in [(1, 100, 0.5), (2, 100, 0.05), (3, 7, 0.001)] {
            let mut coins = Coins::seeded(seed);
            let rate = ExponentialRate::new(sensitivity, rho).unwrap();
            let price = rate.rho(sensitivity);
            assert!(price <= rho && price > 0.999_99 * rho, "{price} {rho}");
            // The largest rate that costs this.
            let most = (2.0 * price).sqrt() / sensitivity as f64;
            assert_fits(&law(&scores, most, |_| true), 20_000, || {
                rate.choose(&mut coins, &numbered, |_| true, &watch).unwrap().unwrap() as i64
            });
            let fits = |candidate: usize| candidate.is_multiple_of(2);
            assert_fits(&law(&scores, most, fits), 20_000, || {
                rate.choose(&mut coins, &numbered, fits, &watch).unwrap().unwrap() as i64
            });
        }
    }

    #[test]
    fn scores_of_any_size_are_chosen_from() {
        let (watch, mut coins) = (Watch::unlimited(), Coins::seeded(4));
        let far = [(0, i128::MIN / 4), (1, i128::MAX / 4), (2, 0)];
        for rho in [1e-300, 1e-9, 1.0, 1e6] {
            let rate = ExponentialRate::new(1 << 40, rho).unwrap();
            assert!(rate.choose(&mut coins, &far, |_| true, &watch).unwrap().is_some());
            assert_eq!(rate.choose(&mut coins, &far, |i| i == 0, &watch).unwrap(), Some(0));
        }
        let rate = ExponentialRate::new(1, 1.0).unwrap();
        assert_eq!(rate.choose(&mut coins, &far, |_| true, &watch).unwrap(), Some(1));
        assert_eq!(rate.choose(&mut coins, &far, |_| false, &watch).unwrap(), None);
        assert_eq!(rate.choose(&mut coins, &[], |_| true, &watch).unwrap(), None);
    }
}
