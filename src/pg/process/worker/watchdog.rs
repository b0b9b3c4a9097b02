//! Ends reads that take longer than the administrator lets them, or that go on though nobody waits for them.
//!
//! A thread of the reader sends signals to its own process; it never calls Postgres. The first asks the read to
//! end, as a cancel does. Functions of a view can catch a cancel: what still goes on a second later ends with the
//! process, which nothing catches.

use crate::pg::process::pool::SignalsBlocked;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Condvar, Mutex, PoisonError};
use std::time::{Duration, Instant};

/// How often the thread looks whether a read is still wanted.
const TICK: Duration = Duration::from_millis(100);
/// How long a read may take to end once it is asked to.
const GRACE: Duration = Duration::from_secs(1);

/// The number of the read that goes on; 0 between two of them.
static CURRENT: AtomicU64 = AtomicU64::new(0);
/// The last read that nobody waits for, and the last that took too long.
static UNWANTED: AtomicU64 = AtomicU64::new(0);
static LATE: AtomicU64 = AtomicU64::new(0);

/// For a signal handler: nobody waits for the current read.
pub(super) fn is_unwanted_now() {
    UNWANTED.store(CURRENT.load(Ordering::Acquire), Ordering::Release);
}

/// Whether the current read took too long. For signal handlers too.
pub(super) fn is_late() -> bool {
    let current = CURRENT.load(Ordering::Acquire);
    current != 0 && LATE.load(Ordering::Acquire) == current
}

/// A read to look after.
#[derive(Clone, Copy)]
struct Watched {
    number: u64,
    deadline: Option<Instant>,
}

type Shared = Arc<(Mutex<Option<Watched>>, Condvar)>;

/// The thread that looks after the reads of this process.
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

    /// A read begins, which may take this long.
    pub fn begin(&mut self, limit: Option<Duration>) {
        self.last += 1;
        CURRENT.store(self.last, Ordering::Release);
        let deadline = limit.map(|limit| Instant::now() + limit);
        self.tell(Some(Watched { number: self.last, deadline }));
    }

    /// It has ended.
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

/// Looks after a read until it ends.
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
