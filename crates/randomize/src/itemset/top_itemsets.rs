//! The itemsets of the largest supports, chosen privately, with noisy supports. The proofs are in `top_itemsets.md`.

use super::sampler::{Sampler, Weights};
use super::threshold::SamplerPurpose;
use dashu_int::UBig;
use guarantee::{Charge, Cost, Guarantee, check_epsilon, pure_rho, rest_of, zcdp_rho};
use rand::Rng;
use random::{Error, Noise, Ratio, Source, within_decimal};
use table::{Bag, Item, Watch};

/// A request for the itemsets of the largest supports, and its noise: half of the budget chooses the itemsets, one
/// after the other, the other half pays for the noise in their supports.
#[derive(Debug, Clone)]
pub struct TopItemsets {
    top: u64,
    cost: Cost,
    /// The rho of the whole call, if it is zero-concentrated.
    rho: f64,
    max_length: usize,
    /// The weight of an itemset is exp(c supp).
    c: Ratio,
    noise: Noise,
}

/// An itemset that was chosen.
#[derive(Debug, Clone, PartialEq)]
pub struct Found {
    /// In item order.
    pub items: Vec<Item>,
    /// The number of rows that contain it, plus noise.
    pub support: i128,
}

impl TopItemsets {
    /// The better of two ways: by epsilon alone, or with delta by zero-concentrated privacy. The second is taken
    /// where its noise is narrower; then it also chooses better.
    pub fn new(top: u64, epsilon: f64, delta: f64, max_length: usize) -> Result<Self, Error> {
        check_epsilon(epsilon)?;
        let range = "it must be at least 0 and below 1";
        Error::require((0.0..1.0).contains(&delta), "delta", delta, range)?;
        Error::require(top > 0, "top", top, "it must be 1 or more")?;
        let pure = TopItemsets::pure(top, epsilon, max_length)?;
        if delta == 0.0 {
            return Ok(pure);
        }
        let concentrated = TopItemsets::concentrated(top, Cost { epsilon, delta }, max_length)?;
        let narrower = concentrated.noise.stddev() < pure.noise.stddev();
        Ok(if narrower { concentrated } else { pure })
    }

    fn pure(top: u64, epsilon: f64, max_length: usize) -> Result<Self, Error> {
        let drawn = within_decimal("epsilon", epsilon)?;
        let exact = Ratio::exact("epsilon", drawn)?;
        let counts = (drawn / 2.0).max(f64::MIN_POSITIVE);
        Error::require(counts * 2.0 <= drawn, "epsilon", epsilon, "it is too small to be halved")?;
        let c = exact.over(UBig::from(top) * 2u8);
        let c = c.ok_or_else(|| Error::argument("top", top, "it must be 1 or more"))?;
        let each = (c.to_f64() * (1.0 + 1e-15)).powi(2);
        let choice = each / 8.0 * top as f64;
        Ok(TopItemsets {
            top,
            cost: Cost { epsilon, delta: 0.0 },
            rho: ((choice + pure_rho(counts)) * (1.0 + 1e-15)).next_up(),
            max_length,
            c,
            noise: Noise::laplace(top, counts)?,
        })
    }

    fn concentrated(top: u64, cost: Cost, max_length: usize) -> Result<Self, Error> {
        let drawn = within_decimal("epsilon", cost.epsilon)?;
        let rho = zcdp_rho(drawn, within_decimal("delta", cost.delta)?)?;
        let counts = rho / 2.0;
        // top c^2 / 8 is at most the rest after the counts; a part in 10^15 exceeds all rounding errors.
        let c = (rest_of(rho, counts) * 8.0 / top as f64).sqrt() * (1.0 - 1e-15);
        Ok(TopItemsets {
            top,
            cost,
            rho,
            max_length,
            c: Ratio::exact("epsilon", c)?,
            noise: Noise::gaussian(top as f64, counts)?,
        })
    }

    /// The charge to a budget.
    pub fn charge(&self) -> Charge {
        Charge { whole: self.cost, rho: Some(self.rho), rest: Cost::default() }
    }

    pub fn label(&self, source: Source) -> Guarantee {
        let gaussian = matches!(self.noise, Noise::Gaussian { .. });
        Guarantee::dp_frequent_itemsets(self.cost, gaussian, source)
    }

    /// The standard deviation of the noise in each support.
    pub fn stddev(&self) -> f64 {
        self.noise.stddev()
    }

    /// The constant of the weights, and the noise that is added to supports.
    #[cfg(test)]
    pub(super) fn parts(&self) -> (&Ratio, &Noise) {
        (&self.c, &self.noise)
    }

    /// Chooses itemsets of a bag whose domains are public. Returns them in the order of their noisy supports, the
    /// largest first.
    pub fn find<R: Rng + ?Sized>(
        &self,
        bag: &Bag,
        rng: &mut R,
        watch: &Watch,
    ) -> Result<Vec<Found>, Error> {
        let weights = Weights { c: self.c.clone(), theta: u64::MAX };
        let wanted = SamplerPurpose::Distinct(self.top);
        let mut sampler = Sampler::new(bag, weights, self.max_length, wanted, watch)?;
        watch.begin(self.top);
        let mut found = Vec::new();
        for _ in 0..self.top {
            watch.check()?;
            let (items, support) = sampler.take(rng)?;
            watch.reserve((size_of::<Found>() + 3 * items.len() * size_of::<Item>()) as u64)?;
            found.push(Found { items, support: self.noise.add(rng, i128::from(support)) });
            watch.advance(1);
        }
        found.sort_by(|a, b| b.support.cmp(&a.support).then_with(|| a.items.cmp(&b.items)));
        Ok(found)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use guarantee::zcdp_epsilon;
    use proptest::prelude::*;

    /// Whether a + b <= bound.
    fn adds_up(a: &Ratio, b: &Ratio, bound: &Ratio) -> bool {
        let sum = a.numer() * b.denom() + b.numer() * a.denom();
        sum * bound.denom() <= bound.numer() * (a.denom() * b.denom())
    }

    fn times(a: &Ratio, by: u64) -> Ratio {
        Ratio::new(a.numer() * by, a.denom().clone()).unwrap()
    }

    proptest! {
        /// The cost of the choices and of the noise is within the budget, in rationals, and uses it up.
        #[test]
        fn parts_add_up_to_the_budget(
            top in 1u64..2000, exponent in -6f64..3.0, delta in prop::sample::select(vec![0.0, 1e-9, 1e-3]),
        ) {
            let epsilon = 10f64.powf(exponent);
            let plan = TopItemsets::new(top, epsilon, delta, 4).unwrap();
            match &plan.noise {
                Noise::Laplace { scale } => {
                    let counts = scale.divide(&UBig::from(top)).unwrap();
                    let choice = times(&plan.c, top);
                    let whole = Ratio::decimal("epsilon", epsilon).unwrap();
                    prop_assert!(adds_up(&choice, &counts, &whole));
                    prop_assert!(choice.to_f64() + counts.to_f64() > epsilon * (1.0 - 1e-12));
                    prop_assert!(plan.rho < pure_rho(epsilon));
                    let rho = choice.to_f64().powi(2) / top as f64 / 8.0 + counts.to_f64().powi(2) / 2.0;
                    prop_assert!(plan.rho >= rho && plan.rho < rho * (1.0 + 1e-9));
                }
                Noise::Gaussian { sigma2 } => {
                    let counts = times(sigma2, 2).divide(&UBig::from(top)).unwrap();
                    let square = Ratio::new(
                        plan.c.numer() * plan.c.numer() * top,
                        plan.c.denom() * plan.c.denom() * 8u8,
                    ).unwrap();
                    let whole = Ratio::exact("rho", plan.rho).unwrap();
                    prop_assert!(adds_up(&square, &counts, &whole));
                    prop_assert!(square.to_f64() + counts.to_f64() > plan.rho * (1.0 - 1e-8));
                    prop_assert!(zcdp_epsilon(plan.rho, delta).unwrap() <= epsilon * (1.0 + 1e-12));
                    // It also chooses better.
                    prop_assert!(plan.c.to_f64() > epsilon / (2 * top) as f64);
                }
            }
        }
    }

    #[test]
    fn what_makes_no_sense_is_refused() {
        for (top, epsilon, delta) in
            [(0, 1.0, 0.0), (1, 0.0, 0.0), (1, f64::NAN, 0.0), (1, 1.0, 1.0), (1, 1.0, -1e-9)]
        {
            assert!(TopItemsets::new(top, epsilon, delta, 4).is_err(), "{top} {epsilon} {delta}");
        }
    }
}
