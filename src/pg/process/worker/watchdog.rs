//! Ends reads that take longer than the administrator allows, or whose caller no longer waits.
//!
//! A thread of the reader sends signals to its own process; it never calls Postgres. The first asks the read to end, as
//! a cancel does. Functions of a view can catch a cancel. If the read still runs a second later, the process is ended,
//! which no function can catch.

use crate::pg::process::pool::SignalsBlocked;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Condvar, Mutex, PoisonError};
use std::time::{Duration, Instant};

/// How often the thread checks whether a read is still wanted.
const TICK: Duration = Duration::from_millis(100);
/// How long a read may take to end after the signal.
const GRACE: Duration = Duration::from_secs(1);

/// The number of the current read; 0 between two reads.
static CURRENT: AtomicU64 = AtomicU64::new(0);
/// The last read whose caller no longer waits, and the last that took too long.
static UNWANTED: AtomicU64 = AtomicU64::new(0);
static LATE: AtomicU64 = AtomicU64::new(0);

/// Called by a signal handler: the caller of the current read no longer waits.
pub(super) fn is_unwanted_now() {
    UNWANTED.store(CURRENT.load(Ordering::Acquire), Ordering::Release);
}

/// Whether the current read took too long. May be called by signal handlers.
pub(super) fn is_late() -> bool {
    let current = CURRENT.load(Ordering::Acquire);
    current != 0 && LATE.load(Ordering::Acquire) == current
}

/// A read that is being watched.
#[derive(Clone, Copy)]
struct Watched {
    number: u64,
    deadline: Option<Instant>,
}

type Shared = Arc<(Mutex<Option<Watched>>, Condvar)>;

/// The thread that watches the reads of this process.
pub(super) struct Watchdog {
    shared: Shared,
    last: u64,
}

impl Watchdog {
    /// Starts the thread.
    pub fn start() -> std::io::Result<Self> {
        let shared = Shared::default();
        let theirs = Arc::clone(&shared);
        let _blocked = SignalsBlocked::new();
        std::thread::Builder::new().spawn(move || {
            loop {
                let watched = next(&theirs);
                look_after(&theirs, watched);
            }
        })?;
        Ok(Watchdog { shared, last: 0 })
    }

    /// Begins to watch a read, which may take `limit`.
    pub fn begin(&mut self, limit: Option<Duration>) {
        self.last += 1;
        CURRENT.store(self.last, Ordering::Release);
        let deadline = limit.map(|limit| Instant::now() + limit);
        self.tell(Some(Watched { number: self.last, deadline }));
    }

    /// The read has ended.
    pub fn end(&self) {
        CURRENT.store(0, Ordering::Release);
        self.tell(None);
    }

    fn tell(&self, watched: Option<Watched>) {
        let (place, changed) = &*self.shared;
        *place.lock().unwrap_or_else(PoisonError::into_inner) = watched;
        changed.notify_all();
    }
}

/// Waits for a read.
fn next((place, changed): &(Mutex<Option<Watched>>, Condvar)) -> Watched {
    let mut watched = place.lock().unwrap_or_else(PoisonError::into_inner);
    loop {
        if let Some(watched) = *watched {
            return watched;
        }
        watched = changed.wait(watched).unwrap_or_else(PoisonError::into_inner);
    }
}

/// Watches a read until it ends.
fn look_after((place, changed): &(Mutex<Option<Watched>>, Condvar), watched: Watched) {
    let mut asked: Option<Instant> = None;
    let mut current = place.lock().unwrap_or_else(PoisonError::into_inner);
    while current.is_some_and(|current| current.number == watched.number) {
        let is_late = watched.deadline.is_some_and(|deadline| Instant::now() >= deadline);
        match asked {
            None if is_late => {
                LATE.store(watched.number, Ordering::Release);
                signal(libc::SIGUSR2);
                asked = Some(Instant::now());
            }
            None if UNWANTED.load(Ordering::Acquire) == watched.number => {
                asked = Some(Instant::now());
            }
            Some(time) if time.elapsed() >= GRACE => signal(libc::SIGTERM),
            _ => {}
        }
        let waited = changed.wait_timeout(current, TICK);
        current = waited.unwrap_or_else(PoisonError::into_inner).0;
    }
}

/// Signals this process; its handlers run on its own thread, as this one blocks all signals.
fn signal(signal: i32) {
    // SAFETY: a system call about this process.
    unsafe { libc::kill(libc::getpid(), signal) };
}
