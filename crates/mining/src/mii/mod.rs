//! The search for minimal infrequent itemsets.
//!
//! This file has the phases: rare items, pairs, and longer itemsets, each started with one task per item.
//! `search_task` extends a prefix depth first along a `projection_path`; `narrow_search` takes over where few groups
//! are left. `bitmaps` does the whole search where columns are many and lengths limited. `visitor` receives the MIIs,
//! and `risk` is a visitor that counts. `sperner` bounds their number.

mod bitmaps;
mod narrow_search;
mod projection_path;
mod risk;
mod search_task;
mod sperner;
mod visitor;

pub use risk::{ColumnRisk, RiskCounts, risk};
pub use sperner::{BOUND_COLUMNS, bound};
pub(crate) use visitor::{Forward, Sink};
pub use visitor::{Subtree, Visitor};

use crate::itemset_list::ItemsetList;
use crate::mii::projection_path::{PathNode, ProjectionPath, Shared};
use crate::mii::search_task::MiiTask;
use crate::project::group_sets::FEW_WORDS;
use crate::project::ranking::ranked;
use crate::project::unit_rows::UnitRows;
use crate::project::{Projection, Scratch, Seen};
use rayon::prelude::*;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use table::{Bag, Item, Itemsets, Reservation, Stop, Units, Watch};

/// The largest number of groups of a projection that is searched with a few words per set of groups.
const NARROW: usize = FEW_WORDS * 64;

/// Every MII of length at most `max_length` with its support. With `units`, supports are numbers of units; an itemset
/// that only rows without a unit contain occurs, with support 0, so that `theta` may be 0. The order is not specified, but does not depend on the
/// number of threads. The memory of the result stays reserved.
pub fn miis(
    bag: &Bag,
    units: Option<&Units>,
    theta: u64,
    max_length: Option<usize>,
    watch: &Watch,
) -> Result<Itemsets, Stop> {
    let list = || ItemsetList::new(watch);
    search(bag, units, theta, max_length, Way::Cheapest, watch, list)?.finish()
}

/// Hands every MII of length at most `max_length` to `visitor` as it is found; keeps no list. For `units` see [`miis`].
pub fn visit_miis<V: Visitor>(
    bag: &Bag,
    units: Option<&Units>,
    theta: u64,
    max_length: Option<usize>,
    watch: &Watch,
    visitor: &V,
) -> Result<(), Stop> {
    search(bag, units, theta, max_length, Way::Cheapest, watch, || Forward(visitor)).map(|_| ())
}

/// The method of a search; the result is the same.
#[derive(Clone, Copy)]
pub(crate) enum Way {
    /// Chosen by the bag and the lengths.
    Cheapest,
    /// By bitmaps, which find short MIIs only.
    #[cfg(test)]
    Bitmaps,
    /// Projections; those with at most `narrow` groups are searched as narrow ones.
    #[cfg(test)]
    Projections { narrow: usize },
}

pub(crate) fn search<S: Sink>(
    bag: &Bag,
    units: Option<&Units>,
    theta: u64,
    max_length: Option<usize>,
    way: Way,
    watch: &Watch,
    sink: impl Fn() -> S + Sync,
) -> Result<S, Stop> {
    let max_length = max_length.unwrap_or(usize::MAX);
    let mut found = sink();
    // Whether every itemset that occurs has a support of at least 1.
    let all_count = units.is_none_or(|units| (0..bag.distinct()).all(|i| !units.of(i).is_empty()));
    if theta == 0 && all_count || max_length == 0 {
        return Ok(found);
    }
    let mut budget = Reservation::new(watch);
    let held = watch.hold(units.map_or(0, |units| UnitRows::bytes(bag, units)))?;
    let unit_rows = units.map(|units| UnitRows::new(bag, units, true, watch)).transpose()?;
    let rows = unit_rows.as_ref().map_or(bag.distinct(), |rows| rows.rows.len());
    budget.add(Projection::root_memory(bag, rows))?;
    let in_rows = bag.supports();
    let in_units = unit_rows.as_ref().map(|rows| rows.supports(bag, watch)).transpose()?;
    let supports = in_units.as_ref().unwrap_or(&in_rows);
    singles(bag, supports, &in_rows, theta, watch, &mut found)?;
    if max_length == 1 {
        return Ok(found);
    }
    // An item that every row has reduces no support.
    let items = ranked(supports, |item, support| {
        support > theta && in_rows[item.column as usize][item.code as usize] < bag.row_count()
    });
    let (by_bitmaps, narrow) = match way {
        Way::Cheapest => (bitmaps::pay(bag, &in_rows, &items, max_length, watch), NARROW),
        #[cfg(test)]
        Way::Bitmaps => (true, NARROW),
        #[cfg(test)]
        Way::Projections { narrow } => (false, narrow),
    };
    if by_bitmaps {
        drop((unit_rows, held, budget));
        return bitmaps::search(bag, units, theta, max_length, &items, watch, &sink)?.then(found);
    }
    let by_unit = units.is_some();
    let mut scratch = Scratch::new(0, S::ROWS, by_unit, watch);
    let projection = Projection::root(bag, unit_rows.as_ref(), &items, &mut scratch)?;
    drop((unit_rows, held, scratch));
    let root = PathNode { projection, ..PathNode::default() };
    let (width, first) = (bag.width(), Vec::new());
    let mut shared =
        Shared { theta, max_length, narrow, width, by_unit, items, root, first, budget };
    found = found.then(pairs(&mut shared, watch, &sink)?)?;
    if max_length == 2 {
        return Ok(found);
    }
    // The larger part first, because the second is copied.
    longer(&shared, watch, &sink)?.then(found)
}

/// The MIIs of length 1: the items that are rare by `supports` and occur by `in_rows`, the numbers of their rows.
fn singles<S: Sink>(
    bag: &Bag,
    supports: &[Vec<u64>],
    in_rows: &[Vec<u64>],
    theta: u64,
    watch: &Watch,
    sink: &mut S,
) -> Result<(), Stop> {
    for (column, (supports, in_rows)) in supports.iter().zip(in_rows).enumerate() {
        watch.check()?;
        let rare = |code: u32| supports[code as usize] <= theta;
        let occurs = |code: u32| in_rows[code as usize] > 0;
        // Rows of each rare value; most columns have none.
        let mut rows: Vec<(u32, u32)> = Vec::new();
        if S::ROWS && (0..supports.len() as u32).any(rare) {
            let cells = (0..bag.distinct()).map(|row| (bag.row(row)[column], row as u32));
            rows.extend(cells.filter(|&(code, _)| code != table::NONE && rare(code)));
            rows.sort_unstable();
        }
        let mut rest = rows.as_slice();
        let mut numbers = Vec::new();
        for code in (0..supports.len() as u32).filter(|&code| rare(code) && occurs(code)) {
            let (own, others) = rest.split_at(rest.partition_point(|&(c, _)| c <= code));
            rest = others;
            numbers.clear();
            numbers.extend(own.iter().map(|&(_, row)| row));
            sink.mii(&[Item { column: column as u32, code }], &numbers, supports[code as usize])?;
        }
    }
    Ok(())
}

/// The projection to one item; its MIIs of length 2 go to `sink`, if there is one.
fn first<S: Sink>(
    shared: &Shared<'_>,
    rank: u32,
    scratch: &mut Scratch<'_>,
    mut sink: Option<&mut S>,
) -> Result<PathNode, Stop> {
    let parent = &shared.root.projection;
    parent.count(rank, scratch)?;
    scratch.kept.clear();
    let mut rows = Vec::new();
    for &Seen { item: later, everywhere, support } in &scratch.seen {
        if support > shared.theta {
            if !everywhere {
                scratch.kept.push(later);
            }
            continue;
        }
        let Some(sink) = &mut sink else { continue };
        if S::ROWS {
            rows.clear();
            for &(group, position) in parent.occurrences(rank) {
                if parent.groups.row_from(group, position).contains(&later) {
                    rows.extend(parent.groups.origins(group));
                }
            }
            shared.sort_rows(&mut rows);
        }
        sink.mii(&[shared.items[rank as usize], shared.items[later as usize]], &rows, support)?;
    }
    let mut node = PathNode::default();
    if scratch.kept.is_empty() {
        return Ok(node);
    }
    node.projection.gather(parent, rank, scratch, |_, _, _| {})?;
    node.projection.name(parent);
    node.projection.index();
    node.sets.fill(&node.projection, shared.theta);
    Ok(node)
}

/// The MIIs of length 2; makes the projections to single items.
fn pairs<S: Sink>(
    shared: &mut Shared<'_>,
    watch: &Watch,
    sink: &(impl Fn() -> S + Sync),
) -> Result<S, Stop> {
    // The kept projections serve every task, but longer itemsets and the result need memory too.
    let quota = watch.memory_limit().saturating_sub(watch.memory()) / 2;
    let kept = AtomicU64::new(0);
    let keep = |node: &PathNode| {
        let bytes = node.memory();
        let fits = kept.fetch_add(bytes, Relaxed).saturating_add(bytes) <= quota;
        if !fits {
            kept.fetch_sub(bytes, Relaxed);
        }
        fits
    };
    let items = shared.items.len();
    watch.begin(items as u64 * 2);
    let start = || (sink(), Vec::new());
    let (found, nodes) = (0..items as u32)
        .into_par_iter()
        .try_fold(
            || (start(), Scratch::new(items, S::ROWS, shared.by_unit, watch)),
            |((mut found, mut nodes), mut scratch), rank| {
                let node = first(shared, rank, &mut scratch, Some(&mut found))?;
                nodes.push(Some(node).filter(keep));
                watch.advance(1);
                Ok(((found, nodes), scratch))
            },
        )
        .map(|part| part.map(|(found, _)| found))
        .try_reduce(start, |(found, mut nodes), (later, more)| {
            nodes.extend(more);
            Ok((found.then(later)?, nodes))
        })?;
    shared.budget.add(kept.into_inner())?;
    shared.first = nodes;
    Ok(found)
}

/// The MIIs of length 3 and more.
fn longer<S: Sink>(
    shared: &Shared<'_>,
    watch: &Watch,
    sink: &(impl Fn() -> S + Sync),
) -> Result<S, Stop> {
    let items = shared.items.len();
    (0..items as u32)
        .into_par_iter()
        .try_fold(
            || (sink(), None),
            |(found, mut scratch), rank| {
                let more = match &shared.first[rank as usize] {
                    Some(node) => below(shared, rank, node, watch, sink)?,
                    None => {
                        let scratch = scratch.get_or_insert_with(|| {
                            Scratch::new(items, S::ROWS, shared.by_unit, watch)
                        });
                        let node = first::<S>(shared, rank, scratch, None)?;
                        let mut budget = Reservation::new(watch);
                        budget.add(node.memory())?;
                        below(shared, rank, &node, watch, sink)?
                    }
                };
                watch.advance(1);
                Ok((found.then(more)?, scratch))
            },
        )
        .map(|part| part.map(|(found, _)| found))
        .try_reduce(sink, S::then)
}

/// The MIIs of length 3 and more that begin with an item, whose projection is `node`.
fn below<S: Sink>(
    shared: &Shared<'_>,
    rank: u32,
    node: &PathNode,
    watch: &Watch,
    sink: &(impl Fn() -> S + Sync),
) -> Result<S, Stop> {
    if node.projection.items() < 2 {
        return Ok(sink());
    }
    let task = || MiiTask::new(ProjectionPath::new(shared, node, rank), sink(), watch);
    if node.groups() <= shared.narrow {
        let mut task = task();
        task.search_narrow(1)?;
        return Ok(task.finish());
    }
    (0..node.projection.items() as u32)
        .into_par_iter()
        .try_fold(task, |mut task, item| {
            task.extend(1, item)?;
            Ok(task)
        })
        .map(|task| task.map(MiiTask::finish))
        .try_reduce(sink, S::then)
}
