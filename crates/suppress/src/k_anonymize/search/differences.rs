//! The columns in which rows differ from a given row.

use crate::k_anonymize::prepare::People;
use table::{BitSets, bits};

/// The columns in which other rows differ from one, a bit per column. A NULL in that row differs from nothing.
pub(crate) struct Differences {
    sets: BitSets,
    /// The cost for the row of blanking each column.
    costs: Vec<u64>,
}

impl Differences {
    /// The differences of all rows from this one.
    pub fn new(people: &People, row: u32) -> Self {
        let mut sets = BitSets::new(people.len(), people.width());
        let mut costs = Vec::with_capacity(people.width());
        for (number, (column, cells)) in people.columns.iter().zip(&people.cells).enumerate() {
            let own = cells[row as usize];
            costs.push(column.worth(own));
            if own == column.null() {
                continue;
            }
            for (other, &cell) in cells.iter().enumerate() {
                sets.insert_if(other, number, cell != own);
            }
        }
        Differences { sets, costs }
    }

    /// The cost of the columns that must be blanked for another row in addition to `blanked`.
    pub fn cost(&self, other: usize, blanked: &[u64]) -> u64 {
        let difference = self.sets.set(other);
        let mut cost = 0;
        for word in 0..blanked.len() {
            for bit in bits::ones(difference[word] & !blanked[word]) {
                cost += self.costs[word * 64 + bit];
            }
        }
        cost
    }

    /// True if nothing more must be blanked for another row.
    pub fn fits(&self, other: usize, blanked: &[u64]) -> bool {
        let difference = self.sets.set(other);
        (0..blanked.len()).all(|word| difference[word] & !blanked[word] == 0)
    }

    /// Adds the columns in which another row differs to `blanked`.
    pub fn add(&self, other: usize, blanked: &mut [u64]) {
        blanked.iter_mut().zip(self.sets.set(other)).for_each(|(b, d)| *b |= d);
    }
}
