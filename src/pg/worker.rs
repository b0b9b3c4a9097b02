//! Autonomous transactions: work that is committed whatever becomes of the transaction that asked.
//!
//! A dynamic background worker, one per database, decides requests and commits them in batches. A
//! request lies in a DSM segment of its caller's and is announced by a lock whose tag is the
//! segment's handle: the lock table is the one piece of shared memory that every backend has, and the
//! announcement goes when its maker goes. The worker holds such a lock too, by which callers find it.
//! It stays for a second after the last request, so that only the first call of many waits for a start.
//!
//! Nothing here is done twice: a request that the worker has taken is either answered after the
//! commit, or its caller gets an error and must assume that it was committed.

use super::error::Error;
use pgrx::pg_sys::{self, Datum, Oid};
use pgrx::{PgMemoryContexts, PgSqlErrorCode, PgTryBuilder, check_for_interrupts};
use std::ffi::CStr;
use std::panic::AssertUnwindSafe;
use std::sync::atomic::{AtomicI32, AtomicU32, Ordering};
use std::time::{Duration, Instant};

/// How long a request may wait before anybody takes it.
const PATIENCE: Duration = Duration::from_secs(10);
/// How long the worker stays without work. DROP DATABASE waits five seconds for others to leave.
const LINGER: Duration = Duration::from_secs(1);
/// How long a request waits that met a locked row.
const LOCKED: Duration = Duration::from_millis(20);
/// Requests decided in one transaction.
const BATCH: usize = 64;
/// Room for a request or its reply.
const ROOM: usize = 8192;

/// What becomes of a request.
pub enum Decision {
    Reply(Vec<u8>),
    /// Somebody holds a lock: ask again soon.
    Later,
    /// It cannot be decided; the server's log has the reason.
    Failed,
}

#[derive(Clone, Copy)]
#[repr(u16)]
enum Kind {
    Request = 1,
    Worker = 2,
}

const WAITING: u32 = 0;
const TAKEN: u32 = 1;
const ANSWERED: u32 = 2;
const FAILED: u32 = 3;
const WITHDRAWN: u32 = 4;

/// What lies in the segment. The bytes belong to the caller while it waits, to the worker once it is
/// taken, and to the caller again when it is answered.
#[repr(C)]
struct Request {
    state: AtomicU32,
    /// The process that took the request.
    taker: AtomicI32,
    caller: i32,
    length: u32,
    bytes: [u8; ROOM],
}

/// The tag of an announcement. No SQL function takes locks of this type.
fn tag(kind: Kind, handle: u32) -> pg_sys::LOCKTAG {
    pg_sys::LOCKTAG {
        // SAFETY: a variable that is set once per process.
        locktag_field1: unsafe { pg_sys::MyDatabaseId }.to_u32(),
        locktag_field2: handle,
        locktag_field3: u32::from_be_bytes(*b"sani"),
        locktag_field4: kind as u16,
        locktag_type: pg_sys::LockTagType::LOCKTAG_USERLOCK as u8,
        locktag_lockmethodid: pg_sys::USER_LOCKMETHOD as u8,
    }
}

/// Handle and process of everything announced in this database.
fn announced(kind: Kind) -> Vec<(u32, i32)> {
    let wanted = tag(kind, 0);
    let mut context = PgMemoryContexts::new("pg_sanitize locks");
    // SAFETY: the array is palloc'd in the context and has `nelements` entries.
    unsafe {
        context.switch_to(|_| {
            let data = &*pg_sys::GetLockStatusData();
            std::slice::from_raw_parts(data.locks, data.nelements as usize)
                .iter()
                .filter(|lock| {
                    let tag = &lock.locktag;
                    tag.locktag_type == wanted.locktag_type
                        && tag.locktag_field1 == wanted.locktag_field1
                        && tag.locktag_field3 == wanted.locktag_field3
                        && tag.locktag_field4 == wanted.locktag_field4
                        && lock.holdMask != 0
                })
                .map(|lock| (lock.locktag.locktag_field2, lock.pid))
                .collect()
        })
    }
}

/// Wakes a process; false if it is gone.
fn wake(pid: i32) -> bool {
    // SAFETY: entries of the process array stay mapped; a latch set for nobody harms nobody.
    unsafe {
        let process = pg_sys::BackendPidGetProc(pid);
        if process.is_null() {
            return false;
        }
        pg_sys::SetLatch(&mut (*process).procLatch);
        true
    }
}

/// Sleeps until woken or until the time is up.
fn sleep(time: Duration) {
    // SAFETY: MyLatch is this process's own.
    unsafe {
        let events = pg_sys::WL_LATCH_SET | pg_sys::WL_TIMEOUT | pg_sys::WL_EXIT_ON_PM_DEATH;
        let milliseconds = time.as_millis().max(1) as std::ffi::c_long;
        pg_sys::WaitLatch(pg_sys::MyLatch, events as i32, milliseconds, pg_sys::PG_WAIT_EXTENSION);
        pg_sys::ResetLatch(pg_sys::MyLatch);
    }
    check_for_interrupts!();
}

/// A worker that this process has asked the postmaster for.
struct Launch(*mut pg_sys::BackgroundWorkerHandle);

impl Launch {
    /// `None` if no slot for a worker is free.
    fn new(function: &CStr) -> Option<Self> {
        // SAFETY: the structure is plain data, copied by the postmaster; the names fit.
        unsafe {
            let mut worker = pg_sys::BackgroundWorker {
                bgw_flags: (pg_sys::BGWORKER_SHMEM_ACCESS
                    | pg_sys::BGWORKER_BACKEND_DATABASE_CONNECTION)
                    as i32,
                bgw_start_time: pg_sys::BgWorkerStartTime::BgWorkerStart_RecoveryFinished,
                bgw_restart_time: pg_sys::BGW_NEVER_RESTART,
                bgw_main_arg: Datum::from(pg_sys::MyDatabaseId),
                bgw_notify_pid: pg_sys::MyProcPid,
                ..Default::default()
            };
            copy(&mut worker.bgw_name, c"pg_sanitize ledger");
            copy(&mut worker.bgw_type, c"pg_sanitize ledger");
            copy(&mut worker.bgw_library_name, c"pg_sanitize");
            copy(&mut worker.bgw_function_name, function);
            let mut handle = std::ptr::null_mut();
            pg_sys::RegisterDynamicBackgroundWorker(&mut worker, &mut handle)
                .then_some(Launch(handle))
        }
    }

    fn is_over(&self) -> bool {
        let mut pid = 0;
        // SAFETY: the handle came from the registration.
        let status = unsafe { pg_sys::GetBackgroundWorkerPid(self.0, &mut pid) };
        status == pg_sys::BgwHandleStatus::BGWH_STOPPED
    }
}

fn copy(to: &mut [std::ffi::c_char], from: &CStr) {
    for (to, from) in to.iter_mut().zip(from.to_bytes_with_nul()) {
        *to = *from as std::ffi::c_char;
    }
}

/// Has the worker whose main function is `function` decide and commit a request; returns its reply.
pub fn ask(function: &CStr, request: &[u8]) -> Result<Vec<u8>, Error> {
    super::sql::refuse_standby()?;
    if request.len() > ROOM {
        return Err(Error::Ledger { certain: true, why: "the request is too long" });
    }
    // SAFETY: the segment has the size of a Request and is written before it is announced; after
    // that, only `state` is read until the worker has given the bytes back. An error on the way
    // detaches the segment and releases the lock with the transaction.
    unsafe {
        let segment = pg_sys::dsm_create(size_of::<Request>(), 0);
        let shared = pg_sys::dsm_segment_address(segment).cast::<Request>();
        (*shared).state = AtomicU32::new(WAITING);
        (*shared).taker = AtomicI32::new(0);
        (*shared).caller = pg_sys::MyProcPid;
        (*shared).length = request.len() as u32;
        (&raw mut (*shared).bytes).cast::<u8>().copy_from(request.as_ptr(), request.len());
        let announcement = tag(Kind::Request, pg_sys::dsm_segment_handle(segment));
        let mode = pg_sys::ExclusiveLock as pg_sys::LOCKMODE;
        pg_sys::LockAcquire(&announcement, mode, false, false);
        let outcome = wait(function, &(*shared).state, &(*shared).taker);
        pg_sys::LockRelease(&announcement, mode, false);
        let reply = outcome.map(|()| {
            let length = ((*shared).length as usize).min(ROOM);
            std::slice::from_raw_parts((&raw const (*shared).bytes).cast::<u8>(), length).to_vec()
        });
        pg_sys::dsm_detach(segment);
        reply
    }
}

/// Waits until the request is answered, and starts a worker if there is none.
fn wait(function: &CStr, state: &AtomicU32, taker: &AtomicI32) -> Result<(), Error> {
    let began = Instant::now();
    let mut launch: Option<Launch> = None;
    let mut slots = true;
    loop {
        match state.load(Ordering::Acquire) {
            ANSWERED => return Ok(()),
            FAILED => {
                let why = "its worker met an error, which the server's log has";
                return Err(Error::Ledger { certain: true, why });
            }
            TAKEN => {
                // SAFETY: a look at the process array.
                let gone =
                    unsafe { pg_sys::BackendPidGetProc(taker.load(Ordering::Acquire)).is_null() };
                if gone && state.load(Ordering::Acquire) == TAKEN {
                    return Err(Error::Ledger {
                        certain: false,
                        why: "its worker ended too early",
                    });
                }
                sleep(Duration::from_millis(100));
            }
            _ => {
                if began.elapsed() > PATIENCE
                    && state
                        .compare_exchange(WAITING, WITHDRAWN, Ordering::AcqRel, Ordering::Acquire)
                        .is_ok()
                {
                    let why = match slots {
                        true => "it did not answer within 10 seconds",
                        false => "no background worker is free (max_worker_processes)",
                    };
                    return Err(Error::Ledger { certain: true, why });
                }
                match announced(Kind::Worker).first() {
                    Some(&(_, pid)) => {
                        wake(pid);
                    }
                    None if launch.as_ref().is_none_or(Launch::is_over) => {
                        launch = Launch::new(function);
                        slots = launch.is_some();
                    }
                    None => {}
                }
                sleep(Duration::from_millis(if slots { 10 } else { 25 }));
            }
        }
    }
}

/// A request that this worker has taken.
struct Taken {
    segment: *mut pg_sys::dsm_segment,
    shared: *mut Request,
}

impl Taken {
    /// Takes the request, unless its caller is gone or has given up.
    fn take(handle: u32) -> Option<Self> {
        // SAFETY: a segment announced in this database was made by `ask` and holds a Request. The
        // mapping is pinned, as it must outlive the transaction.
        unsafe {
            let segment = pg_sys::dsm_attach(handle);
            if segment.is_null() {
                return None;
            }
            pg_sys::dsm_pin_mapping(segment);
            let shared = pg_sys::dsm_segment_address(segment).cast::<Request>();
            (*shared).taker.store(pg_sys::MyProcPid, Ordering::Release);
            let taken = (*shared)
                .state
                .compare_exchange(WAITING, TAKEN, Ordering::AcqRel, Ordering::Acquire)
                .is_ok();
            if taken {
                return Some(Taken { segment, shared });
            }
            pg_sys::dsm_detach(segment);
            None
        }
    }

    fn bytes(&self) -> Vec<u8> {
        // SAFETY: taken, so the bytes are ours.
        unsafe {
            let length = ((*self.shared).length as usize).min(ROOM);
            std::slice::from_raw_parts((&raw const (*self.shared).bytes).cast::<u8>(), length)
                .to_vec()
        }
    }

    /// Gives the request back, with a reply or to be taken again.
    fn give_back(self, decision: Decision) {
        // SAFETY: the bytes are ours until the state says otherwise.
        unsafe {
            let state = match decision {
                Decision::Later => WAITING,
                Decision::Failed => FAILED,
                Decision::Reply(reply) => {
                    let length = reply.len().min(ROOM);
                    (&raw mut (*self.shared).bytes).cast::<u8>().copy_from(reply.as_ptr(), length);
                    (*self.shared).length = length as u32;
                    ANSWERED
                }
            };
            let caller = (*self.shared).caller;
            (*self.shared).state.store(state, Ordering::Release);
            if state != WAITING {
                wake(caller);
            }
            pg_sys::dsm_detach(self.segment);
        }
    }
}

/// Runs `decide` in a subtransaction; what it did is undone unless there is a reply.
fn decide_one(decide: fn(&[u8]) -> Result<Decision, Error>, request: &[u8]) -> Decision {
    // SAFETY: as PL/pgSQL does for a block with an exception clause: memory context and resource
    // owner are put back after the subtransaction.
    unsafe {
        let (context, owner) = (pg_sys::CurrentMemoryContext, pg_sys::CurrentResourceOwner);
        pg_sys::BeginInternalSubTransaction(std::ptr::null());
        pg_sys::MemoryContextSwitchTo(context);
        let decision = PgTryBuilder::new(AssertUnwindSafe(|| match decide(request) {
            Ok(decision) => decision,
            Err(error) => {
                pgrx::log!("pg_sanitize ledger: {error:?}");
                Decision::Failed
            }
        }))
        .catch_when(PgSqlErrorCode::ERRCODE_LOCK_NOT_AVAILABLE, |_| Decision::Later)
        .catch_others(|error| {
            pgrx::log!("pg_sanitize ledger: {error:?}");
            Decision::Failed
        })
        .execute();
        match decision {
            Decision::Reply(_) => pg_sys::ReleaseCurrentSubTransaction(),
            Decision::Later | Decision::Failed => pg_sys::RollbackAndReleaseCurrentSubTransaction(),
        }
        pg_sys::MemoryContextSwitchTo(context);
        pg_sys::CurrentResourceOwner = owner;
        decision
    }
}

/// Decides what is announced; how many requests there were and how many of them must wait.
fn pass(decide: fn(&[u8]) -> Result<Decision, Error>) -> (usize, usize) {
    let requests = announced(Kind::Request);
    if requests.is_empty() {
        return (0, 0);
    }
    let mut decided = Vec::new();
    // SAFETY: an ordinary transaction of a background worker.
    unsafe {
        pg_sys::SetCurrentStatementStartTimestamp();
        pg_sys::StartTransactionCommand();
        pg_sys::PushActiveSnapshot(pg_sys::GetTransactionSnapshot());
        for taken in requests.into_iter().filter_map(|(handle, _)| Taken::take(handle)).take(BATCH)
        {
            let decision = decide_one(decide, &taken.bytes());
            decided.push((taken, decision));
        }
        pg_sys::PopActiveSnapshot();
        pg_sys::CommitTransactionCommand();
    }
    // Only now: what is answered is on disk.
    let count = decided.len();
    let later = decided.iter().filter(|(_, d)| matches!(d, Decision::Later)).count();
    for (taken, decision) in decided {
        taken.give_back(decision);
    }
    (count, later)
}

/// Ends the process at its next safe point.
#[pgrx::pg_guard]
unsafe extern "C-unwind" fn terminate(_signal: i32) {
    // SAFETY: flags that are made for signal handlers, and the process's own latch.
    unsafe {
        pg_sys::InterruptPending = 1;
        pg_sys::ProcDiePending = 1;
        pg_sys::SetLatch(pg_sys::MyLatch);
    }
}

/// The life of a worker.
///
/// # Safety
/// Called by the postmaster's child only, with the database in `argument`.
pub unsafe fn serve(argument: Datum, decide: fn(&[u8]) -> Result<Decision, Error>) {
    // SAFETY: the steps of a background worker in the order that they need.
    unsafe {
        #[cfg(not(feature = "pg18"))]
        pg_sys::pqsignal(pg_sys::SIGTERM as i32, Some(terminate));
        #[cfg(feature = "pg18")]
        pg_sys::pqsignal_be(pg_sys::SIGTERM as i32, Some(terminate));
        pg_sys::BackgroundWorkerUnblockSignals();
        // As the bootstrap superuser: any other role may lack the right to log in. What is done for
        // a request is done with the rights that `decide` takes.
        pg_sys::BackgroundWorkerInitializeConnectionByOid(
            Oid::from(argument.value() as u32),
            pg_sys::InvalidOid,
            0,
        );
        // What ALTER DATABASE or ALTER ROLE may say must not weaken a charge.
        for (name, value) in [
            (c"search_path", c"pg_catalog, pg_temp"),
            (c"synchronous_commit", c"on"),
            (c"default_transaction_isolation", c"read committed"),
            (c"default_transaction_read_only", c"off"),
            (c"default_transaction_deferrable", c"off"),
            (c"session_replication_role", c"origin"),
            (c"statement_timeout", c"0"),
            (c"lock_timeout", c"1s"),
            (c"row_security", c"on"),
        ] {
            pg_sys::SetConfigOption(
                name.as_ptr(),
                value.as_ptr(),
                pg_sys::GucContext::PGC_SUSET,
                pg_sys::GucSource::PGC_S_SESSION,
            );
        }
    }
    let presence = tag(Kind::Worker, 0);
    let mode = pg_sys::LOCKMODE::try_from(pg_sys::ExclusiveLock).unwrap_or_default();
    loop {
        // SAFETY: a session lock, which ends with the process at the latest.
        let alone = unsafe { pg_sys::LockAcquire(&presence, mode, true, true) };
        if alone == pg_sys::LockAcquireResult::LOCKACQUIRE_NOT_AVAIL {
            // The one that is there sees every request announced before it leaves.
            return;
        }
        let mut last = Instant::now();
        while last.elapsed() < LINGER {
            let (count, later) = pass(decide);
            if count > later {
                last = Instant::now();
            } else if later > 0 {
                last = Instant::now();
                sleep(LOCKED);
            } else {
                sleep(LINGER.saturating_sub(last.elapsed()));
            }
        }
        // A request announced before this release is found below; one announced after it finds no
        // worker and starts its own.
        // SAFETY: releases what was acquired above.
        unsafe { pg_sys::LockRelease(&presence, mode, true) };
        if announced(Kind::Request).is_empty() {
            return;
        }
    }
}

/// Makes `$decide` the heart of the worker whose main function is the symbol `$name`.
macro_rules! worker_function {
    ($name:ident, $decide:path) => {
        #[pgrx::pg_guard]
        #[unsafe(no_mangle)]
        /// # Safety
        /// Called by the postmaster's child only.
        pub unsafe extern "C-unwind" fn $name(argument: pgrx::pg_sys::Datum) {
            // SAFETY: the postmaster's child passes what `ask` registered.
            unsafe { $crate::pg::worker::serve(argument, $decide) }
        }
    };
}
pub(crate) use worker_function;
