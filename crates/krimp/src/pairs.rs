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

/// Rows counted between two looks at the watch.
const STEP: usize = 1 << 12;

/// Bytes of a pair in the map, at its usual load.
const PAIR_BYTES: usize = 48;

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
    /// Pairs that became more frequent.
    grown: Vec<(u32, u32)>,
    stays: Vec<u32>,
    goes: Vec<u32>,
    comes: Vec<u32>,
}

impl Pairs {
    /// The pairs of items in rows that only singletons cover.
    fn new<const W: usize>(cover: &Cover<'_, W>, watch: &Watch) -> Result<Self, Stop> {
        let ground = cover.ground;
        let mut pairs = Pairs {
            items: ground.items() as u32,
            by_serials: HashMap::default(),
            serials: Vec::new(),
            slots: Vec::new(),
            grown: Vec::new(),
            stays: Vec::new(),
            goes: Vec::new(),
            comes: Vec::new(),
        };
        let small = ground.items() <= MATRIX;
        let mut matrix = vec![0u64; if small { ground.items() * ground.items() } else { 0 }];
        for row in 0..ground.rows() {
            if row % STEP == 0 {
                watch.check()?;
            }
            let weight = ground.weights[row];
            let items = || ground.row(row).iter().copied().filter(|&item| item != table::NONE);
            for (i, a) in items().enumerate() {
                for b in items().skip(i + 1) {
                    if small {
                        matrix[a as usize * ground.items() + b as usize] += weight;
                    } else {
                        pairs.by_serials.entry((a, b)).or_default().together += weight;
                    }
                }
            }
        }
        for (i, &together) in matrix.iter().enumerate().filter(|&(_, &n)| n > 0) {
            let key = ((i / ground.items()) as u32, (i % ground.items()) as u32);
            pairs.by_serials.insert(key, Pair { together, refused_at: None });
        }
        Ok(pairs)
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

    fn bytes(&self) -> u64 {
        (self.by_serials.capacity() * PAIR_BYTES) as u64
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
        let serials = |ids: &mut Vec<u32>, from: &[u32], choose: &dyn Fn(&u32) -> bool| {
            ids.clear();
            ids.extend(from.iter().filter(|id| choose(id)).map(|&id| self.serial(id)));
        };
        serials(stays, before, &|id| after.contains(id));
        serials(goes, before, &|id| !after.contains(id));
        serials(comes, after, &|id| !before.contains(id));
        for (i, &a) in goes.iter().enumerate() {
            goes[i + 1..].iter().chain(stays.iter()).for_each(|&b| self.take(a, b, weight));
        }
        for (i, &a) in comes.iter().enumerate() {
            comes[i + 1..].iter().chain(stays.iter()).for_each(|&b| self.add(a, b, weight));
        }
        [self.stays, self.goes, self.comes] = lists;
    }
}

/// A search under way.
struct Search<'a, 'b, const W: usize> {
    cover: &'a mut Cover<'b, W>,
    pairs: Pairs,
    /// Estimated savings in bits and whose they are. An estimate may be out of date.
    queue: BinaryHeap<(u64, Reverse<(u32, u32)>)>,
    options: &'a Options,
    watch: &'a Watch,
}

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
    let pairs = Pairs::new(cover, watch)?;
    let mut search = Search { cover, pairs, queue: BinaryHeap::new(), options, watch };
    let mut reserved = 0;
    let mut scratches: Vec<Scratch> = Vec::new();
    scratches.resize_with(BATCH, Scratch::default);
    let mut ended = Ended::Complete;
    let mut fruitful = true;
    'search: loop {
        let bytes = search.pairs.bytes();
        if bytes > reserved {
            if watch.reserve(bytes - reserved).is_err() {
                ended = Ended::Memory;
                break;
            }
            reserved = bytes;
        }
        if search.queue.is_empty() {
            if !fruitful {
                break;
            }
            // What was refused may have become better since the table has changed.
            fruitful = false;
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
    watch.release(reserved);
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

    /// Puts all promising pairs into the queue.
    fn fill(&mut self) {
        let keys = self.pairs.by_serials.iter();
        let queue: Vec<_> = keys
            .filter_map(|(&key, pair)| Some((self.estimate(key, pair.together)?, Reverse(key))))
            .collect();
        self.pairs.by_serials.values_mut().for_each(|pair| pair.refused_at = None);
        self.queue = BinaryHeap::from(queue);
    }

    /// The most promising candidates, best first.
    fn next(&mut self) -> Vec<Candidate> {
        let mut batch: Vec<Candidate> = Vec::new();
        while batch.len() < BATCH
            && let Some((estimate, Reverse(key))) = self.queue.pop()
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
