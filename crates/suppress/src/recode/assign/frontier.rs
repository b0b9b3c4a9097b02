//! Which forms to try next.

use crate::recode::prepare::People;
use hashbrown::{HashMap, HashSet};
use std::collections::BTreeMap;
use table::{Keyed, Stop, Watch};

/// The level of each column.
pub(crate) type Form = Box<[u16]>;

/// Forms in bands of cost, cheapest first.
///
/// A form is a cheaper one with a column shown a level higher. If all forms of a band can be tried, all
/// are; if not, those whose parents brought most rows together.
pub(crate) struct Frontier {
    /// What a row loses on average, by column and level.
    costs: Vec<Vec<u64>>,
    /// The width of a band.
    band: u64,
    /// The forms known of each band, with the sum of their parents' scores.
    bands: BTreeMap<u64, HashMap<Form, u64, Keyed>>,
    tried: HashSet<Form, Keyed>,
    /// Columns by the score of the form that raises only them, best first.
    columns: Vec<(u64, u16)>,
}

/// Bands from nothing lost to everything blank: four for each column, within these limits. In wide bands
/// groups compete, in narrow ones classes are there to be borrowed from.
const FEW_BANDS: u64 = 36;
const MANY_BANDS: u64 = 128;

/// Forms that raise this many columns and more grow by several columns at once: a table with hundreds
/// of columns is done in dozens of steps.
const LONG: usize = 16;

impl Frontier {
    /// Begins with the form that shows everything.
    pub fn new(people: &People, watch: &Watch) -> Result<Self, Stop> {
        let total = u128::from(people.total()).max(1);
        let mut costs = Vec::new();
        for (column, cells) in people.columns.iter().zip(&people.cells) {
            watch.check()?;
            let cost = |level: usize| {
                let losses = column.losses(level);
                let sum = cells
                    .iter()
                    .zip(&people.weights)
                    .map(|(&cell, &weight)| u128::from(losses[cell as usize]) * u128::from(weight));
                (sum.sum::<u128>() / total) as u64
            };
            costs.push((0..column.levels()).map(cost).collect::<Vec<_>>());
        }
        let most: u64 = costs.iter().filter_map(|column| column.last()).sum();
        let form = Form::from(vec![0; people.width()]);
        let columns = (0..people.width() as u16).map(|column| (0, column)).collect();
        let mut bands = BTreeMap::new();
        bands.insert(0, HashMap::from_iter([(form, 0)]));
        let band = (most / (4 * people.width() as u64).clamp(FEW_BANDS, MANY_BANDS)).max(1);
        Ok(Frontier { costs, band, bands, tried: HashSet::default(), columns })
    }

    /// What a row loses on average in a form.
    pub fn cost(&self, form: &[u16]) -> u64 {
        self.costs.iter().zip(form).map(|(costs, &level)| costs[usize::from(level)]).sum()
    }

    pub fn band(&self) -> u64 {
        self.band
    }

    /// The forms of the next band, best first: at most `most`, but at least one.
    pub fn next(&mut self, most: usize) -> Option<Vec<Form>> {
        let (_, forms) = self.bands.pop_first()?;
        let mut forms: Vec<(Form, u64)> = forms.into_iter().collect();
        forms.sort_unstable_by(|a, b| b.1.cmp(&a.1).then_with(|| a.0.cmp(&b.0)));
        forms.truncate(most.max(1));
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
            *sum = sum.saturating_add(score);
        }
    }

    /// Raises a column by a level; false if it is blank already.
    fn raise(&self, form: &mut [u16], column: usize) -> bool {
        let raised = usize::from(form[column]) + 1 < self.costs[column].len();
        form[column] += u16::from(raised);
        raised
    }
}
