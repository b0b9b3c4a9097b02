//! Where rows differ from a row.

use super::keys::Keyed;

/// Where other rows differ from one: a bit per column. Where the one is NULL no other differs.
pub(crate) struct Differences {
    words: usize,
    bits: Vec<u64>,
}

impl Differences {
    pub fn new(
        keyed: &Keyed,
        row: u32,
        others: impl ExactSizeIterator<Item = u32> + Clone,
    ) -> Self {
        let words = keyed.width().div_ceil(64);
        let mut bits = vec![0; others.len() * words];
        for (column, cells) in keyed.cells.iter().enumerate() {
            let own = cells[row as usize];
            if own == 0 {
                continue;
            }
            for (i, other) in others.clone().enumerate() {
                let differs = u64::from(cells[other as usize] != own);
                bits[i * words + column / 64] |= differs << (column % 64);
            }
        }
        Differences { words, bits }
    }

    fn of(&self, other: usize) -> &[u64] {
        &self.bits[other * self.words..][..self.words]
    }

    /// What must be blanked for another row beyond what is blanked.
    pub fn cost(&self, other: usize, blanked: &[u64], units: &[u64]) -> u64 {
        let mut cost = 0;
        for (word, (&difference, &blanked)) in self.of(other).iter().zip(blanked).enumerate() {
            let mut more = difference & !blanked;
            while more != 0 {
                cost += units[word * 64 + more.trailing_zeros() as usize];
                more &= more - 1;
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
