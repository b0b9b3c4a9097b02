//! Which forms to try next.

use hashbrown::HashMap;
use std::collections::BTreeMap;

/// The columns that a form blanks, ascending.
pub(crate) type Form = Box<[u16]>;

/// Forms in bands of cost, cheapest first.
///
/// A form is a cheaper one with a column more. If all forms of a band can be tried, all are; if
/// not, those whose parents brought most rows together.
pub(crate) struct Frontier<'a> {
    units: &'a [u64],
    /// The width of a band.
    band: u64,
    /// The forms known of each band, with the sum of their parents' scores.
    bands: BTreeMap<u64, HashMap<Form, u64, table::Keyed>>,
    /// Columns by the score of the form that blanks only them, best first.
    columns: Vec<(u64, u16)>,
}

/// Forms of this many columns and more grow by several columns at once: a table with hundreds
/// of columns is done in dozens of steps.
const LONG: usize = 16;

/// The score of a suggested form.
const SUGGESTED: u64 = u64::MAX;

impl<'a> Frontier<'a> {
    /// Begins with the form that blanks nothing. `units` are the costs of the columns.
    pub fn new(units: &'a [u64]) -> Self {
        let least = units.iter().copied().min().unwrap_or(1);
        let sum: u64 = units.iter().sum();
        let columns = (0..units.len() as u16).map(|column| (0, column)).collect();
        let mut bands = BTreeMap::new();
        bands.insert(0, HashMap::from_iter([(Form::default(), 0)]));
        // Weights far apart would give thousands of bands: 128 are enough to keep the order.
        Frontier { units, band: least.max(sum / 128), bands, columns }
    }

    /// The cost of a form.
    pub fn cost(&self, form: &[u16]) -> u64 {
        form.iter().map(|&c| self.units[usize::from(c)]).sum()
    }

    /// Adds forms that will be tried whatever else there is.
    pub fn suggest(&mut self, forms: Vec<Form>) {
        for form in forms {
            let band = self.cost(&form).div_ceil(self.band);
            self.bands.entry(band).or_default().insert(form, SUGGESTED);
        }
    }

    /// The forms of the next band, best first: at most `most` that were not suggested, but at
    /// least one.
    pub fn next(&mut self, most: usize) -> Option<Vec<Form>> {
        let (_, forms) = self.bands.pop_first()?;
        let mut forms: Vec<(Form, u64)> = forms.into_iter().collect();
        forms.sort_unstable_by(|a, b| b.1.cmp(&a.1).then_with(|| a.0.cmp(&b.0)));
        let suggested = forms.partition_point(|&(_, score)| score == SUGGESTED);
        forms.truncate(suggested.saturating_add(most.max(1)));
        Some(forms.into_iter().map(|(form, _)| form).collect())
    }

    /// Adds the forms with a column more than `form`, which had the given score.
    pub fn extend(&mut self, form: &[u16], score: u64) {
        if let [column] = form {
            self.columns.retain(|(_, other)| other != column);
            self.columns.push((score, *column));
            self.columns.sort_unstable_by(|a, b| b.cmp(a));
        }
        for column in 0..self.units.len() as u16 {
            if form.binary_search(&column).is_ok() {
                continue;
            }
            let mut longer = form.to_vec();
            longer.push(column);
            let others = self.columns.iter().map(|&(_, other)| other);
            let others =
                others.filter(|other| *other != column && form.binary_search(other).is_err());
            longer.extend(others.take(form.len() / LONG));
            longer.sort_unstable();
            let band = self.cost(&longer).div_ceil(self.band);
            let sum = self.bands.entry(band).or_default().entry(longer.into()).or_default();
            *sum = sum.saturating_add(score.min(SUGGESTED / 2));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn all(units: &[u64], most: usize) -> Vec<Vec<Form>> {
        let mut frontier = Frontier::new(units);
        let mut bands = Vec::new();
        while let Some(forms) = frontier.next(most) {
            forms.iter().for_each(|form| frontier.extend(form, 1));
            bands.push(forms);
        }
        bands
    }

    #[test]
    fn every_form_comes_once_and_cheaper_ones_first() {
        let bands = all(&[16; 5], usize::MAX);
        assert_eq!(bands.iter().map(Vec::len).collect::<Vec<_>>(), [1, 5, 10, 10, 5, 1]);
        let forms = all(&[16, 40, 25], usize::MAX).concat();
        assert_eq!(forms.len(), 8);
        let place = |form: &[u16]| forms.iter().position(|f| **f == *form).unwrap();
        assert!(place(&[0, 2]) > place(&[2]) && place(&[1, 2]) > place(&[0, 2]));
    }

    #[test]
    fn a_narrow_frontier_still_ends_with_everything_blanked() {
        for columns in [1, 3, 40, 300] {
            let bands = all(&vec![16; columns], 1);
            assert_eq!(bands.last().unwrap()[0].len(), columns);
            assert!(bands.len() <= columns.min(120) + 1);
        }
        assert_eq!(all(&[], 1), [[Form::default()]]);
    }
}
