//! How many values can be matched to different units that have them.

use super::terms::OfUnit;
use hashbrown::HashMap;
use table::Keyed;

/// The number of values that can be matched to different units, up to `most`. Rows are ascending by value.
///
/// A unit with two values is a match for one of them only. Values find units one after the other, along shortest chains
/// of values that change their unit.
pub(crate) fn matched(rows: &[OfUnit], most: usize) -> usize {
    let values: Vec<&[OfUnit]> = rows.chunk_by(|a, b| a.value == b.value).collect();
    // By value the unit that it is matched to, and the value of each such unit.
    let mut unit_of: Vec<Option<u32>> = vec![None; values.len()];
    let mut value_of: HashMap<u32, usize, Keyed> = HashMap::default();
    let mut found = 0;
    for start in 0..values.len() {
        if found >= most {
            break;
        }
        // The value from which each unit was reached.
        let mut reached: HashMap<u32, usize, Keyed> = HashMap::default();
        let mut queue = vec![start];
        let mut next = 0;
        let mut end = None;
        'search: while let Some(&value) = queue.get(next) {
            next += 1;
            for of in values[value] {
                if reached.contains_key(&of.unit) {
                    continue;
                }
                reached.insert(of.unit, value);
                match value_of.get(&of.unit) {
                    Some(&other) => queue.push(other),
                    None => {
                        end = Some(of.unit);
                        break 'search;
                    }
                }
            }
        }
        found += usize::from(end.is_some());
        while let Some(unit) = end {
            let value = reached[&unit];
            end = unit_of[value].replace(unit);
            value_of.insert(unit, value);
        }
    }
    found
}
