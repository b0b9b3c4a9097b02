//! Sets of groups as bits: quick answers to "do more than theta rows contain these items?".

use crate::projection::Projection;

/// Sets of so few words are always made.
pub(crate) const FEW_WORDS: usize = 4;

/// For each item of a projection the groups that contain it, as bits.
#[derive(Default)]
pub(crate) struct Sets {
    /// Words per set; 0 if sets were too sparse to be worth the memory.
    words: usize,
    /// One set per item, one after the other.
    bits: Vec<u64>,
    /// The groups of more than theta rows.
    heavy: Vec<u64>,
    /// The groups that can contain MIIs that somebody needs.
    light: Vec<u64>,
}

impl Sets {
    /// Takes the sets of `projection`, unless they are many and take more memory than its
    /// occurrences do.
    pub(crate) fn fill(&mut self, projection: &Projection, theta: u64) {
        let groups = &projection.groups;
        self.words = groups.len().div_ceil(64);
        self.bits.clear();
        self.heavy.clear();
        self.light.clear();
        if self.words > FEW_WORDS && self.words * projection.items() > groups.cells() {
            self.words = 0;
            return;
        }
        self.bits.resize(self.words * projection.items(), 0);
        self.heavy.resize(self.words, 0);
        self.light.resize(self.words, 0);
        for group in 0..groups.len() as u32 {
            let (word, bit) = (group as usize / 64, 1 << (group % 64));
            for &item in groups.row(group) {
                self.bits[item as usize * self.words + word] |= bit;
            }
            if groups.weight(group) > theta {
                self.heavy[word] |= bit;
            } else if groups.light(group, theta) {
                self.light[word] |= bit;
            }
        }
    }

    /// Whether more than `theta` rows of `projection` contain all of `items`, which are not none.
    pub(crate) fn frequent(&self, projection: &Projection, items: &[u32], theta: u64) -> bool {
        let groups = &projection.groups;
        let mut support = 0;
        if self.words == 0 {
            let rare = items.iter().min_by_key(|&&item| projection.occurrences(item).len());
            return rare.is_some_and(|&rare| {
                projection.occurrences(rare).iter().any(|&(group, _)| {
                    let row = groups.row(group);
                    if items.iter().all(|item| row.binary_search(item).is_ok()) {
                        support += groups.weight(group);
                    }
                    support > theta
                })
            });
        }
        (0..self.words).any(|word| {
            let mut set = items
                .iter()
                .fold(u64::MAX, |set, &item| set & self.bits[item as usize * self.words + word]);
            if set & self.heavy[word] != 0 {
                return true;
            }
            while set != 0 {
                support += groups.weight(word as u32 * 64 + set.trailing_zeros());
                if support > theta {
                    return true;
                }
                set &= set - 1;
            }
            false
        })
    }

    /// Words per set; 0 if there are no sets.
    pub(crate) fn words(&self) -> usize {
        self.words
    }

    /// The groups that contain `item`.
    pub(crate) fn set(&self, item: u32) -> &[u64] {
        &self.bits[item as usize * self.words..][..self.words]
    }

    /// The groups of more than theta rows.
    pub(crate) fn heavy(&self) -> &[u64] {
        &self.heavy
    }

    /// The groups that can contain MIIs that somebody needs.
    pub(crate) fn light(&self) -> &[u64] {
        &self.light
    }

    pub(crate) fn memory(&self) -> usize {
        (self.bits.capacity() + self.heavy.capacity() + self.light.capacity()) * 8
    }
}
