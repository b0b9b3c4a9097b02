//! An operator for whole numbers: a number near the value, or any number of the range. The proofs are in `number.md`.

use super::matrix::check_values;
use super::{Operator, check_probability};
use dashu_int::UBig;
use rand::Rng;
use random::{Error, Ratio, below, bernoulli};

/// With probability `mix` a uniform number of low..high, else the value plus a uniform number of
/// -window..window, wrapping around in low..high.
///
/// Nothing is rounded: `mix` is the exact fraction that the float is, and both draws are of integers.
#[derive(Debug, Clone)]
pub struct NumberOperator {
    low: i64,
    high: i64,
    size: u64,
    window: u64,
    mix: Ratio,
}

impl NumberOperator {
    pub fn new(low: i64, high: i64, window: u64, mix: f64) -> Result<Self, Error> {
        Error::require(low <= high, "low", low, "it must not be above high")?;
        let size = (i128::from(high) - i128::from(low) + 1) as u128;
        let size = u64::try_from(size).map_err(|_| {
            Error::argument("high", high, "low..high must have less than 2^64 numbers")
        })?;
        Error::require(window <= i64::MAX as u64, "window_size", window, "it must be below 2^63")?;
        check_probability("mix", mix)?;
        Ok(NumberOperator { low, high, size, window, mix: Ratio::exact("mix", mix)? })
    }

    /// A randomised number. A value outside of low..high counts as the nearer end.
    pub fn draw<R: Rng + ?Sized>(&self, rng: &mut R, value: i64) -> i64 {
        let offset = if bernoulli(rng, &self.mix) {
            below(rng, self.size)
        } else {
            let value = i128::from(value.clamp(self.low, self.high)) - i128::from(self.low);
            let step = i128::from(below(rng, self.steps())) - i128::from(self.window);
            (value + step).rem_euclid(i128::from(self.size)) as u64
        };
        (i128::from(self.low) + i128::from(offset)) as i64
    }

    /// The number of integers in low..high.
    pub fn size(&self) -> u64 {
        self.size
    }

    /// The number of integers in -window..window.
    fn steps(&self) -> u64 {
        2 * self.window + 1
    }

    /// The weights of outputs that lie far from the value and near it, over one common denominator: the steps reach
    /// every output equally often, or some of them once more.
    fn weights(&self) -> (UBig, UBig, UBig) {
        let (often, more) = (self.steps() / self.size, self.steps() % self.size);
        let rest = self.mix.denom() - self.mix.numer();
        let anywhere = self.mix.numer() * UBig::from(self.steps());
        let weight = |times: u64| &anywhere + &rest * UBig::from(self.size) * UBig::from(times);
        let denominator = self.mix.denom() * UBig::from(self.steps()) * UBig::from(self.size);
        (weight(often), weight(often + u64::from(more > 0)), denominator)
    }

    /// The exact gamma; `None` if it is infinite.
    pub fn gamma(&self) -> Option<Ratio> {
        let (far, near, _) = self.weights();
        Ratio::new(near, far)
    }

    /// The least float that is not below gamma.
    pub fn gamma_above(&self) -> f64 {
        let Some(gamma) = self.gamma() else { return f64::INFINITY };
        let is_above = |float: f64| {
            Ratio::exact("gamma", float).map_or(true, |float| {
                float.numer() * gamma.denom() >= gamma.numer() * float.denom()
            })
        };
        let mut float = gamma.to_f64() * (1.0 - 2.0 * f64::EPSILON);
        while !is_above(float) {
            float = float.next_up();
        }
        float
    }

    /// The probabilities of all outputs of all values, each the float nearest to the exact one.
    pub fn matrix(&self) -> Result<Operator, Error> {
        check_values("high", self.high, self.size)?;
        let size = self.size as usize;
        let (far, near, denominator) = self.weights();
        let float = |weight| Ratio::new(weight, denominator.clone()).map_or(0.0, |p| p.to_f64());
        let (far, near) = (float(far), float(near));
        let more = (self.steps() % self.size) as usize;
        let first = (self.window % self.size) as usize;
        let mut cells = vec![far; size * size];
        for (x, row) in cells.chunks_exact_mut(size).enumerate() {
            // The steps that remain after every output was reached equally often.
            (0..more).for_each(|step| row[(x + size - first + step) % size] = near);
        }
        Operator::new(cells, size)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::operator::{Prior, amplification, breach_posterior, posterior};
    use proptest::prelude::*;
    use random::Coins;
    use random::testing::assert_fits;

    fn of(low: i64, high: i64, window: u64, mix: f64) -> NumberOperator {
        NumberOperator::new(low, high, window, mix).unwrap()
    }

    #[test]
    fn gamma_of_the_paper() {
        let r3 = of(0, 1000, 100, 0.5);
        assert_eq!(r3.gamma(), Ratio::new(1202u32, 201u32)); // 002-gamma-R3
        assert_eq!(r3.gamma_above(), 5.980099502487563);
        assert_eq!(of(0, 1000, 100, 0.0).gamma(), None);
        assert_eq!(of(0, 1000, 100, 0.0).gamma_above(), f64::INFINITY);
        assert_eq!(of(0, 1000, 100, 1.0).gamma_above(), 1.0);
        // A window in which every number is equally near reveals nothing.
        assert_eq!(of(0, 200, 100, 0.0).gamma_above(), 1.0);
        assert_eq!(of(5, 5, 3, 0.0).gamma_above(), 1.0);
        // Windows that reach around: one number is hit by two of the steps.
        assert_eq!(of(0, 1, 1, 0.0).gamma(), Ratio::new(2u8, 1u8));
    }

    #[test]
    fn what_makes_no_sense_is_refused() {
        for (low, high, window, mix) in [
            (1, 0, 1, 0.5),
            (i64::MIN, i64::MAX, 1, 0.5),
            (0, 9, 1 << 63, 0.5),
            (0, 9, 1, -0.1),
            (0, 9, 1, 1.1),
            (0, 9, 1, f64::NAN),
        ] {
            assert!(
                NumberOperator::new(low, high, window, mix).is_err(),
                "{low} {high} {window} {mix}"
            );
        }
        assert!(of(0, 4096, 1, 0.5).matrix().is_err());
    }

    #[test]
    fn the_ends_of_the_type_are_numbers_like_others() {
        let mut coins = Coins::seeded(1);
        let widest = of(i64::MIN, i64::MAX - 1, i64::MAX as u64, 0.25);
        for value in [i64::MIN, -1, 0, i64::MAX] {
            for _ in 0..100 {
                assert!(widest.draw(&mut coins, value) < i64::MAX);
            }
        }
        let ends = of(i64::MAX - 1, i64::MAX, 0, 0.0);
        assert_eq!(ends.draw(&mut coins, 7), i64::MAX - 1);
        assert_eq!(ends.draw(&mut coins, i64::MAX), i64::MAX);
    }

    /// The draws against the matrix, for every value of a small domain and some of the paper's.
    #[test]
    fn draws_follow_the_matrix() {
        let settings =
            [(-3, 3, 1, 0.3), (0, 9, 4, 0.0), (5, 9, 7, 0.1), (0, 1, 0, 0.75), (-2, 4, 3, 1.0)];
        for (seed, (low, high, window, mix)) in settings.into_iter().enumerate() {
            let operator = of(low, high, window, mix);
            let matrix = operator.matrix().unwrap();
            let mut coins = Coins::seeded(seed as i64);
            for (x, row) in matrix.rows().enumerate() {
                let value = low + x as i64;
                assert_fits(row, 20_000, || operator.draw(&mut coins, value) - low);
            }
            // A value outside counts as the nearer end.
            let beyond = [(low - 5, 0), (i64::MIN, 0), (high + 1, (high - low) as usize)];
            for (value, x) in beyond {
                assert_fits(matrix.row(x), 20_000, || operator.draw(&mut coins, value) - low);
            }
        }
        let r3 = of(0, 1000, 100, 0.5);
        let matrix = r3.matrix().unwrap();
        for value in [0, 50, 1000] {
            let mut coins = Coins::seeded(value);
            assert_fits(matrix.row(value as usize), 200_000, || r3.draw(&mut coins, value));
        }
    }

    /// Probabilities of all outputs of a value over one denominator, by going through all steps.
    fn brute(low: i64, high: i64, window: i64, mix: &Ratio, value: i64) -> Vec<UBig> {
        let size = high - low + 1;
        let steps = UBig::from((2 * window + 1) as u64);
        let mut weights = vec![mix.numer() * &steps; size as usize];
        for step in -window..=window {
            let y = (value - low + step).rem_euclid(size) as usize;
            weights[y] += (mix.denom() - mix.numer()) * UBig::from(size as u64);
        }
        weights
    }

    proptest! {
        /// The exact law has exactly the stated gamma, and the matrix is that law rounded.
        #[test]
        fn gamma_is_that_of_the_exact_law(
            low in -20i64..20, more in 0i64..12, window in 0i64..30, mix in 0.0f64..=1.0, coarse in 0u8..3,
        ) {
            let mix = if coarse == 0 { mix.round() } else { mix };
            let high = low + more;
            let operator = of(low, high, window as u64, mix);
            let exact = Ratio::exact("mix", mix).unwrap();
            let rows: Vec<_> = (low..=high).map(|x| brute(low, high, window, &exact, x)).collect();
            let mut worst = Some(Ratio::new(1u8, 1u8).unwrap());
            for y in 0..rows.len() {
                let column = || rows.iter().map(|row| &row[y]);
                let (most, least) = (column().max().unwrap(), column().min().unwrap());
                worst = worst.and_then(|worst| {
                    let here = Ratio::new(most.clone(), least.clone())?;
                    let larger = here.numer() * worst.denom() > worst.numer() * here.denom();
                    Some(if larger { here } else { worst })
                });
            }
            prop_assert_eq!(operator.gamma(), worst);
            let matrix = operator.matrix().unwrap();
            let whole = exact.denom() * UBig::from((2 * window + 1) as u64) * UBig::from((more + 1) as u64);
            for (row, exact) in matrix.rows().zip(rows) {
                for (&float, weight) in row.iter().zip(exact) {
                    let p = Ratio::new(weight, whole.clone()).unwrap().to_f64();
                    prop_assert!((float - p).abs() <= 1e-15 * p);
                }
            }
            if let Some(gamma) = operator.gamma() {
                let above = operator.gamma_above();
                prop_assert!(above >= gamma.to_f64() * (1.0 - 1e-15) && above <= gamma.to_f64() * (1.0 + 1e-15));
                let float = Ratio::exact("gamma", above).unwrap();
                prop_assert!(float.numer() * gamma.denom() >= gamma.numer() * float.denom());
            }
        }
    }

    /// Beliefs counted from draws stay within the bounds of gamma, for single numbers and for halves.
    #[test]
    fn counted_posteriors_stay_within_the_bound() {
        let operator = of(0, 9, 1, 0.4);
        let matrix = operator.matrix().unwrap();
        let gamma = operator.gamma_above();
        assert!((amplification(&matrix) / gamma - 1.0).abs() < 1e-14);
        let prior = [30u64, 20, 10, 10, 8, 7, 5, 5, 4, 1];
        let mut coins = Coins::seeded(11);
        let mut counts = vec![[0u64; 10]; 10];
        for _ in 0..400_000 {
            let mut left = below(&mut coins, 100);
            let x = prior.iter().position(|&w| {
                let here = left < w;
                left = left.saturating_sub(w);
                here
            });
            let x = x.unwrap();
            counts[operator.draw(&mut coins, x as i64) as usize][x] += 1;
        }
        let law = Prior::new(prior.iter().map(|&w| w as f64 / 100.0).collect(), &matrix).unwrap();
        for (y, counts) in counts.iter().enumerate() {
            let seen = counts.iter().sum::<u64>() as f64;
            let exact = posterior(&matrix, &law, y).unwrap();
            let properties =
                (0..10).map(|x| vec![x]).chain([vec![0, 1, 2, 3, 4], vec![0, 2, 4, 6, 8]]);
            for property in properties {
                let before = property.iter().map(|&x| law.probabilities()[x]).sum::<f64>();
                let after = property.iter().map(|&x| counts[x] as f64).sum::<f64>() / seen;
                let true_after = property.iter().map(|&x| exact[x]).sum::<f64>();
                let noise = 4.0 * (true_after * (1.0 - true_after) / seen).sqrt();
                let bounds = breach_posterior(gamma, before).unwrap();
                assert!((after - true_after).abs() <= noise, "{y} {property:?}");
                assert!(true_after <= bounds.high && true_after >= bounds.low);
                assert!(after <= bounds.high + noise && after >= bounds.low - noise);
            }
        }
    }
}
