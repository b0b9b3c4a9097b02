//! Itemsets as candidates of a compressor: few bytes each, in one fixed order.
//!
//! `tree_growth` makes a `tree` of all frequent itemsets; closed itemsets, and short ones of wide tables, are mined
//! first and put into a tree here. The nodes are then sorted into candidate order by a key of support and length.

mod tree;
mod tree_growth;

use crate::candidates::tree::{Keys, Link, NO_NODE, Tree};
use crate::candidates::tree_growth::Grower;
use crate::{closed, frequent};
use table::{Bag, Item, Itemsets, Stop, Watch, sort_watched};

/// Which frequent itemsets are candidates.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum CandidateKind {
    /// All of them.
    #[default]
    All,
    /// Itemsets without a superset of equal support.
    Closed,
}

/// Neighbours in candidate order that have the same support and length.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Run {
    pub support: u64,
    pub length: usize,
    /// The number of the run's first candidate, and the one after its last.
    pub start: usize,
    pub end: usize,
}

/// Itemsets of two or more items in candidate order: support descending, then length descending, then item order.
///
/// They are stored in a prefix tree: each set is a node with its last item and the node of the other items. Including
/// its position in the order a set takes twelve bytes, whatever its length.
pub struct CandidateList {
    items: Vec<Item>,
    links: Vec<Link>,
    order: Vec<u32>,
    runs: Vec<Run>,
    reserved: u64,
}

impl CandidateList {
    /// Number of candidates.
    pub fn len(&self) -> usize {
        self.order.len()
    }

    /// True if there are none.
    pub fn is_empty(&self) -> bool {
        self.order.is_empty()
    }

    /// The items that occur in candidates, in item order; the numbers used below are positions here.
    pub fn items(&self) -> &[Item] {
        &self.items
    }

    /// All candidates, as runs in candidate order.
    pub fn runs(&self) -> &[Run] {
        &self.runs
    }

    /// Writes the item numbers of the candidates `start..end` of one run, each in item order, one
    /// candidate after the other.
    pub fn write(&self, run: &Run, start: usize, end: usize, numbers: &mut Vec<u32>) {
        // The nodes of neighbours are far apart in memory. Walking up from several at once lets their cache misses
        // overlap: without it, fetching six million candidates takes longer than evaluating them.
        const LANES: usize = 8;
        let length = run.length;
        numbers.clear();
        numbers.resize((end - start) * length, 0);
        for (nodes, sets) in
            self.order[start..end].chunks(LANES).zip(numbers.chunks_mut(LANES * length))
        {
            let mut at = [0; LANES];
            at[..nodes.len()].copy_from_slice(nodes);
            for position in (0..length).rev() {
                for (lane, node) in at[..nodes.len()].iter_mut().enumerate() {
                    let link = self.links[*node as usize];
                    sets[lane * length + position] = link.item;
                    *node = link.parent;
                }
            }
        }
    }

    /// The number of bytes reserved of the watch, which the owner releases when it drops the candidates.
    pub fn reserved(&self) -> u64 {
        self.reserved
    }
}

/// The frequent itemsets of two or more items that `allowed` accepts, in candidate order.
///
/// `allowed` must accept every subset of an itemset that it accepts: the search does not go beyond an itemset that it
/// refuses.
pub fn candidates(
    bag: &Bag,
    kind: CandidateKind,
    min_support: u64,
    max_length: Option<usize>,
    allowed: impl Fn(&[Item]) -> bool + Sync,
    watch: &Watch,
) -> Result<CandidateList, Stop> {
    let before = watch.memory();
    let tree = match kind {
        CandidateKind::All => {
            match frequent::few_by_bitmaps(bag, min_support, max_length, watch)? {
                Some(sets) => tree_of(&sets, bag.width(), &allowed, watch)?,
                None => Grower::new(bag, min_support, max_length, watch)?.grow(&allowed)?,
            }
        }
        CandidateKind::Closed => {
            let sets = closed(bag, None, min_support, max_length, watch)?;
            tree_of(&sets, bag.width(), &allowed, watch)?
        }
    };
    list(tree, bag.width(), before, watch)
}

/// The itemsets of a list that have two or more items, in candidate order. `width` is the number of their columns.
pub fn candidates_of(sets: &Itemsets, width: usize, watch: &Watch) -> Result<CandidateList, Stop> {
    let before = watch.memory();
    list(tree_of(sets, width, &|_| true, watch)?, width, before, watch)
}

/// The candidate list of a tree's sets. Of the bytes reserved beyond `before`, only those of the list stay reserved.
fn list(tree: Tree, width: usize, before: u64, watch: &Watch) -> Result<CandidateList, Stop> {
    let (order, runs) = candidate_order(tree.keys, Keys::new(width), watch)?;
    let reserved = tree.links.len() as u64 * Tree::LINK_BYTES + order.len() as u64 * 4;
    watch.release((watch.memory() - before).saturating_sub(reserved));
    Ok(CandidateList { items: tree.items, links: tree.links, order, runs, reserved })
}

/// A prefix tree of sets. Nodes that are not sets themselves have the key 0.
fn tree_of(
    sets: &Itemsets,
    width: usize,
    allowed: &impl Fn(&[Item]) -> bool,
    watch: &Watch,
) -> Result<Tree, Stop> {
    let mut order: Vec<u32> = (0..sets.len() as u32).collect();
    order.retain(|&i| sets.items(i as usize).len() > 1 && allowed(sets.items(i as usize)));
    sort_watched(&mut order, watch, |a, b| sets.items(a as usize).cmp(sets.items(b as usize)))?;
    let mut items: Vec<Item> =
        order.iter().flat_map(|&i| sets.items(i as usize)).copied().collect();
    items.sort_unstable();
    items.dedup();
    let mut links: Vec<Link> = Vec::new();
    let mut keys = Vec::new();
    let key = Keys::new(width);
    let mut path: Vec<(Item, u32)> = Vec::new();
    for &i in &order {
        let set = sets.items(i as usize);
        let shared = path.iter().zip(set).take_while(|((a, _), b)| a == *b).count();
        path.truncate(shared);
        watch.reserve((set.len() - shared) as u64 * Tree::NODE_BYTES)?;
        for &item in &set[shared..] {
            let parent = path.last().map_or(NO_NODE, |&(_, node)| node);
            let number = items.partition_point(|&known| known < item) as u32;
            path.push((item, links.len() as u32));
            links.push(Link { parent, item: number });
            keys.push(0);
        }
        if let Some(last) = keys.last_mut() {
            *last = key.key(sets.support(i as usize), set.len());
        }
    }
    Tree::check(links.len())?;
    Ok(Tree { items, links, keys })
}

/// The nodes that are sets of two or more items, in candidate order, and their runs.
///
/// Nodes come in depth-first order, in which sets of equal length are in item order already: a
/// stable radix sort by support and length is all that is needed.
fn candidate_order(
    nodes: Vec<u64>,
    keys: Keys,
    watch: &Watch,
) -> Result<(Vec<u32>, Vec<Run>), Stop> {
    let is_candidate = |key: &u64| keys.length(*key) > 1;
    let count = nodes.iter().filter(|key| is_candidate(key)).count();
    let largest = nodes.iter().max().copied().unwrap_or(0);
    // A node's number and key, before and after each move.
    let bytes = count as u64 * (4 + Tree::KEY_BYTES);
    watch.reserve(bytes)?;
    let sets = (0..).zip(nodes.iter().copied()).filter(|(_, key)| is_candidate(key));
    let mut order = vec![0; count];
    let mut sorted = vec![0; count];
    scatter(sets, 0, &mut order, &mut sorted, watch)?;
    watch.release(nodes.len() as u64 * Tree::KEY_BYTES);
    drop(nodes);
    if largest >> DIGIT > 0 {
        watch.reserve(bytes)?;
        let (mut next_order, mut next_sorted) = (vec![0; count], vec![0; count]);
        let mut shift = DIGIT;
        while shift < u64::BITS && largest >> shift > 0 {
            let sets = order.iter().copied().zip(sorted.iter().copied());
            scatter(sets, shift, &mut next_order, &mut next_sorted, watch)?;
            std::mem::swap(&mut order, &mut next_order);
            std::mem::swap(&mut sorted, &mut next_sorted);
            shift += DIGIT;
        }
    }
    let mut runs: Vec<Run> = Vec::new();
    for run in sorted.chunk_by(|a, b| a == b) {
        let start = runs.last().map_or(0, |run| run.end);
        let (support, length) = (keys.support(run[0]), keys.length(run[0]));
        runs.push(Run { support, length, start, end: start + run.len() });
    }
    Ok((order, runs))
}

/// The number of bits of the keys that are sorted at a time.
const DIGIT: u32 = 11;

/// Writes numbers and keys in descending order of the digit at `shift`; equal ones keep their order.
fn scatter(
    sets: impl Iterator<Item = (u32, u64)> + Clone,
    shift: u32,
    order: &mut [u32],
    sorted: &mut [u64],
    watch: &Watch,
) -> Result<(), Stop> {
    watch.check()?;
    let digit = |key: u64| (key >> shift) as usize & ((1 << DIGIT) - 1);
    let mut starts = vec![0usize; 1 << DIGIT];
    sets.clone().for_each(|(_, key)| starts[digit(key)] += 1);
    let mut end = 0;
    for start in starts.iter_mut().rev() {
        (*start, end) = (end, end + *start);
    }
    for (i, (number, key)) in sets.enumerate() {
        watch.poll(i)?;
        let to = &mut starts[digit(key)];
        order[*to] = number;
        sorted[*to] = key;
        *to += 1;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::reference;
    use proptest::prelude::*;
    use std::cmp::Reverse;

    type GroupSets = Vec<(u64, Vec<Item>)>;

    fn listed(candidates: &CandidateList) -> GroupSets {
        let mut numbers = Vec::new();
        let mut sets = Vec::new();
        for run in candidates.runs() {
            candidates.write(run, run.start, run.end, &mut numbers);
            for set in numbers.chunks(run.length) {
                let items = set.iter().map(|&n| candidates.items()[n as usize]);
                sets.push((run.support, items.collect()));
            }
        }
        sets
    }

    fn expected(sets: reference::Found, allowed: impl Fn(&[Item]) -> bool) -> GroupSets {
        let mut sets: GroupSets = sets
            .into_iter()
            .filter(|(items, _)| items.len() > 1 && allowed(items))
            .map(|(items, support)| (support, items))
            .collect();
        sets.sort_by_key(|(support, items)| {
            (Reverse(*support), Reverse(items.len()), items.clone())
        });
        sets
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(64))]
        #[test]
        fn candidates_are_the_frequent_sets_in_candidate_order(
            rows in prop::collection::vec(prop::collection::vec(prop::option::weighted(0.9, 0u8..3), 5), 0..30),
            min_support in 0u64..5,
            max_length in prop::option::of(0usize..6),
            (a, b) in (0u32..5, 0u32..5),
            threads in 1usize..3,
        ) {
            let bag = Bag::from_text(5, rows.iter().map(|row| row.iter().map(|cell| cell.map(|c| c.to_string()))));
            let allowed = |items: &[Item]| {
                a == b || !(items.iter().any(|i| i.column == a) && items.iter().any(|i| i.column == b))
            };
            let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
            let found = |kind| {
                let watch = Watch::unlimited();
                let found = pool.install(|| candidates(&bag, kind, min_support, max_length, allowed, &watch)).unwrap();
                assert_eq!(watch.memory(), found.reserved());
                listed(&found)
            };
            let min_support = min_support.max(1);
            let frequent = reference::frequent(&bag, min_support, max_length);
            let mut sets = Itemsets::new();
            frequent.iter().rev().for_each(|(items, support)| sets.push(items, *support));
            let watch = Watch::unlimited();
            let given = candidates_of(&sets, 5, &watch).unwrap();
            prop_assert_eq!(watch.memory(), given.reserved());
            prop_assert_eq!(listed(&given), expected(frequent.clone(), |_| true));
            prop_assert_eq!(found(CandidateKind::All), expected(frequent, allowed));
            prop_assert_eq!(found(CandidateKind::Closed), expected(reference::closed(&bag, min_support, max_length), allowed));
        }
    }

    #[test]
    fn an_explosion_ends_in_the_memory_error() {
        let row: Vec<Option<String>> = (0..24).map(|c| Some(c.to_string())).collect();
        let bag = Bag::from_text(24, [row.clone(), row]);
        let watch = Watch::new(10 << 20, u64::MAX);
        let stopped = candidates(&bag, CandidateKind::All, 1, None, |_| true, &watch).err();
        assert_eq!(stopped, Some(Stop::Memory { limit: 10 << 20 }));
    }

    /// Short itemsets of wide tables come from bitmaps, in the same order.
    #[test]
    fn wide_tables_have_the_same_candidates() {
        let row =
            |i: u32| (0..30u32).map(move |c| Some(((i * 31 + c * 17).pow(2) / 11 % 3).to_string()));
        let bag = Bag::from_text(30, (0..60).map(row));
        let watch = Watch::unlimited();
        let refused = Item { column: 3, code: 1 };
        let allowed = |items: &[Item]| !items.contains(&refused);
        for (min_support, max_length) in [(1, 2), (5, 3), (12, 3)] {
            let asked = Some(max_length);
            assert!(frequent::few_by_bitmaps(&bag, min_support, asked, &watch).unwrap().is_some());
            let list =
                candidates(&bag, CandidateKind::All, min_support, asked, allowed, &watch).unwrap();
            let tree =
                Grower::new(&bag, min_support, asked, &watch).unwrap().grow(&allowed).unwrap();
            let grown = super::list(tree, 30, watch.memory(), &watch).unwrap();
            assert!(!list.is_empty());
            assert_eq!(listed(&list), listed(&grown));
        }
    }
}
