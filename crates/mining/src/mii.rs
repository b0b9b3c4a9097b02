//! The search for minimal infrequent itemsets.

use crate::ground::Ground;
use crate::visitor::{Subtree, Visitor};
use rayon::prelude::*;
use table::{Bag, Item, Itemsets, Stop, Watch};

/// Every MII of length at most `max_length` with its support, in no fixed order but the same
/// one whatever the number of threads.
pub fn miis(
    bag: &Bag,
    theta: u64,
    max_length: Option<usize>,
    watch: &Watch,
) -> Result<Itemsets, Stop> {
    let tasks = search(bag, theta, max_length, watch, List::default)?;
    let mut all = Itemsets::new();
    for list in tasks {
        all.append(&list.0);
    }
    Ok(all)
}

/// Hands every MII of length at most `max_length` to `visitor` as it is found; keeps no list.
pub fn visit_miis<V: Visitor>(
    bag: &Bag,
    theta: u64,
    max_length: Option<usize>,
    watch: &Watch,
    visitor: &V,
) -> Result<(), Stop> {
    search(bag, theta, max_length, watch, || Forward(visitor)).map(|_| ())
}

/// What one task of the search does with its MIIs.
trait Sink: Send {
    const SKIPS: bool;
    fn mii(&mut self, items: &[Item], rows: &[u32], support: u64, watch: &Watch)
    -> Result<(), Stop>;
    fn skip(&self, subtree: &Subtree<'_>) -> bool;
}

#[derive(Default)]
struct List(Itemsets);

impl Sink for List {
    const SKIPS: bool = false;

    fn mii(
        &mut self,
        items: &[Item],
        _rows: &[u32],
        support: u64,
        watch: &Watch,
    ) -> Result<(), Stop> {
        watch.found(1)?;
        watch.reserve(Itemsets::bytes(1, items.len()))?;
        self.0.push(items, support);
        Ok(())
    }

    fn skip(&self, _subtree: &Subtree<'_>) -> bool {
        false
    }
}

struct Forward<'a, V>(&'a V);

impl<V: Visitor> Sink for Forward<'_, V> {
    const SKIPS: bool = V::SKIPS;

    fn mii(
        &mut self,
        items: &[Item],
        rows: &[u32],
        support: u64,
        _watch: &Watch,
    ) -> Result<(), Stop> {
        self.0.mii(items, rows, support)
    }

    fn skip(&self, subtree: &Subtree<'_>) -> bool {
        self.0.skip(subtree)
    }
}

fn search<S: Sink>(
    bag: &Bag,
    theta: u64,
    max_length: Option<usize>,
    watch: &Watch,
    sink: impl Fn() -> S + Sync,
) -> Result<Vec<S>, Stop> {
    let max_length = max_length.unwrap_or(usize::MAX);
    if theta == 0 || max_length == 0 {
        return Ok(Vec::new());
    }
    // Rare items: MIIs of length 1.
    let mut singles = sink();
    let rare = Ground::new(bag, watch, |support| support <= theta)?;
    let mut rows_of: Vec<Vec<u32>> = vec![Vec::new(); rare.items.len()];
    for i in 0..rare.len() as u32 {
        rare.row(i).iter().for_each(|&rank| rows_of[rank as usize].push(i));
    }
    for (rank, rows) in rows_of.iter().enumerate() {
        singles.mii(&rare.items[rank..=rank], rows, rare.supports[rank], watch)?;
    }
    // An item that every row has cannot be in a longer MII.
    let total = bag.row_count();
    let ground = Ground::new(bag, watch, |support| support > theta && support < total)?;
    let mut rows_of: Vec<Vec<u32>> = vec![Vec::new(); ground.items.len()];
    for i in 0..ground.len() as u32 {
        ground.row(i).iter().for_each(|&rank| rows_of[rank as usize].push(i));
    }
    watch.begin(ground.items.len() as u64);
    let mut sinks: Vec<S> = (0..ground.items.len())
        .into_par_iter()
        .map(|rank| {
            let mut task = Task {
                ground: &ground,
                rows_of: &rows_of,
                theta,
                max_length,
                watch,
                prefix: Vec::new(),
                sink: sink(),
                counts: vec![0; ground.items.len()],
                width: bag.width(),
            };
            let allowed = vec![true; ground.items.len()];
            task.prefix.push(rank as u32);
            task.expand(&rows_of[rank], &allowed)?;
            watch.advance(1);
            Ok(task.sink)
        })
        .collect::<Result<_, Stop>>()?;
    sinks.push(singles);
    Ok(sinks)
}

struct Task<'a, S> {
    ground: &'a Ground,
    rows_of: &'a [Vec<u32>],
    theta: u64,
    max_length: usize,
    watch: &'a Watch,
    prefix: Vec<u32>,
    sink: S,
    counts: Vec<u64>,
    width: usize,
}

impl<S: Sink> Task<'_, S> {
    /// Finds the MIIs that extend the prefix by items of higher rank that `allowed` has.
    fn expand(&mut self, rows: &[u32], allowed: &[bool]) -> Result<(), Stop> {
        self.watch.check()?;
        if self.prefix.len() >= self.max_length {
            return Ok(());
        }
        if S::SKIPS {
            let mut columns = vec![0; self.width.div_ceil(64)];
            let mut add = |rank: u32| {
                let column = self.ground.items[rank as usize].column;
                columns[column as usize / 64] |= 1 << (column % 64);
            };
            self.prefix.iter().for_each(|&rank| add(rank));
            for rank in self.prefix[self.prefix.len() - 1] + 1..allowed.len() as u32 {
                if allowed[rank as usize] {
                    add(rank);
                }
            }
            if self.sink.skip(&Subtree { rows, columns: &columns }) {
                return Ok(());
            }
        }
        let last = self.prefix[self.prefix.len() - 1];
        let mut support = 0;
        let mut lists: Vec<Vec<u32>> = vec![Vec::new(); allowed.len()];
        for &row in rows {
            let weight = self.ground.weights[row as usize];
            support += weight;
            for &rank in self.ground.row(row).iter().take_while(|&&rank| rank > last) {
                if allowed[rank as usize] {
                    self.counts[rank as usize] += weight;
                    lists[rank as usize].push(row);
                }
            }
        }
        let counts: Vec<u64> = self.counts.clone();
        self.counts.fill(0);
        let frequent: Vec<bool> =
            counts.iter().map(|&count| count > self.theta && count < support).collect();
        for rank in last as usize + 1..allowed.len() {
            if frequent[rank] {
                self.prefix.push(rank as u32);
                self.expand(&lists[rank], &frequent)?;
                self.prefix.pop();
            } else if counts[rank] > 0 && counts[rank] <= self.theta && self.minimal(rank as u32) {
                let mut items: Vec<Item> =
                    self.prefix.iter().map(|&r| self.ground.items[r as usize]).collect();
                items.push(self.ground.items[rank]);
                self.sink.mii(&items, &lists[rank], counts[rank], self.watch)?;
            }
        }
        Ok(())
    }

    /// True if `rank` is frequent with every set that the prefix without one item forms; for the
    /// prefix without its last item that is known.
    fn minimal(&self, rank: u32) -> bool {
        (0..self.prefix.len() - 1).all(|out| {
            let rest: Vec<u32> = (0..self.prefix.len())
                .filter(|&i| i != out)
                .map(|i| self.prefix[i])
                .chain([rank])
                .collect();
            let mut support = 0;
            self.rows_of[rest[0] as usize].iter().any(|&row| {
                let cells = self.ground.row(row);
                if rest.iter().all(|r| cells.contains(r)) {
                    support += self.ground.weights[row as usize];
                }
                support > self.theta
            })
        })
    }
}
