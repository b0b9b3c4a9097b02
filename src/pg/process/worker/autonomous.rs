//! Autonomous transactions: work that is committed even if the transaction that asked for it is rolled back.
//!
//! One worker per database decides requests and commits them in batches. It waits for further requests for a while, so
//! that only the first of several calls waits for a worker to start.
//!
//! Nothing here is done twice: a request that the worker has taken is either answered after the
//! commit, or its caller gets an error and must assume that it was committed.

use super::{
    Announcement, COMMON, EXCLUSIVE, Kind, LINGER, Launch, PATIENCE, Until, acquire, announced,
    connect, exists, reload_settings, sleep, tag, wake,
};
use crate::pg::call::attempt::in_subtransaction;
use crate::pg::prelude::*;
use pgrx::{PgSqlErrorCode, PgTryBuilder};
use std::ffi::CStr;
use std::panic::AssertUnwindSafe;
use std::sync::atomic::{AtomicI32, AtomicU32, Ordering};
use std::time::{Duration, Instant};

/// How long a request waits before it is tried again after it met a locked row.
const LOCKED: Duration = Duration::from_millis(20);
/// Requests decided in one transaction.
const BATCH: usize = 64;
/// Room for a request or its reply.
const ROOM: usize = 8192;

/// The outcome of a request.
pub enum Decision {
    Reply(Vec<u8>),
    /// Another transaction holds a lock: try again soon.
    Later,
    /// The request cannot be decided; the server's log has the reason.
    Failed,
}

const WAITING: u32 = 0;
const TAKEN: u32 = 1;
const ANSWERED: u32 = 2;
const FAILED: u32 = 3;
const WITHDRAWN: u32 = 4;

/// The contents of the segment. The bytes belong to the caller while it waits, to the worker once it is taken, and to
/// the caller again when it is answered.
#[repr(C)]
struct Request {
    state: AtomicU32,
    /// The process that took the request; 0 if none has, or has not said so yet.
    taker: AtomicI32,
    caller: i32,
    length: u32,
    bytes: [u8; ROOM],
}

impl Request {
    /// The bytes that the caller or the worker has written.
    ///
    /// # Safety
    /// The bytes belong to this process at the moment.
    unsafe fn written(shared: *const Request) -> Vec<u8> {
        // SAFETY: as the caller says.
        unsafe {
            let length = ((*shared).length as usize).min(ROOM);
            std::slice::from_raw_parts((&raw const (*shared).bytes).cast::<u8>(), length).to_vec()
        }
    }

    /// Writes as much as there is room for.
    ///
    /// # Safety
    /// As for [`Request::written`].
    unsafe fn write(shared: *mut Request, bytes: &[u8]) {
        let length = bytes.len().min(ROOM);
        // SAFETY: as the caller says.
        unsafe {
            (&raw mut (*shared).bytes).cast::<u8>().copy_from(bytes.as_ptr(), length);
            (*shared).length = length as u32;
        }
    }
}

/// Changes the state from `from` to `to`; false if it is no longer `from`.
fn changes(state: &AtomicU32, from: u32, to: u32) -> bool {
    state.compare_exchange(from, to, Ordering::AcqRel, Ordering::Acquire).is_ok()
}

/// Has the worker whose main function is `function` decide and commit a request; returns its reply.
pub fn ask(function: &CStr, request: &[u8]) -> Result<Vec<u8>, Error> {
    sql::refuse_standby()?;
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
        Request::write(shared, request);
        let announcement = Announcement::new(Kind::Charge, pg_sys::dsm_segment_handle(segment));
        let outcome = wait(function, &(*shared).state, &(*shared).taker);
        announcement.end();
        let reply = outcome.map(|()| Request::written(shared));
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
                let taker = taker.load(Ordering::Acquire);
                let gone = taker != 0 && !exists(taker);
                if gone && state.load(Ordering::Acquire) == TAKEN {
                    let why = "its worker ended too early";
                    return Err(Error::Ledger { certain: false, why });
                }
                sleep(Duration::from_millis(100));
            }
            _ => {
                if began.elapsed() > PATIENCE && changes(state, WAITING, WITHDRAWN) {
                    let why = match slots {
                        true => "it did not answer within 10 seconds",
                        false => "no background worker is free (max_worker_processes)",
                    };
                    return Err(Error::Ledger { certain: true, why });
                }
                match announced(Kind::Ledger).first() {
                    Some(&(_, pid)) => wake(pid),
                    None if launch.as_ref().is_none_or(Launch::is_over) => {
                        launch = Launch::new(c"pg_sanitize ledger", function);
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
            if changes(&(*shared).state, WAITING, TAKEN) {
                // Only who has taken it: if a worker ended before it answered, the next one must not be
                // mistaken for it, because the caller would wait for an answer that never comes.
                (*shared).taker.store(pg_sys::MyProcPid, Ordering::Release);
                return Some(Taken { segment, shared });
            }
            pg_sys::dsm_detach(segment);
            None
        }
    }

    /// Returns the request to its caller with a reply, or makes it available again.
    fn give_back(self, decision: Decision) {
        // SAFETY: the bytes are ours until the state says otherwise.
        unsafe {
            let state = match decision {
                Decision::Later => WAITING,
                Decision::Failed => FAILED,
                Decision::Reply(reply) => {
                    Request::write(self.shared, &reply);
                    ANSWERED
                }
            };
            let caller = (*self.shared).caller;
            (*self.shared).taker.store(0, Ordering::Release);
            (*self.shared).state.store(state, Ordering::Release);
            if state != WAITING {
                wake(caller);
            }
            pg_sys::dsm_detach(self.segment);
        }
    }
}

/// Runs `decide` in a subtransaction; its changes are undone unless there is a reply.
fn decide_one(decide: fn(&[u8]) -> Result<Decision, Error>, request: &[u8]) -> Decision {
    fn failed(error: impl std::fmt::Debug) -> Decision {
        pgrx::log!("pg_sanitize ledger: {error:?}");
        Decision::Failed
    }
    let work = || {
        PgTryBuilder::new(AssertUnwindSafe(|| decide(request).unwrap_or_else(failed)))
            .catch_when(PgSqlErrorCode::ERRCODE_LOCK_NOT_AVAILABLE, |_| Decision::Later)
            .catch_others(failed)
            .execute()
    };
    in_subtransaction(work, |decision| matches!(decision, Decision::Reply(_)))
}

/// Decides the announced requests; returns how many there were and how many of them must wait.
fn pass(decide: fn(&[u8]) -> Result<Decision, Error>) -> (usize, usize) {
    let requests = announced(Kind::Charge);
    if requests.is_empty() {
        return (0, 0);
    }
    let mut decided = Vec::new();
    // SAFETY: an ordinary transaction of a background worker; the bytes of what it has taken are its own.
    unsafe {
        pg_sys::SetCurrentStatementStartTimestamp();
        pg_sys::StartTransactionCommand();
        pg_sys::PushActiveSnapshot(pg_sys::GetTransactionSnapshot());
        for taken in requests.into_iter().filter_map(|(handle, _)| Taken::take(handle)).take(BATCH)
        {
            let decision = decide_one(decide, &Request::written(taken.shared));
            decided.push((taken, decision));
        }
        pg_sys::PopActiveSnapshot();
        pg_sys::CommitTransactionCommand();
    }
    // Replies are sent only after the commit, when the charges are on disk.
    let count = decided.len();
    let later = decided.iter().filter(|(_, d)| matches!(d, Decision::Later)).count();
    for (taken, decision) in decided {
        taken.give_back(decision);
    }
    (count, later)
}

/// The life of a worker.
///
/// # Safety
/// Called by the postmaster's child only, with the database in `argument`.
pub unsafe fn serve(argument: Datum, decide: fn(&[u8]) -> Result<Decision, Error>) {
    // SAFETY: as the caller says.
    unsafe { connect(argument, &[COMMON]) };
    let presence = tag(Kind::Ledger, 0);
    loop {
        if !acquire(&presence, Until::Process, true) {
            // The worker that runs already sees every request that was announced before it ends.
            return;
        }
        let mut last = Instant::now();
        while last.elapsed() < LINGER {
            reload_settings();
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
        unsafe { pg_sys::LockRelease(&presence, EXCLUSIVE, true) };
        if announced(Kind::Charge).is_empty() {
            return;
        }
    }
}
