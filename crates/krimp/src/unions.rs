//! Unions of two elements as candidates (after Smets and Vreeken, Slim: directly mining
//! descriptive patterns).
//!
//! If two elements often cover the same rows, their union could cover these rows with one code
//! instead of two. What that would save is estimated as if nothing else changed; the pairs with
//! the largest estimates are evaluated in earnest first, and those that make the size smaller
//! enter the table, where they form pairs in turn. The table is at any time the best one so far.

use crate::cover::{Cover, Scratch};
use crate::options::Options;
use crate::pairs::Pairs;
use crate::prune::prune;
use crate::size::TOLERANCE;
use crate::{Ended, Progress};
use rayon::prelude::*;
use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::time::Instant;
use table::{Stop, Watch};

/// The most pairs that are evaluated together: what comes after one that enters is evaluated again.
/// Most often the first one enters, so the first is tried alone, then two, four and so on.
const BATCH: usize = 16;

/// An estimate that has shrunk to no less than this share is still good for its place in the
/// queue. Every element that enters changes all estimates a little; without some tolerance, the
/// pairs of a wide table would be put back into the queue again and again.
const FRESH: f64 = 0.95;

/// Pairs that the queue is filled with. A wide table has millions, most of which are gone before
/// they are the best: taking each of them from the queue took half of the time.
const QUEUE: usize = 1 << 16;

/// The bits that the union of a pair is estimated to save, and whose they are.
type Queued = (u64, Reverse<(u32, u32)>);

/// Pairs looked at between two looks at the watch.
const STEP: usize = 1 << 16;

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
            Ok(()) => counted = search.account(),
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
            search.fill()?;
        }
        let mut most = 1;
        loop {
            watch.check()?;
            if deadline.is_some_and(|deadline| Instant::now() >= deadline) {
                ended = Ended::Time;
                break 'search;
            }
            let batch = search.next(most)?;
            most = (2 * most).min(BATCH);
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
    /// Reserves what pairs and queue have come to take.
    fn account(&mut self) -> Result<(), Stop> {
        self.pairs.account(self.queue.capacity() * size_of::<Queued>(), self.watch)
    }

    /// The bits that the union of a pair is estimated to save; `None` if it is not worth a try.
    fn estimate(&self, key: (u32, u32), together: u64) -> Option<u64> {
        let (a, b) = (self.pairs.id(key.0)?, self.pairs.id(key.1)?);
        let saved = -self.cover.estimate(a, b, together);
        // Positive numbers are in the order of their bits.
        (saved > TOLERANCE).then(|| saved.to_bits())
    }

    /// Makes the queue anew of the most promising pairs.
    fn fill(&mut self) -> Result<(), Stop> {
        let mut queue: Vec<Queued> = Vec::new();
        for (i, (&key, pair)) in self.pairs.by_serials.iter().enumerate() {
            if i % STEP == 0 {
                self.watch.check()?;
            }
            if pair.refused_at != Some(pair.together)
                && let Some(estimate) = self.estimate(key, pair.together)
            {
                queue.push((estimate, Reverse(key)));
            }
        }
        self.next_best = None;
        if queue.len() > QUEUE {
            queue.select_nth_unstable_by(QUEUE, |a, b| b.cmp(a));
            self.next_best = Some(queue[QUEUE]);
            queue.truncate(QUEUE);
            queue.shrink_to_fit();
        }
        self.queue = BinaryHeap::from(queue);
        Ok(())
    }

    /// The most promising pair.
    fn pop(&mut self) -> Result<Option<Queued>, Stop> {
        if self.next_best.is_some() && self.queue.peek() < self.next_best.as_ref() {
            self.fill()?;
        }
        Ok(self.queue.pop())
    }

    /// The most promising candidates, best first.
    fn next(&mut self, most: usize) -> Result<Vec<Candidate>, Stop> {
        let mut batch: Vec<Candidate> = Vec::new();
        while batch.len() < most
            && let Some((estimate, Reverse(key))) = self.pop()?
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
        Ok(batch)
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
        match batch {
            [candidate] => Ok(vec![one((candidate, &mut scratches[0]))?]),
            _ => batch.par_iter().zip(scratches).map(one).collect(),
        }
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
