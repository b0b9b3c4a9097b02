//! Unions of two elements as candidates (after Smets and Vreeken, Slim: directly mining
//! descriptive patterns).
//!
//! If two elements often cover the same rows, their union could cover these rows with one code instead of two. The
//! savings are estimated as if nothing else changed; the pairs with the largest estimates are evaluated first, and
//! those that make the size smaller enter the table, where they form new pairs. When no pair helps any more, useless
//! elements are removed, and others are replaced if that helps. At any time the table is the best one so far.

use crate::cover::elements::Element;
use crate::cover::size::{TOLERANCE, share_of};
use crate::cover::{Cover, Scratch};
use crate::fit::options::Options;
use crate::fit::pairs::Pairs;
use crate::fit::prune::prune;
use crate::{Ended, Progress};
use rayon::prelude::*;
use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::time::Instant;
use table::{Stop, Watch};

/// The largest number of pairs that are evaluated together: pairs after one that enters are evaluated again. Most
/// often the first one enters, so the first is tried alone, then two, four and so on.
const BATCH: usize = 16;

/// An estimate that has shrunk to no less than this share keeps its place in the queue. Every element that enters
/// changes all estimates a little; without some tolerance, the pairs of a wide table would be put back into the queue
/// again and again.
const FRESH: f64 = 0.95;

/// The number of pairs with which the queue is filled. A wide table has millions, most of which disappear before they
/// are the best: taking each of them from the queue took half of the time.
const QUEUE: usize = 1 << 16;

/// The bits that the union of a pair is estimated to save, and the pair.
type Queued = (u64, Reverse<(u32, u32)>);

/// The limit on all candidates that are tried, as a multiple of those until no pair helped. Gains beyond this are
/// small: Adult goes from 21.44 to 21.29 per cent with 4 and stays there with 100.
const REFINE: u64 = 4;

/// The state of a search.
struct Search<'a, 'b, const W: usize> {
    cover: &'a mut Cover<'b, W>,
    pairs: Pairs<'a>,
    /// The most promising pairs; estimates may be out of date.
    queue: BinaryHeap<Queued>,
    /// The best of the pairs for which the queue had no room.
    next_best: Option<Queued>,
    /// The itemset that must not enter at the moment.
    banned: Vec<u32>,
    scratches: Vec<Scratch>,
    /// The size in bits with singletons only, and now.
    standard: f64,
    size: f64,
    seen: u64,
    accepted: u64,
    deadline: Option<Instant>,
    options: &'a Options,
    watch: &'a Watch,
    progress: &'a Progress,
}

/// A union to be evaluated.
struct Candidate {
    key: (u32, u32),
    estimate: u64,
    items: Vec<u32>,
    support: u64,
}

/// Inserts unions of pairs into the table until none makes it better or a limit is reached.
///
/// Returns why the search ended, the number of candidates tried and of those that entered.
pub(crate) fn search<const W: usize>(
    cover: &mut Cover<'_, W>,
    options: &Options,
    deadline: Option<Instant>,
    watch: &Watch,
    progress: &Progress,
) -> Result<(Ended, u64, u64), Stop> {
    let mut scratches: Vec<Scratch> = Vec::new();
    scratches.resize_with(BATCH, Scratch::default);
    let standard = cover.ground.standard_bits();
    let mut search = Search {
        standard,
        size: standard,
        pairs: Pairs::new(cover.ground.items(), watch),
        cover,
        queue: BinaryHeap::new(),
        next_best: None,
        banned: Vec::new(),
        scratches,
        seen: 0,
        accepted: 0,
        deadline,
        options,
        watch,
        progress,
    };
    let ended = match search.run() {
        Ok(()) => Ended::Complete,
        Err(End::Time) => Ended::Time,
        Err(End::Stop(Stop::Memory { .. })) => Ended::Memory,
        Err(End::Stop(stop)) => return Err(stop),
    };
    Ok((ended, search.seen, search.accepted))
}

/// The reasons why a search ends before it is complete.
enum End {
    Time,
    Stop(Stop),
}

impl From<Stop> for End {
    fn from(stop: Stop) -> Self {
        End::Stop(stop)
    }
}

impl<const W: usize> Search<'_, '_, W> {
    fn run(&mut self) -> Result<(), End> {
        self.pairs.count(self.cover)?;
        loop {
            self.exhaust()?;
            if !self.options.prune || !self.sweep()? {
                break;
            }
        }
        if self.options.prune { self.refine() } else { Ok(()) }
    }

    /// Tries all pairs until none makes the size smaller.
    fn exhaust(&mut self) -> Result<(), End> {
        loop {
            // Refused pairs may have become better since the table has changed.
            self.pairs.by_serials.values_mut().for_each(|pair| pair.refused_at = None);
            self.fill()?;
            if self.drain()? == 0 {
                return Ok(());
            }
        }
    }

    /// Tries the pairs of the queue until it is empty; returns how many entered.
    fn drain(&mut self) -> Result<u64, End> {
        let mut entered = 0;
        let mut most = 1;
        loop {
            self.watch.check()?;
            self.account()?;
            if self.deadline.is_some_and(|deadline| Instant::now() >= deadline) {
                return Err(End::Time);
            }
            let batch = self.next(most)?;
            if batch.is_empty() {
                return Ok(entered);
            }
            let results = self.evaluate(&batch)?;
            let enters = results.iter().position(|bits| bits.is_some_and(|bits| bits < -TOLERANCE));
            let tried = enters.map_or(batch.len(), |i| i + 1);
            self.seen += tried as u64;
            self.progress.seen(tried as u64);
            for (i, candidate) in batch.iter().enumerate() {
                if i >= tried {
                    self.queue.push((candidate.estimate, Reverse(candidate.key)));
                } else if Some(i) != enters
                    && let Some(pair) = self.pairs.by_serials.get_mut(&candidate.key)
                {
                    pair.refused_at = Some(pair.together);
                }
            }
            most = (2 * most).min(BATCH);
            if let Some(i) = enters {
                most = 1;
                entered += 1;
                self.size += results[i].unwrap_or(0.0);
                self.accept(&batch[i])?;
                if self.banned.is_empty() {
                    self.tell();
                }
            }
        }
    }

    /// Removes elements without which the size is smaller; true if there were any.
    fn sweep(&mut self) -> Result<bool, End> {
        let all: Vec<u32> = self.cover.elements.order().iter().rev().copied().collect();
        let before = all.len();
        self.prune(all)?;
        self.requeue();
        self.tell();
        Ok(self.cover.elements.len() < before)
    }

    /// Removes each element in turn and lets others grow in its place, which stay if the size is then smaller.
    ///
    /// A greedy search ends where no single step helps. Going one step back leads out of many of these ends.
    fn refine(&mut self) -> Result<(), End> {
        let most = REFINE * self.seen;
        let mut better = true;
        while better {
            better = false;
            let mut known = self.snapshot();
            let mut i = 0;
            while i < known.len() && self.seen < most {
                if self.replace(&mut known, i)? {
                    better = true;
                    known = self.snapshot();
                }
                i += 1;
            }
        }
        Ok(())
    }

    /// The current elements with their serials, least used first.
    fn snapshot(&self) -> Vec<(u32, Element<W>)> {
        let mut slots = self.cover.elements.order().to_vec();
        slots.sort_by_key(|&slot| self.cover.usage(slot));
        slots
            .into_iter()
            .map(|slot| (self.pairs.serial_of(slot), self.cover.elements.get(slot).clone()))
            .collect()
    }

    /// Tries to replace one of the elements by better ones; otherwise restores the table.
    fn replace(&mut self, known: &mut [(u32, Element<W>)], i: usize) -> Result<bool, End> {
        let (serial, element) = &known[i];
        let Some(slot) = self.pairs.slot(*serial) else { return Ok(false) };
        let (size, accepted, newest) = (self.size, self.accepted, self.pairs.newest());
        self.banned.clone_from(&element.items);
        self.queue.clear();
        self.next_best = None;
        self.size += self.cover.try_remove(slot, &mut self.scratches[0]);
        let fell = self.cover.remove(slot, &mut self.pairs);
        self.prune(fell)?;
        self.requeue();
        let ended = self.drain();
        self.banned.clear();
        if self.size < size - TOLERANCE {
            self.tell();
            ended?;
            return Ok(true);
        }
        for slot in self.cover.elements.order().to_vec() {
            if Some(self.pairs.serial_of(slot)) > newest {
                self.cover.remove(slot, &mut self.pairs);
            }
        }
        for (serial, element) in known {
            if self.pairs.slot(*serial).is_none() {
                self.cover.insert(element.clone(), element.items.len() + 1, &mut self.pairs);
                *serial = self.pairs.newest().unwrap_or(*serial);
            }
        }
        self.pairs.grown.clear();
        (self.size, self.accepted) = (size, accepted);
        ended?;
        Ok(false)
    }

    /// Reports the progress of the search.
    fn tell(&self) {
        let ratio = share_of(self.size, self.standard);
        self.progress.now(self.accepted, self.cover.elements.len(), ratio);
    }

    /// Reserves the memory that pairs and queue now take.
    fn account(&mut self) -> Result<(), Stop> {
        self.pairs.account(self.queue.capacity() * size_of::<Queued>())
    }

    /// The bits that the union of a pair is estimated to save; `None` if it is not worth a try.
    fn estimate(&self, key: (u32, u32), together: u64) -> Option<u64> {
        let (a, b) = (self.pairs.id(key.0)?, self.pairs.id(key.1)?);
        let saved = -self.cover.estimate(a, b, together);
        // Positive floats are in the order of their bits.
        (saved > TOLERANCE).then(|| saved.to_bits())
    }

    /// Refills the queue with the most promising pairs.
    fn fill(&mut self) -> Result<(), Stop> {
        let mut queue: Vec<Queued> = Vec::new();
        for (i, (&key, pair)) in self.pairs.by_serials.iter().enumerate() {
            self.watch.poll(i)?;
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
        if items == self.banned || !self.options.allows(&set) {
            return None;
        }
        let support = self.cover.support(&items);
        (support >= self.options.min_support).then_some(Candidate { key, estimate, items, support })
    }

    /// The bits by which each candidate would make the size grow; `None` if it is not used.
    fn evaluate(&mut self, batch: &[Candidate]) -> Result<Vec<Option<f64>>, Stop> {
        let Search { cover, watch, scratches, .. } = self;
        let cover: &Cover<'_, W> = cover;
        let one = |(candidate, scratch): (&Candidate, &mut Scratch)| {
            let element = cover.element(&candidate.items, candidate.support);
            let rank = cover.elements.place(&element);
            if cover.elements.is_at(&element, rank) {
                return Ok(None);
            }
            let level = candidate.items.len() + 1;
            cover.try_insert(&candidate.items, rank, level, watch, scratch)
        };
        match batch {
            [candidate] => Ok(vec![one((candidate, &mut scratches[0]))?]),
            _ => batch.par_iter().zip(scratches).map(one).collect(),
        }
    }

    /// Inserts a candidate.
    fn accept(&mut self, candidate: &Candidate) -> Result<(), Stop> {
        let element = self.cover.element(&candidate.items, candidate.support);
        let fell = self.cover.insert(element, candidate.items.len() + 1, &mut self.pairs);
        if self.options.prune {
            self.prune(fell)?;
        }
        self.accepted += 1;
        self.requeue();
        Ok(())
    }

    /// Removes the elements without which the size is smaller.
    fn prune(&mut self, slots: Vec<u32>) -> Result<(), Stop> {
        let scratch = &mut self.scratches[0];
        self.size += prune(self.cover, slots, self.watch, scratch, &mut self.pairs)?;
        Ok(())
    }

    /// Puts the pairs that have become more frequent into the queue.
    fn requeue(&mut self) {
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
    }
}
