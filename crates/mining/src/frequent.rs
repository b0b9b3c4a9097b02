//! Frequent itemsets.

use crate::ground::Ground;
use rayon::prelude::*;
use table::{Bag, Item, Itemsets, Stop, Watch};

/// Every non-empty itemset with a support of at least `min_support` (at least 1) and a length of
/// at most `max_length`, in no fixed order but the same one whatever the number of threads.
pub fn frequent(
    bag: &Bag,
    min_support: u64,
    max_length: Option<usize>,
    watch: &Watch,
) -> Result<Itemsets, Stop> {
    let min_support = min_support.max(1);
    let max_length = max_length.unwrap_or(usize::MAX);
    if max_length == 0 {
        return Ok(Itemsets::new());
    }
    let ground = Ground::new(bag, watch, |support| support >= min_support)?;
    let mut rows_of: Vec<Vec<u32>> = vec![Vec::new(); ground.items.len()];
    for i in 0..ground.len() as u32 {
        ground.row(i).iter().for_each(|&rank| rows_of[rank as usize].push(i));
    }
    watch.begin(ground.items.len() as u64);
    let lists: Vec<Itemsets> = (0..ground.items.len())
        .into_par_iter()
        .map(|rank| {
            let mut task = Task {
                ground: &ground,
                min_support,
                max_length,
                watch,
                prefix: Vec::new(),
                list: Itemsets::new(),
            };
            task.extend(rank as u32, ground.supports[rank], &rows_of[rank])?;
            watch.advance(1);
            Ok(task.list)
        })
        .collect::<Result<_, Stop>>()?;
    let mut all = Itemsets::new();
    lists.iter().for_each(|list| all.append(list));
    Ok(all)
}

struct Task<'a> {
    ground: &'a Ground,
    min_support: u64,
    max_length: usize,
    watch: &'a Watch,
    prefix: Vec<Item>,
    list: Itemsets,
}

impl Task<'_> {
    /// Lists the prefix with `rank` added, and all its extensions by higher ranks.
    fn extend(&mut self, rank: u32, support: u64, rows: &[u32]) -> Result<(), Stop> {
        self.watch.check()?;
        self.prefix.push(self.ground.items[rank as usize]);
        self.watch.found(1)?;
        self.watch.reserve(Itemsets::bytes(1, self.prefix.len()))?;
        self.list.push(&self.prefix, support);
        if self.prefix.len() < self.max_length {
            let mut counts = vec![0; self.ground.items.len()];
            let mut lists: Vec<Vec<u32>> = vec![Vec::new(); self.ground.items.len()];
            for &row in rows {
                for &r in self.ground.row(row).iter().take_while(|&&r| r > rank) {
                    counts[r as usize] += self.ground.weights[row as usize];
                    lists[r as usize].push(row);
                }
            }
            for r in rank as usize + 1..counts.len() {
                if counts[r] >= self.min_support {
                    self.extend(r as u32, counts[r], &lists[r])?;
                }
            }
        }
        self.prefix.pop();
        Ok(())
    }
}
