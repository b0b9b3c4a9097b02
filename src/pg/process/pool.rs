//! Work on other threads, which never touch Postgres, while the backend's own thread listens for cancellation and
//! reports the progress.

use super::progress::Progress;
use crate::pg::call::error::{self, Error};
use crate::pg::prelude::*;
use rayon::{ThreadPool, ThreadPoolBuilder};
use std::convert::Infallible;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError, SyncSender, sync_channel};
use std::sync::{Arc, Mutex};
use std::time::Duration;
use table::{Stop, Watch};

/// How often the waiting thread looks for a cancel request.
const TICK: Duration = Duration::from_millis(10);

/// Deep recursion is bounded by the number of columns (1600 at most).
const STACK: usize = 16 << 20;

/// Blocks all signals while it lives: threads started meanwhile inherit the mask, so that Postgres' signal handlers run
/// on the backend's own thread only.
pub(in crate::pg) struct SignalsBlocked(libc::sigset_t);

impl SignalsBlocked {
    pub(in crate::pg) fn new() -> Self {
        // SAFETY: sigfillset and pthread_sigmask only write to the two sets given.
        unsafe {
            let mut all = std::mem::zeroed();
            let mut before = std::mem::zeroed();
            libc::sigfillset(&mut all);
            libc::pthread_sigmask(libc::SIG_SETMASK, &all, &mut before);
            SignalsBlocked(before)
        }
    }
}

impl Drop for SignalsBlocked {
    fn drop(&mut self) {
        // SAFETY: restores the mask that `new` read.
        unsafe { libc::pthread_sigmask(libc::SIG_SETMASK, &self.0, std::ptr::null_mut()) };
    }
}

/// Stops the workers if the waiting thread leaves early (an error raised by a NOTICE, say): the
/// scope joins them before anything unwinds further.
struct CancelOnDrop<'a>(&'a Watch);

impl Drop for CancelOnDrop<'_> {
    fn drop(&mut self) {
        self.0.cancel();
    }
}

/// Returns freed memory to the system when a run ends, with or without an error. Each thread allocates in an arena of
/// its own, and the allocator does not return an arena's freed pages by itself: without this, the memory of earlier
/// phases of a call would stay resident.
struct TrimOnDrop;

impl Drop for TrimOnDrop {
    fn drop(&mut self) {
        #[cfg(target_env = "gnu")]
        // SAFETY: looks at the allocator's own lists only, under its own locks.
        unsafe {
            libc::malloc_trim(0);
        }
    }
}

fn cancel_requested() -> bool {
    // SAFETY: plain reads of flags that only this thread's signal handlers write.
    unsafe { pg_sys::QueryCancelPending != 0 || pg_sys::ProcDiePending != 0 }
}

/// The pool of the SQL call that is served: its phases follow each other on the same threads.
static KEPT: Mutex<Option<Arc<ThreadPool>>> = Mutex::new(None);

/// Ends the threads that the phases of a call have shared. A call from SQL does this when it ends, in any way.
pub(in crate::pg) fn end_of_call() {
    drop(KEPT.lock().ok().and_then(|mut kept| kept.take()));
}

/// `pg_sanitize.threads` threads for one phase. The call's pool is reused if it is idle. It is not if the phase runs
/// inside another one: a phase may run a query that calls another function of ours, which gets a new pool.
fn threads() -> Result<Arc<ThreadPool>, Error> {
    let number = settings::threads();
    let mut kept = KEPT.lock().map_err(Error::fault)?;
    if let Some(pool) = &*kept
        && Arc::strong_count(pool) == 1
        && pool.current_num_threads() == number
    {
        return Ok(pool.clone());
    }
    let _blocked = SignalsBlocked::new();
    let builder = ThreadPoolBuilder::new().num_threads(number).stack_size(STACK);
    let pool = Arc::new(builder.build().map_err(no_threads)?);
    // In a background worker no call ends, so nothing would end kept threads.
    if error::is_serving() {
        *kept = Some(pool.clone());
    }
    Ok(pool)
}

/// Runs `job` on the threads of the call, under the limits in force; `held` is the number of bytes that the call
/// already holds.
pub fn run<T: Send, E: Into<Error> + Send>(
    phase: &'static str,
    held: u64,
    job: impl FnOnce(&Watch) -> Result<T, E> + Send,
) -> Result<T, Error> {
    let tell = |watch: &Watch| match watch.itemsets() {
        0 => String::new(),
        found => format!("{found} itemsets"),
    };
    run_telling(phase, held, tell, job)
}

/// As [`run`]; `tell` describes the results so far, for the progress notices.
pub fn run_telling<T: Send, E: Into<Error> + Send>(
    phase: &'static str,
    held: u64,
    tell: impl Fn(&Watch) -> String,
    job: impl FnOnce(&Watch) -> Result<T, E> + Send,
) -> Result<T, Error> {
    let job = |watch: &Watch, _: &Sender<Infallible>| job(watch);
    run_sending(phase, held, tell, job, |never| match never {})
}

/// Buffers that are filled here, processed on another thread, and come back to be filled again.
pub struct Feed<P> {
    /// The buffer that is being filled.
    pub part: P,
    full: SyncSender<P>,
    empty: Receiver<P>,
}

impl<P> Feed<P> {
    /// Sends the filled buffer to the other thread and takes an empty one. False if the other thread has ended.
    pub fn next(&mut self) -> bool {
        let Ok(next) = self.empty.recv() else { return false };
        self.full.send(std::mem::replace(&mut self.part, next)).is_ok()
    }
}

/// Buffers of a feed: one is being filled, one is in the channel, one is being processed.
pub const PARTS: u64 = 3;

/// Runs `read` on the backend's own thread, where it may use Postgres, while `keep` processes the buffers that it sends
/// on another thread. The other thread ends when `read` is left, by an error too.
pub fn feed<P: Send, T>(
    empty_part: impl Fn() -> P,
    mut keep: impl FnMut(&mut P) + Send,
    read: impl FnOnce(&mut Feed<P>) -> Result<T, Error>,
) -> Result<T, Error> {
    let (full, filled) = sync_channel(PARTS as usize);
    let (back, empty) = sync_channel(PARTS as usize);
    for _ in 1..PARTS {
        // Cannot fail: the receiver exists, and the channel has room.
        let _ = back.send(empty_part());
    }
    threads()?.in_place_scope(|scope| {
        scope.spawn(move |_| {
            for mut part in filled {
                keep(&mut part);
                // The reading thread may have ended.
                let _ = back.send(part);
            }
        });
        let mut feed = Feed { part: empty_part(), full, empty };
        let outcome = read(&mut feed)?;
        feed.next();
        Ok(outcome)
    })
}

fn no_threads(error: impl std::fmt::Display) -> Error {
    Error::argument(format!("no threads can be started: {error}"), "Lower pg_sanitize.threads.")
}

/// Hands parts of a result to the waiting thread.
pub struct Sender<P> {
    parts: SyncSender<P>,
    idle: Arc<AtomicBool>,
}

impl<P> Sender<P> {
    /// True while the waiting thread is idle, so that it can be given more of the work on a part.
    pub fn is_awaited(&self) -> bool {
        self.idle.load(Ordering::Relaxed)
    }

    /// Waits until the part before has been taken.
    pub fn send(&self, part: P) -> Result<(), Stop> {
        // The receiver is gone only if the waiting thread unwinds.
        self.parts.send(part).map_err(|_| Stop::Cancelled)
    }
}

/// As [`run_telling`]; what `job` sends is consumed on the backend's own thread while the job computes the next part.
pub fn run_sending<T: Send, P: Send, E: Into<Error> + Send>(
    phase: &'static str,
    held: u64,
    tell: impl Fn(&Watch) -> String,
    job: impl FnOnce(&Watch, &Sender<P>) -> Result<T, E> + Send,
    mut consume: impl FnMut(P),
) -> Result<T, Error> {
    let watch = &settings::watch();
    let _held = watch.hold(held)?;
    let _trim = TrimOnDrop;
    let mut outcome = None;
    let mut wait = |parts: Receiver<P>, idle: &AtomicBool| {
        let _guard = CancelOnDrop(watch);
        let mut progress = Progress::begin(phase);
        loop {
            match parts.recv_timeout(TICK) {
                Ok(part) => {
                    idle.store(false, Ordering::Relaxed);
                    consume(part);
                    idle.store(true, Ordering::Relaxed);
                }
                // The job has ended, or panicked: a panic is raised again at the end of the scope.
                Err(RecvTimeoutError::Disconnected) => return,
                Err(RecvTimeoutError::Timeout) if cancel_requested() => watch.cancel(),
                Err(RecvTimeoutError::Timeout) => {
                    pgrx::check_for_interrupts!();
                    progress.work(watch, &tell);
                }
            }
        }
    };
    threads()?.in_place_scope(|scope| {
        let (parts, received) = sync_channel(1);
        let idle = Arc::new(AtomicBool::new(true));
        let sender = Sender { parts, idle: idle.clone() };
        let outcome = &mut outcome;
        scope.spawn(move |_| *outcome = Some(job(watch, &sender)));
        wait(received, &idle);
    });
    // No thread works any more, so Postgres can raise its own error for the cancel request.
    pgrx::check_for_interrupts!();
    outcome.map_or(Err(Error::Cancelled), |outcome| outcome.map_err(Into::into))
}
