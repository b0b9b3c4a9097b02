//! Counts the rows that contain an itemset.

use table::{Bag, Item, NONE, Stop, Watch};

/// The rows of every item.
pub(super) struct Supports<'a> {
    bag: &'a Bag,
    columns: Vec<Postings>,
}

/// The distinct rows by the value of one column.
struct Postings {
    /// The position of the first row of each value; one more entry than there are values.
    starts: Vec<u32>,
    rows: Vec<u32>,
}

impl<'a> Supports<'a> {
    /// Lists the rows of every item; the memory stays reserved.
    pub(super) fn new(bag: &'a Bag, watch: &Watch) -> Result<Self, Stop> {
        let values: usize = bag.domains().iter().map(|domain| domain.len() + 2).sum();
        watch.reserve((values + bag.width() * bag.distinct()) as u64 * 4)?;
        let postings = |column: usize| -> Result<Postings, Stop> {
            let mut starts = vec![0; bag.domain(column).len() + 2];
            let codes = |each: &mut dyn FnMut(usize, u32)| -> Result<(), Stop> {
                for row in 0..bag.distinct() {
                    watch.poll(row)?;
                    let code = bag.row(row)[column];
                    if code != NONE {
                        each(code as usize, row as u32);
                    }
                }
                Ok(())
            };
            codes(&mut |code, _| starts[code + 2] += 1)?;
            for code in 2..starts.len() {
                starts[code] += starts[code - 1];
            }
            // starts[code + 1] is the position of the next row of the value, and in the end the end of its rows.
            let mut rows = vec![0; starts[starts.len() - 1] as usize];
            codes(&mut |code, row| {
                rows[starts[code + 1] as usize] = row;
                starts[code + 1] += 1;
            })?;
            starts.pop();
            Ok(Postings { starts, rows })
        };
        Ok(Supports { bag, columns: (0..bag.width()).map(postings).collect::<Result<_, _>>()? })
    }

    /// The number of rows that contain the itemset, or any number from `enough` on if at least `enough` rows do.
    ///
    /// Looks at the rows of its rarest item.
    pub(super) fn up_to(&self, items: &[Item], enough: u64) -> u64 {
        let Some(rare) = items.iter().min_by_key(|&&item| self.rows(item).len()) else {
            return self.bag.row_count();
        };
        let mut support = 0;
        for &row in self.rows(*rare) {
            let cells = self.bag.row(row as usize);
            if items.iter().all(|item| cells[item.column as usize] == item.code) {
                support += self.bag.weight(row as usize);
                if support >= enough {
                    break;
                }
            }
        }
        support
    }

    /// The number of rows that contain the itemset.
    pub(super) fn of(&self, items: &[Item]) -> u64 {
        self.up_to(items, u64::MAX)
    }

    fn rows(&self, item: Item) -> &[u32] {
        let Postings { starts, rows } = &self.columns[item.column as usize];
        &rows[starts[item.code as usize] as usize..starts[item.code as usize + 1] as usize]
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::itemset::reference::{all_itemsets, any_bag, support};
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn supports_are_those_of_the_definition(bag in any_bag(), enough in 0u64..6) {
            let supports = Supports::new(&bag, &Watch::unlimited()).unwrap();
            for items in all_itemsets(&bag, 4) {
                let expected = support(&bag, &items);
                prop_assert_eq!(supports.of(&items), expected);
                let counted = supports.up_to(&items, enough);
                prop_assert!(counted == expected || counted >= enough && expected >= enough);
            }
        }
    }
}
