//! Uniform integers and random orders.
//!
//! `below` is the unbiased method of rand's `Uniform` and consumes the same words (a test compares them), but divides
//! only if a word may have to be rejected. That saves a sixth of the time where each draw has its own `n`, as in all
//! our samplers. rand's `random_range` is another method, which is biased unless a feature is enabled, and its
//! `shuffle` uses that method and consumes other words: seeds would no longer replay.

use dashu_int::{UBig, ops::BitTest};
use rand::Rng;
use std::collections::HashSet;

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
/// Draws as many bits as `n - 1` has and rejects numbers that are not below `n`: at most two draws on average.
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

/// `count` different numbers below `n`, or all of them if there are fewer, in a uniformly random order.
///
/// If at most half of all numbers are wanted, repeated ones are rejected, which needs at most two draws per number on
/// average. Otherwise all numbers are put into a random order. `go_on` is called now and then.
pub fn distinct<R: Rng + ?Sized, E>(
    rng: &mut R,
    n: u64,
    count: usize,
    mut go_on: impl FnMut() -> Result<(), E>,
) -> Result<Vec<u64>, E> {
    const BETWEEN: usize = 1 << 16;
    if count as u64 > n / 2 {
        go_on()?;
        let mut all: Vec<u64> = (0..n).collect();
        shuffle(rng, &mut all);
        all.truncate(count);
        return Ok(all);
    }
    let (mut drawn, mut seen) = (Vec::with_capacity(count), HashSet::with_capacity(count));
    while drawn.len() < count {
        if drawn.len() % BETWEEN == 0 {
            go_on()?;
        }
        let number = below(rng, n);
        if seen.insert(number) {
            drawn.push(number);
        }
    }
    Ok(drawn)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Coins;
    use crate::testing::{assert_fits, uniform};
    use rand::distr::{Distribution, Uniform};

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
    fn every_order_is_equally_likely() {
        let mut coins = Coins::seeded(9);
        assert_fits(&uniform(6), 20_000, || {
            let mut items = [0, 1, 2];
            shuffle(&mut coins, &mut items);
            items[0] * 2 + i64::from(items[1] > items[2])
        });
    }

    #[test]
    fn every_choice_of_different_numbers_is_equally_likely() {
        // Of 4 numbers, two are drawn one by one, and three are cut from an order of all.
        for (count, orders) in [(2, 12), (3, 24)] {
            let mut coins = Coins::seeded(3);
            assert_fits(&uniform(orders), 40_000, || {
                let drawn = distinct(&mut coins, 4, count, || Ok::<_, ()>(())).unwrap();
                // The number of each order: each position counts the smaller numbers that were left.
                let mut left = vec![0, 1, 2, 3];
                drawn.iter().fold(0, |number, drawn| {
                    let place = left.iter().position(|number| number == drawn).unwrap();
                    left.remove(place);
                    number * (left.len() as i64 + 1) + place as i64
                })
            });
        }
        let mut coins = Coins::seeded(1);
        assert_eq!(distinct(&mut coins, 3, 9, || Ok::<_, ()>(())).unwrap().len(), 3);
        assert_eq!(distinct(&mut coins, 9, 1, || Err(())), Err(()));
    }

    #[test]
    fn numbers_below_a_bound_are_those_of_rand() {
        let (mut coins, mut other) = (Coins::seeded(5), Coins::seeded(5));
        for n in [1, 2, 3, 10, 1 << 40, (1 << 63) + 1, 3 << 62, u64::MAX] {
            let law = Uniform::new(0, n).unwrap();
            for _ in 0..100 {
                assert_eq!(below(&mut coins, n), law.sample(&mut other));
            }
        }
    }
}
