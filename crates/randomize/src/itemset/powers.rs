//! Enclosures of exp(-c k) for many integers k.

use dashu_int::UBig;
use random::Ratio;
use random::enclosure::{ExpNeg, Real, ceil_shift};

/// Bits beyond the required ones: at most 64 factors are multiplied, each known to 3 units and rounded once.
const GUARD: usize = 12;

/// exp(-c k) by the bits of k: one multiplication for each bit that is set.
pub(super) struct Powers {
    bits: usize,
    /// exp(-c), exp(-2c), exp(-4c), …
    squares: Vec<(UBig, UBig)>,
}

impl Powers {
    /// For k of at most `most`, times 2^bits.
    pub(super) fn new(c: &Ratio, most: u64, bits: usize) -> Self {
        let square = |i: u32| ExpNeg(c.times(1u64 << i)).enclose(bits + GUARD);
        Powers { bits, squares: (0..u64::BITS - most.leading_zeros()).map(square).collect() }
    }

    /// Integers with `low <= 2^bits exp(-c k) <= high`, at most 3 apart.
    pub(super) fn enclose(&self, k: u64) -> (UBig, UBig) {
        let scale = self.bits + GUARD;
        let mut low = UBig::ONE << scale;
        let mut high = low.clone();
        for (i, square) in self.squares.iter().enumerate() {
            if k >> i & 1 == 1 {
                low = (low * &square.0) >> scale;
                high = ceil_shift(high * &square.1, scale);
            }
        }
        (low >> GUARD, ceil_shift(high, GUARD))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn products_enclose_what_the_series_does(
            n in 0u64..1 << 20, shift in 0u32..60, k in 0u64..1 << 30, bits in 1usize..300,
        ) {
            let c = Ratio::new(n, 1u64 << shift).unwrap();
            let (low, high) = Powers::new(&c, k, bits).enclose(k);
            let x = Ratio::new(c.numer() * k, c.denom().clone()).unwrap();
            let (finer_low, finer_high) = ExpNeg(x).enclose(bits + 40);
            prop_assert!(&low << 40 <= finer_high && finer_low <= &high << 40);
            prop_assert!(&high - &low <= UBig::from(3u8));
        }
    }
}
