//! Sets of groups as bits: quick answers to "do more than theta rows contain these items?".

use crate::project::Projection;
use crate::project::unit_rows::UnitSum;
use table::bits::{self, BitSet, BitSets};

/// Sets of at most this number of words are always made.
pub(crate) const FEW_WORDS: usize = 4;

/// For each item of a projection the groups that contain it, as bits.
#[derive(Default)]
pub(crate) struct GroupSets {
    /// One set per item; without words if the sets were too sparse to be worth the memory.
    pub of_items: BitSets,
    /// The groups of more than theta rows, or units.
    pub heavy: Vec<u64>,
    /// The groups that can contain MIIs that are needed.
    pub light: Vec<u64>,
}

impl GroupSets {
    /// Makes the sets of `projection`, unless they are many and take more memory than its occurrences.
    pub(crate) fn fill(&mut self, projection: &Projection, theta: u64) {
        let groups = &projection.groups;
        let words = bits::words(groups.len());
        self.heavy.clear();
        self.light.clear();
        if words > FEW_WORDS && words * projection.items() > groups.cells() {
            self.of_items.reset(0, 0);
            return;
        }
        self.of_items.reset(projection.items(), groups.len());
        self.heavy.resize(words, 0);
        self.light.resize(words, 0);
        for group in 0..groups.len() as u32 {
            for &item in groups.row(group) {
                self.of_items.insert(item as usize, group as usize);
            }
            if groups.weight(group) > theta {
                bits::insert(&mut self.heavy, group as usize);
            } else if groups.light(group, theta) {
                bits::insert(&mut self.light, group as usize);
            }
        }
    }

    /// Whether more than `theta` rows, or units, of `projection` contain all of `items`, which must not be empty.
    pub(crate) fn frequent(&self, projection: &Projection, items: &[u32], theta: u64) -> bool {
        let groups = &projection.groups;
        if groups.units().is_empty() {
            return self.exceeds(projection, items, theta, |group| groups.weights()[group]);
        }
        let mut sum = groups.unit_sum();
        self.exceeds(projection, items, theta, |group| sum.add(group))
    }

    /// As [`GroupSets::frequent`]; `add` is the support that a group adds to that of the groups before it.
    #[inline(always)]
    fn exceeds(
        &self,
        projection: &Projection,
        items: &[u32],
        theta: u64,
        mut add: impl FnMut(usize) -> u64,
    ) -> bool {
        let groups = &projection.groups;
        let mut support = 0;
        if self.words() == 0 {
            let rare = items.iter().min_by_key(|&&item| projection.occurrences(item).len());
            return rare.is_some_and(|&rare| {
                projection.occurrences(rare).iter().any(|&(group, _)| {
                    let row = groups.row(group);
                    if items.iter().all(|item| row.binary_search(item).is_ok()) {
                        support += add(group as usize);
                    }
                    support > theta
                })
            });
        }
        (0..self.words()).any(|word| {
            let of = |item: u32| self.of_items.word(item as usize, word);
            let set = items.iter().fold(u64::MAX, |set, &item| set & of(item));
            set & self.heavy[word] != 0
                || bits::ones(set).any(|bit| {
                    support += add(word * 64 + bit);
                    support > theta
                })
        })
    }

    /// Words per set; 0 if there are no sets.
    pub(crate) fn words(&self) -> usize {
        self.of_items.stride()
    }

    pub(crate) fn memory(&self) -> usize {
        self.of_items.memory() + (self.heavy.capacity() + self.light.capacity()) * 8
    }
}

/// The sum of the weights of groups, or a partial sum that is at least `enough`.
#[inline]
pub(crate) fn weight_up_to<const W: usize>(groups: BitSet<W>, enough: u64, weights: &[u64]) -> u64 {
    let mut sum = 0;
    for (&word, weights) in groups.words().iter().zip(weights.chunks(64)) {
        for group in bits::ones(word) {
            sum += weights[group];
            if sum >= enough {
                return sum;
            }
        }
    }
    sum
}

/// The number of units of groups, or a partial sum that is at least `enough`.
#[inline]
pub(crate) fn units_up_to<const W: usize>(
    groups: BitSet<W>,
    enough: u64,
    mut units: UnitSum<'_>,
) -> u64 {
    let mut sum = 0;
    for group in groups.iter() {
        sum += units.add(group);
        if sum >= enough {
            break;
        }
    }
    sum
}
