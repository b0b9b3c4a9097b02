//! Chooses a number in proportion to masses that are only known by enclosures, with exact probabilities.

use dashu_int::UBig;
use rand::Rng;

/// Masses enclosed by integers over a common power of two, of which one is chosen.
///
/// Sums of runs of masses are kept (a Fenwick tree): choosing one and changing one take as many steps as their number
/// has bits.
pub(super) struct Masses {
    low: Vec<UBig>,
    high: Vec<UBig>,
}

/// A uniform real of [0, 1) of which the first bits are drawn.
pub(super) struct Uniform {
    drawn: UBig,
    bits: usize,
}

impl Uniform {
    pub(super) fn new() -> Self {
        Uniform { drawn: UBig::ZERO, bits: 0 }
    }

    /// Draws more bits, so that there are at least `bits`.
    pub(super) fn extend<R: Rng + ?Sized>(&mut self, rng: &mut R, bits: usize) {
        while self.bits < bits {
            self.drawn = (&self.drawn << 64) + rng.next_u64();
            self.bits += 64;
        }
    }
}

impl Masses {
    pub(super) fn new(masses: Vec<(UBig, UBig)>) -> Self {
        let (mut low, mut high): (Vec<UBig>, Vec<UBig>) = masses.into_iter().unzip();
        for i in 0..low.len() {
            let parent = i | (i + 1);
            if parent < low.len() {
                let (part_low, part_high) = (low[i].clone(), high[i].clone());
                low[parent] += part_low;
                high[parent] += part_high;
            }
        }
        Masses { low, high }
    }

    /// Subtracts the enclosure of a part from that of mass `at`: the remaining mass must lie in the result.
    pub(super) fn lower(&mut self, at: usize, part: &(UBig, UBig)) {
        let mut i = at;
        while i < self.low.len() {
            self.low[i] -= &part.0;
            self.high[i] -= &part.1;
            i |= i + 1;
        }
    }

    /// The mass that a uniform real chooses: number i if the real lies between the shares of the first i and of the
    /// first i + 1 masses in the total. `None` if its bits and the enclosures do not decide.
    pub(super) fn choose(&self, uniform: &Uniform) -> Option<usize> {
        let count = self.low.len();
        let (total_low, total_high) = (sum(&self.low, count), sum(&self.high, count));
        // The real times the total is at least `from` and below `to`.
        let from = (&uniform.drawn * total_low) >> uniform.bits;
        let to = (((&uniform.drawn + UBig::ONE) * total_high) >> uniform.bits) + UBig::ONE;
        // The number of masses that certainly lie below it.
        let (mut below, mut left) = (0, from);
        let mut step = count.checked_next_power_of_two()?;
        while step > 0 {
            let next = below + step;
            if next <= count && self.high[next - 1] <= left {
                left -= &self.high[next - 1];
                below = next;
            }
            step /= 2;
        }
        (below < count && to <= sum(&self.low, below + 1)).then_some(below)
    }
}

/// The sum of the first `count`.
fn sum(tree: &[UBig], count: usize) -> UBig {
    let mut sum = UBig::ZERO;
    let mut i = count;
    while i > 0 {
        sum += &tree[i - 1];
        i &= i - 1;
    }
    sum
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use random::Coins;
    use random::testing::assert_fits;

    fn exact(masses: &[u64]) -> Masses {
        Masses::new(masses.iter().map(|&mass| (mass.into(), mass.into())).collect())
    }

    fn draw(masses: &Masses, coins: &mut Coins, bits: usize) -> i64 {
        let mut uniform = Uniform::new();
        for more in 1.. {
            uniform.extend(coins, bits * more);
            if let Some(chosen) = masses.choose(&uniform) {
                return chosen as i64;
            }
        }
        -1
    }

    #[test]
    fn choices_follow_the_masses() {
        let mut coins = Coins::seeded(1);
        for weights in [vec![1], vec![0, 3, 0, 5, 2, 0], vec![1; 17], vec![7, 0, 0, 0, 0, 0, 0, 1]]
        {
            let total: u64 = weights.iter().sum();
            let law: Vec<f64> = weights.iter().map(|&w| w as f64 / total as f64).collect();
            let masses = exact(&weights);
            assert_fits(&law, 10_000, || draw(&masses, &mut coins, 64));
        }
    }

    #[test]
    fn masses_can_be_lowered() {
        let mut coins = Coins::seeded(2);
        let mut masses = exact(&[5, 4, 3, 2, 1]);
        masses.lower(1, &(4u8.into(), 4u8.into()));
        masses.lower(4, &(1u8.into(), 1u8.into()));
        assert_fits(&[0.5, 0.0, 0.3, 0.2, 0.0], 10_000, || draw(&masses, &mut coins, 64));
    }

    proptest! {
        /// A choice by enclosures is the choice by any numbers within them.
        #[test]
        fn a_choice_is_right_for_all_that_is_enclosed(
            masses in prop::collection::vec((0u64..50, 0u64..3, 0u64..4), 1..12), word: u64,
        ) {
            let value = |&(low, width, part): &(u64, u64, u64)| 4 * low + width * part;
            let enclosed = masses.iter().map(|&(low, width, _)| {
                (UBig::from(4 * low), UBig::from(4 * (low + width)))
            });
            let masses_known = Masses::new(enclosed.collect());
            let uniform = Uniform { drawn: word.into(), bits: 64 };
            let total: u64 = masses.iter().map(value).sum();
            prop_assume!(total > 0);
            let target = u128::from(word) * u128::from(total);
            let mut until = 0;
            let right = masses.iter().position(|mass| {
                until += value(mass);
                target < u128::from(until) << 64
            });
            if let Some(chosen) = masses_known.choose(&uniform) {
                prop_assert_eq!(Some(chosen), right);
            }
        }
    }
}
