//! Forms that bring rows together with those that are most like them.

use super::frontier::Form;
use crate::k_anonymize::prepare::{Differences, Keyed};
use rayon::prelude::*;
use table::{Stop, Watch, bits};

/// Forms tried for each row: they begin with its nearest rows.
const NEAREST: usize = 4;

/// Forms in which the given rows meet at least k - 1 others that are near to them. Comparing all
/// with all is quadratic, but finds forms that no search through the forms of a wide table would.
pub(crate) fn suggest(
    keyed: &Keyed,
    units: &[u64],
    rows: &[u32],
    k: u64,
    watch: &Watch,
) -> Result<Vec<Form>, Stop> {
    let forms = rows.par_iter().map(|&row| {
        let differences = Differences::new(keyed, row, 0..keyed.len() as u32);
        let nothing = vec![0; bits::words(keyed.width())];
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
            let columns = columns.filter(|&c| bits::has(&blanked, usize::from(c)));
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
