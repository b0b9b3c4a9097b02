//! Enclosures: a real number between two integers over a power of two, as close as required, and coins with exactly
//! such a bias.
//!
//! A mechanism whose probability is an expression of `exp` implements [`Real`] for it, from
//! [`ExpNeg`], and draws with [`bernoulli_real`], or with a [`RealCoin`] where it draws often.
//! Proofs are in `enclosure.md`.

use crate::Ratio;
use dashu_int::{UBig, ops::BitTest};
use rand::Rng;

/// A number of at least 0 that can be enclosed as closely as required.
pub trait Real {
    /// Integers `low` and `high` with `low <= 2^bits * self <= high`. Their difference has a bound that does not
    /// depend on `bits`, so that draws end.
    fn enclose(&self, bits: usize) -> (UBig, UBig);
}

/// `exp(-x)` for a rational `x`. Enclosures are at most 3 wide.
#[derive(Debug, Clone)]
pub struct ExpNeg(pub Ratio);

impl Real for ExpNeg {
    fn enclose(&self, bits: usize) -> (UBig, UBig) {
        let (numer, denom) = (self.0.numer(), self.0.denom());
        // exp(-x) < 2^-x.
        if *numer >= denom * bits {
            return (UBig::ZERO, UBig::ONE);
        }
        // x / 2^halvings is at most 1/2.
        let halvings = (numer / denom).bit_len() + 1;
        let guard = halvings + bits.bit_len() + 6;
        let scale = bits + guard;
        let (mut low, mut high) = exp_neg_half(numer, &(denom << halvings), scale);
        for _ in 0..halvings {
            low = (&low * &low) >> scale;
            high = ceil_shift(&high * &high, scale);
        }
        (low >> guard, ceil_shift(high, guard).min(UBig::ONE << bits))
    }
}

/// Encloses `2^scale * exp(-y)` for `y = numer / denom` of at most 1/2, by Taylor's series. Its terms alternate and
/// shrink, so the remainder is smaller than the first omitted term.
fn exp_neg_half(numer: &UBig, denom: &UBig, scale: usize) -> (UBig, UBig) {
    let one = UBig::ONE << scale;
    let (mut term_low, mut term_high) = (one.clone(), one);
    // Sums of the positive and of the negative terms, each from below and from above.
    let mut sums = [(UBig::ZERO, UBig::ZERO), (UBig::ZERO, UBig::ZERO)];
    let mut k = 0usize;
    while term_high > UBig::ONE {
        let (low, high) = &mut sums[k % 2];
        *low += &term_low;
        *high += &term_high;
        k += 1;
        let divisor = denom * k;
        term_low = term_low * numer / &divisor;
        term_high = ceil_div(term_high * numer, &divisor);
    }
    let [added, taken] = sums;
    let low = &added.0 - (&taken.1 + &term_high).min(added.0.clone());
    (low, added.1 + term_high - taken.0)
}

/// `a / b`, rounded up.
pub fn ceil_div(a: UBig, b: &UBig) -> UBig {
    (a + b - UBig::ONE) / b
}

/// `a / 2^shift`, rounded up.
pub fn ceil_shift(a: UBig, shift: usize) -> UBig {
    (a + (UBig::ONE << shift) - UBig::ONE) >> shift
}

/// True with probability `min(1, real)`, exactly.
pub fn bernoulli_real<R: Rng + ?Sized>(rng: &mut R, real: &impl Real) -> bool {
    let word = rng.next_u64();
    let (low, high) = real.enclose(64);
    compare(&word.into(), &low, &high).unwrap_or_else(|| further(rng, real, word.into(), 64))
}

/// Whether a uniform real with these first bits is below the enclosed one; `None` if the bits do not decide.
fn compare(drawn: &UBig, low: &UBig, high: &UBig) -> Option<bool> {
    if drawn < low {
        Some(true)
    } else if drawn >= high {
        Some(false)
    } else {
        None
    }
}

/// Draws more bits of a uniform real, of which `bits` are known, until they decide whether it is below `real`.
#[cold]
fn further<R: Rng + ?Sized>(
    rng: &mut R,
    real: &impl Real,
    mut drawn: UBig,
    mut bits: usize,
) -> bool {
    loop {
        drawn = (drawn << 64) + rng.next_u64();
        bits += 64;
        let (low, high) = real.enclose(bits);
        if let Some(is_below) = compare(&drawn, &low, &high) {
            return is_below;
        }
    }
}

/// A coin that is true with probability `min(1, real)`, exactly, for many draws: one word and two comparisons decide
/// almost all of them.
#[derive(Debug, Clone)]
pub struct RealCoin<T> {
    real: T,
    /// The number of bits of a word that are compared.
    bits: u32,
    /// Words below it are true.
    low: u64,
    /// Words above it are false.
    high: u64,
}

impl<T: Real> RealCoin<T> {
    /// A coin that looks at this number of bits first, 1 to 64.
    pub fn with_first_bits(real: T, bits: u32) -> Self {
        let (low, high) = real.enclose(bits as usize);
        let most = u64::MAX >> (64 - bits);
        let word = |bound: UBig| u64::try_from(bound).unwrap_or(u64::MAX).min(most);
        let high = word(high.max(UBig::ONE) - UBig::ONE);
        // A real of 1 or more is above every word. The first comparison cannot express that for the last word.
        RealCoin { real, bits, low: word(low), high }
    }

    /// The bias of the coin.
    pub fn real(&self) -> &T {
        &self.real
    }

    /// The least and the greatest of the first words that do not decide: below is true, above is false.
    pub fn unclear(&self) -> (u64, u64) {
        (self.low, self.high)
    }

    /// Draws the coin with the given first bits; if they do not decide, more are drawn.
    #[inline]
    pub fn draw_with<R: Rng + ?Sized>(&self, word: u64, rng: &mut R) -> bool {
        // The processor predicts this branch as not taken; it could not predict on which side a word is.
        if word >= self.low && word <= self.high {
            return further(rng, &self.real, word.into(), self.bits as usize);
        }
        word < self.low
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::assert_fits;
    use crate::{Coins, below};
    use proptest::prelude::*;
    use std::cell::Cell;

    fn ratio(n: u64, d: u64) -> Ratio {
        Ratio::new(n, d).unwrap()
    }

    /// A rational, to compare with results that need no series.
    struct Share(u64, u64);

    impl Real for Share {
        fn enclose(&self, bits: usize) -> (UBig, UBig) {
            let scaled = UBig::from(self.0) << bits;
            (&scaled / self.1, ceil_div(scaled, &self.1.into()))
        }
    }

    /// The first 200 bits of exp(-1), from 60 terms of the series of its inverse, e.
    #[test]
    fn the_first_bits_of_exp_of_minus_one() {
        let (mut e, mut term) = (UBig::ZERO, UBig::ONE << 300);
        for k in 1..90u32 {
            e += &term;
            term /= k;
        }
        let expected = (UBig::ONE << 500) / e;
        let (low, high) = ExpNeg(ratio(1, 1)).enclose(200);
        assert!(low <= expected && expected <= high, "{low} {expected} {high}");
    }

    #[test]
    fn ends_of_the_range() {
        assert_eq!(ExpNeg(ratio(0, 1)).enclose(8).0, UBig::from(256u16));
        assert_eq!(ExpNeg(ratio(64, 1)).enclose(64), (UBig::ZERO, UBig::ONE));
        assert_eq!(ExpNeg(ratio(u64::MAX, 1)).enclose(64), (UBig::ZERO, UBig::ONE));
        let (low, high) = ExpNeg(Ratio::exact("x", 5e-324).unwrap()).enclose(64);
        assert!(high == UBig::ONE << 64 && low >= high - 3u8);
    }

    proptest! {
        /// Floats hold 50 bits of exp; narrower enclosures lie within wider ones.
        #[test]
        fn enclosures_are_narrow_and_right(n in 0u64..1 << 40, shift in 20u32..60, bits in 1usize..400) {
            let x = n as f64 / (1u64 << shift) as f64;
            let real = ExpNeg(ratio(n, 1 << shift));
            let (low, high) = real.enclose(50);
            let value = (-x).exp() * 2f64.powi(50);
            prop_assert!(low.to_f64().value() <= value + 1.0 && value <= high.to_f64().value() + 1.0);
            let (low, high) = real.enclose(bits);
            prop_assert!(low <= high && &high - &low <= UBig::from(3u8));
            let (finer_low, finer_high) = real.enclose(bits + 37);
            // Both enclose the same number.
            prop_assert!(&low << 37 <= finer_high && finer_low <= &high << 37);
        }

        /// exp(-x) exp(-y) = exp(-(x + y)), at any number of bits.
        #[test]
        fn products_agree(a in 0u64..5000, b in 0u64..5000, bits in 1usize..600) {
            let part = |n| ExpNeg(ratio(n, 300)).enclose(bits);
            let ((a_low, a_high), (b_low, b_high)) = (part(a), part(b));
            let (low, high) = part(a + b);
            prop_assert!((a_low * b_low) >> bits <= high);
            prop_assert!(low <= ceil_shift(a_high * b_high, bits));
        }
    }

    /// Draws the coin with the first bits of a word.
    fn flip<T: Real, R: Rng + ?Sized>(coin: &RealCoin<T>, rng: &mut R) -> bool {
        let word = rng.next_u64() >> (64 - coin.bits);
        coin.draw_with(word, rng)
    }

    #[test]
    fn coins_follow_their_law() {
        for (seed, (n, d)) in [(1, 10), (1, 1), (7, 2), (0, 1), (9, 1)].into_iter().enumerate() {
            let p = (-(n as f64) / d as f64).exp();
            let mut coins = Coins::seeded(seed as i64);
            let real = ExpNeg(ratio(n, d));
            assert_fits(&[1.0 - p, p], 20_000, || i64::from(bernoulli_real(&mut coins, &real)));
            // Few bits at first, so that most draws need more.
            for bits in [1, 2, 5, 64] {
                let coin = RealCoin::with_first_bits(real.clone(), bits);
                assert_fits(&[1.0 - p, p], 20_000, || i64::from(flip(&coin, &mut coins)));
            }
        }
    }

    /// All words of 8 bits, followed by zeros.
    #[test]
    fn a_word_is_compared_as_the_real_that_it_begins() {
        struct Word(Cell<u64>);
        impl rand::TryRng for Word {
            type Error = std::convert::Infallible;
            fn try_next_u32(&mut self) -> Result<u32, Self::Error> {
                Ok(self.try_next_u64()? as u32)
            }
            fn try_next_u64(&mut self) -> Result<u64, Self::Error> {
                Ok(self.0.replace(0))
            }
            fn try_fill_bytes(&mut self, bytes: &mut [u8]) -> Result<(), Self::Error> {
                bytes.fill(0);
                Ok(())
            }
        }
        for numer in [0, 1, 2, 85, 128, 255, 256, 300] {
            for bits in [8, 20, 64] {
                let coin = RealCoin::with_first_bits(Share(numer * 3 + 1, 768), bits);
                for word in 0..256u64 {
                    let drawn = flip(&coin, &mut Word(Cell::new(word << 56)));
                    assert_eq!(drawn, word * 3 < numer * 3 + 1, "{word} {numer} {bits}");
                }
            }
        }
    }

    #[test]
    fn certain_coins() {
        let mut coins = Coins::seeded(5);
        for bits in [1, 64] {
            let (always, never) = (Share(3, 2), Share(0, 1));
            let (always, never) =
                (RealCoin::with_first_bits(always, bits), RealCoin::with_first_bits(never, bits));
            for _ in 0..200 {
                assert!(flip(&always, &mut coins) && !flip(&never, &mut coins));
            }
        }
        assert!(bernoulli_real(&mut coins, &Share(1 + below(&mut Coins::seeded(1), 3), 1)));
    }
}
