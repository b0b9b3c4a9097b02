//! What an assignment comes to.

use super::assign::{Assignment, Share};
use super::prepare::{DROP, Keyed};
use table::{BitSets, Release};

/// Classes with the columns they show.
pub(super) struct Outcome {
    shares: Vec<Share>,
    /// The blanked columns of each class, a bit each.
    masks: BitSets,
    /// Units blanked, dropped rows included.
    pub cost: u128,
}

impl Outcome {
    /// A class shows every column in which its rows agree: at least what its form leaves, and
    /// more if borrowed or chosen rows happen to agree in more.
    pub fn new(assignment: Assignment<'_>) -> Self {
        let keyed = assignment.keyed;
        let mut shares = assignment.shares;
        shares.retain(|share| share.weight > 0);
        let mut first = vec![u32::MAX; assignment.classes.len()];
        let mut masks = BitSets::new(assignment.classes.len(), keyed.width());
        for share in &shares {
            let first = &mut first[share.class as usize];
            *first = share.row.min(*first);
        }
        for (column, cells) in keyed.cells.iter().enumerate() {
            for share in &shares {
                let (own, shown) =
                    (cells[share.row as usize], cells[first[share.class as usize] as usize]);
                masks.insert_if(share.class as usize, column, own != shown || own == 0);
            }
        }
        let mut cost: u128 = 0;
        for (column, cells) in keyed.cells.iter().enumerate() {
            let mut rows: u128 = 0;
            for share in &shares {
                let blanked = masks.has(share.class as usize, column);
                if blanked && cells[share.row as usize] != 0 {
                    rows += u128::from(share.weight);
                }
            }
            for &row in assignment.free.iter().filter(|&&row| cells[row as usize] != 0) {
                rows += u128::from(DROP) * u128::from(keyed.weights[row as usize]);
            }
            cost += rows * u128::from(assignment.units[column]);
        }
        Outcome { shares, masks, cost }
    }

    pub fn release(mut self, keyed: &Keyed) -> Release {
        let mut release = Release::new(keyed.width());
        self.shares.sort_unstable_by_key(|share| (keyed.rows[share.row as usize], share.class));
        for share in &self.shares {
            let mask = self.masks.set(share.class as usize);
            release.push(keyed.rows[share.row as usize], mask, share.weight);
        }
        release
    }
}
