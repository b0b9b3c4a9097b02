//! Where rows differ from a row.

use super::keys::Keyed;
use table::{BitSets, bits};

/// Where other rows differ from one: a bit per column. Where the one is NULL no other differs.
pub(crate) struct Differences {
    sets: BitSets,
}

impl Differences {
    pub fn new(
        keyed: &Keyed,
        row: u32,
        others: impl ExactSizeIterator<Item = u32> + Clone,
    ) -> Self {
        let mut sets = BitSets::new(others.len(), keyed.width());
        for (column, cells) in keyed.cells.iter().enumerate() {
            let own = cells[row as usize];
            if own == 0 {
                continue;
            }
            for (i, other) in others.clone().enumerate() {
                sets.insert_if(i, column, cells[other as usize] != own);
            }
        }
        Differences { sets }
    }

    fn of(&self, other: usize) -> &[u64] {
        self.sets.set(other)
    }

    /// What must be blanked for another row beyond what is blanked.
    pub fn cost(&self, other: usize, blanked: &[u64], units: &[u64]) -> u64 {
        let mut cost = 0;
        for (word, (&difference, &blanked)) in self.of(other).iter().zip(blanked).enumerate() {
            for bit in bits::ones(difference & !blanked) {
                cost += units[word * 64 + bit];
            }
        }
        cost
    }

    /// True if nothing more must be blanked for another row.
    pub fn fits(&self, other: usize, blanked: &[u64]) -> bool {
        self.of(other).iter().zip(blanked).all(|(difference, blanked)| difference & !blanked == 0)
    }

    /// Blanks what differs in another row.
    pub fn add(&self, other: usize, blanked: &mut [u64]) {
        blanked.iter_mut().zip(self.of(other)).for_each(|(b, d)| *b |= d);
    }
}
