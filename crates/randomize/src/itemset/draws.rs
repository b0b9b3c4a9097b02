//! Independent draws from the itemset mechanism, and what they cost. The proofs are in `draws.md`.

use super::sampler::{Sampler, Weights};
use super::threshold::Wanted;
use guarantee::{Charge, Cost, DrawnItemsets, Guarantee, Neighbours, check_epsilon};
use rand::Rng;
use random::{Error, Ratio, Source};
use table::{Bag, Choice, Item, Watch};

/// Which constant c is taken for an epsilon.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Constants {
    /// The largest that gives epsilon: epsilon / 2 or epsilon, by the neighbours.
    Tight,
    /// As published: epsilon / 4.
    Paper,
}

impl Choice for Constants {
    const NAMES: &'static [(&'static str, Self)] =
        &[("tight", Constants::Tight), ("paper", Constants::Paper)];
}

/// What is asked for: so many draws at `epsilon` each.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Draws {
    pub epsilon: f64,
    pub draws: u64,
    pub theta: u64,
    pub max_length: usize,
    pub neighbours: Neighbours,
    pub constants: Constants,
}

impl Draws {
    /// Refuses what is no epsilon.
    pub fn check(&self) -> Result<(), Error> {
        check_epsilon(self.epsilon)
    }

    /// c as a part of epsilon: epsilon over this.
    fn parts(&self) -> u8 {
        match (self.constants, self.neighbours) {
            (Constants::Paper, _) => 4,
            (Constants::Tight, Neighbours::Replace) => 2,
            (Constants::Tight, Neighbours::AddRemove) => 1,
        }
    }

    /// What one draw really costs under the neighbours: 2c or c.
    pub fn each(&self) -> f64 {
        let per_c = match self.neighbours {
            Neighbours::Replace => 2,
            Neighbours::AddRemove => 1,
        };
        let parts = f64::from(self.parts() / per_c);
        let share = self.epsilon / parts;
        if share * parts < self.epsilon { share.next_up() } else { share }
    }

    /// What all draws cost together, rounded up.
    pub fn cost(&self) -> Cost {
        let epsilon = times(self.each(), self.draws);
        Cost { epsilon, delta: 0.0 }
    }

    /// What the draws take from a budget. The range of one draw's privacy loss is [`Draws::each`] wide, so
    /// its rho is an eighth of the square.
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

    /// The weights of the mechanism; c is exactly its part of epsilon.
    pub fn weights(&self) -> Result<Weights, Error> {
        let epsilon = Ratio::exact("epsilon", self.epsilon)?;
        let c = Ratio::new(epsilon.numer().clone(), epsilon.denom() * self.parts());
        let range = "it must be a finite number above 0";
        let c = c.ok_or_else(|| Error::argument("epsilon", self.epsilon, range))?;
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
        let wanted = Wanted::Draws(self.draws);
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

    fn draws(epsilon: f64, neighbours: Neighbours, constants: Constants) -> Draws {
        Draws { epsilon, draws: 3, theta: 10, max_length: 4, neighbours, constants }
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
        // A product that floats cannot hold is rounded up.
        assert!(times(0.1, 3) > 0.3 && times(0.1, 1) == 0.1 && times(0.5, 3) == 1.5);
        assert!(draws(5e-324, Neighbours::Replace, Constants::Paper).each() > 0.0);
        for bad in [0.0, -1.0, f64::NAN, f64::INFINITY] {
            assert!(draws(bad, Neighbours::Replace, Constants::Tight).check().is_err());
        }
    }
}
