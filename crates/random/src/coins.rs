//! Coins: a ChaCha20 stream keyed by the operating system, or by a seed for tests and replays.

use crate::Error;
use chacha20::ChaCha20Rng;
use rand::{Rng, SeedableRng, TryRng};
use serde::Serialize;
use std::convert::Infallible;

/// The source of coins. Only [`Source::Os`] supports a guarantee.
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
    /// Stream `number` of the key. The streams of one key are independent of each other, so threads can share work
    /// without an effect on its outcome.
    pub fn stream(&self, number: u64) -> impl Rng + use<> {
        self.chacha(number)
    }

    /// The next key of a chain: the first bytes of stream `input`. A chain of such steps is a keyed function of its
    /// inputs.
    pub fn step(&self, input: u64) -> Key {
        let mut next = [0; 32];
        self.chacha(input).fill_bytes(&mut next);
        Key(next)
    }

    /// The secret itself, for tests.
    #[cfg(any(test, feature = "testing"))]
    pub fn bytes(&self) -> &[u8; 32] {
        &self.0
    }

    fn chacha(&self, number: u64) -> ChaCha20Rng {
        let mut stream = ChaCha20Rng::from_seed(self.0);
        stream.set_stream(number);
        stream
    }
}

/// The coins of one call. Code that draws takes any [`Rng`]; this one also remembers its source.
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

    /// Coins that repeat with the same seed: for tests and replays.
    pub fn seeded(seed: i64) -> Self {
        let mut key = *b"pg_sanitize: coins of a seed    ";
        key[24..].copy_from_slice(&seed.to_le_bytes());
        Coins { rng: ChaCha20Rng::from_seed(key), source: Source::Seeded }
    }

    /// Coins of the seed if there is one, else of the operating system.
    pub fn new(seed: Option<i64>) -> Result<Self, Error> {
        seed.map_or_else(Coins::os, |seed| Ok(Coins::seeded(seed)))
    }

    /// The source of these coins.
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::below;
    use crate::testing::{assert_fits, uniform};

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
}
