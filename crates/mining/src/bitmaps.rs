//! Bitmaps of the rows that have an item, and a parallel loop over all pairs of items.

use crate::mii::Sink;
use rayon::prelude::*;
use table::bits::{self, BitSets};
use table::{Bag, Item, NONE, Stop, Watch};

/// Numbers of items, to make bitmaps of rows.
pub(crate) struct Numbering<'a> {
    bag: &'a Bag,
    /// By column and value; [`NONE`] for items without a number.
    numbers: Vec<Vec<u32>>,
    /// The columns of the items that have numbers, ascending.
    columns: Vec<u32>,
    items: usize,
}

impl<'a> Numbering<'a> {
    pub(crate) fn new(bag: &'a Bag, items: &[Item]) -> Self {
        let none = |column| vec![NONE; bag.domain(column).len()];
        let numbers = (0..bag.width()).map(none).collect();
        let mut numbering = Numbering { bag, numbers, columns: Vec::new(), items: 0 };
        numbering.assign(items.iter().copied());
        numbering
    }

    /// Numbers these items, and no others.
    pub(crate) fn assign(&mut self, items: impl IntoIterator<Item = Item>) {
        for &column in &self.columns {
            self.numbers[column as usize].fill(NONE);
        }
        self.columns.clear();
        self.items = 0;
        for item in items {
            self.numbers[item.column as usize][item.code as usize] = self.items as u32;
            self.columns.push(item.column);
            self.items += 1;
        }
        self.columns.sort_unstable();
        self.columns.dedup();
    }

    /// Fills `having` with the bitmaps of these rows, by item number. Items without a number share one bitmap after
    /// the others, so that no branch depends on a value.
    pub(crate) fn fill(
        &self,
        rows: &[u32],
        having: &mut BitSets,
        watch: &Watch,
    ) -> Result<(), Stop> {
        having.reset(self.items + 1, rows.len());
        for (place, &row) in rows.iter().enumerate() {
            watch.poll(place)?;
            let row = self.bag.row(row as usize);
            for &column in &self.columns {
                if let Some(&number) =
                    self.numbers[column as usize].get(row[column as usize] as usize)
                {
                    having.insert((number as usize).min(self.items), place);
                }
            }
        }
        Ok(())
    }

    /// The number of columns that have numbered items.
    pub(crate) fn width(&self) -> usize {
        self.columns.len()
    }
}

/// The number of bytes of this number of rows and the bitmaps of this number of items.
pub(crate) fn memory(rows: usize, items: usize) -> u64 {
    (rows * size_of::<u32>() + (items + 1) * bits::words(rows) * size_of::<u64>()) as u64
}

/// Visits all pairs of items of different columns, with several threads. `visit` gets the numbers of two items, puts
/// what it finds into the sink and returns whether they are frequent together. Returns the findings, and for each
/// item the later ones that are frequent with it.
pub(crate) fn each_pair<S: Sink, T: Default>(
    items: &[Item],
    watch: &Watch,
    sink: &(impl Fn() -> S + Sync),
    visit: impl Fn([usize; 2], &mut S, &mut T) -> Result<bool, Stop> + Sync,
) -> Result<(S, BitSets), Stop> {
    let start = || (sink(), BitSets::new(0, items.len()));
    (0..items.len())
        .into_par_iter()
        .try_fold(start, |(mut found, mut frequent), a| {
            watch.check()?;
            let mut scratch = T::default();
            let mut with = vec![0; bits::words(items.len())];
            for b in a + 1..items.len() {
                if items[a].column != items[b].column && visit([a, b], &mut found, &mut scratch)? {
                    bits::insert(&mut with, b);
                }
            }
            frequent.push(&with);
            watch.advance(1);
            Ok((found, frequent))
        })
        .try_reduce(start, |(found, mut frequent), (later, more)| {
            frequent.append(&more);
            Ok((found.then(later)?, frequent))
        })
}
