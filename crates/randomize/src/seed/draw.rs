//! Draws the seed of a randomised transaction.

use super::code::{Code, Seed, parity};
use crate::transaction::{Marked, SizeOperator};
use rand::Rng;
use random::{Error, below};
use table::bits;

impl Code {
    /// The operator whose outputs the seeds stand for. Refuses probabilities for another size.
    pub fn operator(&self, keep: &[f64]) -> Result<SizeOperator, Error> {
        let shape = self.shape();
        let rho = f64::from(shape.a) / f64::from(1u32 << shape.b);
        let operator = SizeOperator::new(rho, keep)?;
        let range = "it must be one more than the size of a transaction";
        Error::require(operator.size() == shape.size, "the length of keep", keep.len(), range)?;
        Ok(operator)
    }

    /// A seed of a randomised transaction: uniformly one of those in which each item is present if it is kept
    /// and absent if not. Costs (b size)^2 operations on seeds.
    pub fn draw<R: Rng + ?Sized>(
        &self,
        operator: &SizeOperator,
        transaction: &[u32],
        coins: &mut R,
    ) -> Seed {
        let marked = operator.mark(transaction, coins);
        self.draw_marked(&marked, coins)
    }

    /// A uniform seed is moved to one that satisfies the equations of the marked items. The step depends only on the
    /// equations that the seed violates.
    fn draw_marked<R: Rng + ?Sized>(&self, marked: &[Marked], coins: &mut R) -> Seed {
        let (words, shape) = (self.words(), *self.shape());
        let mut seed: Vec<u64> = (0..words).map(|_| coins.next_u64()).collect();
        let used = self.bits() % 64;
        if let Some(word) = seed.last_mut().filter(|_| used > 0) {
            *word &= (1 << used) - 1;
        }
        let mut system = System::new(words, marked.len() * shape.b as usize);
        let mut column = vec![0; words];
        for &Marked { item, is_kept } in marked {
            let value = if is_kept {
                below(coins, u64::from(shape.a))
            } else {
                let rest = (1u64 << shape.b) - u64::from(shape.a);
                u64::from(shape.a) + below(coins, rest)
            };
            for (j, c) in self.columns_of(item).enumerate() {
                self.column(c, &mut column);
                let sum = (value >> j & 1) as u32 ^ parity(&column, &seed);
                system.add(&mut column, sum);
            }
        }
        for (word, step) in seed.iter_mut().zip(system.solution()) {
            *word ^= step;
        }
        Seed(seed)
    }
}

/// Equations over single bits, each reduced by the pivots of those before it.
struct System {
    words: usize,
    rows: Vec<u64>,
    /// By row: its first bit, and what its sum must be.
    pivots: Vec<(usize, u32)>,
}

impl System {
    fn new(words: usize, equations: usize) -> Self {
        System {
            words,
            rows: Vec::with_capacity(words * equations),
            pivots: Vec::with_capacity(equations),
        }
    }

    /// Adds an equation: the bits of the solution that are in `row` add up to `sum`.
    fn add(&mut self, row: &mut [u64], mut sum: u32) {
        for (earlier, &(pivot, earlier_sum)) in self.rows.chunks(self.words).zip(&self.pivots) {
            if bits::has(row, pivot) {
                row.iter_mut().zip(earlier).for_each(|(word, earlier)| *word ^= earlier);
                sum ^= earlier_sum;
            }
        }
        // There is always one: a transaction has fewer bits than there are independent columns.
        if let Some(pivot) = bits::numbers(row).next() {
            self.rows.extend_from_slice(row);
            self.pivots.push((pivot, sum));
        }
    }

    /// The solution in which all bits but the pivots are 0.
    fn solution(&self) -> Vec<u64> {
        let mut solution = vec![0; self.words];
        for (row, &(pivot, sum)) in self.rows.chunks(self.words).zip(&self.pivots).rev() {
            if parity(row, &solution) != sum {
                bits::insert(&mut solution, pivot);
            }
        }
        solution
    }
}

#[cfg(test)]
mod tests;
