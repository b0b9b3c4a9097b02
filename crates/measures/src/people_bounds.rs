//! Bounds on the number of people in the classes of a release, where the person of each row of the original is known.

use crate::meaning::{Cell, Meaning, OriginalRows};
use crate::unit_rows::UnitRows;
use table::{Bag, Stop, Units, Watch};

/// The number of people in classes that should hold k of them.
///
/// No released row says which row of the original it was. A class is some of the rows that it covers, so the number
/// of its people has bounds. If a class covers only as many rows as it has, the bounds are equal.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct People {
    pub classes: u64,
    /// Classes that hold fewer than k people, whichever rows they are.
    pub surely_fewer: u64,
    /// Classes that hold fewer than k people if their rows belong to as few people as possible; includes the former.
    pub perhaps_fewer: u64,
    /// The fewest people that a class may hold, and the most people that the class of the fewest can hold.
    pub fewest: u64,
    pub fewest_at_most: u64,
}

/// The people in the classes of a release, its distinct rows. `original` has the same columns, in the codes that
/// `meaning` refers to, and `units` are the people of its rows; rows without a person count for no one. A class may
/// have more rows than it covers, if one of the tables was changed: the lower bound ignores these rows, the upper bound
/// counts each as another person. `None` without classes. Costs a look at all rows that each class covers.
pub fn people(
    released: &Bag,
    original: &Bag,
    units: &Units,
    meaning: &Meaning<'_>,
    k: u64,
    watch: &Watch,
) -> Result<Option<People>, Stop> {
    let _held = watch.hold(UnitRows::bytes(units.domain()))?;
    let rows = OriginalRows::new(original, watch)?;
    let mut people = People { fewest: u64::MAX, fewest_at_most: u64::MAX, ..People::default() };
    let mut of_person = UnitRows::new(units.domain());
    for (i, &size) in released.weights().iter().enumerate() {
        watch.check()?;
        let codes = released.row(i).iter().enumerate();
        let cells: Vec<Cell<'_>> =
            codes.map(|(column, &code)| meaning.cell(column, code)).collect();
        of_person.clear();
        let (mut covered, mut seen, mut stop) = (0, 0, None);
        rows.covered(&cells, |row| {
            seen += 1;
            stop = watch.poll(seen).err();
            covered += original.weight(row as usize);
            of_person.add(units.of(row as usize));
            stop.is_some()
        });
        if let Some(stop) = stop {
            return Err(stop);
        }
        let rows_of: Vec<u64> = of_person.units().iter().map(|&unit| of_person.of(unit)).collect();
        let nobody = covered - rows_of.iter().sum::<u64>();
        let (least, most) = bounds(size, nobody, rows_of);
        people.classes += 1;
        people.surely_fewer += u64::from(most < k);
        people.perhaps_fewer += u64::from(least < k);
        people.fewest = people.fewest.min(least);
        people.fewest_at_most = people.fewest_at_most.min(most);
    }
    Ok((people.classes > 0).then_some(people))
}

/// The fewest and the most people that `rows` rows can have, of which `nobody` belong to no one.
fn bounds(rows: u64, nobody: u64, mut of_person: Vec<u64>) -> (u64, u64) {
    of_person.sort_unstable_by(|a, b| b.cmp(a));
    let mut left = rows.saturating_sub(nobody);
    let mut least = 0;
    for of_one in &of_person {
        if left == 0 {
            break;
        }
        left = left.saturating_sub(*of_one);
        least += 1;
    }
    (least, rows.min(of_person.len() as u64 + left))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn few_people_may_have_many_rows() {
        // Four rows of one person, and one of another.
        assert_eq!(bounds(5, 0, vec![1, 4]), (2, 2));
        assert_eq!(bounds(4, 0, vec![1, 4]), (1, 2));
        assert_eq!(bounds(3, 2, vec![1, 4]), (1, 2));
        assert_eq!(bounds(2, 2, vec![1]), (0, 1));
        // Two rows belong to other people, or not.
        assert_eq!(bounds(7, 0, vec![1, 4]), (2, 4));
        assert_eq!(bounds(3, 0, vec![]), (0, 3));
    }

    proptest! {
        /// The test knows how many people are in each class: the bounds hold, and are tight where nothing else is
        /// covered.
        #[test]
        fn the_bounds_hold(rows in prop::collection::vec((0u32..6, 0u32..5, any::<bool>()), 1..30), k in 1u64..5) {
            // Classes are halves of the values, some of them blank.
            let shown = |&(value, _, blank): &(u32, u32, bool)| (!blank).then(|| format!("g{}", value / 3));
            let texts = |value: u32| Some(value.to_string());
            let original = Bag::from_text(2, rows.iter().map(|row| [texts(row.0), texts(row.1)]));
            let released = Bag::from_text(1, rows.iter().map(|row| [shown(row)]));
            let watch = Watch::unlimited();
            let (alone, units) = original.split_units(&watch).unwrap();
            let values = |general: &[u8]| -> Vec<u32> {
                let of = |value: u32| format!("g{}", value / 3).into_bytes() == general;
                (0..6).filter(|&v| of(v)).filter_map(|v| alone.domain(0).find(v.to_string().as_bytes())).collect()
            };
            let general = released.domain(0).values().map(values);
            let general = vec![(0..).zip(general).collect()];
            let meaning = Meaning::new(&released, &alone, general, &watch).unwrap();
            let found = people(&released, &alone, &units, &meaning, k, &watch).unwrap().unwrap();
            let counts: Vec<u64> = [None, Some("g0"), Some("g1")]
                .iter()
                .filter_map(|class| {
                    let in_class = rows.iter().filter(|row| shown(row).as_deref() == *class);
                    let mut people: Vec<u32> = in_class.map(|row| row.1).collect();
                    people.sort_unstable();
                    people.dedup();
                    (!people.is_empty()).then_some(people.len() as u64)
                })
                .collect();
            let fewer = counts.iter().filter(|&&count| count < k).count() as u64;
            prop_assert_eq!(found.classes, counts.len() as u64);
            prop_assert!(found.surely_fewer <= fewer && fewer <= found.perhaps_fewer);
            let fewest = *counts.iter().min().unwrap();
            prop_assert!(found.fewest <= fewest && fewest <= found.fewest_at_most);
            if rows.iter().all(|row| !row.2) {
                prop_assert_eq!((found.surely_fewer, found.fewest), (fewer, fewest));
            }
        }
    }
}
