//! Coins of any rational bias, and of the bias `exp(-x)` for any rational `x`.

use crate::{Ratio, below, below_big};
use dashu_int::{UBig, ops::DivRem};
use rand::Rng;

/// True with probability `min(1, p)`, exactly.
pub fn bernoulli<R: Rng + ?Sized>(rng: &mut R, p: &Ratio) -> bool {
    below_big(rng, p.denom()) < *p.numer()
}

/// Sixty-four coins that are 1 with probability `numer / 2^bits`, exactly, for `numer < 2^bits`.
///
/// Each lane compares the bits of a uniform number with those of `numer`, from the highest on, until they differ:
/// about eight words for 64 coins.
pub fn bernoulli_word<R: Rng + ?Sized>(rng: &mut R, numer: u64, bits: u32) -> u64 {
    let (mut below, mut equal) = (0, u64::MAX);
    // Below the lowest set bit, a number that is still equal can no longer become smaller.
    for bit in (numer.trailing_zeros()..bits).rev() {
        let word = rng.next_u64();
        if numer >> bit & 1 == 1 {
            below |= equal & !word;
            equal &= word;
        } else {
            equal &= !word;
        }
        if equal == 0 {
            break;
        }
    }
    below
}

/// True with probability `exp(-x)`, exactly. Takes about three draws, whatever `x` is.
pub fn bernoulli_exp<R: Rng + ?Sized>(rng: &mut R, x: &Ratio) -> bool {
    bernoulli_exp_parts(rng, x.numer(), x.denom())
}

/// [`bernoulli_exp`] of `numer / denom`, which need not be in lowest terms.
pub(super) fn bernoulli_exp_parts<R: Rng + ?Sized>(
    rng: &mut R,
    numer: &UBig,
    denom: &UBig,
) -> bool {
    if numer < denom {
        return bernoulli_exp_unit(rng, numer, denom);
    }
    let (mut whole, fraction) = numer.div_rem(denom);
    while !whole.is_zero() {
        if !bernoulli_exp_unit(rng, &UBig::ONE, &UBig::ONE) {
            return false;
        }
        whole -= 1u8;
    }
    bernoulli_exp_unit(rng, &fraction, denom)
}

/// [`bernoulli_exp`] of `numer / denom` at most 1.
pub(super) fn bernoulli_exp_unit<R: Rng + ?Sized>(rng: &mut R, numer: &UBig, denom: &UBig) -> bool {
    // Bernoulli(x / k) is Bernoulli(1 / k) and Bernoulli(x): no number grows with k.
    let mut k = 1;
    while (k == 1 || below(rng, k) == 0) && below_big(rng, denom) < *numer {
        k += 1;
    }
    k % 2 == 1
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Coins, testing::assert_fits};

    const SHARES: [(u64, u64); 7] = [(0, 1), (1, 1), (1, 2), (1, 3), (5, 7), (99, 100), (1, 1000)];

    #[test]
    fn rational_coins_follow_their_law() {
        for (seed, (n, d)) in SHARES.into_iter().enumerate() {
            let mut coins = Coins::seeded(seed as i64);
            let p = n as f64 / d as f64;
            let ratio = Ratio::new(n, d).unwrap();
            assert_fits(&[1.0 - p, p], 20_000, || i64::from(bernoulli(&mut coins, &ratio)));
        }
    }

    #[test]
    fn exponential_coins_follow_their_law() {
        let above = [(3, 2), (2, 1), (9, 2), (7, 1)];
        for (seed, (n, d)) in SHARES.into_iter().chain(above).enumerate() {
            let mut coins = Coins::seeded(seed as i64);
            let p = (-(n as f64) / d as f64).exp();
            let ratio = Ratio::new(n, d).unwrap();
            assert_fits(&[1.0 - p, p], 20_000, || i64::from(bernoulli_exp(&mut coins, &ratio)));
        }
    }

    #[test]
    fn terms_beyond_two_words_follow_the_same_law() {
        let mut coins = Coins::seeded(1);
        let (numer, denom) = (UBig::ONE << 300, (UBig::ONE << 300) * 3u8);
        let p = (-1.0f64 / 3.0).exp();
        assert_fits(&[1.0 - p, p], 5_000, || {
            i64::from(bernoulli_exp_parts(&mut coins, &numer, &denom))
        });
    }

    #[test]
    fn a_share_above_one_is_certain() {
        assert!(bernoulli(&mut Coins::seeded(0), &Ratio::new(9u8, 2u8).unwrap()));
    }
}
