//! Closed itemsets.

use crate::ground::Ground;
use rayon::prelude::*;
use table::{Bag, Item, Itemsets, Stop, Watch};

/// Every non-empty closed itemset (no superset has the same support, whatever its length) with a
/// support of at least `min_support` (at least 1) and a length of at most `max_length`, in no
/// fixed order but the same one whatever the number of threads.
///
/// Uno, Asai, Uchida and Arimura's LCM: a closed set is extended by an item of higher rank than
/// the last one added; the closure of the result is new if it adds no item of lower rank.
pub fn closed(
    bag: &Bag,
    min_support: u64,
    max_length: Option<usize>,
    watch: &Watch,
) -> Result<Itemsets, Stop> {
    let min_support = min_support.max(1);
    let max_length = max_length.unwrap_or(usize::MAX);
    let ground = Ground::new(bag, watch, |support| support >= min_support)?;
    let mut all = Itemsets::new();
    if max_length == 0 || bag.row_count() < min_support {
        return Ok(all);
    }
    let mut rows_of: Vec<Vec<u32>> = vec![Vec::new(); ground.items.len()];
    for i in 0..ground.len() as u32 {
        ground.row(i).iter().for_each(|&rank| rows_of[rank as usize].push(i));
    }
    // The closure of the empty set: the items that every row has. They have the highest ranks.
    let total = bag.row_count();
    let common: Vec<u32> = (0..ground.items.len() as u32)
        .filter(|&rank| ground.supports[rank as usize] == total)
        .collect();
    watch.begin(ground.items.len() as u64);
    let lists: Vec<Itemsets> = (0..ground.items.len() as u32 - common.len() as u32)
        .into_par_iter()
        .map(|rank| {
            let mut task =
                Task { ground: &ground, min_support, max_length, watch, list: Itemsets::new() };
            task.extend(&common, rank, ground.supports[rank as usize], &rows_of[rank as usize])?;
            watch.advance(1);
            Ok(task.list)
        })
        .collect::<Result<_, Stop>>()?;
    if !common.is_empty() && common.len() <= max_length {
        let items: Vec<Item> = common.iter().map(|&rank| ground.items[rank as usize]).collect();
        watch.found(1)?;
        all.push(&items, total);
    }
    lists.iter().for_each(|list| all.append(list));
    Ok(all)
}

struct Task<'a> {
    ground: &'a Ground,
    min_support: u64,
    max_length: usize,
    watch: &'a Watch,
    list: Itemsets,
}

impl Task<'_> {
    /// Lists the closure of `set` plus `rank` and what extends it, if that is new.
    fn extend(&mut self, set: &[u32], rank: u32, support: u64, rows: &[u32]) -> Result<(), Stop> {
        self.watch.check()?;
        let mut counts = vec![0; self.ground.items.len()];
        let mut lists: Vec<Vec<u32>> = vec![Vec::new(); self.ground.items.len()];
        for &row in rows {
            for &r in self.ground.row(row) {
                counts[r as usize] += self.ground.weights[row as usize];
                lists[r as usize].push(row);
            }
        }
        let closure: Vec<u32> =
            (0..counts.len() as u32).filter(|&r| counts[r as usize] == support).collect();
        if closure.iter().any(|r| *r < rank && !set.contains(r)) || closure.len() > self.max_length {
            return Ok(());
        }
        let items: Vec<Item> = closure.iter().map(|&r| self.ground.items[r as usize]).collect();
        self.watch.found(1)?;
        self.watch.reserve(Itemsets::bytes(1, items.len()))?;
        self.list.push(&items, support);
        for r in rank as usize + 1..counts.len() {
            if counts[r] >= self.min_support && counts[r] < support {
                self.extend(&closure, r as u32, counts[r], &lists[r])?;
            }
        }
        Ok(())
    }
}
