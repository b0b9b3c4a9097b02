//! Suggests forms that make rows equal to the most similar ones.

use super::differences::Differences;
use super::frontier::Form;
use crate::k_anonymize::prepare::People;
use rayon::prelude::*;
use table::{Stop, Watch, bits};

/// Forms in which the given rows equal at least k - 1 similar rows: up to `most` for each row, starting from its
/// nearest rows. Comparing all rows with all is quadratic, but finds forms that a search through the forms of a wide
/// table would miss.
pub(crate) fn suggest(
    people: &People,
    rows: &[u32],
    k: u64,
    most: usize,
    watch: &Watch,
) -> Result<Vec<Form>, Stop> {
    let forms = rows.par_iter().map(|&row| {
        let differences = Differences::new(people, row);
        let nothing = vec![0; bits::words(people.width())];
        let mut nearest: Vec<(u64, usize)> = (0..people.len())
            .filter(|&other| other != row as usize)
            .map(|other| (differences.cost(other, &nothing), other))
            .collect();
        let count = most.min(nearest.len());
        if count > 0 {
            nearest.select_nth_unstable(count - 1);
        }
        nearest.truncate(count);
        let mut forms = Vec::new();
        for (_, first) in nearest {
            watch.check()?;
            let mut blanked = nothing.clone();
            differences.add(first, &mut blanked);
            while rows_that_fit(people, &differences, &blanked) < k {
                let next = (0..people.len())
                    .map(|other| (differences.cost(other, &blanked), other))
                    .filter(|&(cost, _)| cost > 0)
                    .min();
                let Some((_, next)) = next else { break };
                differences.add(next, &mut blanked);
            }
            let level = |column: usize| u16::from(bits::has(&blanked, column));
            forms.push((0..people.width()).map(level).collect::<Form>());
        }
        Ok(forms)
    });
    let mut forms = forms.collect::<Result<Vec<Vec<Form>>, Stop>>()?.concat();
    forms.sort_unstable();
    forms.dedup();
    Ok(forms)
}

fn rows_that_fit(people: &People, differences: &Differences, blanked: &[u64]) -> u64 {
    let fitting = (0..people.len()).filter(|&other| differences.fits(other, blanked));
    fitting.map(|other| people.weights[other]).sum()
}
