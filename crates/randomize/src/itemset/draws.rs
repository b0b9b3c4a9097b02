//! Independent draws from the itemset mechanism, and their cost. The proofs are in `draws.md`.

use super::sampler::{Sampler, Weights};
use super::threshold::SamplerPurpose;
use dashu_int::UBig;
use guarantee::{Charge, Cost, DrawnItemsets, Guarantee, Neighbours, check_epsilon};
use rand::Rng;
use random::{Error, Ratio, Source, within_decimal};
use table::{Bag, Choice, Item, Watch};

/// The rule that derives the constant c from an epsilon.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Constants {
    /// The largest c that gives epsilon: epsilon / 2 or epsilon, depending on the neighbours.
    Tight,
    /// As published: epsilon / 4.
    Paper,
}

impl Choice for Constants {
    const NAMES: &'static [(&'static str, Self)] =
        &[("tight", Constants::Tight), ("paper", Constants::Paper)];
}

/// A request for a number of draws at `epsilon` each.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct ItemsetDraws {
    pub epsilon: f64,
    pub draws: u64,
    pub theta: u64,
    pub max_length: usize,
    pub neighbours: Neighbours,
    pub constants: Constants,
}

impl ItemsetDraws {
    /// Refuses a number that is not a valid epsilon.
    pub fn check(&self) -> Result<(), Error> {
        check_epsilon(self.epsilon)
    }

    /// The number by which epsilon is divided to get c.
    fn parts(&self) -> u8 {
        match (self.constants, self.neighbours) {
            (Constants::Paper, _) => 4,
            (Constants::Tight, Neighbours::Replace) => 2,
            (Constants::Tight, Neighbours::AddRemove) => 1,
        }
    }

    /// The cost of a draw in units of c.
    fn per_c(&self) -> u8 {
        match self.neighbours {
            Neighbours::Replace => 2,
            Neighbours::AddRemove => 1,
        }
    }

    /// The true cost of one draw for the neighbours: 2c or c.
    pub fn each(&self) -> f64 {
        let parts = f64::from(self.parts() / self.per_c());
        let share = self.epsilon / parts;
        if share * parts < self.epsilon { share.next_up() } else { share }
    }

    /// The cost of all draws together, rounded up.
    pub fn cost(&self) -> Cost {
        let epsilon = times(self.each(), self.draws);
        Cost { epsilon, delta: 0.0 }
    }

    /// The charge to a budget. The range of one draw's privacy loss is [`ItemsetDraws::each`] wide, so its rho is an
    /// eighth of the square.
    pub fn charge(&self) -> Charge {
        let each = self.each();
        let rho = ((each * each).next_up() / 8.0 * self.draws as f64).next_up();
        Charge { whole: self.cost(), rho: Some(rho), rest: Cost::default() }
    }

    pub fn label(&self, source: Source) -> Guarantee {
        let drawn = DrawnItemsets {
            cost: self.cost(),
            draws: self.draws,
            neighbours: self.neighbours,
            claimed: (self.constants == Constants::Paper).then_some(self.epsilon),
        };
        Guarantee::dp_itemsets(&drawn, source)
    }

    /// The weights of the mechanism. c is exactly its part of epsilon, or of the decimal number that all draws are
    /// charged for if that is less.
    pub fn weights(&self) -> Result<Weights, Error> {
        let part = |whole: f64, parts: UBig| {
            let whole = Ratio::exact("epsilon", within_decimal("epsilon", whole)?)?;
            let range = "it must be a finite number above 0";
            whole.over(parts).ok_or_else(|| Error::argument("epsilon", self.epsilon, range))
        };
        let each = part(self.epsilon, self.parts().into())?;
        let of_all = part(self.cost().epsilon, UBig::from(self.draws) * self.per_c())?;
        let c = if each.exceeds(&of_all) { of_all } else { each };
        Ok(Weights { c, theta: self.theta })
    }

    /// Draws itemsets of a bag whose domains are public.
    pub fn draw<R: Rng + ?Sized>(
        &self,
        bag: &Bag,
        rng: &mut R,
        watch: &Watch,
    ) -> Result<Vec<Vec<Item>>, Error> {
        self.check()?;
        let wanted = SamplerPurpose::Draws(self.draws);
        let sampler = Sampler::new(bag, self.weights()?, self.max_length, wanted, watch)?;
        watch.begin(self.draws);
        let mut drawn = Vec::new();
        for i in 0..self.draws as usize {
            watch.poll_every(256, i)?;
            let items = sampler.draw(rng)?;
            watch
                .reserve((size_of::<Vec<Item>>() + items.capacity() * size_of::<Item>()) as u64)?;
            drawn.push(items);
            watch.advance(1);
        }
        Ok(drawn)
    }
}

/// The product, rounded up.
fn times(epsilon: f64, number: u64) -> f64 {
    let number = number as f64;
    let product = epsilon * number;
    if epsilon.mul_add(number, -product) > 0.0 { product.next_up() } else { product }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn draws_cost_no_more_than_their_decimal(
            thousandths in 1u32..20_000, number in 1u64..300, replace: bool, paper: bool,
        ) {
            let neighbours = if replace { Neighbours::Replace } else { Neighbours::AddRemove };
            let constants = if paper { Constants::Paper } else { Constants::Tight };
            let epsilon = f64::from(thousandths) / 1000.0;
            let asked = ItemsetDraws { draws: number, ..draws(epsilon, neighbours, constants) };
            let c = asked.weights().unwrap().c;
            let all = Ratio::new(c.numer() * number * asked.per_c(), c.denom().clone()).unwrap();
            prop_assert!(!all.exceeds(&Ratio::decimal("epsilon", asked.cost().epsilon).unwrap()));
            prop_assert!(all.to_f64() > asked.cost().epsilon * (1.0 - 1e-15));
        }
    }

    fn draws(epsilon: f64, neighbours: Neighbours, constants: Constants) -> ItemsetDraws {
        ItemsetDraws { epsilon, draws: 3, theta: 10, max_length: 4, neighbours, constants }
    }

    #[test]
    fn constants_and_costs() {
        let quarter = Ratio::new(1u8, 4u8).unwrap();
        for (neighbours, constants, parts, each) in [
            (Neighbours::Replace, Constants::Tight, 2u8, 1.0),
            (Neighbours::AddRemove, Constants::Tight, 1, 1.0),
            (Neighbours::Replace, Constants::Paper, 4, 0.5),
            (Neighbours::AddRemove, Constants::Paper, 4, 0.25),
        ] {
            let asked = draws(1.0, neighbours, constants);
            assert_eq!(asked.weights().unwrap().c, Ratio::new(1u8, parts).unwrap());
            assert_eq!((asked.each(), asked.cost().epsilon), (each, 3.0 * each));
            let rho = asked.charge().rho.unwrap();
            assert!((rho / (3.0 * each * each / 8.0) - 1.0).abs() < 1e-12);
        }
        assert_eq!(draws(1.0, Neighbours::Replace, Constants::Paper).weights().unwrap().c, quarter);
        // A product that floats cannot hold exactly is rounded up.
        assert!(times(0.1, 3) > 0.3 && times(0.1, 1) == 0.1 && times(0.5, 3) == 1.5);
        assert!(draws(5e-324, Neighbours::Replace, Constants::Paper).each() > 0.0);
        for bad in [0.0, -1.0, f64::NAN, f64::INFINITY] {
            assert!(draws(bad, Neighbours::Replace, Constants::Tight).check().is_err());
        }
    }
}
