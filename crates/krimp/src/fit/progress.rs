//! Progress counters of a fit, for the thread that waits for it.

use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

/// Counters that a fit keeps up to date while another thread reads them.
#[derive(Debug, Default)]
pub struct Progress {
    candidates: AtomicU64,
    seen: AtomicU64,
    accepted: AtomicU64,
    elements: AtomicU64,
    /// The bits of the f64.
    ratio: AtomicU64,
}

/// The progress of a fit.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Snapshot {
    /// The number of candidates: 0 while they are being mined, and if they are made during the search.
    pub candidates: u64,
    /// Candidates tried.
    pub seen: u64,
    /// Candidates that entered the table.
    pub accepted: u64,
    /// Elements of two or more items now.
    pub elements: u64,
    /// The size now as a share of the size under singletons.
    pub ratio: f64,
}

impl Progress {
    pub fn new() -> Self {
        let progress = Progress::default();
        progress.ratio.store(1f64.to_bits(), Relaxed);
        progress
    }

    /// The current counters; not all from the same instant.
    pub fn snapshot(&self) -> Snapshot {
        Snapshot {
            candidates: self.candidates.load(Relaxed),
            seen: self.seen.load(Relaxed),
            accepted: self.accepted.load(Relaxed),
            elements: self.elements.load(Relaxed),
            ratio: f64::from_bits(self.ratio.load(Relaxed)),
        }
    }

    pub(crate) fn begin(&self, candidates: u64) {
        self.candidates.store(candidates, Relaxed);
        self.seen.store(0, Relaxed);
        self.accepted.store(0, Relaxed);
    }

    pub(crate) fn seen(&self, n: u64) {
        self.seen.fetch_add(n, Relaxed);
    }

    /// Sets the candidates accepted so far, the current number of elements of two or more items, and the ratio.
    pub(crate) fn now(&self, accepted: u64, elements: usize, ratio: f64) {
        self.accepted.store(accepted, Relaxed);
        self.elements.store(elements as u64, Relaxed);
        self.ratio.store(ratio.to_bits(), Relaxed);
    }
}
