//! Turns NULL into a value of its column.

use crate::{Bag, Domain, NONE};
use std::sync::Arc;

impl Bag {
    /// The bag in which NULL is one more value of each column that has it, after all others; and by column the code
    /// of that value. Its text has no meaning: it is the last value's with a byte appended, so that values still
    /// ascend.
    pub fn with_null_items(&self) -> (Bag, Vec<Option<u32>>) {
        let mut has_null = vec![false; self.width()];
        for row in self.rows.iter() {
            for (has, &code) in has_null.iter_mut().zip(row) {
                *has |= code == NONE;
            }
        }
        let codes: Vec<Option<u32>> = self
            .domains
            .iter()
            .zip(has_null)
            .map(|(domain, has)| has.then_some(domain.len() as u32))
            .collect();
        let mut bag = self.clone();
        for (domain, code) in bag.domains.iter_mut().zip(&codes) {
            if let Some(code) = code {
                let mut text = code.checked_sub(1).map_or(Vec::new(), |c| domain.value(c).to_vec());
                text.push(u8::MAX);
                let values = domain.values().chain(std::iter::once(text.as_slice()));
                *domain =
                    Arc::new(Domain::from_sorted(domain.name().to_string(), values.collect()));
            }
        }
        for row in bag.rows.cells_mut() {
            for (cell, code) in row.iter_mut().zip(&codes) {
                if let (NONE, Some(code)) = (*cell, code) {
                    *cell = *code;
                }
            }
        }
        (bag, codes)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn null_becomes_the_last_value_of_its_column() {
        let rows =
            [[Some("b"), None, Some("x")], [None, None, Some("x")], [Some("a"), None, Some("y")]];
        let (bag, codes) = Bag::from_text(3, rows).with_null_items();
        assert_eq!(codes, [Some(2), Some(0), None]);
        assert_eq!(bag.domains().iter().map(|domain| domain.len()).collect::<Vec<_>>(), [3, 1, 2]);
        assert_eq!([bag.row(0), bag.row(1), bag.row(2)], [[1, 0, 0], [2, 0, 0], [0, 0, 1]]);
        assert_eq!(bag.domain(0).find(b"b"), Some(1));
        assert!(bag.domain(0).value(2) > b"b".as_slice());
    }
}
