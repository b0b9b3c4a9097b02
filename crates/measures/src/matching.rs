//! The largest number of values of a class that can be matched to different units that have them.
//!
//! A unit with two values makes one of them possible for somebody else only. So a class is l-diverse if l of its values
//! can be matched to l different units. The search is that of Hopcroft and Karp: each phase finds shortest paths that
//! match one more value each, and there are few phases, at most about the square root of the number of values.

use table::{NONE, Stop, Units, Watch};

/// Finds matchings of many classes, one after the other.
pub(crate) struct Matching<'a> {
    units: &'a Units,
    watch: &'a Watch,
    /// By unit: the number of the value that it is matched to, or [`NONE`].
    value_of: Vec<u32>,
    values: Vec<MatchedValue>,
    /// Looks at a unit of a value, over all classes.
    looks: usize,
}

/// A value of the class: the distinct row that has it.
#[derive(Clone, Copy)]
struct MatchedValue {
    row: u32,
    /// The unit that it is matched to, or [`NONE`].
    unit: u32,
    /// The length of the shortest path from a value without a unit, or [`NONE`] if there is no path.
    layer: u32,
    /// The units of the value that this phase has looked at.
    next: usize,
}

impl<'a> Matching<'a> {
    pub(crate) fn new(units: &'a Units, watch: &'a Watch) -> Self {
        let value_of = vec![NONE; units.domain()];
        Matching { units, watch, value_of, values: Vec::new(), looks: 0 }
    }

    /// The number of values that can be matched, up to `most`. `rows` are the distinct rows of the class, each of which
    /// has another value. Costs at most a look at all units of all rows for each phase.
    pub(crate) fn size(&mut self, rows: impl Iterator<Item = u32>, most: u64) -> Result<u64, Stop> {
        let fresh = |row| MatchedValue { row, unit: NONE, layer: NONE, next: 0 };
        self.values.clear();
        self.values.extend(rows.map(fresh));
        let mut matched = 0;
        while matched < most && self.has_path()? {
            for value in 0..self.values.len() {
                if matched == most {
                    break;
                }
                matched += u64::from(self.values[value].unit == NONE && self.extend(value)?);
            }
        }
        for value in self.values.iter().filter(|value| value.unit != NONE) {
            self.value_of[value.unit as usize] = NONE;
        }
        Ok(matched)
    }

    /// Finds how far each value is from one without a unit; false if there is no path to a unit without a value.
    fn has_path(&mut self) -> Result<bool, Stop> {
        let mut layer: Vec<u32> = Vec::new();
        for (number, value) in (0..).zip(&mut self.values) {
            (value.layer, value.next) = (NONE, 0);
            if value.unit == NONE {
                value.layer = 0;
                layer.push(number);
            }
        }
        let (mut depth, mut found) = (0, false);
        while !layer.is_empty() && !found {
            depth += 1;
            let mut deeper = Vec::new();
            for value in layer {
                for of in self.units.of(self.values[value as usize].row as usize) {
                    self.looks += 1;
                    self.watch.poll(self.looks)?;
                    let Some(other) = self.values.get_mut(self.value_of[of.unit as usize] as usize)
                    else {
                        found = true;
                        continue;
                    };
                    if other.layer == NONE {
                        other.layer = depth;
                        deeper.push(self.value_of[of.unit as usize]);
                    }
                }
            }
            layer = deeper;
        }
        Ok(found)
    }

    /// Matches a value without a unit along a shortest path, if there still is one: each value of the path takes the
    /// unit of the next one, and the last value takes a unit without a value.
    fn extend(&mut self, value: usize) -> Result<bool, Stop> {
        let mut path = vec![value];
        while let Some(&last) = path.last() {
            let MatchedValue { row, layer, next, .. } = self.values[last];
            let Some(of) = self.units.of(row as usize).get(next) else {
                path.pop();
                continue;
            };
            self.looks += 1;
            self.watch.poll(self.looks)?;
            self.values[last].next += 1;
            let other = self.value_of[of.unit as usize];
            if other == NONE {
                for value in path {
                    let MatchedValue { row, next, .. } = self.values[value];
                    let unit = self.units.of(row as usize)[next - 1].unit;
                    self.values[value].unit = unit;
                    self.value_of[unit as usize] = value as u32;
                }
                return Ok(true);
            }
            if self.values[other as usize].layer == layer + 1 {
                path.push(other as usize);
            }
        }
        Ok(false)
    }

    /// The bytes held for classes of at most `values` values.
    pub(crate) fn bytes(domain: usize, values: usize) -> u64 {
        // Values, two layers, and a path; lists grow by doubling.
        domain as u64 * 4 + values as u64 * (2 * size_of::<MatchedValue>() as u64 + 32)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use table::Bag;

    /// The largest matching by trying every set of units for the values so far.
    fn by_definition(values: &[u32]) -> u64 {
        // By set of taken units, how many values have one.
        let mut matched = vec![None; 1 << 8];
        matched[0] = Some(0u64);
        for &units in values {
            let before = matched.clone();
            for taken in 0..1usize << 8 {
                let Some(count) = before[taken] else { continue };
                for unit in (0..8).filter(|unit| units >> unit & 1 == 1 && taken >> unit & 1 == 0) {
                    let more = &mut matched[taken | 1 << unit];
                    *more = (*more).max(Some(count + 1));
                }
            }
        }
        matched.into_iter().flatten().max().unwrap_or(0)
    }

    proptest! {
        /// A value is a set of units, as the bits of a number.
        #[test]
        fn matchings_are_largest(classes in prop::collection::vec(prop::collection::vec(0u32..256, 0..10), 1..4), most in 0u64..10) {
            let mut rows = Vec::new();
            let numbered = (0..).zip(&classes).flat_map(|(class, values)| {
                (0..).zip(values).map(move |(value, units)| (class, value, *units))
            });
            for (class, value, units) in numbered {
                let cell = || Some(format!("{class}-{value}"));
                // Rows of nobody, too.
                rows.push([cell(), None]);
                let of = (0..8).filter(|unit| units >> unit & 1 == 1);
                rows.extend(of.map(|unit| [cell(), Some(unit.to_string())]));
            }
            let watch = Watch::unlimited();
            let (bag, units) = Bag::from_text(2, rows).split_units(&watch).unwrap();
            let mut matching = Matching::new(&units, &watch);
            for (class, values) in classes.iter().enumerate() {
                let value = |value: usize| bag.domain(0).find(format!("{class}-{value}").as_bytes());
                let codes: Vec<u32> = (0..values.len()).filter_map(value).collect();
                let row = |code: &u32| (0..bag.distinct() as u32).find(|&row| bag.row(row as usize) == [*code]);
                let of_class: Vec<u32> = codes.iter().filter_map(row).collect();
                prop_assert_eq!(of_class.len(), values.len());
                let expected = by_definition(values);
                let mut size = |most| matching.size(of_class.iter().copied(), most).unwrap();
                prop_assert_eq!(size(u64::MAX), expected);
                prop_assert_eq!(size(most), expected.min(most));
            }
        }
    }

    /// Value i has the units i and i + 1, the last one only the first unit: all must move.
    #[test]
    fn long_paths_are_found() {
        let count = 20_000;
        let text = |n: usize| Some(format!("{n:06}"));
        let rows = (0..count).flat_map(|i| [[text(i), text(i)], [text(i), text(i + 1)]]);
        let rows = rows.chain([[text(count), text(0)]]);
        let watch = Watch::unlimited();
        let (bag, units) = Bag::from_text(2, rows).split_units(&watch).unwrap();
        let rows = 0..bag.distinct() as u32;
        let found = Matching::new(&units, &watch).size(rows.clone(), u64::MAX);
        assert_eq!(found, Ok(count as u64 + 1));
        watch.cancel();
        assert_eq!(Matching::new(&units, &watch).size(rows, u64::MAX), Err(Stop::Cancelled));
    }
}
