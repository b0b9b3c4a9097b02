//! Rules: combinations that are blanked because someone lists them, independently of any table.

use std::collections::{BTreeMap, HashSet};
use table::{Item, NONE, bits};

/// A combination that is blanked in every row that has all of it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Rule {
    /// Any values of these columns together.
    Columns(Vec<u32>),
    /// These values together.
    Items(Vec<Item>),
}

/// Rules, grouped by the columns that they look at.
#[derive(Debug, Clone, Default)]
pub struct Rules {
    /// For each set of columns the values that are blanked; `None` for all.
    by_columns: BTreeMap<Vec<u32>, Option<HashSet<Vec<u32>>>>,
}

impl Rules {
    /// Makes the rules. An empty rule has no effect.
    pub fn new(rules: impl IntoIterator<Item = Rule>) -> Self {
        let mut by_columns: BTreeMap<_, Option<HashSet<_>>> = BTreeMap::new();
        for rule in rules {
            match rule {
                Rule::Columns(mut columns) => {
                    columns.sort_unstable();
                    columns.dedup();
                    by_columns.insert(columns, None);
                }
                Rule::Items(mut items) => {
                    items.sort_unstable();
                    let columns = items.iter().map(|item| item.column).collect();
                    let codes = items.iter().map(|item| item.code).collect();
                    // A rule for all values of the columns already covers these values.
                    if let Some(values) =
                        by_columns.entry(columns).or_insert_with(|| Some(HashSet::new()))
                    {
                        values.insert(codes);
                    }
                }
            }
        }
        by_columns.remove(&[][..]);
        Rules { by_columns }
    }

    /// True if there is no rule.
    pub fn is_empty(&self) -> bool {
        self.by_columns.is_empty()
    }

    /// Adds the columns that the rules blank in a row.
    pub(super) fn blank(&self, row: &[u32], mask: &mut [u64]) {
        for (columns, values) in &self.by_columns {
            let codes: Vec<u32> = columns.iter().map(|&c| row[c as usize]).collect();
            if !codes.contains(&NONE) && values.as_ref().is_none_or(|all| all.contains(&codes)) {
                columns.iter().for_each(|&column| bits::insert(mask, column as usize));
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn rules() -> impl Strategy<Value = Vec<Rule>> {
        let columns = prop::collection::btree_set(0u32..4, 1..4);
        let rule = (columns, prop::option::of(prop::collection::vec(0u32..3, 4)));
        let rule = rule.prop_map(|(columns, codes)| match codes {
            None => Rule::Columns(columns.into_iter().rev().collect()),
            Some(codes) => Rule::Items(
                columns
                    .iter()
                    .rev()
                    .map(|&c| Item { column: c, code: codes[c as usize] })
                    .collect(),
            ),
        });
        prop::collection::vec(rule, 0..6)
    }

    proptest! {
        #[test]
        fn cells_of_a_rule_are_blanked_where_all_of_it_is(
            rules in rules(),
            row in prop::collection::vec(prop_oneof![3 => 0u32..3, 1 => Just(NONE)], 4),
        ) {
            let mut expected = 0;
            for rule in &rules {
                let (columns, holds): (Vec<u32>, bool) = match rule {
                    Rule::Columns(c) => (c.clone(), c.iter().all(|&c| row[c as usize] != NONE)),
                    Rule::Items(items) => (
                        items.iter().map(|item| item.column).collect(),
                        items.iter().all(|item| row[item.column as usize] == item.code),
                    ),
                };
                if holds {
                    expected |= columns.iter().fold(0u64, |mask, c| mask | 1 << c);
                }
            }
            let mut mask = [0];
            Rules::new(rules).blank(&row, &mut mask);
            prop_assert_eq!(mask[0], expected);
        }
    }

    #[test]
    fn empty_rules_say_nothing() {
        assert!(Rules::new([Rule::Items(vec![]), Rule::Columns(vec![])]).is_empty());
    }
}
