//! The select-a-size operator in integers, and how it draws.

use super::{MAX_SIZE, SUM_TOLERANCE};
use dashu_int::UBig;
use rand::Rng;
use random::{Error, Ratio, below, bernoulli_word};

/// The number of binary digits of rho and of the law of kept items.
const DIGITS: u32 = 63;
const ONE: u64 = 1 << DIGITS;

/// A select-a-size operator, made from rho and keep and used for every transaction: rho is a / 2^63, the probability
/// to keep j items W\[j\] / 2^63 with W\[j\] >= 1.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SizeOperator {
    rho: u64,
    weights: Vec<u64>,
}

/// An item of a transaction, and whether it is kept.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Marked {
    pub item: u32,
    pub is_kept: bool,
}

/// The items of a transaction, ascending, each once. Refuses what is not in `1..=universe`.
pub fn transaction_of(items: &[i32], universe: u32) -> Result<Vec<u32>, Error> {
    let mut transaction = Vec::with_capacity(items.len());
    for &item in items {
        let found = u32::try_from(item).ok().filter(|&item| item >= 1 && item <= universe);
        transaction.push(found.ok_or_else(|| {
            Error::argument("an item", item, "items are numbers from 1 to the size of the universe")
        })?);
    }
    transaction.sort_unstable();
    transaction.dedup();
    Ok(transaction)
}

/// Refuses a rho that is not strictly between 0 and 1.
pub(super) fn check_rho(rho: f64) -> Result<(), Error> {
    let range = "it must be above 0 and below 1: else what is released excludes transactions";
    Error::require(rho > 0.0 && rho < 1.0, "rho", rho, range)
}

/// Refuses numbers that are not a law on `0..=size`, and a size that is too large.
pub(super) fn check_keep(keep: &[f64]) -> Result<(), Error> {
    let range = "it must have one probability for each number of kept items: 2 to 65";
    let length = keep.len();
    Error::require((2..=MAX_SIZE + 1).contains(&length), "the length of keep", length, range)?;
    if let Some(bad) = keep.iter().find(|p| !(0.0..=1.0).contains(*p)) {
        return Err(Error::argument("a probability in keep", bad, "it must be from 0 to 1"));
    }
    let sum: f64 = keep.iter().sum();
    let range = "probabilities must add up to 1";
    Error::require((sum - 1.0).abs() <= SUM_TOLERANCE, "the sum of keep", sum, range)?;
    Ok(())
}

impl SizeOperator {
    /// The operator with these probabilities, rounded to 63 binary digits; the most likely number of kept items
    /// absorbs the rounding error.
    pub fn new(rho: f64, keep: &[f64]) -> Result<Self, Error> {
        check_rho(rho)?;
        check_keep(keep)?;
        if let Some(zero) = keep.iter().find(|&&p| p == 0.0) {
            let range = "each number of kept items must be possible: else what is released excludes \
                         transactions";
            return Err(Error::argument("a probability in keep", zero, range));
        }
        let digits = |p: f64| ((p * ONE as f64).round() as u64).max(1);
        let mut weights: Vec<u64> = keep.iter().map(|&p| digits(p)).collect();
        let sum: u128 = weights.iter().map(|&weight| u128::from(weight)).sum();
        if let Some(largest) = weights.iter_mut().max() {
            // At least 2^63 / 65, and the sum is within a thousand-millionth of 2^63.
            *largest = (u128::from(*largest) + u128::from(ONE) - sum) as u64;
        }
        Ok(SizeOperator { rho: digits(rho), weights })
    }

    /// The number of items to which every transaction is cut or filled up.
    pub fn size(&self) -> usize {
        self.weights.len() - 1
    }

    /// The amplification: the largest ratio of the probabilities of any output for two transactions. It is the
    /// largest of b\[j\] = p\[j\] / P(Bin(size, rho) = j) over the least, exactly; `None` stands for infinite.
    pub fn amplification(&self) -> Option<Ratio> {
        let size = self.size();
        let (rho, rest) = (UBig::from(self.rho), UBig::from(ONE - self.rho));
        let mut choose = UBig::ONE;
        let mut ratios = Vec::with_capacity(size + 1);
        for (j, &weight) in self.weights.iter().enumerate() {
            let usual = &choose * rho.pow(j) * rest.pow(size - j);
            ratios.push((UBig::from(weight), usual));
            choose = choose * (size - j) / (j + 1);
        }
        let above = |a: &(UBig, UBig), b: &(UBig, UBig)| (&a.0 * &b.1).cmp(&(&b.0 * &a.1));
        let most = ratios.iter().max_by(|a, b| above(a, b))?;
        let least = ratios.iter().min_by(|a, b| above(a, b))?;
        Ratio::new(&most.0 * &least.1, &most.1 * &least.0)
    }

    /// [`SizeOperator::amplification`], rounded up.
    pub fn gamma(&self) -> f64 {
        // The float is within two units in the last place.
        let float = self.amplification().map_or(f64::INFINITY, |gamma| gamma.to_f64());
        float.next_up().next_up().next_up()
    }

    /// The epsilon of local differential privacy, ln gamma, rounded up.
    pub fn epsilon(&self) -> f64 {
        self.gamma().ln().next_up().next_up()
    }

    /// Chooses which items of a transaction are kept. A longer one is cut to a random part of the operator's size
    /// first; a shorter one is filled up with dummies, which take part in the choice and are then left out.
    pub fn mark<R: Rng + ?Sized>(&self, transaction: &[u32], coins: &mut R) -> Vec<Marked> {
        let size = self.size();
        let mut cut = Selection { places: transaction.len(), wanted: transaction.len().min(size) };
        let mut keep = Selection { places: size, wanted: self.number_kept(coins) };
        let mut marked = Vec::with_capacity(size);
        for &item in transaction {
            if cut.next(coins) {
                marked.push(Marked { item, is_kept: keep.next(coins) });
            }
        }
        marked
    }

    /// The randomised transaction, ascending: the kept items, and each other item of the universe with
    /// probability rho. Costs about eight random words for 64 items of the universe.
    pub fn randomize<R: Rng + ?Sized>(
        &self,
        transaction: &[u32],
        universe: u32,
        coins: &mut R,
    ) -> Vec<u32> {
        let marked = self.mark(transaction, coins);
        let mut words: Vec<u64> = (0..table::bits::words(universe as usize))
            .map(|_| bernoulli_word(coins, self.rho, DIGITS))
            .collect();
        for Marked { item, is_kept } in marked {
            let place = item as usize - 1;
            table::bits::remove(&mut words, place);
            if is_kept {
                table::bits::insert(&mut words, place);
            }
        }
        let last = universe % u64::BITS;
        if let Some(word) = words.last_mut().filter(|_| last > 0) {
            *word &= (1 << last) - 1;
        }
        table::bits::numbers(&words).map(|place| place as u32 + 1).collect()
    }

    /// The number of items of a transaction that are kept.
    fn number_kept<R: Rng + ?Sized>(&self, coins: &mut R) -> usize {
        let mut rest = coins.next_u64() >> (u64::BITS - DIGITS);
        for (j, &weight) in self.weights.iter().enumerate() {
            if rest < weight {
                return j;
            }
            rest -= weight;
        }
        self.size()
    }
}

/// A uniformly random choice of `wanted` of the following positions, one position at a time.
struct Selection {
    places: usize,
    wanted: usize,
}

impl Selection {
    /// Whether the next position is chosen.
    fn next<R: Rng + ?Sized>(&mut self, coins: &mut R) -> bool {
        let is_chosen = self.wanted > 0
            && (self.wanted == self.places
                || below(coins, self.places as u64) < self.wanted as u64);
        self.places -= 1;
        self.wanted -= usize::from(is_chosen);
        is_chosen
    }
}

#[cfg(test)]
mod tests;
