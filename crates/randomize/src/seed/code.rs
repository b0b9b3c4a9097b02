//! The bit layout of seeds, and the items that a seed stands for.

use super::field::{Field, LARGEST_DEGREE, LEAST_DEGREE, Times};
use super::{MAX_BITS, MAX_UNIVERSE};
use crate::transaction::MAX_SIZE;
use random::Error;
use table::bits;

/// The number of steps between two checks for cancelling.
const BETWEEN_CHECKS: usize = 1 << 22;

/// The parameters of a layout: universe, sizes and rho.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Shape {
    /// Items are 1 to `universe`.
    pub universe: u32,
    /// The number of items of a transaction.
    pub size: usize,
    /// The number of items of the largest itemset whose support is wanted.
    pub itemset: usize,
    /// An item is added by chance with probability rho = a / 2^b.
    pub a: u32,
    pub b: u32,
}

/// The layout of seeds, made from a shape by code that draws or reads seeds.
#[derive(Debug, Clone)]
pub struct Code {
    shape: Shape,
    field: &'static Field,
    /// The number of odd powers of a column: any 2 · `powers` bits of a seed's items are independent.
    powers: usize,
}

/// The bits of a seed, bit i as bit i mod 64 of word i / 64.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Seed(pub(super) Vec<u64>);

impl Seed {
    pub fn words(&self) -> &[u64] {
        &self.0
    }
}

impl Code {
    /// The layout of a shape: l = ceil(b (size + itemset) / 2) odd powers in the smallest field that has a
    /// power for each of the b · universe bits.
    pub fn new(shape: Shape) -> Result<Self, Error> {
        let Shape { universe, size, itemset, a, b } = shape;
        let range = "it must be a number of items from 1 to 67108863";
        Error::require((1..=MAX_UNIVERSE).contains(&universe), "universe", universe, range)?;
        let range = "it must be from 1 to 64 items";
        Error::require((1..=MAX_SIZE).contains(&size), "size", size, range)?;
        let range = "it must be from 1 to 64 items";
        Error::require((1..=MAX_SIZE).contains(&itemset), "itemset", itemset, range)?;
        let range = "it must be from 1 to 16 binary digits of rho";
        Error::require((1..=MAX_BITS).contains(&b), "b", b, range)?;
        Error::require(a > 0 && a >> b == 0, "a", a, "it must be above 0 and below 2^b")?;
        let powers = (b as usize * (size + itemset)).div_ceil(2);
        let bits = u64::from(b) * u64::from(universe);
        let fits = |r: &u32| (1u64 << r) > bits && powers < 1usize << (r - 1);
        let degree = (LEAST_DEGREE..=LARGEST_DEGREE).find(fits).ok_or_else(|| {
            Error::argument("b times universe", bits, "fields have at most 67108863 powers")
        })?;
        Ok(Code { shape, field: Field::of(degree), powers })
    }

    pub fn shape(&self) -> &Shape {
        &self.shape
    }

    /// The bits of a seed.
    pub fn bits(&self) -> usize {
        self.field.degree as usize * self.powers
    }

    /// The bytes of a seed.
    pub fn bytes(&self) -> usize {
        self.bits().div_ceil(8)
    }

    /// The words of a seed.
    pub(super) fn words(&self) -> usize {
        bits::words(self.bits())
    }

    /// Reads a seed from bytes: bit i is bit i mod 8 of byte i / 8. Refuses another length, and bits beyond the last.
    pub fn read(&self, bytes: &[u8]) -> Result<Seed, Error> {
        let range = "seeds for this universe, size, itemset and b have another length";
        let length = bytes.len();
        Error::require(length == self.bytes(), "the number of bytes of the seed", length, range)?;
        let mut words = vec![0; self.words()];
        for (i, &byte) in bytes.iter().enumerate() {
            words[i / 8] |= u64::from(byte) << (i % 8 * 8);
        }
        let used = self.bits() % 64;
        if used > 0 && words.last().is_some_and(|word| word >> used != 0) {
            let last = bytes.last().copied().unwrap_or(0);
            let range = "the bits beyond the last one of a seed are 0";
            return Err(Error::argument("the last byte of the seed", last, range));
        }
        Ok(Seed(words))
    }

    /// The bytes of a seed.
    pub fn write(&self, seed: &Seed) -> Vec<u8> {
        let mut bytes: Vec<u8> = seed.0.iter().flat_map(|word| word.to_le_bytes()).collect();
        bytes.truncate(self.bytes());
        bytes
    }

    /// Column c of the parity check matrix: alpha^((2i + 1) c) from bit r i on.
    pub(super) fn column(&self, c: usize, column: &mut [u64]) {
        column.fill(0);
        let (order, degree) = (self.field.order(), self.field.degree as usize);
        let (mut exponent, step) = (c % order, 2 * c % order);
        for i in 0..self.powers {
            let power = u64::from(self.field.power(exponent));
            let (word, shift) = (degree * i / 64, degree * i % 64);
            column[word] |= power << shift;
            if shift + degree > 64 {
                column[word + 1] |= power >> (64 - shift);
            }
            exponent += step;
            exponent -= if exponent >= order { order } else { 0 };
        }
    }

    /// The columns of an item: one for each of its bits.
    pub(super) fn columns_of(&self, item: u32) -> std::ops::Range<usize> {
        let b = self.shape.b as usize;
        let first = (item as usize - 1) * b;
        first..first + b
    }

    /// Whether an item is in the transaction that a seed stands for.
    pub fn contains(&self, seed: &Seed, item: u32) -> Result<bool, Error> {
        let range = "items are numbers from 1 to the size of the universe";
        Error::require((1..=self.shape.universe).contains(&item), "item", item, range)?;
        let mut column = vec![0; self.words()];
        let mut value = 0;
        for (j, c) in self.columns_of(item).enumerate() {
            self.column(c, &mut column);
            value |= parity(&column, &seed.0) << j;
        }
        Ok(value < self.shape.a)
    }

    /// All items of the transaction that a seed stands for, ascending. Each odd power steps through the field by
    /// itself: b · universe · l steps, with a call of `check` every few million.
    pub fn items<E>(
        &self,
        seed: &Seed,
        check: impl FnMut() -> Result<(), E>,
    ) -> Result<Vec<u32>, E> {
        let mut parts = self.parts(seed);
        if self.field.is_listed() {
            let order = self.field.order();
            let mut steps: Vec<(usize, usize, u32)> =
                parts.enumerate().map(|(i, part)| (0, (2 * i + 1) % order, part)).collect();
            return self.present(check, || {
                let mut sum = 0;
                for (exponent, step, part) in &mut steps {
                    sum ^= self.field.power(*exponent) & *part;
                    *exponent += *step;
                    *exponent -= if *exponent >= order { order } else { 0 };
                }
                sum
            });
        }
        let odd = |i: usize| self.field.times(self.field.power((2 * i + 1) % self.field.order()));
        let mut steps: Vec<(u32, Times, u32)> =
            (0..self.powers).map_while(|i| Some((1, odd(i), parts.next()?))).collect();
        drop(parts);
        self.present(check, || {
            let mut sum = 0;
            for (power, times, part) in &mut steps {
                sum ^= *power & *part;
                *power = times.of(*power);
            }
            sum
        })
    }

    /// The bits of a seed that belong to each odd power.
    fn parts(&self, seed: &Seed) -> impl Iterator<Item = u32> {
        let degree = self.field.degree as usize;
        let part = move |i: usize| {
            let (word, shift) = (degree * i / 64, degree * i % 64);
            let low = seed.0[word] >> shift;
            let high = if shift + degree > 64 { seed.0[word + 1] << (64 - shift) } else { 0 };
            (low | high) as u32 & ((1 << degree) - 1)
        };
        (0..self.powers).map(part)
    }

    /// The items that are present by `column`, which returns parity x[c] at its c-th call.
    fn present<E>(
        &self,
        mut check: impl FnMut() -> Result<(), E>,
        mut column: impl FnMut() -> u32,
    ) -> Result<Vec<u32>, E> {
        let mut bit = || column().count_ones() & 1;
        let mut value = || (0..self.shape.b).fold(0, |value, j| value | bit() << j);
        let step = BETWEEN_CHECKS / (self.shape.b as usize * self.powers);
        let mut items = Vec::new();
        let mut next = 1;
        while next <= self.shape.universe {
            check()?;
            let last = next.saturating_add(step as u32).min(self.shape.universe);
            items.extend((next..=last).filter(|_| value() < self.shape.a));
            next = last + 1;
        }
        Ok(items)
    }
}

/// The parity of the bits that two sets share.
pub(super) fn parity(a: &[u64], b: &[u64]) -> u32 {
    a.iter().zip(b).fold(0, |sum, (a, b)| sum ^ a & b).count_ones() & 1
}

#[cfg(test)]
pub(super) mod tests;
