//! The space of all itemsets of public domains, counted and numbered.

use dashu_int::{
    UBig,
    ops::{BitTest, DivRem},
};
use table::{Item, Stop, Watch};

/// The non-empty itemsets with at most one value per column and at most `max_length` items.
///
/// Made from the sizes of the domains alone. Itemsets are numbered by length, then by column and value.
pub struct ItemsetSpace {
    sizes: Vec<u32>,
    /// By column and length: the number of itemsets of that length in the columns from this one on, the elementary
    /// symmetric polynomial of their sizes. Has one more entry than there are columns.
    counts: Vec<Vec<UBig>>,
}

impl ItemsetSpace {
    /// Counts columns x lengths itemsets; their memory stays reserved.
    pub fn new(sizes: Vec<u32>, max_length: usize, watch: &Watch) -> Result<Self, Stop> {
        let longest = max_length.min(sizes.len());
        let bits: u64 = sizes.iter().map(|&size| u64::from(u32::BITS - size.leading_zeros())).sum();
        let row = (longest as u64 + 1) * (bits / 8 + 32);
        watch.reserve(row.saturating_mul(sizes.len() as u64 + 1))?;
        let mut last = vec![UBig::ZERO; longest + 1];
        last[0] = UBig::ONE;
        let mut counts = vec![last];
        for &size in sizes.iter().rev() {
            watch.check()?;
            let after = &counts[counts.len() - 1];
            let with = |length: usize| &after[length] + &after[length - 1] * size;
            let here = std::iter::once(UBig::ONE).chain((1..=longest).map(with)).collect();
            counts.push(here);
        }
        counts.reverse();
        Ok(ItemsetSpace { sizes, counts })
    }

    /// The number of itemsets.
    pub fn count(&self) -> UBig {
        self.count_of_last(self.sizes.len())
    }

    /// The number of itemsets of the last `columns` columns.
    pub(super) fn count_of_last(&self, columns: usize) -> UBig {
        self.counts[self.sizes.len() - columns][1..].iter().sum()
    }

    /// Itemset number `number`, in item order.
    pub(super) fn itemset(&self, number: UBig) -> Vec<Item> {
        self.itemset_of_last(self.sizes.len(), number)
    }

    /// Itemset number `number` of the last `columns` columns.
    pub(super) fn itemset_of_last(&self, columns: usize, mut number: UBig) -> Vec<Item> {
        let mut column = self.sizes.len() - columns;
        let mut left = 1;
        while number >= self.counts[column][left] {
            number -= &self.counts[column][left];
            left += 1;
        }
        let mut items = Vec::with_capacity(left);
        while left > 0 {
            let after = &self.counts[column + 1];
            if number < after[left] {
                column += 1;
                continue;
            }
            number -= &after[left];
            let (code, rest) = number.div_rem(&after[left - 1]);
            // There are fewer values than the column's size.
            let code = u32::try_from(code).unwrap_or(0);
            items.push(Item { column: column as u32, code });
            number = rest;
            left -= 1;
            column += 1;
        }
        items
    }
}

/// The natural logarithm; negative infinity for 0.
pub(super) fn ln(number: &UBig) -> f64 {
    let dropped = number.bit_len().saturating_sub(64);
    (number >> dropped).to_f64().value().ln() + dropped as f64 * std::f64::consts::LN_2
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::collections::BTreeSet;

    fn space(sizes: &[u32], max_length: usize) -> ItemsetSpace {
        ItemsetSpace::new(sizes.to_vec(), max_length, &Watch::unlimited()).unwrap()
    }

    #[test]
    fn known_counts() {
        assert_eq!(space(&[2, 3], 4).count(), UBig::from(11u8));
        assert_eq!(space(&[2, 3], 1).count(), UBig::from(5u8));
        assert_eq!(space(&[1; 60], 60).count(), (UBig::ONE << 60) - 1u8);
        assert_eq!(space(&[2; 60], 4).count(), UBig::from(7_802_160u32 + 273_760 + 7_080 + 120));
        assert_eq!(space(&[0, 0], 2).count(), UBig::ZERO);
        assert_eq!(space(&[1; 7], 3).count_of_last(4), UBig::from(4u8 + 6 + 4));
        assert!((ln(&(UBig::from(3u8) << 2000)) - 2000.0 * 2f64.ln() - 3f64.ln()).abs() < 1e-9);
        assert_eq!(ln(&UBig::ZERO), f64::NEG_INFINITY);
    }

    #[test]
    fn a_space_beyond_the_memory_is_refused() {
        let watch = Watch::new(1 << 20, u64::MAX);
        let refused = ItemsetSpace::new(vec![1000; 1600], 1600, &watch);
        assert_eq!(refused.err(), Some(Stop::Memory { limit: 1 << 20 }));
    }

    proptest! {
        /// Every itemset has one number.
        #[test]
        fn numbers_are_a_bijection(sizes in prop::collection::vec(0u32..4, 1..5), max_length in 1usize..6) {
            let space = space(&sizes, max_length);
            let count = u32::try_from(space.count()).unwrap();
            let all: BTreeSet<Vec<Item>> = (0..count).map(|i| space.itemset(i.into())).collect();
            prop_assert_eq!(all.len(), count as usize);
            for items in &all {
                prop_assert!((1..=max_length).contains(&items.len()));
                prop_assert!(items.windows(2).all(|pair| pair[0].column < pair[1].column));
                prop_assert!(items.iter().all(|item| item.code < sizes[item.column as usize]));
            }
            // The expected numbers: by choosing "absent" or a value in every column.
            let mut lengths = vec![1u32];
            for &size in &sizes {
                lengths.push(0);
                for l in (1..lengths.len()).rev() {
                    lengths[l] += lengths[l - 1] * size;
                }
            }
            prop_assert_eq!(count, lengths.iter().skip(1).take(max_length).sum::<u32>());
        }
    }
}
