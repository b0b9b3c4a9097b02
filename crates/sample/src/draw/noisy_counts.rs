//! Noise on every cell of every marginal, computed only when it is needed.

use super::rare_cells::Verdict;
use dashu_int::IBig;
use random::{Key, Noise};

/// Judges a combination by its noisy count. The noise is a function of the combination and of a secret key, so it
/// does not depend on when, in which order and on which thread it is computed.
pub(super) struct Noisy {
    pub(super) key: Key,
    pub(super) noise: Noise,
    pub(super) theta: u64,
}

impl Verdict for Noisy {
    /// The key of a set of columns.
    type Columns = Key;

    fn columns(&self, columns: &[u32]) -> Key {
        // The length comes first, so that no chain is a prefix of another.
        let length = self.key.step(columns.len() as u64);
        columns.iter().fold(length, |key, &column| key.step(u64::from(column)))
    }

    fn frequent(&self, columns: &Key, codes: &[u32], count: u64) -> bool {
        // A nonce holds two codes; all combinations of the same columns take the same number of steps.
        let mut pairs = codes
            .chunks(2)
            .map(|pair| pair.iter().fold(0, |nonce, &code| nonce << 32 | u64::from(code)));
        let last = pairs.next_back().unwrap_or(0);
        let key = pairs.fold(columns.clone(), |key, nonce| key.step(nonce));
        self.noise.draw(&mut key.stream(last)) + count > IBig::from(self.theta)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use rand::Rng;
    use random::{Coins, Ratio, testing::assert_fits};
    use std::collections::{BTreeMap, BTreeSet};

    fn noisy(seed: i64, theta: u64) -> Noisy {
        let noise = Noise::Laplace { scale: Ratio::new(3u8, 1u8).unwrap() };
        Noisy { key: Coins::seeded(seed).key(), noise, theta }
    }

    #[test]
    fn the_noise_of_a_cell_is_fixed_and_follows_the_law() {
        let q = (-1.0f64 / 3.0).exp();
        let above = q / (1.0 + q); // P(X > 0)
        for length in 1..=4u32 {
            let columns: Vec<u32> = (0..length).collect();
            let mut cell = 0;
            assert_fits(&[1.0 - above, above], 1_000, || {
                cell += 1;
                let noisy = noisy(1, 10);
                let codes: Vec<u32> = (0..length).map(|c| cell * 7 + c).collect();
                let verdict = noisy.frequent(&noisy.columns(&columns), &codes, 10);
                assert_eq!(verdict, noisy.frequent(&noisy.columns(&columns), &codes, 10));
                i64::from(verdict)
            });
        }
    }

    #[test]
    fn different_cells_have_different_streams() {
        let noisy = noisy(2, 0);
        let nonce =
            |pair: &[u32]| pair.iter().fold(0, |nonce, &code| nonce << 32 | u64::from(code));
        // The first word of every cell's stream and of every key of columns: all must differ.
        let mut words = BTreeMap::new();
        for columns in [&[0u32][..], &[1], &[0, 1], &[0, 2], &[0, 1, 2], &[0, 1, 2, 3]] {
            let key = noisy.columns(columns);
            let first = u64::from_le_bytes(key.bytes()[..8].try_into().unwrap());
            words.insert((columns.to_vec(), None), first);
            for codes in [[0u32, 0, 0, 0], [0, 0, 0, 1], [1, 0, 0, 0], [0, 1, 0, 0], [2, 0, 1, 0]] {
                let codes = &codes[..columns.len()];
                let mut chain: Vec<u64> = codes.chunks(2).map(nonce).collect();
                let last = chain.pop().unwrap();
                let key = chain.iter().fold(key.clone(), |key, &nonce| key.step(nonce));
                let word = key.stream(last).next_u64();
                words.insert((columns.to_vec(), Some(codes.to_vec())), word);
            }
        }
        let distinct: BTreeSet<u64> = words.values().copied().collect();
        assert_eq!(distinct.len(), words.len());
    }
}
