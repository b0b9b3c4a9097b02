//! Work on other threads, which never touch Postgres, while the backend's own thread listens for
//! cancellation and tells the progress.

use super::progress::Progress;
use crate::pg::call::error::Error;
use crate::pg::call::settings;
use pgrx::pg_sys;
use std::convert::Infallible;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError, SyncSender, sync_channel};
use std::time::Duration;
use table::{Stop, Watch};

/// How often the waiting thread looks for a cancel request.
const TICK: Duration = Duration::from_millis(10);

/// Deep recursion is bounded by the number of columns (1600 at most).
const STACK: usize = 16 << 20;

/// Blocks all signals while it lives: threads made meanwhile inherit the mask, so that Postgres'
/// signal handlers run on the backend's own thread only.
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

/// Gives freed memory back to the system when a run ends, whatever its outcome. Threads allocate in
/// arenas of their own, and an arena keeps what was freed there for itself: without this, each phase
/// of a call would be resident beside those before it.
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

/// Runs `job` on a pool of `pg_sanitize.threads` threads, under the limits in force; `held` are the
/// bytes that the call holds already.
pub fn run<T: Send>(
    phase: &'static str,
    held: u64,
    job: impl FnOnce(&Watch) -> Result<T, Stop> + Send,
) -> Result<T, Error> {
    run_telling(phase, held, |watch| format!("{} itemsets", watch.itemsets()), job)
}

/// As [`run`]; `tell` says what there is so far, for the progress notices.
pub fn run_telling<T: Send>(
    phase: &'static str,
    held: u64,
    tell: impl Fn(&Watch) -> String,
    job: impl FnOnce(&Watch) -> Result<T, Stop> + Send,
) -> Result<T, Error> {
    run_sending(
        phase,
        held,
        tell,
        |watch, _: &Sender<T, Infallible>| job(watch),
        |never| match never {},
    )
}

/// Parts that go to another thread, and come back to be filled anew.
pub struct Feed<P> {
    /// The part in hand.
    pub part: P,
    full: SyncSender<P>,
    empty: Receiver<P>,
}

impl<P> Feed<P> {
    /// Sends the part in hand on its way and takes another one. False if nobody takes it.
    pub fn next(&mut self) -> bool {
        let Ok(next) = self.empty.recv() else { return false };
        self.full.send(std::mem::replace(&mut self.part, next)).is_ok()
    }
}

/// Parts in one circle: one in hand, one on its way, one that is being kept.
pub const PARTS: u64 = 3;

/// Runs `read` on the backend's own thread, where it may use Postgres, while `keep` takes the parts that
/// it feeds on another one. Leaving `read` in any way, by an error too, ends the other thread.
pub fn feed<P: Send, T>(
    empty_part: impl Fn() -> P,
    mut keep: impl FnMut(&mut P) + Send,
    read: impl FnOnce(&mut Feed<P>) -> Result<T, Error>,
) -> Result<T, Error> {
    let (full, filled) = sync_channel(PARTS as usize);
    let (back, empty) = sync_channel(PARTS as usize);
    for _ in 1..PARTS {
        // Its receiver is at hand, and there is room.
        let _ = back.send(empty_part());
    }
    std::thread::scope(|scope| {
        let keeper = {
            let _blocked = SignalsBlocked::new();
            std::thread::Builder::new().spawn_scoped(scope, move || {
                for mut part in filled {
                    keep(&mut part);
                    // The reader may have left.
                    let _ = back.send(part);
                }
            })
        };
        keeper.map_err(no_threads)?;
        let mut feed = Feed { part: empty_part(), full, empty };
        let outcome = read(&mut feed)?;
        feed.next();
        Ok(outcome)
    })
}

fn no_threads(error: impl std::fmt::Display) -> Error {
    Error::argument(format!("no threads can be started: {error}"), "Lower pg_sanitize.threads.")
}

/// What a worker says to the waiting thread.
enum Message<T, P> {
    Part(P),
    Done(Result<T, Stop>),
}

/// Hands parts of a result to the waiting thread.
pub struct Sender<T, P> {
    messages: SyncSender<Message<T, P>>,
    idle: Arc<AtomicBool>,
}

impl<T, P> Sender<T, P> {
    /// True while the waiting thread has nothing to do: then it may do more of the work on a part.
    pub fn is_awaited(&self) -> bool {
        self.idle.load(Ordering::Relaxed)
    }

    /// Waits until the part before has been taken.
    pub fn send(&self, part: P) -> Result<(), Stop> {
        // Nobody listens any more only if the waiting thread unwinds.
        self.messages.send(Message::Part(part)).map_err(|_| Stop::Cancelled)
    }
}

/// As [`run_telling`]; what `job` sends is consumed on the backend's own thread while the job goes
/// on with the next part.
pub fn run_sending<T: Send, P: Send>(
    phase: &'static str,
    held: u64,
    tell: impl Fn(&Watch) -> String,
    job: impl FnOnce(&Watch, &Sender<T, P>) -> Result<T, Stop> + Send,
    mut consume: impl FnMut(P),
) -> Result<T, Error> {
    let watch = &settings::watch();
    let _held = watch.hold(held)?;
    let _trim = TrimOnDrop;
    let pool = {
        let _blocked = SignalsBlocked::new();
        rayon::ThreadPoolBuilder::new()
            .num_threads(settings::threads())
            .stack_size(STACK)
            .build()
            .map_err(no_threads)?
    };
    let mut progress = Progress::begin(phase);
    let outcome = pool.in_place_scope(|scope| {
        let (messages, receiver) = sync_channel(1);
        let idle = Arc::new(AtomicBool::new(true));
        let sender = Sender { messages, idle: idle.clone() };
        scope.spawn(move |_| {
            let done = job(watch, &sender);
            // The receiver is gone only if the waiting thread unwinds: then nobody wants the result.
            let _ = sender.messages.send(Message::Done(done));
        });
        let _guard = CancelOnDrop(watch);
        loop {
            match receiver.recv_timeout(TICK) {
                Ok(Message::Part(part)) => {
                    idle.store(false, Ordering::Relaxed);
                    consume(part);
                    idle.store(true, Ordering::Relaxed);
                }
                Ok(Message::Done(outcome)) => return Some(outcome),
                // The job panicked; leaving the scope hands its panic on.
                Err(RecvTimeoutError::Disconnected) => return None,
                Err(RecvTimeoutError::Timeout) if cancel_requested() => watch.cancel(),
                Err(RecvTimeoutError::Timeout) => {
                    pgrx::check_for_interrupts!();
                    progress.work(watch, &tell);
                }
            }
        }
    });
    // A cancel request is answered by Postgres in its own words, now that no thread is left.
    pgrx::check_for_interrupts!();
    match outcome {
        Some(Ok(value)) => Ok(value),
        Some(Err(stop)) => Err(stop.into()),
        None => Err(Error::Cancelled),
    }
}
