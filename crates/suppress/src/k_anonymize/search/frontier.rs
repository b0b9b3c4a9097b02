//! Which forms to try next.

use crate::k_anonymize::prepare::People;
use hashbrown::{HashMap, HashSet};
use std::collections::BTreeMap;
use table::{Keyed, Stop, Watch};

/// The level of each column.
pub(crate) type Form = Box<[u16]>;

/// Forms in bands of cost, cheapest first.
///
/// Each form is made from a cheaper one by showing a column a level higher. If all forms of a band can be tried, they
/// are; if not, those whose parents made most rows equal.
pub(crate) struct Frontier {
    /// The mean loss of a row, or in a lean search that of a row with a value, by column and level.
    costs: Vec<Vec<u64>>,
    /// The width of a band.
    pub band: u64,
    /// The forms known of each band, with the sum of their parents' scores.
    bands: BTreeMap<u64, HashMap<Form, u64, Keyed>>,
    tried: HashSet<Form, Keyed>,
    /// Columns by the score of the form that raises only them, best first.
    columns: Vec<(u64, u16)>,
    /// The loss of a blank cell of the cheapest column.
    pub cell: u64,
}

/// The number of bands from no loss to everything blank: four for each column, within these limits. In wide bands
/// groups compete; after narrow ones there are classes to borrow from.
const FEW_BANDS: u64 = 36;
const MANY_BANDS: u64 = 128;

/// Forms that raise this many columns or more are extended by several columns at once, so that a table with hundreds of
/// columns takes dozens of steps.
const LONG: usize = 16;

/// The score of a suggested form.
const SUGGESTED: u64 = u64::MAX;

impl Frontier {
    /// Begins with the form that shows everything. If `narrow`, a band is as wide as the cheapest column, so
    /// that forms with a column more are in the next one; but no more than [`MANY_BANDS`].
    pub fn new(people: &People, narrow: bool, watch: &Watch) -> Result<Self, Stop> {
        let total = u128::from(people.total()).max(1);
        let mut costs = Vec::new();
        for (column, cells) in people.columns.iter().zip(&people.cells) {
            watch.check()?;
            let cost = |level: usize| {
                let losses = column.losses(level);
                // Where cells are only blanked, NULLs must not make a column look cheap, because rows that have a value
                // lose it.
                if narrow {
                    return losses.iter().copied().max().unwrap_or(0).into();
                }
                let weighted = cells.iter().zip(&people.weights);
                let sum: u128 = weighted
                    .map(|(&cell, &weight)| u128::from(losses[cell as usize]) * u128::from(weight))
                    .sum();
                (sum / total) as u64
            };
            costs.push((0..column.levels()).map(cost).collect::<Vec<_>>());
        }
        let most: u64 = costs.iter().filter_map(|column| column.last()).sum();
        let form = Form::from(vec![0; people.width()]);
        let columns = (0..people.width() as u16).map(|column| (0, column)).collect();
        let mut bands = BTreeMap::new();
        bands.insert(0, HashMap::from_iter([(form, 0)]));
        let cells = people.columns.iter().map(|column| column.worth(0)).filter(|&cell| cell > 0);
        let cell = cells.min().unwrap_or(1);
        let bands_of_all = (4 * people.width() as u64).clamp(FEW_BANDS, MANY_BANDS);
        let band = if narrow { cell.max(most / MANY_BANDS) } else { (most / bands_of_all).max(1) };
        Ok(Frontier { costs, band, bands, tried: HashSet::default(), columns, cell })
    }

    /// The loss of a row in a form.
    pub fn cost(&self, form: &[u16]) -> u64 {
        self.costs.iter().zip(form).map(|(costs, &level)| costs[usize::from(level)]).sum()
    }

    /// Adds forms that will be tried in any case.
    pub fn suggest(&mut self, forms: Vec<Form>) {
        for form in forms.into_iter().filter(|form| !self.tried.contains(form)) {
            let band = self.cost(&form).div_ceil(self.band);
            self.bands.entry(band).or_default().insert(form, SUGGESTED);
        }
    }

    /// The forms of the next band, best first: at most `most` that were not suggested, but at least one.
    pub fn next(&mut self, most: usize) -> Option<Vec<Form>> {
        let (_, forms) = self.bands.pop_first()?;
        let mut forms: Vec<(Form, u64)> = forms.into_iter().collect();
        forms.sort_unstable_by(|a, b| b.1.cmp(&a.1).then_with(|| a.0.cmp(&b.0)));
        let suggested = forms.partition_point(|&(_, score)| score == SUGGESTED);
        forms.truncate(suggested.saturating_add(most.max(1)));
        let forms: Vec<Form> = forms.into_iter().map(|(form, _)| form).collect();
        self.tried.extend(forms.iter().cloned());
        Some(forms)
    }

    /// Adds the forms with a column a level higher than in `form`, which had the given score.
    pub fn extend(&mut self, form: &[u16], score: u64) {
        let raised = form.iter().filter(|&&level| level > 0).count();
        if raised == 1
            && let Some(column) = form.iter().position(|&level| level == 1)
        {
            self.columns.retain(|&(_, other)| usize::from(other) != column);
            self.columns.push((score, column as u16));
            self.columns.sort_unstable_by(|a, b| b.cmp(a));
        }
        for column in 0..form.len() {
            let mut higher = form.to_vec();
            if !self.raise(&mut higher, column) {
                continue;
            }
            let others = self.columns.iter().map(|&(_, other)| usize::from(other));
            let mut more = raised / LONG;
            for other in others.filter(|&other| other != column) {
                if more == 0 {
                    break;
                }
                more -= usize::from(self.raise(&mut higher, other));
            }
            let higher = Form::from(higher);
            if self.tried.contains(&higher) {
                continue;
            }
            let band = self.cost(&higher).div_ceil(self.band);
            let sum = self.bands.entry(band).or_default().entry(higher).or_default();
            *sum = sum.saturating_add(score.min(SUGGESTED / 2));
        }
    }

    /// Raises a column by a level; false if it is blank already.
    fn raise(&self, form: &mut [u16], column: usize) -> bool {
        let raised = usize::from(form[column]) + 1 < self.costs[column].len();
        form[column] += u16::from(raised);
        raised
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Hierarchy;
    use crate::k_anonymize::prepare::Column;
    use table::Bag;

    /// All forms of a table whose columns have these weights and two values, band by band.
    fn all(weights: &[f64], most: usize) -> Vec<Vec<Form>> {
        let rows = ["a", "b"].map(|value| vec![Some(value); weights.len()]);
        let bag = Bag::from_text(weights.len(), rows);
        let columns = weights.iter().enumerate();
        let columns = columns.map(|(c, &w)| Column::new(c, &Hierarchy::flat(2), w)).collect();
        let watch = Watch::unlimited();
        let people = People::new(&bag, None, columns, &watch).unwrap();
        let mut frontier = Frontier::new(&people, true, &watch).unwrap();
        let mut bands = Vec::new();
        while let Some(forms) = frontier.next(most) {
            forms.iter().for_each(|form| frontier.extend(form, 1));
            bands.push(forms);
        }
        bands
    }

    /// Columns of equal weight cost the same in a quick search, however many of their cells are NULL.
    #[test]
    fn nulls_make_no_column_cheap_to_blank() {
        let rows = [[Some("a"), Some("a")], [Some("b"), None], [Some("a"), None]];
        let bag = Bag::from_text(2, rows);
        let columns = bag.domains().iter().enumerate();
        let columns = columns.map(|(c, d)| Column::new(c, &Hierarchy::flat(d.len()), 1.0));
        let watch = Watch::unlimited();
        let people = People::new(&bag, None, columns.collect(), &watch).unwrap();
        let costs = |narrow| {
            let frontier = Frontier::new(&people, narrow, &watch).unwrap();
            [[1, 0], [0, 1]].map(|form| frontier.cost(&form))
        };
        let [whole, holes] = costs(true);
        assert_eq!(whole, holes);
        // If classes are improved later, the mean loss counts.
        assert_eq!(costs(false), [whole, whole / 3]);
    }

    #[test]
    fn every_form_comes_once_and_cheaper_ones_first() {
        let bands = all(&[1.0; 5], usize::MAX);
        assert_eq!(bands.iter().map(Vec::len).collect::<Vec<_>>(), [1, 5, 10, 10, 5, 1]);
        let forms = all(&[0.4, 1.0, 0.625], usize::MAX).concat();
        assert_eq!(forms.len(), 8);
        let place = |form: &[u16]| forms.iter().position(|f| **f == *form).unwrap();
        assert!(place(&[1, 0, 1]) > place(&[0, 0, 1]) && place(&[0, 1, 1]) > place(&[1, 0, 1]));
    }

    #[test]
    fn a_narrow_frontier_still_ends_with_everything_blanked() {
        for columns in [1, 3, 40, 300] {
            let bands = all(&vec![1.0; columns], 1);
            assert!(bands.last().unwrap()[0].iter().all(|&level| level == 1));
            assert!(bands.len() <= columns.min(120) + 1);
        }
        assert_eq!(all(&[], 1), [[Form::default()]]);
    }
}
