//! Poisson sampling: an independent coin decides for every row whether it is kept.

use rand::Rng;
use random::bernoulli_word;

/// A probability m / 2^32 with 0 < m < 2^32.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Rate(u32);

impl Rate {
    /// The rate `numer / 2^32`; `None` for 0.
    pub fn new(numer: u32) -> Option<Self> {
        (numer > 0).then_some(Rate(numer))
    }

    /// The largest rate that is at most `share`, even if `share` was rounded up; `None` below 2^-32.
    pub fn at_most(share: f64) -> Option<Self> {
        // The cast clamps to the range, so that a share of 1 or more gives the largest rate.
        Rate::new((share * (1.0 - 4.0 * f64::EPSILON) * 2f64.powi(32)) as u32)
    }

    /// m.
    pub fn numer(self) -> u32 {
        self.0
    }

    /// The probability; exact.
    pub fn get(self) -> f64 {
        f64::from(self.0) / 2f64.powi(32)
    }

    /// floor(m n / 2^32).
    pub fn of(self, n: u64) -> u64 {
        ((u128::from(self.0) * u128::from(n)) >> 32) as u64
    }
}

/// Coins of one rate, 64 at a time.
///
/// A coin is a uniform 32-bit number compared with m. The 64 numbers of a batch are drawn bit by bit from the top,
/// one word for the same bit of all numbers, until each is decided: about eight words instead of 32.
pub struct Thinning {
    rate: Rate,
    coins: u64,
    left: u32,
}

impl Thinning {
    /// Coins of the given rate.
    pub fn new(rate: Rate) -> Self {
        Thinning { rate, coins: 0, left: 0 }
    }

    /// How many of `n` rows are kept: Binomial(n, rate), exactly. About one random bit of work per row.
    pub fn keep<R: Rng + ?Sized>(&mut self, rng: &mut R, mut n: u64) -> u64 {
        let mut kept = 0;
        while n > 0 {
            if self.left == 0 {
                self.coins = bernoulli_word(rng, u64::from(self.rate.0), 32);
                self.left = 64;
            }
            let take = n.min(u64::from(self.left)) as u32;
            let mask = u64::MAX >> (64 - take);
            kept += u64::from((self.coins & mask).count_ones());
            // Shifting by all 64 in one step would be an overflow.
            self.coins = (self.coins >> (take - 1)) >> 1;
            self.left -= take;
            n -= u64::from(take);
        }
        kept
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use random::{
        Coins,
        testing::{assert_fits, binomial},
    };

    #[test]
    fn counts_follow_the_binomial_law() {
        let rates = [1 << 31, 1 << 30, 3 << 30, 0x1999_999a, 0x5555_5555, u32::MAX];
        for (seed, m) in rates.into_iter().enumerate() {
            let mut coins = Coins::seeded(seed as i64);
            let rate = Rate::new(m).unwrap();
            let mut thinning = Thinning::new(rate);
            for n in [1, 5] {
                assert_fits(&binomial(n, rate.get()), 10_000, || {
                    thinning.keep(&mut coins, n as u64) as i64
                });
            }
        }
    }

    #[test]
    fn batches_and_rows_do_not_depend_on_each_other() {
        // Pairs of neighbours across and inside batches: four equally likely outcomes.
        let mut coins = Coins::seeded(7);
        let mut thinning = Thinning::new(Rate::new(1 << 31).unwrap());
        assert_fits(&[0.25; 4], 20_000, || {
            let first = thinning.keep(&mut coins, 1);
            thinning.keep(&mut coins, 62);
            (2 * first + thinning.keep(&mut coins, 1)) as i64
        });
    }

    #[test]
    fn large_weights_have_the_right_mean_and_spread() {
        let mut coins = Coins::seeded(1);
        let rate = Rate::at_most(0.034).unwrap();
        let mut thinning = Thinning::new(rate);
        let n = 100_000u64;
        let sd = (n as f64 * rate.get() * (1.0 - rate.get())).sqrt();
        let z: Vec<f64> = (0..30)
            .map(|_| (thinning.keep(&mut coins, n) as f64 - n as f64 * rate.get()) / sd)
            .collect();
        let mean = z.iter().sum::<f64>() / 30.0;
        let spread = z.iter().map(|x| x * x).sum::<f64>() / 30.0;
        assert!(mean.abs() < 4.0 / 30f64.sqrt(), "{mean}");
        assert!((0.3..2.5).contains(&spread), "{spread}");
    }

    #[test]
    fn no_rows_need_no_coins() {
        let mut thinning = Thinning::new(Rate::new(1).unwrap());
        assert_eq!(thinning.keep(&mut Coins::seeded(1), 0), 0);
        assert_eq!(thinning.left, 0);
    }

    #[test]
    fn rates_never_exceed_the_share() {
        assert_eq!(Rate::at_most(0.0), None);
        assert_eq!(Rate::at_most(f64::NAN), None);
        assert_eq!(Rate::at_most(2.0), Rate::new(u32::MAX));
        assert_eq!(Rate::at_most(0.5).map(Rate::numer), Some((1 << 31) - 1));
        assert_eq!(Rate::new(u32::MAX).unwrap().of(u64::MAX), u64::MAX - (1 << 32));
        assert_eq!(Rate::new(1 << 31).unwrap().of(7), 3);
    }
}
