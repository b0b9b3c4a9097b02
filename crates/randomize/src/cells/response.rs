//! Randomised response on one cell: its law, and how it is drawn.

use dashu_int::{UBig, ops::BitTest};
use rand::Rng;
use random::Ratio;
use random::enclosure::{ExpNeg, Real, RealCoin, ceil_div};

/// The largest number of cells of a column that are drawn together.
pub(super) const BLOCK: usize = 64;

/// Randomised response on a domain of `size` values: the true one is kept with probability e^epsilon / (e^epsilon +
/// size - 1), otherwise it is replaced by any other one, all equally likely.
#[derive(Debug, Clone)]
pub struct Response {
    size: u32,
    epsilon: f64,
    first_bits: u32,
    change: RealCoin<Change>,
}

impl Response {
    /// The response of a column with this number of values, NULL included if the column has it.
    pub fn new(size: u32, epsilon: Ratio) -> Self {
        Response::with_first_bits(size, epsilon, 32)
    }

    /// A response that compares only this number of bits first, at most 32, for tests.
    fn with_first_bits(size: u32, epsilon: Ratio, bits: u32) -> Self {
        let value = epsilon.to_f64();
        let change = Change { others: size.saturating_sub(1), kept: ExpNeg(epsilon) };
        let change = RealCoin::with_first_bits(change, bits);
        Response { size, epsilon: value, first_bits: bits, change }
    }

    /// The number of values of the column.
    pub fn size(&self) -> u32 {
        self.size
    }

    /// The column's epsilon.
    pub fn epsilon(&self) -> f64 {
        self.epsilon
    }

    /// Randomises the cells of a column, at most [`BLOCK`] codes below the size. A column with one value has nothing to
    /// hide, and its cells stay.
    ///
    /// One word is enough except for at most one cell in two thousand million: half of it decides whether the cell
    /// changes, the other half to which value. Further words are drawn after the first words of all cells. Nearly
    /// always the first words decide. Then `rng` is not called between two cells and no branch depends on a cell,
    /// which halves the time.
    pub(super) fn randomise_all<R: Rng + ?Sized>(&self, codes: &mut [u32], rng: &mut R) {
        if self.size <= 1 {
            return;
        }
        let (mut words, mut drawn) = ([0; BLOCK], [0; BLOCK]);
        let words = &mut words[..codes.len()];
        words.iter_mut().for_each(|word| *word = rng.next_u64());
        let (others, shift) = (u64::from(self.size - 1), 64 - self.first_bits);
        let (low, high) = self.change.unclear();
        let mut is_unclear = false;
        for ((drawn, &code), &word) in drawn.iter_mut().zip(&*codes).zip(&*words) {
            let product = u64::from(word as u32) * others;
            let other = (product >> 32) as u32;
            let first = word >> shift;
            is_unclear |= u64::from(product as u32) < others;
            is_unclear |= (first >= low) & (first <= high);
            *drawn = if first < low { other + u32::from(other >= code) } else { code };
        }
        if is_unclear {
            for (code, &word) in codes.iter_mut().zip(&*words) {
                *code = self.randomise_with(*code, word, rng);
            }
        } else {
            codes.copy_from_slice(&drawn[..codes.len()]);
        }
    }

    /// The randomised cell, given its first word.
    #[inline]
    fn randomise_with<R: Rng + ?Sized>(&self, code: u32, word: u64, rng: &mut R) -> u32 {
        let other = below_half(word as u32, self.size - 1, rng);
        let other = other + u32::from(other >= code);
        let first = word >> (64 - self.first_bits);
        if self.change.draw_with(first, rng) { other } else { code }
    }

    /// The probability of a change as an enclosed real, for audits.
    #[cfg(test)]
    pub(super) fn change(&self) -> &Change {
        self.change.real()
    }
}

/// Uniform on `0..n` from half a word, exactly; [`random::below`] does the same with a whole word.
#[inline]
fn below_half<R: Rng + ?Sized>(half: u32, n: u32, rng: &mut R) -> u32 {
    let mut product = u64::from(half) * u64::from(n);
    if (product as u32) < n {
        let rejected = n.wrapping_neg() % n;
        while (product as u32) < rejected {
            product = u64::from(rng.next_u32()) * u64::from(n);
        }
    }
    (product >> 32) as u32
}

/// The probability that a cell changes: (d - 1) e^-epsilon / (1 + (d - 1) e^-epsilon), d the size.
#[derive(Debug, Clone)]
pub(super) struct Change {
    pub(super) others: u32,
    /// e^-epsilon: the weight of each other value if the true one weighs 1.
    pub(super) kept: ExpNeg,
}

impl Real for Change {
    fn enclose(&self, bits: usize) -> (UBig, UBig) {
        let others = UBig::from(self.others);
        // The quotient grows with e^-epsilon, by at most `others` times as much.
        let scale = bits + others.bit_len() + 2;
        let (low, high) = self.kept.enclose(scale);
        let one = UBig::ONE << scale;
        let (low, high) = (low * &others, high * &others);
        ((&low << bits) / (&one + &low), ceil_div(&high << bits, &(one + high)))
    }
}

/// The probability that a cell is kept: e^epsilon / (e^epsilon + size - 1).
pub fn keep_probability(epsilon: f64, size: u32) -> f64 {
    1.0 / (1.0 + f64::from(size.saturating_sub(1)) * (-epsilon).exp())
}

#[cfg(test)]
mod tests {
    use super::*;
    use random::Coins;
    use random::testing::{assert_fits, uniform};

    fn ratio(epsilon: f64) -> Ratio {
        Ratio::exact("epsilon", epsilon).unwrap()
    }

    impl Response {
        /// One cell by itself.
        fn randomise(&self, code: u32, rng: &mut Coins) -> u32 {
            if self.size <= 1 { code } else { self.randomise_with(code, rng.next_u64(), rng) }
        }
    }

    fn close(a: f64, b: f64) -> bool {
        (a - b).abs() <= 1e-9 * b.abs()
    }

    #[test]
    fn keep_probabilities_of_the_vectors() {
        // 000-rr-0, 000-rr-2, 000-rr-4, 000-rr-6; 000-krr-0, 000-krr-2, 000-krr-4.
        for (size, epsilon, keep) in [
            (2, 0.01, 0.502499979166875),
            (2, 0.5, 0.622459331201855),
            (2, 1.0986122886681098, 0.75),
            (2, 5.0, 0.993307149075715),
            (2, 0.1, 0.52497918747894),
            (4, 1.0, 0.475366886418672),
            (97, 0.1, 0.011381174736905),
        ] {
            assert!(close(keep_probability(epsilon, size), keep), "{size} {epsilon}");
            // The sampler's own threshold agrees.
            let (low, high) = Response::new(size, ratio(epsilon)).change().enclose(60);
            let change = (1.0 - keep) * 2f64.powi(60);
            let (low, high) = (low.to_f64().value(), high.to_f64().value());
            assert!(low <= change * (1.0 + 1e-9) && change <= high * (1.0 + 1e-9));
        }
    }

    #[test]
    fn enclosures_stay_narrow() {
        for size in [1, 2, 3, 1_000_001] {
            for epsilon in [1e-300, 0.1, 1.0, 70.0, 1e300] {
                for bits in [1, 64, 200] {
                    let (low, high) = Response::new(size, ratio(epsilon)).change().enclose(bits);
                    assert!(
                        low <= high && high - low <= UBig::from(3u8),
                        "{size} {epsilon} {bits}"
                    );
                }
            }
        }
    }

    /// With few first bits almost every draw needs more bits, with 32 almost none: the law is the same.
    #[test]
    fn cells_follow_their_law() {
        for (seed, (size, epsilon)) in
            [(2, 0.1), (2, 1.5), (3, 0.1), (3, 1.5), (97, 0.1), (97, 1.5)].into_iter().enumerate()
        {
            for bits in [2, 32] {
                let response = Response::with_first_bits(size, ratio(epsilon), bits);
                let mut coins = Coins::seeded(seed as i64);
                let keep = keep_probability(epsilon, size);
                let mut law = vec![(1.0 - keep) / f64::from(size - 1); size as usize];
                for code in [0, size / 2, size - 1] {
                    law[code as usize] = keep;
                    let draws = 4000 + 200 * size as usize;
                    assert_fits(&law, draws, || i64::from(response.randomise(code, &mut coins)));
                    law[code as usize] = law[if code == 0 { 1 } else { 0 }];
                }
            }
        }
    }

    /// Blocks whose first words all decide equal the result cell by cell; the others follow the law too.
    #[test]
    fn blocks_are_drawn_as_cells_are() {
        for size in [1, 2, 97] {
            let response = Response::new(size, ratio(0.5));
            let mut block: Vec<u32> = (0..BLOCK as u32).map(|i| i % size).collect();
            let one_by_one = |coins: &mut Coins| -> Vec<u32> {
                block.iter().map(|&code| response.randomise(code, coins)).collect()
            };
            let expected = one_by_one(&mut Coins::seeded(5));
            response.randomise_all(&mut block, &mut Coins::seeded(5));
            assert_eq!(block, expected);
        }
        let (size, epsilon) = (3, 0.7);
        for bits in [2, 32] {
            let response = Response::with_first_bits(size, ratio(epsilon), bits);
            let mut coins = Coins::seeded(6);
            let keep = keep_probability(epsilon, size);
            let law = [(1.0 - keep) / 2.0, keep, (1.0 - keep) / 2.0];
            let mut codes = Vec::new();
            assert_fits(&law, 20_000, || {
                if codes.is_empty() {
                    codes = vec![1; BLOCK];
                    response.randomise_all(&mut codes, &mut coins);
                }
                i64::from(codes.pop().unwrap())
            });
        }
    }

    /// Without rejection the multiples of 3 would be drawn twice as often as other numbers.
    #[test]
    fn half_a_word_is_enough_for_a_uniform_number() {
        let mut coins = Coins::seeded(3);
        let mut draw = |n| {
            let half = coins.next_u32();
            below_half(half, n, &mut coins)
        };
        assert_fits(&uniform(3), 20_000, || i64::from(draw(3 << 30) % 3));
        assert_fits(&uniform(7), 20_000, || i64::from(draw(7)));
    }

    #[test]
    fn one_value_stays_and_costs_no_coin() {
        let response = Response::new(1, ratio(0.1));
        let (mut coins, mut untouched) = (Coins::seeded(1), Coins::seeded(1));
        assert_eq!(response.randomise(0, &mut coins), 0);
        assert_eq!(coins.next_u64(), untouched.next_u64());
        assert_eq!(keep_probability(0.1, 1), 1.0);
    }
}
