//! The variables of the propensity model: one for each common value, rare ones pooled.

use super::joint::{Joint, NULL};
use table::{NONE, Stop, Watch};

/// The largest number of levels of a column, and of variables in total as long as each column can still have two
/// levels: with more a model takes long and is no better.
const LEVELS: usize = 16;
const VARIABLES: usize = 256;

/// The least number of rows of a value with its own variable.
const ROWS: u64 = 5;

/// A value that the intercept stands for.
pub(super) const BASE: u32 = u32::MAX;

/// For each column and each code of a table the variable that is 1 there, or [`BASE`].
pub(super) struct Levels {
    codes: Vec<Vec<u32>>,
    nulls: Vec<u32>,
}

impl Levels {
    /// The levels of both tables, and the number of variables including the intercept, which is variable 0.
    ///
    /// A column's most common value in both tables together is its base. The next ones with at least [`ROWS`] rows
    /// have a variable each, and all others share one.
    pub(super) fn new(joint: &Joint<'_>, watch: &Watch) -> Result<([Self; 2], usize), Stop> {
        let limit = (VARIABLES / joint.sizes.len().max(1)).clamp(2, LEVELS);
        let mut variables = 1;
        let mut both = joint.sides().map(|_| Levels { codes: Vec::new(), nulls: Vec::new() });
        for (column, &size) in joint.sizes.iter().enumerate() {
            watch.check()?;
            let rows = |code: u32| {
                joint.sides().map(|side| side.supports[column][code as usize]).iter().sum::<u64>()
            };
            let mut common: Vec<u32> = (0..size as u32).filter(|&code| rows(code) > 0).collect();
            common.sort_unstable_by_key(|&code| (std::cmp::Reverse(rows(code)), code));
            let mut levels = vec![BASE; size];
            let others = common.get(1..).unwrap_or_default();
            let apart =
                others.iter().take(limit - 2).take_while(|&&code| rows(code) >= ROWS).count();
            for (place, &code) in others.iter().enumerate() {
                levels[code as usize] = (variables + place.min(apart)) as u32;
            }
            variables += others.len().min(apart + 1);
            for (one, side) in both.iter_mut().zip(joint.sides()) {
                let common = side.common(column).iter();
                one.codes.push(common.map(|&code| levels[code as usize]).collect());
                one.nulls.push(levels[NULL as usize]);
            }
        }
        Ok((both, variables))
    }

    /// The variables that are 1 in a row, ascending; the intercept is not among them.
    #[inline]
    pub(super) fn variables(&self, row: &[u32], variables: &mut Vec<u32>) {
        variables.clear();
        for ((&code, levels), &null) in row.iter().zip(&self.codes).zip(&self.nulls) {
            let variable = if code == NONE { null } else { levels[code as usize] };
            if variable != BASE {
                variables.push(variable);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use table::Bag;

    /// The variable of each value of one column, in the order of their texts, NULL last.
    fn levels(rows: &[(Option<&str>, usize)]) -> (Vec<u32>, usize) {
        let rows = rows.iter().flat_map(|&(value, times)| vec![[value]; times]);
        let (original, released) = (Bag::from_text(1, rows), Bag::from_text(1, [[Some("a")]]));
        let watch = Watch::unlimited();
        let joint = Joint::new(&original, &released, &watch).unwrap();
        let ([levels, _], variables) = Levels::new(&joint, &watch).unwrap();
        (levels.codes[0].iter().chain(&levels.nulls).copied().collect(), variables)
    }

    #[test]
    fn the_most_common_value_is_the_base_and_rare_ones_share_a_variable() {
        let rows = [(Some("a"), 2), (Some("b"), 30), (Some("c"), 12), (Some("d"), 4), (None, 11)];
        assert_eq!(levels(&rows), (vec![3, BASE, 1, 3, 2], 4));
        assert_eq!(levels(&[(Some("a"), 7)]), (vec![BASE, BASE], 1));
        assert_eq!(levels(&[(Some("a"), 7), (Some("b"), 3)]), (vec![BASE, 1, BASE], 2));
    }

    #[test]
    fn variables_are_bounded() {
        let names: Vec<String> = (0..100).map(|i| format!("{i:02}")).collect();
        let rows: Vec<_> = names.iter().map(|name| (Some(name.as_str()), 20)).collect();
        let (found, variables) = levels(&rows);
        assert_eq!(variables, LEVELS);
        assert_eq!((found[0], found[1], found[14], found[15], found[99]), (BASE, 1, 14, 15, 15));
    }
}
