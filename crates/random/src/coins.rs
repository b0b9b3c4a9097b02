//! Coins: a ChaCha20 stream keyed by the operating system, or by a seed for tests and replays.

use crate::Error;
use chacha20::ChaCha20Rng;
use dashu_int::{UBig, ops::BitTest};
use rand_core::{Infallible, Rng, SeedableRng, TryRng};
use serde::Serialize;

/// Where coins come from. Only [`Source::Os`] supports a guarantee.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Source {
    Os,
    Seeded,
}

/// A secret from which the noise of every cell of a call is derived.
#[derive(Clone)]
pub struct Key([u8; 32]);

impl Key {
    /// Stream `number` of the key: the streams of one key are independent of each other, so work
    /// can be shared by threads without its outcome depending on them.
    pub fn stream(&self, number: u64) -> impl Rng + use<> {
        self.chacha(number)
    }

    /// The key that `input` leads to: its stream's first bytes. A chain of such steps is a keyed
    /// function of its inputs.
    pub fn step(&self, input: u64) -> Key {
        let mut next = [0; 32];
        self.chacha(input).fill_bytes(&mut next);
        Key(next)
    }

    /// The secret itself.
    pub fn bytes(&self) -> &[u8; 32] {
        &self.0
    }

    fn chacha(&self, number: u64) -> ChaCha20Rng {
        let mut stream = ChaCha20Rng::from_seed(self.0);
        stream.set_stream(number);
        stream
    }
}

/// The coins of one call. Anything that draws takes any [`Rng`]; this one also remembers its source.
pub struct Coins {
    rng: ChaCha20Rng,
    source: Source,
}

impl Coins {
    /// Coins keyed by 32 bytes of the operating system.
    pub fn os() -> Result<Self, Error> {
        let mut key = [0; 32];
        getrandom::fill(&mut key).map_err(|e| Error::Entropy(e.to_string()))?;
        Ok(Coins { rng: ChaCha20Rng::from_seed(key), source: Source::Os })
    }

    /// Coins that are the same for the same seed: for tests and replays.
    pub fn seeded(seed: i64) -> Self {
        let mut key = *b"pg_sanitize: coins of a seed    ";
        key[24..].copy_from_slice(&seed.to_le_bytes());
        Coins { rng: ChaCha20Rng::from_seed(key), source: Source::Seeded }
    }

    /// Coins of the seed if there is one, else of the operating system.
    pub fn new(seed: Option<i64>) -> Result<Self, Error> {
        seed.map_or_else(Coins::os, |seed| Ok(Coins::seeded(seed)))
    }

    /// Where these coins come from.
    pub fn source(&self) -> Source {
        self.source
    }

    /// A fresh secret.
    pub fn key(&mut self) -> Key {
        let mut key = [0; 32];
        self.fill_bytes(&mut key);
        Key(key)
    }
}

impl TryRng for Coins {
    type Error = Infallible;

    #[inline]
    fn try_next_u32(&mut self) -> Result<u32, Infallible> {
        self.rng.try_next_u32()
    }

    #[inline]
    fn try_next_u64(&mut self) -> Result<u64, Infallible> {
        self.rng.try_next_u64()
    }

    #[inline]
    fn try_fill_bytes(&mut self, bytes: &mut [u8]) -> Result<(), Infallible> {
        self.rng.try_fill_bytes(bytes)
    }
}

/// Uniform on `0..n`, exactly; 0 if `n` is 0.
///
/// The high word of `x * n` for a uniform word `x` is uniform once the `2^64 mod n` smallest low
/// words are rejected (Lemire, Fast random integer generation in an interval).
#[inline]
pub fn below<R: Rng + ?Sized>(rng: &mut R, n: u64) -> u64 {
    let mut product = u128::from(rng.next_u64()) * u128::from(n);
    if (product as u64) < n {
        let rejected = n.wrapping_neg() % n;
        while (product as u64) < rejected {
            product = u128::from(rng.next_u64()) * u128::from(n);
        }
    }
    (product >> 64) as u64
}

/// Uniform on `0..n` for any size of `n`, exactly; 0 if `n` is 0.
///
/// Draws as many bits as `n - 1` has and rejects what is not below `n`: at most two draws on average.
pub fn below_big<R: Rng + ?Sized>(rng: &mut R, n: &UBig) -> UBig {
    if let Ok(n) = u64::try_from(n) {
        return below(rng, n).into();
    }
    let bits = (n - 1u8).bit_len();
    let mut bytes = vec![0; bits.div_ceil(8)];
    let excess = (bytes.len() * 8 - bits) as u32;
    loop {
        rng.fill_bytes(&mut bytes);
        if let Some(top) = bytes.last_mut() {
            *top >>= excess;
        }
        let drawn = UBig::from_le_bytes(&bytes);
        if drawn < *n {
            return drawn;
        }
    }
}

/// Puts the items into a uniformly random order (Fisher and Yates).
pub fn shuffle<T, R: Rng + ?Sized>(rng: &mut R, items: &mut [T]) {
    for i in (1..items.len()).rev() {
        let j = below(rng, i as u64 + 1) as usize;
        items.swap(i, j);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{assert_fits, uniform};

    #[test]
    fn uniform_numbers_are_uniform() {
        for (seed, n) in [(1, 1), (2, 2), (3, 6), (4, 64), (5, 100)] {
            let mut coins = Coins::seeded(seed);
            assert_fits(&uniform(n), 20_000, || below(&mut coins, n as u64) as i64);
        }
    }

    #[test]
    fn rejection_makes_large_ranges_uniform() {
        // Without rejection the multiples of 3 would be drawn twice as often as other numbers.
        let n = 3 << 62;
        let mut coins = Coins::seeded(1);
        assert_fits(&uniform(3), 20_000, || (below(&mut coins, n) % 3) as i64);
        let big = UBig::from(3u8) << 126;
        assert_fits(&uniform(3), 20_000, || {
            i64::try_from(below_big(&mut coins, &big) >> 126).unwrap()
        });
        let big = UBig::from(7u8) << 1000;
        assert_fits(&uniform(7), 20_000, || {
            i64::try_from(below_big(&mut coins, &big) >> 1000).unwrap()
        });
    }

    #[test]
    fn an_empty_range_gives_zero() {
        assert_eq!(below(&mut Coins::seeded(0), 0), 0);
        assert_eq!(below_big(&mut Coins::seeded(0), &UBig::ZERO), UBig::ZERO);
    }

    #[test]
    fn a_seed_replays_and_the_os_does_not() {
        let words = |mut coins: Coins| [coins.next_u64(), coins.next_u64()];
        assert_eq!(words(Coins::seeded(-7)), words(Coins::seeded(-7)));
        assert_ne!(words(Coins::seeded(-7)), words(Coins::seeded(7)));
        assert_ne!(words(Coins::os().unwrap()), words(Coins::os().unwrap()));
        assert_eq!(Coins::new(None).unwrap().source(), Source::Os);
        assert_eq!(Coins::new(Some(1)).unwrap().source(), Source::Seeded);
    }

    #[test]
    fn the_streams_of_a_key_differ_and_replay() {
        let key = Coins::seeded(3).key();
        let words = |number| {
            let mut stream = key.stream(number);
            [stream.next_u64(), stream.next_u64()]
        };
        assert_eq!(words(5), words(5));
        assert_ne!(words(5), words(6));
        let mut number = 0;
        assert_fits(&uniform(6), 20_000, || {
            number += 1;
            below(&mut key.stream(number), 6) as i64
        });
    }

    #[test]
    fn every_order_is_equally_likely() {
        let mut coins = Coins::seeded(9);
        assert_fits(&uniform(6), 20_000, || {
            let mut items = [0, 1, 2];
            shuffle(&mut coins, &mut items);
            items[0] * 2 + i64::from(items[1] > items[2])
        });
    }
}
