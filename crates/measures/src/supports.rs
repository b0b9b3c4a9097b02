//! The supports of given itemsets, whether they are frequent or not.

use crate::postings::Postings;
use crate::translation::{ABSENT, Translation};
use rayon::prelude::*;
use table::{Bag, Item, Itemsets, NONE, Reservation, Stop, Watch, sort_watched};

/// The number of itemsets counted by one task: enough to share the rows of common prefixes.
const CHUNK: usize = 256;

/// The supports in `bag` of the `chosen` itemsets, whose items `translation` maps to the bag's codes. The order is
/// not specified, but does not depend on the number of threads.
///
/// The items of an itemset are taken rarest first, and itemsets with a common prefix one after the other: each costs
/// a look at the rows that contain all of it but its most frequent item.
pub(crate) fn supports(
    bag: &Bag,
    itemsets: &Itemsets,
    chosen: &[u32],
    translation: &Translation,
    watch: &Watch,
) -> Result<Vec<(u32, u64)>, Stop> {
    let mut reservation = Reservation::new(watch);
    let items: usize = chosen.iter().map(|&i| itemsets.items(i as usize).len()).sum();
    reservation.add(items as u64 * 8 + chosen.len() as u64 * 44)?;
    let postings = &Postings::new(bag, watch)?;
    let mut counted = Vec::with_capacity(chosen.len());
    // The items of each itemset that can occur at all, and the end of each itemset.
    let mut paths: Vec<Item> = Vec::with_capacity(items);
    let mut sets: Vec<(u32, usize)> = Vec::with_capacity(chosen.len());
    for (number, &i) in chosen.iter().enumerate() {
        watch.poll(number)?;
        let start = paths.len();
        let of = itemsets.items(i as usize).iter();
        paths.extend(of.map(|&item| translation.item(item)));
        let path = &mut paths[start..];
        if path.iter().any(|item| item.code == ABSENT) {
            paths.truncate(start);
            counted.push((i, 0));
            continue;
        }
        path.sort_unstable_by_key(|&item| (postings.count(item), item));
        sets.push((i, paths.len()));
    }
    let path = |set: u32| {
        let start = (set as usize).checked_sub(1).map_or(0, |before| sets[before].1);
        &paths[start..sets[set as usize].1]
    };
    let mut order: Vec<u32> = (0..sets.len() as u32).collect();
    sort_watched(&mut order, watch, |a, b| path(a).cmp(path(b)))?;
    watch.begin(order.len() as u64);
    let chunks: Result<Vec<Vec<(u32, u64)>>, Stop> = order
        .par_chunks(CHUNK)
        .map(|chunk| {
            let mut rows = PathRows::new(bag, postings, watch);
            let counted =
                chunk.iter().map(|&set| Ok((sets[set as usize].0, rows.support(path(set))?)));
            let counted = counted.collect();
            watch.advance(chunk.len() as u64);
            counted
        })
        .collect();
    counted.extend(chunks?.into_iter().flatten());
    Ok(counted)
}

/// The rows of each value of a column, by code, and those that have NULL.
pub(crate) fn column_counts(
    bag: &Bag,
    column: usize,
    watch: &Watch,
) -> Result<(Vec<u64>, u64), Stop> {
    let (mut counts, mut nulls) = (vec![0; bag.domain(column).len()], 0);
    for i in 0..bag.distinct() {
        watch.poll(i)?;
        match bag.row(i)[column] {
            NONE => nulls += bag.weight(i),
            code => counts[code as usize] += bag.weight(i),
        }
    }
    Ok((counts, nulls))
}

/// The rows that contain each prefix of a path.
struct PathRows<'a> {
    bag: &'a Bag,
    postings: &'a Postings<'a>,
    path: Vec<Item>,
    /// For each item of the path the distinct rows that contain it and those before it; entries beyond the path are
    /// kept for reuse.
    rows: Vec<Vec<u32>>,
    reservation: Reservation<'a>,
}

impl<'a> PathRows<'a> {
    fn new(bag: &'a Bag, postings: &'a Postings, watch: &'a Watch) -> Self {
        let reservation = Reservation::new(watch);
        PathRows { bag, postings, path: Vec::new(), rows: Vec::new(), reservation }
    }

    /// The support of a path that is not empty.
    fn support(&mut self, path: &[Item]) -> Result<u64, Stop> {
        let known = self.path.iter().zip(path).take_while(|(a, b)| a == b).count();
        self.path.truncate(known);
        for &item in &path[known..] {
            self.push(item)?;
        }
        let rows = self.path.len().checked_sub(1).map_or(&[][..], |last| &self.rows[last]);
        Ok(rows.iter().map(|&row| self.bag.weight(row as usize)).sum())
    }

    fn push(&mut self, item: Item) -> Result<(), Stop> {
        self.reservation.watch().check()?;
        let depth = self.path.len();
        if self.rows.len() == depth {
            self.rows.push(Vec::new());
        }
        let (before, this) = self.rows.split_at_mut(depth);
        let this = &mut this[0];
        this.clear();
        match before.last() {
            Some(before) => {
                let has =
                    |row: &u32| self.bag.row(*row as usize)[item.column as usize] == item.code;
                this.extend(before.iter().copied().filter(has));
            }
            None => self.postings.extend(this, item),
        }
        self.path.push(item);
        let capacity: usize = self.rows.iter().map(Vec::capacity).sum();
        self.reservation.raise(capacity as u64 * 4)
    }
}
