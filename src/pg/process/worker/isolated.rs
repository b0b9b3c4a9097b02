//! Isolated reads: a worker with settings of its own reads for a caller who may not.
//!
//! Rows and true totals never enter the caller's process. What crosses over is what the worker sends: a stream of
//! messages through a queue in the caller's segment, then the end or an error. The caller's settings are not passed on,
//! and the worker's own are such that neither counters nor plans nor logs that the caller may see depend on which rows
//! match (mechanisms.md, section 19).
//!
//! There are a few readers per database (`pg_sanitize.max_readers`), each of which does one request at a time, not all
//! of them for one role, and none for longer than `pg_sanitize.reader_timeout`. When a caller is cancelled or ends, its
//! segment is detached. This sends the reader a signal, which ends the read if it is still for that caller.

use super::places::{announce, readers_for, release_locks, take_place};
use super::watchdog::{self, Watchdog};
use super::{
    Announcement, COMMON, Kind, LINGER, Launch, PATIENCE, announced, connect, exists, fix,
    on_signal, reload_settings, sleep, sleep_as, wake,
};
use crate::pg::call::error::{Error, Message};
use crate::pg::prelude::*;
use pgrx::pg_sys::panic::{CaughtError, ErrorReportWithLevel};
use pgrx::{PgSqlErrorCode, PgTryBuilder};
use std::ffi::CStr;
use std::panic::AssertUnwindSafe;
use std::sync::atomic::{AtomicBool, AtomicI32, AtomicPtr, Ordering};
use std::time::{Duration, Instant};

/// Bytes that may be under way from a reader to its caller.
const QUEUE: usize = 1 << 16;
/// How long a caller waits for the running readers before it starts another one.
const HURRY: Duration = Duration::from_millis(3);

/// States of a request beside the process that has taken it.
const WAITING: i32 = 0;
const WITHDRAWN: i32 = -1;

/// The first byte of a message.
const PART: u8 = b'+';
const END: u8 = b'.';
const FAILURE: u8 = b'!';

/// The head of a segment; the request's bytes follow, then the queue.
#[repr(C)]
struct Head {
    /// [`WAITING`], [`WITHDRAWN`], or the process that took the request. One atomic word, so that a signal is sent only
    /// to a process that has taken it.
    state: AtomicI32,
    caller: i32,
    /// The role that logged in: SET ROLE gives it no more readers.
    role: u32,
    /// The read took too long.
    is_late: AtomicBool,
    /// The length of the request, in bytes.
    length: u64,
}

impl Head {
    /// Changes the state if the request is still waiting; false if it is not.
    fn becomes(&self, state: i32) -> bool {
        self.state.compare_exchange(WAITING, state, Ordering::AcqRel, Ordering::Acquire).is_ok()
    }
}

/// Where the queue begins behind a request of this length.
const fn queue_at(length: usize) -> usize {
    (size_of::<Head>() + length).next_multiple_of(64)
}

/// Has a reader whose main function is `function` process the request; `part` receives what it sends.
pub fn ask(
    function: &CStr,
    request: &[u8],
    mut part: impl FnMut(&[u8]) -> Result<(), Error>,
) -> Result<(), Error> {
    sql::refuse_standby()?;
    if IS_READER.load(Ordering::Relaxed) {
        // If a view could ask too, each reader would wait for another one until all of them wait.
        return Err(Error::argument(
            "a question cannot be asked while another one is being answered",
            "Protect relations that do not call sanitize.dp_aggregate themselves.",
        ));
    }
    let queue_at = queue_at(request.len());
    // SAFETY: the segment has room for head, request and queue, which are written before it is
    // announced; after that only the atomic fields and the queue are touched. An error on the way
    // detaches the segment, which runs `withdraw`.
    unsafe {
        let segment = pg_sys::dsm_create(queue_at + QUEUE, 0);
        let base = pg_sys::dsm_segment_address(segment).cast::<u8>();
        let head = base.cast::<Head>();
        head.write(Head {
            state: AtomicI32::new(WAITING),
            caller: pg_sys::MyProcPid,
            role: rights::session_user().to_u32(),
            is_late: AtomicBool::new(false),
            length: request.len() as u64,
        });
        base.add(size_of::<Head>()).copy_from(request.as_ptr(), request.len());
        let queue = pg_sys::shm_mq_create(base.add(queue_at).cast(), QUEUE);
        pg_sys::shm_mq_set_receiver(queue, pg_sys::MyProc);
        let queue = pg_sys::shm_mq_attach(queue, segment, std::ptr::null_mut());
        pg_sys::on_dsm_detach(segment, Some(withdraw), Datum::from(0));
        let announcement = Announcement::new(Kind::Read, pg_sys::dsm_segment_handle(segment));
        let taken = wait_for_reader(function, &*head);
        announcement.end();
        let outcome = taken.and_then(|reader| receive(queue, reader, &mut part));
        let outcome = match outcome {
            Err(Error::ReaderGone) if (*head).is_late.load(Ordering::Acquire) => Err(Error::Late),
            outcome => outcome,
        };
        if outcome.is_ok() {
            (*head).state.store(WITHDRAWN, Ordering::Release);
        }
        pg_sys::dsm_detach(segment);
        outcome
    }
}

/// Called when the caller's segment is detached, for any reason: the answer is no longer wanted.
#[pgrx::pg_guard]
unsafe extern "C-unwind" fn withdraw(segment: *mut pg_sys::dsm_segment, _argument: Datum) {
    // SAFETY: the segment is still mapped while its callbacks run.
    unsafe {
        let head = pg_sys::dsm_segment_address(segment).cast::<Head>();
        let reader = (*head).state.swap(WITHDRAWN, Ordering::AcqRel);
        if reader > 0 {
            // The reader's handler checks that it still works for this caller before it ends the read.
            libc::kill(reader, libc::SIGUSR2);
        }
    }
}

/// Waits until a reader takes the request, and starts one if none is free; returns the reader's process id.
fn wait_for_reader(function: &CStr, head: &Head) -> Result<i32, Error> {
    let began = Instant::now();
    let mut launch: Option<(Launch, Announcement)> = None;
    let mut not_before = began + HURRY;
    loop {
        let reader = head.state.load(Ordering::Acquire);
        if reader != WAITING {
            if let Some((_, turn)) = launch {
                turn.end();
            }
            return Ok(reader);
        }
        let readers = announced(Kind::Reader);
        // A role that already has as many readers as it may have waits for one of them.
        let must_wait = readers_for(head.role) >= settings::readers_per_role();
        if !must_wait {
            readers.iter().for_each(|&(_, pid)| wake(pid));
        }
        // A reader that this caller started may have taken another caller's request: then that caller may start the
        // next one.
        if launch.as_ref().is_some_and(|(one, _)| one.is_over() || one.is_among(&readers))
            && let Some((_, turn)) = launch.take()
        {
            turn.end();
            not_before = Instant::now() + 8 * HURRY;
        }
        let mut slots = true;
        let all_busy = Instant::now() >= not_before && readers.len() < settings::max_readers();
        // Only one caller at a time starts a reader.
        if !must_wait
            && (readers.is_empty() || all_busy)
            && launch.is_none()
            && let Some(turn) = Announcement::alone(Kind::Launch, 0)
        {
            launch = match Launch::new(c"pg_sanitize reader", function) {
                Some(started) => Some((started, turn)),
                None => {
                    turn.end();
                    slots = false;
                    None
                }
            };
        }
        if readers.is_empty() && began.elapsed() > PATIENCE && head.becomes(WITHDRAWN) {
            if let Some((_, turn)) = launch {
                turn.end();
            }
            return Err(Error::NoReader { slots });
        }
        // A reader that becomes free looks for requests itself and wakes the caller that it serves. Checking again is
        // needed only in case a reader ends.
        sleep(if began.elapsed() < HURRY { HURRY } else { 8 * HURRY });
    }
}

/// Takes messages out of the queue until the reader ends them.
unsafe fn receive(
    queue: *mut pg_sys::shm_mq_handle,
    reader: i32,
    part: &mut dyn FnMut(&[u8]) -> Result<(), Error>,
) -> Result<(), Error> {
    loop {
        let (mut length, mut data) = (0, std::ptr::null_mut());
        // SAFETY: the queue lives in the caller's segment; the bytes stay until the next receive.
        let message = unsafe {
            match pg_sys::shm_mq_receive(queue, &mut length, &mut data, true) {
                pg_sys::shm_mq_result::SHM_MQ_SUCCESS => {
                    std::slice::from_raw_parts(data.cast::<u8>(), length)
                }
                pg_sys::shm_mq_result::SHM_MQ_WOULD_BLOCK if exists(reader) => {
                    sleep(Duration::from_millis(100));
                    continue;
                }
                _ => return Err(Error::ReaderGone),
            }
        };
        match message {
            [PART, bytes @ ..] => part(bytes)?,
            [END, ..] => return Ok(()),
            [FAILURE, bytes @ ..] => {
                let message: Message = serde_json::from_slice(bytes).map_err(Error::query)?;
                return Err(Error::Told(Box::new(message)));
            }
            _ => return Err(Error::ReaderGone),
        }
    }
}

/// True in a process that reads for others.
static IS_READER: AtomicBool = AtomicBool::new(false);

/// The head of the segment that this reader is working on, or null.
static CURRENT: AtomicPtr<Head> = AtomicPtr::new(std::ptr::null_mut());

/// Ends the read if its caller is gone or the watchdog reports that it takes too long.
#[pgrx::pg_guard]
unsafe extern "C-unwind" fn caller_gone(_signal: i32) {
    let head = CURRENT.load(Ordering::Acquire);
    // SAFETY: the segment is mapped as long as CURRENT names it; flags and latch are made for signal
    // handlers.
    unsafe {
        if !head.is_null() {
            let is_withdrawn = (*head).state.load(Ordering::Acquire) == WITHDRAWN;
            let is_late = watchdog::is_late();
            if is_withdrawn {
                watchdog::is_unwanted_now();
            }
            if is_late {
                (*head).is_late.store(true, Ordering::Release);
            }
            if is_withdrawn || is_late {
                pg_sys::InterruptPending = 1;
                pg_sys::QueryCancelPending = 1;
            }
        }
        pg_sys::SetLatch(pg_sys::MyLatch);
    }
}

/// Called when the reader's segment is detached, also at the end of the process: a later signal must not read it.
#[pgrx::pg_guard]
unsafe extern "C-unwind" fn forget(_segment: *mut pg_sys::dsm_segment, _argument: Datum) {
    CURRENT.store(std::ptr::null_mut(), Ordering::Release);
}

/// A request that this reader has taken.
struct Taken {
    segment: *mut pg_sys::dsm_segment,
    head: *mut Head,
    queue: *mut pg_sys::shm_mq_handle,
}

impl Taken {
    /// Takes the request, unless its caller is gone, another reader has it, or its role has enough readers.
    fn take(handle: u32) -> Option<Self> {
        // SAFETY: a segment announced in this database was made by `ask`. No transaction is open, so
        // the mapping stays until it is detached.
        unsafe {
            let segment = pg_sys::dsm_attach(handle);
            if segment.is_null() {
                return None;
            }
            let base = pg_sys::dsm_segment_address(segment).cast::<u8>();
            let head = base.cast::<Head>();
            let has_place = take_place((*head).role);
            if !has_place || !(*head).becomes(pg_sys::MyProcPid) {
                if has_place {
                    release_locks();
                }
                pg_sys::dsm_detach(segment);
                return None;
            }
            pg_sys::on_dsm_detach(segment, Some(forget), Datum::from(0));
            let queue = base.add(queue_at((*head).length as usize)).cast();
            pg_sys::shm_mq_set_sender(queue, pg_sys::MyProc);
            let queue = pg_sys::shm_mq_attach(queue, segment, std::ptr::null_mut());
            wake((*head).caller);
            Some(Taken { segment, head, queue })
        }
    }

    fn request(&self) -> &[u8] {
        // SAFETY: written before the request was announced, and not since.
        unsafe {
            let bytes = self.head.cast::<u8>().add(size_of::<Head>());
            std::slice::from_raw_parts(bytes, (*self.head).length as usize)
        }
    }

    /// Sends a message; waits while the queue is full. Nothing is sent to a caller that is gone.
    fn send(&self, kind: u8, bytes: &[u8]) {
        let mut message = Vec::with_capacity(bytes.len() + 1);
        message.push(kind);
        message.extend_from_slice(bytes);
        // SAFETY: the queue copies the bytes.
        unsafe {
            let data = message.as_ptr().cast();
            #[cfg(feature = "pg14")]
            pg_sys::shm_mq_send(self.queue, message.len(), data, false);
            #[cfg(not(feature = "pg14"))]
            pg_sys::shm_mq_send(self.queue, message.len(), data, false, kind != PART);
        }
    }

    fn end(self, outcome: Result<(), Message>) {
        match outcome {
            Ok(()) => self.send(END, &[]),
            Err(message) => self.send(FAILURE, &serde_json::to_vec(&message).unwrap_or_default()),
        }
        // SAFETY: attached by `take`.
        unsafe {
            pg_sys::shm_mq_detach(self.queue);
            pg_sys::dsm_detach(self.segment);
        }
    }
}

/// What a reader does for a request: sends parts of the answer.
pub type Work = fn(&[u8], &mut dyn FnMut(&[u8])) -> Result<(), Error>;

/// Processes one request in a transaction of its own. Only errors that `work` itself returned are sent to the caller;
/// all others go to the server's log.
fn run(taken: Taken, work: Work, watchdog: &mut Watchdog) {
    CURRENT.store(taken.head, Ordering::Release);
    watchdog.begin(settings::reader_timeout());
    let outcome = PgTryBuilder::new(AssertUnwindSafe(|| {
        // SAFETY: an ordinary transaction of a background worker.
        unsafe {
            fix(c"track_counts", c"off");
            pg_sys::SetCurrentStatementStartTimestamp();
            pg_sys::StartTransactionCommand();
            pg_sys::PushActiveSnapshot(pg_sys::GetTransactionSnapshot());
        }
        let outcome = work(taken.request(), &mut |bytes| taken.send(PART, bytes));
        // SAFETY: ends what was begun above.
        unsafe {
            match outcome {
                Ok(()) => {
                    pg_sys::PopActiveSnapshot();
                    pg_sys::CommitTransactionCommand();
                }
                Err(_) => pg_sys::AbortCurrentTransaction(),
            }
        }
        outcome
    }))
    .catch_others(|error| {
        log(&error);
        // SAFETY: the error is flushed; this ends the transaction that it broke.
        unsafe { pg_sys::AbortCurrentTransaction() };
        Err(match report(&error).sql_error_code() {
            PgSqlErrorCode::ERRCODE_LOCK_NOT_AVAILABLE => Error::Locked,
            _ => Error::Unreadable,
        })
    })
    .execute();
    // If the watchdog ended the read, this is the reason, whatever the error says.
    let outcome = outcome.map_err(|error| if watchdog::is_late() { Error::Late } else { error });
    watchdog.end();
    CURRENT.store(std::ptr::null_mut(), Ordering::Release);
    release_locks();
    // SAFETY: the cancel request was meant for the current caller; the next one is not served yet.
    unsafe { pg_sys::QueryCancelPending = 0 };
    taken.end(outcome.map_err(|error| error.message()));
}

fn report(error: &CaughtError) -> &ErrorReportWithLevel {
    let (CaughtError::PostgresError(report)
    | CaughtError::ErrorReport(report)
    | CaughtError::RustPanic { ereport: report, .. }) = error;
    report
}

/// Writes an error to the server's log, and never to a client.
pub fn log(error: &CaughtError) {
    let report = report(error);
    if report.sql_error_code() != PgSqlErrorCode::ERRCODE_QUERY_CANCELED {
        pgrx::log!("pg_sanitize could not read a protected relation: {}", report.message());
    }
}

/// Settings with which a read looks the same from outside, whatever rows it reads.
const QUIET: &[(&CStr, &CStr)] = &[
    // The same value has the same text for every caller.
    (c"DateStyle", c"ISO, MDY"),
    (c"IntervalStyle", c"postgres"),
    (c"TimeZone", c"UTC"),
    (c"extra_float_digits", c"1"),
    (c"bytea_output", c"hex"),
    (c"xmlbinary", c"base64"),
    (c"transform_null_equals", c"off"),
    (c"standard_conforming_strings", c"on"),
    // Counters that everybody may read.
    (c"track_counts", c"off"),
    (c"track_io_timing", c"off"),
    (c"track_wal_io_timing", c"off"),
    (c"track_functions", c"none"),
    (c"track_activities", c"off"),
    (c"compute_query_id", c"off"),
    // Logs that an administrator may hand out.
    (c"log_statement", c"none"),
    (c"log_duration", c"off"),
    (c"log_min_duration_statement", c"-1"),
    (c"log_min_duration_sample", c"-1"),
    (c"log_transaction_sample_rate", c"0"),
    (c"log_min_error_statement", c"panic"),
    (c"log_parser_stats", c"off"),
    (c"log_planner_stats", c"off"),
    (c"log_executor_stats", c"off"),
    (c"log_statement_stats", c"off"),
    (c"log_temp_files", c"-1"),
    (c"log_lock_waits", c"off"),
    (c"debug_print_parse", c"off"),
    (c"debug_print_rewritten", c"off"),
    (c"debug_print_plan", c"off"),
    (c"auto_explain.log_min_duration", c"-1"),
    // Every page of the table is read, whatever the filter, and no limit depends on the number of rows.
    (c"enable_indexscan", c"off"),
    (c"enable_indexonlyscan", c"off"),
    (c"enable_bitmapscan", c"off"),
    (c"enable_tidscan", c"off"),
    (c"enable_seqscan", c"on"),
    (c"enable_sort", c"on"),
    (c"enable_hashagg", c"on"),
    (c"enable_hashjoin", c"on"),
    (c"enable_mergejoin", c"on"),
    (c"enable_nestloop", c"on"),
    (c"constraint_exclusion", c"off"),
    (c"temp_file_limit", c"-1"),
    (c"jit", c"off"),
];

/// Runs `work` on tables of the extension, with statistics counters on, so that autovacuum learns of the changes.
pub fn counted<T>(work: impl FnOnce() -> T) -> T {
    // SAFETY: constant strings; an error leaves the counters on until the next read, see `run`.
    unsafe {
        fix(c"track_counts", c"on");
        let result = work();
        fix(c"track_counts", c"off");
        result
    }
}

/// Sleeps until `time`, unless the caller ends. Others must not see that the reader has finished reading.
pub fn wait_until(time: Instant) {
    while let Some(left) = time.checked_duration_since(Instant::now()).filter(|t| !t.is_zero()) {
        sleep_as(left.min(Duration::from_secs(60)), 0);
    }
}

/// The life of a reader.
///
/// # Safety
/// Called by the postmaster's child only, with the database in `argument`.
pub unsafe fn serve(argument: Datum, work: Work) {
    IS_READER.store(true, Ordering::Relaxed);
    // SAFETY: the main function of a worker; the session lock ends with the process.
    unsafe {
        connect(argument, &[COMMON, QUIET]);
        on_signal(libc::SIGUSR2, caller_gone);
    }
    announce();
    let mut watchdog = match Watchdog::start() {
        Ok(watchdog) => watchdog,
        Err(error) => {
            pgrx::log!("pg_sanitize reader: no thread can be started: {error}");
            return;
        }
    };
    if announced(Kind::Reader).len() > settings::max_readers() {
        return;
    }
    let mut last = Instant::now();
    while last.elapsed() < LINGER {
        reload_settings();
        let requests = announced(Kind::Read);
        let taken = requests.into_iter().find_map(|(handle, _)| Taken::take(handle));
        match taken {
            Some(taken) => {
                run(taken, work, &mut watchdog);
                last = Instant::now();
            }
            None => sleep(LINGER.saturating_sub(last.elapsed())),
        }
    }
}
