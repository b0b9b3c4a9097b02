//! Itemsets that no generated row may contain.

use crate::model::Model;
use table::{Item, NONE};

/// Rejected itemsets, found in a row by the rarest of their items.
#[derive(Debug, Default)]
pub struct Reject {
    /// Whether the empty itemset is one of them: every row contains it.
    everything: bool,
    /// By column and code: the itemsets whose rarest item this is. Columns without any have no codes.
    by_item: Vec<Vec<Vec<Vec<Item>>>>,
}

impl Reject {
    /// Itemsets in the codes of the model.
    pub fn new(model: &Model, itemsets: impl IntoIterator<Item = Vec<Item>>) -> Self {
        let support =
            |item: &Item| model.columns[item.column as usize].supports[item.code as usize];
        let mut reject =
            Reject { everything: false, by_item: vec![Vec::new(); model.columns.len()] };
        for itemset in itemsets {
            let Some(&rarest) = itemset.iter().min_by_key(|item| support(item)) else {
                reject.everything = true;
                continue;
            };
            let column = &mut reject.by_item[rarest.column as usize];
            column.resize(model.columns[rarest.column as usize].values.len(), Vec::new());
            column[rarest.code as usize].push(itemset);
        }
        reject
    }

    /// True if a row of codes contains one of the itemsets.
    #[inline]
    pub(crate) fn contained(&self, row: &[u32]) -> bool {
        let cells = self.by_item.iter().zip(row).filter(|&(_, &code)| code != NONE);
        let mut itemsets = cells.filter_map(|(column, &code)| column.get(code as usize)).flatten();
        let inside =
            |set: &Vec<Item>| set.iter().all(|item| row[item.column as usize] == item.code);
        self.everything || itemsets.any(inside)
    }
}
