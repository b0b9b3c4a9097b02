//! Unions of two elements as candidates (after Smets and Vreeken, Slim: directly mining
//! descriptive patterns).
//!
//! If two elements often cover the same rows, their union could cover these rows with one code
//! instead of two. What that would save is estimated as if nothing else changed; the pairs with
//! the largest estimates are evaluated in earnest first, and those that make the size smaller
//! enter the table, where they form pairs in turn. The table is at any time the best one so far.

use crate::cover::{Cover, Observer, Scratch};
use crate::options::Options;
use crate::prune::prune;
use crate::size::TOLERANCE;
use crate::{Ended, Progress};
use foldhash::fast::FixedState;
use rayon::prelude::*;
use std::cmp::Reverse;
use std::collections::{BinaryHeap, HashMap};
use std::time::Instant;
use table::{Stop, Watch};

/// Pairs that are evaluated together: what comes after one that enters is evaluated again.
const BATCH: usize = 16;

/// Up to this many items, pairs of them are counted in a matrix.
const MATRIX: usize = 2000;

/// An estimate that has shrunk to no less than this share is still good for its place in the
/// queue. Every element that enters changes all estimates a little; without some tolerance, the
/// pairs of a wide table would be put back into the queue again and again.
const FRESH: f64 = 0.95;

/// Pairs that the queue is filled with. A wide table has millions, most of which are gone before
/// they are the best: taking each of them from the queue took half of the time.
const QUEUE: usize = 1 << 16;

/// Bytes of a pair in the map, at its usual load.
const PAIR_BYTES: usize = 48;

/// Bytes of a pair in the queue.
const QUEUED_BYTES: usize = size_of::<Queued>();

/// What is known of two elements.
#[derive(Default)]
struct Pair {
    /// Rows whose cover has both.
    together: u64,
    /// That number when their union was last refused.
    refused_at: Option<u64>,
}

/// How often elements cover a row together.
///
/// Elements are known by serial numbers here: slots are used again, serials are not. Those of
/// singletons are their item numbers.
struct Pairs {
    items: u32,
    by_serials: HashMap<(u32, u32), Pair, FixedState>,
    /// By slot.
    serials: Vec<u32>,
    /// By serial less the number of items; `None` if the element has left.
    slots: Vec<Option<u32>>,
    /// Bytes reserved of the watch.
    reserved: u64,
    /// Pairs that became more frequent.
    grown: Vec<(u32, u32)>,
    stays: Vec<u32>,
    goes: Vec<u32>,
    comes: Vec<u32>,
    /// By id; false between rows.
    marks: Vec<bool>,
}

impl Pairs {
    fn new(items: usize) -> Self {
        Pairs {
            items: items as u32,
            by_serials: HashMap::default(),
            serials: Vec::new(),
            slots: Vec::new(),
            reserved: 0,
            grown: Vec::new(),
            stays: Vec::new(),
            goes: Vec::new(),
            comes: Vec::new(),
            marks: Vec::new(),
        }
    }

    /// Counts the pairs of items in rows that only singletons cover.
    fn count<const W: usize>(&mut self, cover: &Cover<'_, W>, watch: &Watch) -> Result<(), Stop> {
        let ground = cover.ground;
        let cells = ground.items() * ground.items();
        let bytes = cells as u64 * 8;
        let small = ground.items() <= MATRIX && watch.reserve(bytes).is_ok();
        let mut matrix = vec![0u64; if small { cells } else { 0 }];
        for row in 0..ground.rows() {
            watch.check()?;
            self.account(0, watch)?;
            let weight = ground.weights[row];
            let items = || ground.row(row).iter().copied().filter(|&item| item != table::NONE);
            for (i, a) in items().enumerate() {
                for b in items().skip(i + 1) {
                    if small {
                        matrix[a as usize * ground.items() + b as usize] += weight;
                    } else {
                        self.by_serials.entry((a, b)).or_default().together += weight;
                    }
                }
            }
        }
        for (i, &together) in matrix.iter().enumerate().filter(|&(_, &n)| n > 0) {
            let key = ((i / ground.items()) as u32, (i % ground.items()) as u32);
            self.by_serials.insert(key, Pair { together, refused_at: None });
        }
        if small {
            watch.release(bytes);
        }
        self.account(0, watch)
    }

    /// Reserves what the pairs have come to take, and a queue of so many.
    fn account(&mut self, queued: usize, watch: &Watch) -> Result<(), Stop> {
        let bytes = (self.by_serials.capacity() * PAIR_BYTES + queued * QUEUED_BYTES) as u64;
        if bytes > self.reserved {
            watch.reserve(bytes - self.reserved)?;
            self.reserved = bytes;
        }
        Ok(())
    }

    fn serial(&self, id: u32) -> u32 {
        match id.checked_sub(self.items) {
            Some(slot) => self.serials[slot as usize],
            None => id,
        }
    }

    /// The id of the element with a serial, if it is still there.
    fn id(&self, serial: u32) -> Option<u32> {
        match serial.checked_sub(self.items) {
            Some(number) => self.slots[number as usize].map(|slot| self.items + slot),
            None => Some(serial),
        }
    }

    fn add(&mut self, a: u32, b: u32, weight: u64) {
        let key = (a.min(b), a.max(b));
        self.by_serials.entry(key).or_default().together += weight;
        self.grown.push(key);
    }

    fn take(&mut self, a: u32, b: u32, weight: u64) {
        let key = (a.min(b), a.max(b));
        if let Some(pair) = self.by_serials.get_mut(&key) {
            pair.together -= weight;
            if pair.together == 0 {
                self.by_serials.remove(&key);
            }
        }
    }
}

impl Observer for Pairs {
    fn enters(&mut self, slot: u32) {
        let slot = slot as usize;
        if self.serials.len() <= slot {
            self.serials.resize(slot + 1, 0);
        }
        self.serials[slot] = self.items + self.slots.len() as u32;
        self.slots.push(Some(slot as u32));
    }

    fn leaves(&mut self, slot: u32) {
        let number = self.serials[slot as usize] - self.items;
        self.slots[number as usize] = None;
    }

    fn row(&mut self, weight: u64, before: &[u32], after: &[u32]) {
        let mut lists = [&mut self.stays, &mut self.goes, &mut self.comes].map(std::mem::take);
        let [stays, goes, comes] = &mut lists;
        lists_of(before, after, &mut self.marks, [stays, goes, comes]);
        for ids in [&mut *stays, goes, comes] {
            ids.iter_mut().for_each(|id| *id = self.serial(*id));
        }
        for (i, &a) in goes.iter().enumerate() {
            goes[i + 1..].iter().chain(stays.iter()).for_each(|&b| self.take(a, b, weight));
        }
        for (i, &a) in comes.iter().enumerate() {
            comes[i + 1..].iter().chain(stays.iter()).for_each(|&b| self.add(a, b, weight));
        }
        [self.stays, self.goes, self.comes] = lists;
    }
}

/// The ids that two lists share, that only the first has, and that only the second has.
fn lists_of(before: &[u32], after: &[u32], marks: &mut Vec<bool>, lists: [&mut Vec<u32>; 3]) {
    let [stays, goes, comes] = lists;
    [&mut *stays, goes, comes].into_iter().for_each(Vec::clear);
    let most = before.iter().chain(after).max().map_or(0, |&id| id as usize + 1);
    marks.resize(marks.len().max(most), false);
    after.iter().for_each(|&id| marks[id as usize] = true);
    for &id in before {
        // A mark that is left belongs to an id that comes.
        if std::mem::take(&mut marks[id as usize]) { stays.push(id) } else { goes.push(id) }
    }
    comes.extend(after.iter().filter(|&&id| std::mem::take(&mut marks[id as usize])));
}

/// A search under way.
struct Search<'a, 'b, const W: usize> {
    cover: &'a mut Cover<'b, W>,
    pairs: Pairs,
    /// The most promising pairs; estimates may be out of date.
    queue: BinaryHeap<Queued>,
    /// The best of those that the queue had no room for.
    next_best: Option<Queued>,
    options: &'a Options,
    watch: &'a Watch,
}

/// The bits that the union of a pair is estimated to save, and whose they are.
type Queued = (u64, Reverse<(u32, u32)>);

/// A union to be evaluated.
struct Candidate {
    key: (u32, u32),
    estimate: u64,
    items: Vec<u32>,
    support: u64,
}

/// Lets unions of pairs enter the table until none makes it better or a limit is reached.
///
/// Returns why the search ended, the candidates tried and those that entered.
pub(crate) fn search<const W: usize>(
    cover: &mut Cover<'_, W>,
    options: &Options,
    watch: &Watch,
    progress: &Progress,
) -> Result<(Ended, u64, u64), Stop> {
    let deadline = options.time.map(|time| Instant::now() + time);
    let standard = cover.ground.standard_bits();
    let mut size = standard;
    let (mut seen, mut accepted) = (0, 0);
    let pairs = Pairs::new(cover.ground.items());
    let mut search =
        Search { cover, pairs, queue: BinaryHeap::new(), next_best: None, options, watch };
    let mut counted = search.pairs.count(search.cover, watch);
    let mut scratches: Vec<Scratch> = Vec::new();
    scratches.resize_with(BATCH, Scratch::default);
    let mut ended = Ended::Complete;
    let mut fruitful = true;
    'search: loop {
        match counted {
            Ok(()) => counted = search.pairs.account(search.queue.capacity(), watch),
            Err(Stop::Memory { .. }) => {
                ended = Ended::Memory;
                break;
            }
            Err(stop) => return Err(stop),
        }
        if search.queue.is_empty() {
            if !fruitful {
                break;
            }
            // What was refused may have become better since the table has changed.
            fruitful = false;
            search.pairs.by_serials.values_mut().for_each(|pair| pair.refused_at = None);
            search.fill();
        }
        loop {
            watch.check()?;
            if deadline.is_some_and(|deadline| Instant::now() >= deadline) {
                ended = Ended::Time;
                break 'search;
            }
            let batch = search.next();
            if batch.is_empty() {
                break;
            }
            let results = search.evaluate(&batch, &mut scratches)?;
            let enters = results.iter().position(|bits| bits.is_some_and(|bits| bits < -TOLERANCE));
            let tried = enters.map_or(batch.len(), |i| i + 1);
            seen += tried as u64;
            progress.seen(tried as u64);
            for (i, candidate) in batch.iter().enumerate() {
                if i >= tried {
                    search.queue.push((candidate.estimate, Reverse(candidate.key)));
                } else if Some(i) != enters
                    && let Some(pair) = search.pairs.by_serials.get_mut(&candidate.key)
                {
                    pair.refused_at = Some(pair.together);
                }
            }
            if let Some(i) = enters {
                fruitful = true;
                accepted += 1;
                size += results[i].unwrap_or(0.0) + search.accept(&batch[i])?;
                progress.accepted(search.cover.elements.len(), size / standard);
                break;
            }
        }
    }
    watch.release(search.pairs.reserved);
    Ok((ended, seen, accepted))
}

impl<const W: usize> Search<'_, '_, W> {
    /// The bits that the union of a pair is estimated to save; `None` if it is not worth a try.
    fn estimate(&self, key: (u32, u32), together: u64) -> Option<u64> {
        let (a, b) = (self.pairs.id(key.0)?, self.pairs.id(key.1)?);
        let saved = -self.cover.estimate(a, b, together);
        // Positive numbers are in the order of their bits.
        (saved > TOLERANCE).then(|| saved.to_bits())
    }

    /// Makes the queue anew of the most promising pairs.
    fn fill(&mut self) {
        let pairs = self.pairs.by_serials.iter();
        let mut queue: Vec<Queued> = pairs
            .filter(|(_, pair)| pair.refused_at != Some(pair.together))
            .filter_map(|(&key, pair)| Some((self.estimate(key, pair.together)?, Reverse(key))))
            .collect();
        self.next_best = None;
        if queue.len() > QUEUE {
            queue.select_nth_unstable_by(QUEUE, |a, b| b.cmp(a));
            self.next_best = Some(queue[QUEUE]);
            queue.truncate(QUEUE);
            queue.shrink_to_fit();
        }
        self.queue = BinaryHeap::from(queue);
    }

    /// The most promising pair.
    fn pop(&mut self) -> Option<Queued> {
        if self.next_best.is_some() && self.queue.peek() < self.next_best.as_ref() {
            self.fill();
        }
        self.queue.pop()
    }

    /// The most promising candidates, best first.
    fn next(&mut self) -> Vec<Candidate> {
        let mut batch: Vec<Candidate> = Vec::new();
        while batch.len() < BATCH
            && let Some((estimate, Reverse(key))) = self.pop()
        {
            let Some(pair) = self.pairs.by_serials.get(&key) else { continue };
            if pair.refused_at == Some(pair.together) {
                continue;
            }
            let Some(now) = self.estimate(key, pair.together) else { continue };
            if f64::from_bits(now) < FRESH * f64::from_bits(estimate) {
                self.queue.push((now, Reverse(key)));
                continue;
            }
            if batch.iter().any(|other| other.key == key) {
                continue;
            }
            if let Some(candidate) = self.candidate(key, now) {
                batch.push(candidate);
            } else if let Some(pair) = self.pairs.by_serials.get_mut(&key) {
                pair.refused_at = Some(pair.together);
            }
        }
        batch
    }

    /// The union of a pair, if the options allow it and it is not in the table.
    fn candidate(&self, key: (u32, u32), estimate: u64) -> Option<Candidate> {
        let mut items: Vec<u32> = Vec::new();
        for serial in [key.0, key.1] {
            match self.pairs.id(serial)?.checked_sub(self.pairs.items) {
                Some(slot) => items.extend(&self.cover.elements.get(slot).items),
                None => items.push(serial),
            }
        }
        items.sort_unstable();
        if self.options.max_length.is_some_and(|most| items.len() > most) {
            return None;
        }
        let set: Vec<_> = items.iter().map(|&item| self.cover.ground.item(item)).collect();
        if !self.options.allows(&set) {
            return None;
        }
        let support = self.cover.support(&items);
        (support >= self.options.min_support).then_some(Candidate { key, estimate, items, support })
    }

    /// The bits by which each candidate would make the size grow; `None` if it is not used.
    fn evaluate(
        &self,
        batch: &[Candidate],
        scratches: &mut [Scratch],
    ) -> Result<Vec<Option<f64>>, Stop> {
        let one = |(candidate, scratch): (&Candidate, &mut Scratch)| {
            let element = self.cover.element(&candidate.items, candidate.support);
            let rank = self.cover.elements.place(&element);
            if self.cover.elements.is_at(&element, rank) {
                return Ok(None);
            }
            let level = candidate.items.len() + 1;
            self.cover.try_insert(&candidate.items, rank, level, self.watch, scratch)
        };
        if rayon::current_num_threads() == 1 {
            // Most often the first one enters, and the others would be evaluated for nothing.
            let mut results = Vec::new();
            for pair in batch.iter().zip(scratches) {
                results.push(one(pair)?);
                if results.last().is_some_and(|bits| bits.is_some_and(|b| b < -TOLERANCE)) {
                    break;
                }
            }
            return Ok(results);
        }
        batch.par_iter().zip(scratches).map(one).collect()
    }

    /// Lets a candidate enter; returns the bits by which pruning made the size grow.
    fn accept(&mut self, candidate: &Candidate) -> Result<f64, Stop> {
        let element = self.cover.element(&candidate.items, candidate.support);
        let fell = self.cover.insert(element, candidate.items.len() + 1, &mut self.pairs);
        let mut grown = 0.0;
        if self.options.prune {
            let mut scratch = Scratch::default();
            grown = prune(self.cover, fell, self.watch, &mut scratch, &mut self.pairs)?;
        }
        let mut keys = std::mem::take(&mut self.pairs.grown);
        keys.sort_unstable();
        keys.dedup();
        for key in keys.drain(..) {
            let together = self.pairs.by_serials.get(&key).map_or(0, |pair| pair.together);
            if together > 0
                && let Some(estimate) = self.estimate(key, together)
            {
                self.queue.push((estimate, Reverse(key)));
            }
        }
        self.pairs.grown = keys;
        Ok(grown)
    }
}
