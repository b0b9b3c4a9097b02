//! The handle of a long computation: cancellation, a memory limit, a cap on results and counters of progress. Threads
//! share it by reference.

use crate::Reservation;
use std::fmt;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering::Relaxed};

/// The reasons why a computation ended before its result was complete.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Stop {
    /// The caller asked to stop.
    Cancelled,
    /// More memory than the limit (bytes) would have been needed.
    Memory { limit: u64 },
    /// More itemsets than the cap would have been returned.
    Itemsets { limit: u64 },
}

impl fmt::Display for Stop {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Stop::Cancelled => write!(f, "cancelled"),
            Stop::Memory { limit } => write!(f, "more than {limit} bytes of memory needed"),
            Stop::Itemsets { limit } => write!(f, "more than {limit} itemsets found"),
        }
    }
}

impl std::error::Error for Stop {}

/// The handle between the caller of a computation and its threads.
///
/// The caller sets [`Watch::cancel`] and reads the counters; the computation calls
/// [`Watch::check`] at least every few milliseconds and accounts for what it allocates.
#[derive(Debug)]
pub struct Watch {
    /// Shared with the watches of parts.
    cancelled: Arc<AtomicBool>,
    memory_limit: u64,
    memory: AtomicU64,
    itemset_limit: u64,
    itemsets: AtomicU64,
    done: AtomicU64,
    total: AtomicU64,
}

impl Watch {
    /// The number of rows or itemsets between two checks of [`Watch::poll`].
    pub const STEP: usize = 4096;

    /// A watch with a memory limit in bytes and a cap on the itemsets found.
    pub fn new(memory_limit: u64, itemset_limit: u64) -> Self {
        Watch {
            cancelled: Arc::default(),
            memory_limit,
            memory: AtomicU64::new(0),
            itemset_limit,
            itemsets: AtomicU64::new(0),
            done: AtomicU64::new(0),
            total: AtomicU64::new(0),
        }
    }

    /// A watch that limits nothing: for tests and benchmarks.
    pub fn unlimited() -> Self {
        Watch::new(u64::MAX, u64::MAX)
    }

    /// A watch for a part of the computation that may give up: it has its own limits and is cancelled with this one.
    /// The caller reserves the memory that the part may take.
    pub fn part(&self, memory_limit: u64, itemset_limit: u64) -> Self {
        let cancelled = Arc::clone(&self.cancelled);
        Watch { cancelled, ..Watch::new(memory_limit, itemset_limit) }
    }

    /// Asks the computation to stop.
    pub fn cancel(&self) {
        self.cancelled.store(true, Relaxed);
    }

    /// Fails once [`Watch::cancel`] was called.
    pub fn check(&self) -> Result<(), Stop> {
        if self.cancelled.load(Relaxed) { Err(Stop::Cancelled) } else { Ok(()) }
    }

    /// [`Watch::check`] for a loop over rows or itemsets, of which `done` are done: checks every few thousand, well
    /// under a millisecond of such work.
    #[inline]
    pub fn poll(&self, done: usize) -> Result<(), Stop> {
        self.poll_every(Watch::STEP, done)
    }

    /// Like [`Watch::poll`]; also calls `look` at each check, for example to reserve what has grown since.
    #[inline]
    pub fn poll_with(
        &self,
        done: usize,
        look: impl FnOnce() -> Result<(), Stop>,
    ) -> Result<(), Stop> {
        if !done.is_multiple_of(Watch::STEP) {
            return Ok(());
        }
        self.check()?;
        look()
    }

    /// Like [`Watch::poll`] for steps that take longer or much less: checks every `step` of them.
    #[inline]
    pub fn poll_every(&self, step: usize, done: usize) -> Result<(), Stop> {
        if done.is_multiple_of(step) { self.check() } else { Ok(()) }
    }

    /// Reserves `bytes` for as long as the reservation lives.
    pub fn hold(&self, bytes: u64) -> Result<Reservation<'_>, Stop> {
        let mut reservation = Reservation::new(self);
        reservation.raise(bytes)?;
        Ok(reservation)
    }

    /// Reserves `bytes` of the limit before they are allocated.
    pub fn reserve(&self, bytes: u64) -> Result<(), Stop> {
        let before = self.memory.fetch_add(bytes, Relaxed);
        if before.saturating_add(bytes) > self.memory_limit {
            self.memory.fetch_sub(bytes, Relaxed);
            return Err(Stop::Memory { limit: self.memory_limit });
        }
        Ok(())
    }

    /// Releases what [`Watch::reserve`] reserved.
    pub fn release(&self, bytes: u64) {
        self.memory.fetch_sub(bytes, Relaxed);
    }

    /// Fails if `bytes` in addition to the reserved ones would exceed the limit.
    pub fn room_for(&self, bytes: u64) -> Result<(), Stop> {
        if self.memory().saturating_add(bytes) > self.memory_limit {
            return Err(Stop::Memory { limit: self.memory_limit });
        }
        Ok(())
    }

    /// Counts `n` itemsets found; fails above the cap.
    pub fn found(&self, n: u64) -> Result<(), Stop> {
        let before = self.itemsets.fetch_add(n, Relaxed);
        if before.saturating_add(n) > self.itemset_limit {
            return Err(Stop::Itemsets { limit: self.itemset_limit });
        }
        Ok(())
    }

    /// Announces the number of units of work of the next phase.
    pub fn begin(&self, total: u64) {
        self.done.store(0, Relaxed);
        self.total.store(total, Relaxed);
    }

    /// Counts `n` units of work done.
    pub fn advance(&self, n: u64) {
        self.done.fetch_add(n, Relaxed);
    }

    /// The share of the phase that is done, if its size is known.
    pub fn share(&self) -> Option<f64> {
        let total = self.total.load(Relaxed);
        (total > 0).then(|| (self.done.load(Relaxed) as f64 / total as f64).min(1.0))
    }

    /// The itemsets found so far.
    pub fn itemsets(&self) -> u64 {
        self.itemsets.load(Relaxed)
    }

    /// The bytes reserved now.
    pub fn memory(&self) -> u64 {
        self.memory.load(Relaxed)
    }

    /// The memory limit in bytes.
    pub fn memory_limit(&self) -> u64 {
        self.memory_limit
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn memory_is_refused_past_the_limit_and_given_back() {
        let watch = Watch::new(100, 10);
        assert_eq!(watch.reserve(60), Ok(()));
        assert_eq!(watch.reserve(41), Err(Stop::Memory { limit: 100 }));
        assert_eq!(watch.memory(), 60);
        watch.release(60);
        assert_eq!(watch.reserve(100), Ok(()));
    }

    #[test]
    fn itemsets_are_capped() {
        let watch = Watch::new(0, 2);
        assert_eq!(watch.found(2), Ok(()));
        assert_eq!(watch.found(1), Err(Stop::Itemsets { limit: 2 }));
    }

    #[test]
    fn a_poll_looks_now_and_then() {
        let watch = Watch::unlimited();
        watch.cancel();
        let looks: Vec<usize> = (0..10_000).filter(|&done| watch.poll(done).is_err()).collect();
        assert_eq!(looks, [0, 4096, 8192]);
        assert_eq!(
            (watch.poll_every(3, 4), watch.poll_every(3, 6)),
            (Ok(()), Err(Stop::Cancelled))
        );
    }

    #[test]
    fn a_part_has_its_own_limits_and_is_cancelled_with_the_whole() {
        let watch = Watch::new(100, 10);
        let part = watch.part(50, 5);
        assert_eq!(part.reserve(60), Err(Stop::Memory { limit: 50 }));
        assert_eq!((part.found(6), watch.found(6)), (Err(Stop::Itemsets { limit: 5 }), Ok(())));
        watch.cancel();
        assert_eq!(part.check(), Err(Stop::Cancelled));
    }

    #[test]
    fn a_cancelled_watch_stays_cancelled() {
        let watch = Watch::unlimited();
        assert_eq!(watch.check(), Ok(()));
        watch.cancel();
        assert_eq!(watch.check(), Err(Stop::Cancelled));
    }
}
