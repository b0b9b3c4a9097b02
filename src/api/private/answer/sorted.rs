//! Totals of rows that come sorted: only the integers of one group are held.

use crate::pg::read::unit_rows::Visit;
use aggregate::{MeasureKind, NoisePlan};
use question::Key;
use random::Coins;

/// Adds up rows that come in the order of their groups, of their measures, and of their values.
pub struct Sorted<'a> {
    plan: &'a NoisePlan,
    /// The measures that count values once, and those that count units.
    distinct: Vec<usize>,
    unit_counts: Vec<usize>,
    key: Option<Key>,
    slots: Vec<i128>,
    units: i128,
    /// Whether the group is shown; known once all its units are counted.
    is_shown: Option<bool>,
    last: (i64, i64),
}

impl<'a> Sorted<'a> {
    pub fn new(plan: &'a NoisePlan) -> Self {
        let of_kind = |kind: MeasureKind| -> Vec<usize> {
            plan.measures().filter(|(_, m)| m.kind == kind).map(|(i, _)| i).collect()
        };
        Sorted {
            plan,
            distinct: of_kind(MeasureKind::Distinct),
            unit_counts: of_kind(MeasureKind::Units),
            key: None,
            slots: vec![0; plan.slots()],
            units: 0,
            is_shown: None,
            last: (0, 0),
        }
    }

    /// Counts a row: the number of a measure from 1 on, and a value; number 0 is the unit.
    pub fn row(&mut self, visit: Visit<'_>, coins: &mut Coins) {
        if let Some(key) = visit.key {
            self.key = Some(key);
            self.last = (0, 0);
        }
        let &[number, value] = visit.values else { return };
        if number == 0 {
            self.units += i128::from(visit.is_new_text);
            return;
        }
        let is_again = self.last == (number, value);
        self.last = (number, value);
        let measure = number as usize - 1;
        if self.shows(coins) && !(is_again && self.distinct.contains(&measure)) {
            self.plan.add(&mut self.slots, measure, value);
        }
    }

    fn shows(&mut self, coins: &mut Coins) -> bool {
        let (plan, units) = (self.plan, self.units);
        *self.is_shown.get_or_insert_with(|| plan.shows(units, coins))
    }

    /// The group that has ended, if it is shown.
    pub fn take(&mut self, coins: &mut Coins) -> Option<(Key, Vec<i128>)> {
        let key = self.key.take()?;
        let is_shown = self.shows(coins);
        for &measure in &self.unit_counts {
            self.plan.add_many(&mut self.slots, measure, self.units, 0);
        }
        let slots = std::mem::replace(&mut self.slots, vec![0; self.plan.slots()]);
        (self.units, self.is_shown) = (0, None);
        is_shown.then_some((key, slots))
    }
}
