//! What classes must have if units count.

use super::matching::matched;
use crate::Error;
use crate::k_anonymize::rule::{Rule, Tally};
use crate::k_anonymize::{Diversity, DiversityKind, value};
use table::{Bag, Units, Watch};

/// Sums of shares are rounded: a class must be better than the requirement by this.
const ROUNDING: f64 = 1e-9;

/// The rows of a unit with one sensitive value.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct OfUnit {
    pub value: u32,
    pub unit: u32,
    pub rows: u64,
}

/// The requirements for classes of units.
///
/// A class needs k units. It is distinct-l-diverse if l of its values can be matched to l different units that have
/// them. For entropy and closeness each unit weighs 1 in all, spread evenly over its rows: those in the class for the
/// class, and all its released rows for the release. Where no unit has several values these are whole numbers, and the
/// rule for rows is exact; otherwise sums are rounded, and a class must exceed the requirement by more than that.
pub(crate) struct Terms {
    k: u64,
    asked: Diversity,
    /// The units and rows that are released, and the units by value.
    units: u64,
    rows: u64,
    released: Vec<f64>,
    /// The rule where each unit has one value: in a class, and in all released rows.
    diverse: Rule,
    close: Option<Rule>,
}

/// The weights of the values of some rows, ascending, and the number of units.
struct Weights {
    of_values: Vec<(u32, f64)>,
    units: u64,
    /// True if each unit has one value.
    whole: bool,
}

impl Weights {
    /// `rows` are merged and sorted as [`merge`] does.
    fn new(rows: &[OfUnit]) -> Self {
        let mut by_unit: Vec<&OfUnit> = rows.iter().collect();
        by_unit.sort_unstable_by_key(|of| (of.unit, of.value));
        let mut weights: Vec<(u32, f64)> = Vec::with_capacity(rows.len());
        let (mut units, mut whole) = (0, true);
        for own in by_unit.chunk_by(|a, b| a.unit == b.unit) {
            let all: u64 = own.iter().map(|of| of.rows).sum();
            units += 1;
            whole &= own.len() == 1;
            weights.extend(own.iter().map(|of| (of.value, of.rows as f64 / all as f64)));
        }
        // Stable, so that sums do not depend on the order of the rows.
        weights.sort_by_key(|weight| weight.0);
        let sum = |same: &[(u32, f64)]| (same[0].0, same.iter().map(|weight| weight.1).sum());
        let of_values = weights.chunk_by(|a, b| a.0 == b.0).map(sum).collect();
        Weights { of_values, units, whole }
    }

    /// Units by value, if each has one value.
    fn tally(&self) -> Tally {
        self.of_values.iter().map(|&(value, weight)| (value, weight as u64)).collect()
    }
}

/// Sorts rows by value and unit, and merges those of one unit with one value.
fn merge(rows: &mut Vec<OfUnit>) {
    rows.sort_unstable();
    rows.dedup_by(|next, kept| {
        let same = (next.value, next.unit) == (kept.value, kept.unit);
        if same {
            kept.rows += next.rows;
        }
        same
    });
}

impl Terms {
    /// The terms if these rows are released; `values` is the number of sensitive values, NULL included.
    pub fn new(k: u64, asked: Diversity, values: usize, all: &mut Vec<OfUnit>) -> Self {
        merge(all);
        let weights = Weights::new(all);
        let mut released = vec![0.0; values];
        weights.of_values.iter().for_each(|&(value, weight)| released[value as usize] = weight);
        let diverse = Rule::new(k, Some(Diversity { t: None, ..asked }), Vec::new());
        let close = weights.whole.then(|| {
            let totals = released.iter().map(|&weight| weight as u64).collect();
            Rule::new(k, Some(Diversity { l: None, ..asked }), totals)
        });
        let rows = all.iter().map(|of| of.rows).sum();
        Terms { k: k.max(1), asked, units: weights.units, rows, released, diverse, close }
    }

    /// True if a class of these rows may be released.
    pub fn hold(&self, class: &mut Vec<OfUnit>) -> bool {
        merge(class);
        let weights = Weights::new(class);
        weights.units >= self.k
            && self.is_diverse(class, &weights)
            && self.is_close(class, &weights)
    }

    fn is_diverse(&self, class: &[OfUnit], weights: &Weights) -> bool {
        let Some(l) = self.asked.l else { return true };
        if weights.whole {
            return self.diverse.holds(&weights.tally());
        }
        match self.asked.kind {
            DiversityKind::Distinct => matched(class, l.ceil() as usize) as f64 >= l,
            DiversityKind::Entropy => {
                let share = |&(_, weight): &(u32, f64)| weight / weights.units as f64;
                let parts = weights.of_values.iter().map(share).map(|share| -share * share.ln());
                l <= 1.0 || parts.sum::<f64>() >= l.ln() + ROUNDING
            }
        }
    }

    fn is_close(&self, class: &[OfUnit], weights: &Weights) -> bool {
        let Some(t) = self.asked.t else { return true };
        if let Some(close) = &self.close {
            return close.holds(&weights.tally());
        }
        // A class of all released rows is at no distance from them.
        let is_all = class.iter().map(|of| of.rows).sum::<u64>() == self.rows;
        is_all || self.distance(weights) + ROUNDING <= t
    }

    fn distance(&self, weights: &Weights) -> f64 {
        let beyond = |&(value, weight): &(u32, f64)| {
            let own = weight / weights.units as f64;
            (own - self.released[value as usize] / self.units as f64).max(0.0)
        };
        weights.of_values.iter().map(beyond).sum()
    }

    /// The value that a class has most too much of.
    pub fn excess(&self, class: &[OfUnit]) -> Option<u32> {
        let weights = Weights::new(class);
        let excess = |&(value, weight): &(u32, f64)| match self.asked.t {
            Some(_) => {
                let expected = self.released[value as usize] / self.units as f64;
                weight - expected * weights.units as f64
            }
            None => weight,
        };
        let most =
            |a: &&(u32, f64), b: &&(u32, f64)| excess(a).total_cmp(&excess(b)).then(b.0.cmp(&a.0));
        weights.of_values.iter().max_by(most).map(|entry| entry.0)
    }
}

/// Fails if not even a class of all rows would be distinct-l-diverse.
pub(crate) fn diverse_enough(
    bag: &Bag,
    units: &Units,
    column: usize,
    asked: Diversity,
    watch: &Watch,
) -> Result<(), Error> {
    let (Some(l), DiversityKind::Distinct) = (asked.l, asked.kind) else { return Ok(()) };
    let _held = watch.hold(units.pairs() as u64 * 64)?;
    let mut all = rows_of_units(bag, units, column, 0..bag.distinct());
    merge(&mut all);
    let values = matched(&all, l.ceil() as usize);
    if bag.row_count() > 0 && (values as f64) < l {
        return Err(Error::NotDiverse { l, values });
    }
    Ok(())
}

/// What the units of some rows of the bag have in the sensitive column.
fn rows_of_units(
    bag: &Bag,
    units: &Units,
    column: usize,
    rows: impl Iterator<Item = usize>,
) -> Vec<OfUnit> {
    let of = |row: usize| {
        let value = value(bag, row, column);
        units.of(row).iter().map(move |of| OfUnit { value, unit: of.unit, rows: of.rows })
    };
    rows.flat_map(of).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(rows: &[(u32, u32, u64)]) -> Vec<OfUnit> {
        rows.iter().map(|&(unit, value, rows)| OfUnit { value, unit, rows }).collect()
    }

    fn hold(asked: Diversity, class: &[(u32, u32, u64)], all: &[(u32, u32, u64)]) -> bool {
        Terms::new(2, asked, 4, &mut of(all)).hold(&mut of(class))
    }

    fn asked(l: Option<f64>, kind: DiversityKind, t: Option<f64>) -> Diversity {
        Diversity { l, kind, t }
    }

    #[test]
    fn a_unit_with_two_values_helps_one_of_them() {
        let two = asked(Some(2.0), DiversityKind::Distinct, None);
        let three = asked(Some(3.0), DiversityKind::Distinct, None);
        let class = [(0, 0, 1), (0, 1, 1), (1, 1, 1), (1, 2, 5)];
        assert!(hold(two, &class, &class));
        assert!(!hold(three, &class, &class));
        let class = [(0, 0, 1), (0, 1, 1), (1, 0, 1), (2, 0, 2), (2, 2, 1)];
        assert!(hold(three, &class, &class));
        // One unit more than values: still as many values as can be matched.
        assert!(!hold(two, &[(0, 0, 1), (0, 1, 1)], &class));
    }

    /// Two units, of which one has the values 0 and 1 in one of three and two of three rows: weights 4/3 and 2/3.
    #[test]
    fn each_unit_weighs_one_in_all() {
        let class = [(0, 0, 1), (1, 0, 1), (1, 1, 2)];
        let entropy = |l| asked(Some(l), DiversityKind::Entropy, None);
        let exp = (-(2.0f64 / 3.0) * (2.0f64 / 3.0).ln() - (1.0 / 3.0) * (1.0f64 / 3.0).ln()).exp();
        assert!(hold(entropy(exp - 1e-6), &class, &class));
        assert!(!hold(entropy(exp + 1e-6), &class, &class));
        // Equal numbers of units are exactly two values, however many rows they have.
        assert!(hold(entropy(2.0), &[(0, 0, 9), (1, 1, 1)], &class));
        // Of all rows unit 1 has half in value 0; in the class it has none.
        let all = [(0, 0, 1), (1, 0, 3), (1, 1, 3)];
        let close = |t| asked(None, DiversityKind::Distinct, Some(t));
        assert!(hold(close(0.2501), &[(0, 0, 1), (1, 1, 3)], &all));
        assert!(!hold(close(0.2499), &[(0, 0, 1), (1, 1, 3)], &all));
        assert!(hold(close(0.0), &all, &all));
    }
}
