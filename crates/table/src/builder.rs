//! Builds a bag with the columns and domains of another bag, and other rows.

use crate::rows::RowSet;
use crate::{Bag, Domain};
use std::sync::Arc;

/// Collects the rows of a new bag; equal rows are counted once.
pub struct BagBuilder {
    domains: Vec<Arc<Domain>>,
    rows: RowSet,
}

impl Bag {
    /// A builder of bags with the columns and domains of this one.
    pub fn builder(&self) -> BagBuilder {
        BagBuilder { domains: self.domains.clone(), rows: RowSet::new(self.width()) }
    }
}

impl BagBuilder {
    /// Adds `weight` copies of a row; returns its number among the distinct rows.
    ///
    /// `row` has a cell per column: [`NONE`](crate::NONE), a code of that column's domain, or a number beyond it for
    /// which the user of the bag has a text: a general value that no row of the source has.
    pub fn add(&mut self, row: &[u32], weight: u64) -> usize {
        debug_assert_eq!(row.len(), self.domains.len());
        self.rows.add(row, weight)
    }

    /// The bytes held beside the domains.
    pub fn memory(&self) -> u64 {
        self.rows.memory() as u64
    }

    /// The bag of the rows added.
    pub fn finish(self) -> Bag {
        let (rows, weights) = self.rows.finish();
        Bag::new(self.domains, rows, weights)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::NONE;

    #[test]
    fn a_built_bag_keeps_the_domains_and_merges_equal_rows() {
        let bag = Bag::from_text(2, [[Some("a"), Some("x")], [Some("b"), Some("y")]]);
        let mut builder = bag.builder();
        assert_eq!(builder.add(&[1, NONE], 3), 0);
        assert_eq!(builder.add(&[0, 0], 1), 1);
        assert_eq!(builder.add(&[1, NONE], 2), 0);
        let built = builder.finish();
        assert_eq!((built.distinct(), built.row_count(), built.weight(0)), (2, 6, 5));
        assert_eq!(built.domain(1).value(1), b"y");
    }
}
