//! Which rows are like a row, and the forms that make them equal.

use super::frontier::Form;
use super::keys::Keyed;
use rayon::prelude::*;
use table::{Stop, Watch};

/// Where other rows differ from one: a bit per column. Where the one is NULL no other differs.
pub(super) struct Differences {
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

/// Forms tried for each row: they begin with its nearest rows.
const NEAREST: usize = 4;

/// Forms in which the given rows meet at least k - 1 others that are near to them. Comparing all
/// with all is quadratic, but finds forms that no search through the forms of a wide table would.
pub(super) fn suggest(
    keyed: &Keyed,
    units: &[u64],
    rows: &[u32],
    k: u64,
    watch: &Watch,
) -> Result<Vec<Form>, Stop> {
    let forms = rows.par_iter().map(|&row| {
        let differences = Differences::new(keyed, row, 0..keyed.len() as u32);
        let nothing = vec![0; differences.words];
        let mut nearest: Vec<(u64, usize)> = (0..keyed.len())
            .filter(|&other| other != row as usize)
            .map(|other| (differences.cost(other, &nothing, units), other))
            .collect();
        let count = NEAREST.min(nearest.len());
        if count > 0 {
            nearest.select_nth_unstable(count - 1);
        }
        nearest.truncate(count);
        let mut forms = Vec::new();
        for (_, first) in nearest {
            watch.check()?;
            let mut blanked = nothing.clone();
            differences.add(first, &mut blanked);
            while rows_that_fit(keyed, &differences, &blanked) < k {
                let next = (0..keyed.len())
                    .map(|other| (differences.cost(other, &blanked, units), other))
                    .filter(|&(cost, _)| cost > 0)
                    .min();
                let Some((_, next)) = next else { break };
                differences.add(next, &mut blanked);
            }
            let columns = 0..keyed.width() as u16;
            let columns = columns.filter(|c| blanked[usize::from(c / 64)] >> (c % 64) & 1 == 1);
            forms.push(columns.collect::<Form>());
        }
        Ok(forms)
    });
    Ok(forms.collect::<Result<Vec<Vec<Form>>, Stop>>()?.concat())
}

fn rows_that_fit(keyed: &Keyed, differences: &Differences, blanked: &[u64]) -> u64 {
    let fitting = (0..keyed.len()).filter(|&other| differences.fits(other, blanked));
    fitting.map(|other| keyed.weights[other]).sum()
}
