//! The supports of given itemsets, whether they are frequent or not.

use crate::translation::Translation;
use rayon::prelude::*;
use table::{Bag, Budget, Item, Itemsets, Stop, Watch, sort_watched};

/// Itemsets counted by one task: enough that the rows of common prefixes are looked for once.
const CHUNK: usize = 1024;

/// The supports in `bag` of the `chosen` itemsets, whose items `translation` takes to the bag's
/// codes; in no fixed order but the same one whatever the number of threads.
///
/// Itemsets with a common prefix are counted one after the other, so that each costs a look at
/// the rows that contain all of it but its last item.
pub(crate) fn supports(
    bag: &Bag,
    itemsets: &Itemsets,
    mut chosen: Vec<u32>,
    translation: &Translation,
    watch: &Watch,
) -> Result<Vec<(u32, u64)>, Stop> {
    let mut budget = Budget::new(watch);
    budget.add(20 * chosen.len() as u64)?;
    sort_watched(&mut chosen, watch, |a, b| {
        itemsets.items(a as usize).cmp(itemsets.items(b as usize))
    })?;
    watch.begin(chosen.len() as u64);
    let counted: Result<Vec<Vec<(u32, u64)>>, Stop> = chosen
        .par_chunks(CHUNK)
        .map(|chunk| {
            let mut path = Path::new(bag, translation, watch);
            let counted = chunk.iter().map(|&i| Ok((i, path.support(itemsets.items(i as usize))?)));
            let counted = counted.collect();
            watch.advance(chunk.len() as u64);
            counted
        })
        .collect();
    Ok(counted?.concat())
}

/// The rows that contain each prefix of an itemset.
struct Path<'a> {
    bag: &'a Bag,
    translation: &'a Translation<'a>,
    items: Vec<Item>,
    /// For each of the items the distinct rows that contain it and those before it; what is
    /// beyond is kept to be filled again.
    rows: Vec<Vec<u32>>,
    budget: Budget<'a>,
}

impl<'a> Path<'a> {
    fn new(bag: &'a Bag, translation: &'a Translation, watch: &'a Watch) -> Self {
        let budget = Budget::new(watch);
        Path { bag, translation, items: Vec::new(), rows: Vec::new(), budget }
    }

    /// The support of an itemset that is not empty.
    fn support(&mut self, items: &[Item]) -> Result<u64, Stop> {
        let known = self.items.iter().zip(items).take_while(|(a, b)| a == b).count();
        self.items.truncate(known);
        for &item in &items[known..] {
            self.push(item)?;
        }
        let rows = self.items.len().checked_sub(1).map_or(&[][..], |last| &self.rows[last]);
        Ok(rows.iter().map(|&row| self.bag.weight(row as usize)).sum())
    }

    fn push(&mut self, item: Item) -> Result<(), Stop> {
        self.budget.watch().check()?;
        let column = item.column as usize;
        let code = self.translation.code(column, item.code);
        let depth = self.items.len();
        if self.rows.len() == depth {
            self.rows.push(Vec::new());
        }
        let (before, this) = self.rows.split_at_mut(depth);
        let this = &mut this[0];
        this.clear();
        let has = |row: &u32| self.bag.row(*row as usize)[column] == code;
        match before.last() {
            Some(before) => this.extend(before.iter().copied().filter(has)),
            None => this.extend((0..self.bag.distinct() as u32).filter(has)),
        }
        self.items.push(item);
        let capacity: usize = self.rows.iter().map(Vec::capacity).sum();
        self.budget.raise(capacity as u64 * 4)
    }
}
