//! The search for minimal infrequent itemsets.

use crate::explore::Task;
use crate::list::List;
use crate::path::{Ground, Node, Path};
use crate::projection::{Projection, Scratch};
use crate::visitor::{Forward, Sink, Visitor};
use rayon::prelude::*;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use table::{Bag, Item, Itemsets, Stop, Watch};

/// Every MII of length at most `max_length` with its support, in no fixed order but the same
/// one whatever the number of threads.
pub fn miis(bag: &Bag, theta: u64, max_length: Option<usize>, watch: &Watch) -> Result<Itemsets, Stop> {
    search(bag, theta, max_length, watch, || List::new(watch))?.finish()
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

fn search<S: Sink>(
    bag: &Bag,
    theta: u64,
    max_length: Option<usize>,
    watch: &Watch,
    sink: impl Fn() -> S + Sync,
) -> Result<S, Stop> {
    let max_length = max_length.unwrap_or(usize::MAX);
    let mut found = sink();
    if theta == 0 || max_length == 0 {
        return Ok(found);
    }
    let supports = bag.supports();
    singles(bag, &supports, theta, &mut found)?;
    if max_length == 1 {
        return Ok(found);
    }
    let mut ground = Ground::new(bag, &supports, theta, max_length, S::ROWS, watch)?;
    found.append(pairs(&mut ground, watch, &sink)?)?;
    if max_length > 2 {
        found.append(longer(&ground, S::ROWS, watch, &sink)?)?;
    }
    watch.release(ground.reserved);
    Ok(found)
}

/// The MIIs of length 1: the rare items.
fn singles<S: Sink>(bag: &Bag, supports: &[Vec<u64>], theta: u64, sink: &mut S) -> Result<(), Stop> {
    for (column, supports) in supports.iter().enumerate() {
        let rare = |code: u32| supports[code as usize] <= theta;
        // Rows of each rare value; most columns have none.
        let mut rows: Vec<(u32, u32)> = Vec::new();
        if S::ROWS && (0..supports.len() as u32).any(rare) {
            let cells = (0..bag.distinct()).map(|row| (bag.row(row)[column], row as u32));
            rows.extend(cells.filter(|&(code, _)| code != table::NONE && rare(code)));
            rows.sort_unstable();
        }
        let mut rest = rows.as_slice();
        let mut numbers = Vec::new();
        for code in (0..supports.len() as u32).filter(|&code| rare(code) && supports[code as usize] > 0) {
            let (own, others) = rest.split_at(rest.partition_point(|&(c, _)| c <= code));
            rest = others;
            numbers.clear();
            numbers.extend(own.iter().map(|&(_, row)| row));
            sink.mii(&[Item { column: column as u32, code }], &numbers, supports[code as usize])?;
        }
    }
    Ok(())
}

impl Ground {
    /// The items that can be in MIIs of length 2 and more, and the root projection.
    fn new(
        bag: &Bag,
        supports: &[Vec<u64>],
        theta: u64,
        max_length: usize,
        track: bool,
        watch: &Watch,
    ) -> Result<Self, Stop> {
        // An item that every row has reduces no support.
        let total = bag.row_count();
        let mut items: Vec<(u64, Item)> = Vec::new();
        for (column, supports) in supports.iter().enumerate() {
            for (code, &support) in supports.iter().enumerate() {
                if support > theta && support < total {
                    items.push((support, Item { column: column as u32, code: code as u32 }));
                }
            }
        }
        items.sort_unstable();
        let items: Vec<Item> = items.into_iter().map(|(_, item)| item).collect();
        // Per cell: its number and its occurrence; per row: start, weight, origin, slots.
        let cells = bag.distinct() as u64 * bag.width() as u64;
        let reserved = cells * 12 + bag.distinct() as u64 * 48;
        watch.reserve(reserved)?;
        let mut scratch = Scratch::new(0);
        let projection = Projection::root(bag, &items, track, &mut scratch.slots, watch)?;
        let root = Node { projection, ..Node::default() };
        Ok(Ground { theta, max_length, width: bag.width(), items, root, first: Vec::new(), reserved })
    }
}

/// The projection to one item, unless nothing can extend it, and the MIIs of length 2 with it.
fn first<S: Sink>(
    ground: &Ground,
    rank: u32,
    track: bool,
    scratch: &mut Scratch,
    sink: &mut S,
) -> Result<Node, Stop> {
    let parent = &ground.root.projection;
    let support = parent.count(rank, scratch);
    scratch.kept.clear();
    let mut rows = Vec::new();
    for &(later, count) in &scratch.seen {
        if count > ground.theta {
            if count < support {
                scratch.kept.push(later);
            }
            continue;
        }
        if S::ROWS {
            rows.clear();
            for &(group, position) in parent.occurrences(rank) {
                if parent.groups.row_from(group, position).contains(&later) {
                    rows.extend(parent.groups.origins(group));
                }
            }
            rows.sort_unstable();
        }
        sink.mii(&[ground.items[rank as usize], ground.items[later as usize]], &rows, count)?;
    }
    let mut node = Node::default();
    node.projection.gather(parent, rank, support, track, scratch);
    node.projection.name(parent);
    node.projection.index();
    node.sets.fill(&node.projection, ground.theta);
    Ok(node)
}

/// The MIIs of length 2; makes the projections to single items.
fn pairs<S: Sink>(ground: &mut Ground, watch: &Watch, sink: &(impl Fn() -> S + Sync)) -> Result<S, Stop> {
    let quota = watch.memory_limit().saturating_sub(watch.memory()) / 2;
    let kept = AtomicU64::new(0);
    let items = ground.items.len();
    let keep = |node: Node| {
        let bytes = node.memory() as u64;
        if kept.fetch_add(bytes, Relaxed).saturating_add(bytes) > quota {
            kept.fetch_sub(bytes, Relaxed);
            return None;
        }
        Some(node)
    };
    let (found, nodes, _) = (0..items as u32)
        .into_par_iter()
        .try_fold(
            || (sink(), Vec::new(), Scratch::new(items)),
            |(mut found, mut nodes, mut scratch), rank| {
                watch.check()?;
                let node = first(ground, rank, S::ROWS, &mut scratch, &mut found)?;
                nodes.push(keep(node));
                Ok((found, nodes, scratch))
            },
        )
        .try_reduce(
            || (sink(), Vec::new(), Scratch::new(0)),
            |(mut found, mut nodes, scratch), (later, mut later_nodes, _)| {
                found.append(later)?;
                nodes.append(&mut later_nodes);
                Ok((found, nodes, scratch))
            },
        )?;
    watch.reserve(kept.into_inner())?;
    ground.reserved += nodes.iter().flatten().map(|n: &Node| n.memory() as u64).sum::<u64>();
    ground.first = nodes;
    Ok(found)
}

/// The MIIs of length 3 and more.
fn longer<S: Sink>(
    ground: &Ground,
    track: bool,
    watch: &Watch,
    sink: &(impl Fn() -> S + Sync),
) -> Result<S, Stop> {
    watch.begin(ground.items.len() as u64);
    let append = |mut found: S, later: S| {
        found.append(later)?;
        Ok(found)
    };
    (0..ground.items.len() as u32)
        .into_par_iter()
        .try_fold(sink, |found, rank| {
            let made;
            let node = match &ground.first[rank as usize] {
                Some(node) => node,
                None => {
                    let mut scratch = Scratch::new(ground.items.len());
                    made = first(ground, rank, track, &mut scratch, &mut Nobody)?;
                    &made
                }
            };
            let path = || Path::new(ground, node, rank);
            let more = if (1..=4).contains(&node.sets.words()) {
                let mut task = Task::new(path(), sink(), watch);
                task.descend(1)?;
                task.finish()
            } else {
                (0..node.projection.items() as u32)
                    .into_par_iter()
                    .try_fold(
                        || Task::new(path(), sink(), watch),
                        |mut task, item| {
                            task.child(1, item)?;
                            Ok(task)
                        },
                    )
                    .map(|task| task.map(Task::finish))
                    .try_reduce(sink, append)?
            };
            watch.advance(1);
            append(found, more)
        })
        .try_reduce(sink, append)
}

/// A sink for MIIs that were already found.
struct Nobody;

impl Sink for Nobody {
    const ROWS: bool = false;
    const SKIPS: bool = false;

    fn mii(&mut self, _items: &[Item], _rows: &[u32], _support: u64) -> Result<(), Stop> {
        Ok(())
    }

    fn skip(&self, _subtree: &crate::visitor::Subtree<'_>) -> bool {
        false
    }

    fn append(&mut self, _later: Self) -> Result<(), Stop> {
        Ok(())
    }
}
