//! Adds rows up to the integers of each group.

use crate::measure::MeasureKind;
use crate::plan::{NoisePlan, Planned};
use crate::{Bounded, FINE, NO_VALUE, quantile};
use rand::Rng;

/// The values of measures that look at one value per unit and group.
///
/// The reader of a relation fills it; [`NoisePlan::totals`] adds it up.
#[derive(Debug, Clone, Default)]
pub struct UnitRows {
    width: usize,
    groups: Vec<u32>,
    values: Vec<i64>,
}

impl UnitRows {
    /// With `width` values for each unit and group.
    pub fn new(width: usize) -> Self {
        UnitRows { width, ..UnitRows::default() }
    }

    /// Adds the values of one unit in one of its groups. The caller adds each of them once, and at most as many
    /// groups of a unit as the query allows, chosen by fresh coins.
    pub fn push(&mut self, group: u32, values: &[i64]) {
        self.groups.push(group);
        self.values.extend_from_slice(&values[..self.width]);
    }

    /// Bytes held.
    pub fn memory(&self) -> u64 {
        (self.groups.capacity() * 4 + self.values.capacity() * 8) as u64
    }

    /// Group and values of each entry.
    pub fn each(&self) -> impl Iterator<Item = (u32, &[i64])> {
        let values = |row: usize| &self.values[row * self.width..][..self.width];
        self.groups.iter().enumerate().map(move |(row, &group)| (group, values(row)))
    }
}

/// The integers of some of the groups.
struct Page {
    slots: Vec<i128>,
    width: usize,
    /// The place of each group on this page.
    places: Vec<u32>,
}

/// Marks a group that is not on the page.
const ELSEWHERE: u32 = u32::MAX;

impl Page {
    fn turn(&mut self, shown: &[u32]) {
        self.places.fill(ELSEWHERE);
        for (place, &group) in (0..).zip(shown) {
            self.places[group as usize] = place;
        }
        self.slots.clear();
        self.slots.resize(shown.len() * self.width, 0);
    }

    fn of(&mut self, group: u32) -> Option<&mut [i128]> {
        let place = self.places[group as usize];
        (place != ELSEWHERE).then(|| &mut self.slots[place as usize * self.width..][..self.width])
    }
}

impl NoisePlan {
    /// Decides whether a group is shown, where groups are private: by its number of units with noise.
    pub fn shows<R: Rng + ?Sized>(&self, units: i128, rng: &mut R) -> bool {
        self.selection.as_ref().is_none_or(|selection| {
            units > 0
                && selection.noise.add(rng, units.saturating_mul(FINE)) as f64
                    >= selection.threshold
        })
    }

    /// Adds one value of a measure to the integers of a group. A measure of rows ignores the value; [`NO_VALUE`] adds
    /// nothing to a measure of values. Units and distinct values are counted with each call: the caller passes each
    /// of them once.
    pub fn add(&self, slots: &mut [i128], measure: usize, value: i64) {
        self.planned[measure].add(slots, value);
    }

    /// Adds `count` values of a measure at once, whose sum is `sum` steps. Returns false, and adds nothing, for a
    /// measure that needs to know more than that.
    pub fn add_many(&self, slots: &mut [i128], measure: usize, count: i128, sum: i128) -> bool {
        let planned = &self.planned[measure];
        let slots = &mut slots[planned.slot..];
        match &planned.measure.kind {
            MeasureKind::Count
            | MeasureKind::CountOf
            | MeasureKind::Units
            | MeasureKind::Distinct => slots[0] += count,
            MeasureKind::Sum(_) => slots[0] += sum,
            MeasureKind::Mean(range) => {
                slots[0] += count;
                slots[1] += 2 * sum - count * (i128::from(range.low) + i128::from(range.high));
            }
            MeasureKind::Variance(_) | MeasureKind::Quantiles(..) | MeasureKind::Histogram(..) => {
                return false;
            }
        }
        true
    }

    /// Adds up and calls `visit` with the integers of each of `groups` groups that is shown, in the order of their
    /// numbers. Holds `room` bytes of integers at a time, or one group's. Each further page of groups takes one more
    /// pass over the rows.
    pub fn totals<R: Rng + ?Sized, E>(
        &self,
        rows: &mut Bounded,
        units: &UnitRows,
        groups: usize,
        room: u64,
        rng: &mut R,
        mut visit: impl FnMut(u32, &[i128], &mut R) -> Result<(), E>,
    ) -> Result<(), E> {
        rows.finish(rng);
        let counts = self.units(rows, units, groups);
        let shown = |&group: &u32| self.shows(counts[group as usize].into(), rng);
        let shown: Vec<u32> = (0..groups as u32).filter(shown).collect();
        let width = self.slots();
        let most = usize::try_from(room / (16 * width as u64).max(1)).unwrap_or(usize::MAX);
        let mut page = Page { slots: Vec::new(), width, places: vec![ELSEWHERE; groups] };
        for shown in shown.chunks(most.max(1)) {
            page.turn(shown);
            self.add_rows(&mut page, rows);
            for planned in self.planned.iter().filter(|planned| planned.measure.per_unit) {
                for (group, values) in units.each() {
                    if let Some(slots) = page.of(group) {
                        planned.add(slots, planned.value.map_or(0, |value| values[value]));
                    }
                }
            }
            for planned in &self.planned {
                match planned.measure.kind {
                    MeasureKind::Units => {
                        for &group in shown {
                            if let Some(slots) = page.of(group) {
                                slots[planned.slot] = counts[group as usize].into();
                            }
                        }
                    }
                    MeasureKind::Distinct => planned.add_distinct(&mut page, rows),
                    _ => {}
                }
            }
            for (&group, slots) in shown.iter().zip(page.slots.chunks_exact(width)) {
                visit(group, slots, rng)?;
            }
        }
        Ok(())
    }

    /// The number of units in each group.
    fn units(&self, rows: &Bounded, units: &UnitRows, groups: usize) -> Vec<u64> {
        let mut counts = vec![0; groups];
        let counted = self.planned.iter().any(|planned| planned.measure.kind == MeasureKind::Units);
        if !counted && self.selection.is_none() {
            return counts;
        }
        if self.counts_rows {
            rows.each_unit(|groups| {
                for &group in groups {
                    counts[group as usize] += 1;
                }
            });
        } else {
            for (group, _) in units.each() {
                counts[group as usize] += 1;
            }
        }
        counts
    }

    fn add_rows(&self, page: &mut Page, rows: &Bounded) {
        let of_rows = |planned: &&Planned| {
            !planned.measure.per_unit
                && !matches!(planned.measure.kind, MeasureKind::Units | MeasureKind::Distinct)
        };
        let planned: Vec<&Planned> = self.planned.iter().filter(of_rows).collect();
        if planned.is_empty() {
            return;
        }
        rows.each_row(|group, values| {
            if let Some(slots) = page.of(group) {
                for planned in &planned {
                    planned.add(slots, planned.value.map_or(0, |value| values[value]));
                }
            }
        });
    }
}

impl Planned {
    /// Adds one value.
    fn add(&self, slots: &mut [i128], value: i64) {
        if value == NO_VALUE && self.measure.kind.has_value() {
            return;
        }
        let slots = &mut slots[self.slot..];
        match &self.measure.kind {
            MeasureKind::Count
            | MeasureKind::CountOf
            | MeasureKind::Units
            | MeasureKind::Distinct => slots[0] += 1,
            MeasureKind::Sum(range) => slots[0] += i128::from(value.clamp(range.low, range.high)),
            MeasureKind::Mean(range) => {
                slots[0] += 1;
                slots[1] += range.centred(value);
            }
            MeasureKind::Variance(range) => {
                let y = range.centred(value);
                slots[0] += 1;
                slots[1] += y;
                slots[2] = slots[2].saturating_add(2 * y * y - range.span() * range.span());
            }
            MeasureKind::Quantiles(range, _) => slots[quantile::leaf(range, value)] += 1,
            MeasureKind::Histogram(range, bins) => slots[range.bin(value, *bins)] += 1,
        }
    }

    /// Counts the distinct values of each group on the page.
    fn add_distinct(&self, page: &mut Page, rows: &Bounded) {
        let Some(value) = self.value else { return };
        let mut seen = Vec::new();
        rows.each_row(|group, values| {
            if values[value] != NO_VALUE && page.of(group).is_some() {
                seen.push((group, values[value]));
            }
        });
        seen.sort_unstable();
        seen.dedup();
        for (group, value) in seen {
            if let Some(slots) = page.of(group) {
                self.add(slots, value);
            }
        }
    }
}
