//! Background workers of the database: processes that a caller's settings and rollbacks do not affect.
//!
//! [`autonomous`] commits what must stand even if the caller's transaction is rolled back (the ledger); [`isolated`]
//! reads what the caller may not see and returns only what the caller may see (noisy answers). Both kinds are dynamic
//! workers, started on the first request, and ended soon after the last one.
//!
//! Callers and workers find each other by locks. A request is stored in a DSM segment of its caller and is announced by
//! a lock whose tag is the segment's handle: the lock table is the one piece of shared memory that every backend has,
//! and a process's announcements end with the process.

pub mod autonomous;
pub mod isolated;
mod places;
pub mod running;
mod watchdog;

use pgrx::pg_sys::{self, Datum, Oid};
use pgrx::{PgMemoryContexts, check_for_interrupts};
use std::ffi::CStr;
use std::time::Duration;

/// How long a request waits to be taken if no worker can be started.
const PATIENCE: Duration = Duration::from_secs(10);
/// How long a worker stays without work. DROP DATABASE waits five seconds for others to leave.
const LINGER: Duration = Duration::from_secs(2);
const EXCLUSIVE: pg_sys::LOCKMODE = pg_sys::ExclusiveLock as pg_sys::LOCKMODE;

/// Marks the tags of announcements.
const SANI: u32 = u32::from_be_bytes(*b"sani");

/// What a lock announces.
#[derive(Clone, Copy)]
#[repr(u16)]
enum Kind {
    /// Something to be committed; the handle is its segment's.
    Charge = 1,
    /// The worker that commits.
    Ledger = 2,
    /// Something to be read; the handle is its segment's.
    Read = 3,
    /// A worker that reads; the handle is its process.
    Reader = 4,
    /// A reader that is being started.
    Launch = 5,
    /// A question that is being answered at the moment; the handle is a hash of it.
    Question = 6,
    /// A table that is being published; the handle is a hash of its name.
    Target = 7,
    /// A publish that reports its progress; the handle is its segment's.
    Running = 8,
    /// A reader that works for a role; the handle is the role.
    Share = 9,
}

/// The tag of an announcement. No SQL function takes locks of this type.
fn tag(kind: Kind, handle: u32) -> pg_sys::LOCKTAG {
    pg_sys::LOCKTAG {
        // SAFETY: a variable that is set once per process.
        locktag_field1: unsafe { pg_sys::MyDatabaseId }.to_u32(),
        locktag_field2: handle,
        locktag_field3: SANI,
        locktag_field4: kind as u16,
        locktag_type: pg_sys::LockTagType::LOCKTAG_USERLOCK as u8,
        locktag_lockmethodid: pg_sys::USER_LOCKMETHOD as u8,
    }
}

/// What releases a lock at the latest.
#[derive(PartialEq, Eq)]
enum Until {
    Transaction,
    Process,
}

/// Takes one of our locks; false if another process holds it and `at_once` says not to wait.
fn acquire(tag: &pg_sys::LOCKTAG, until: Until, at_once: bool) -> bool {
    // SAFETY: a lock by which nothing of Postgres is kept.
    let outcome = unsafe { pg_sys::LockAcquire(tag, EXCLUSIVE, until == Until::Process, at_once) };
    outcome != pg_sys::LockAcquireResult::LOCKACQUIRE_NOT_AVAIL
}

/// A lock of the current transaction, which ends with it at the latest.
pub struct Announcement(pg_sys::LOCKTAG);

impl Announcement {
    fn new(kind: Kind, handle: u32) -> Self {
        Announcement::of(tag(kind, handle))
    }

    fn of(tag: pg_sys::LOCKTAG) -> Self {
        acquire(&tag, Until::Transaction, false);
        Announcement(tag)
    }

    /// `None` if another process holds it.
    fn alone(kind: Kind, handle: u32) -> Option<Self> {
        let tag = tag(kind, handle);
        acquire(&tag, Until::Transaction, true).then_some(Announcement(tag))
    }

    /// Ends the announcement. One that is dropped ends with the transaction: errors do not come here.
    pub fn end(self) {
        // SAFETY: releases what was acquired.
        unsafe { pg_sys::LockRelease(&self.0, EXCLUSIVE, false) };
    }
}

/// Waits until no other process is asking the question with this hash about the relation. The relation is part of the
/// lock, so that a role that may not ask about it cannot delay those that may.
pub fn one_at_a_time(source: Oid, hash: u32) -> Announcement {
    let tag = pg_sys::LOCKTAG { locktag_field3: source.to_u32(), ..tag(Kind::Question, hash) };
    Announcement::of(tag)
}

/// Waits until no other transaction publishes to a name with this hash in the schema; ends with the transaction. The
/// schema is part of the lock: otherwise anyone could delay others with a name of the same hash in a schema of their
/// own.
pub fn one_publisher_at_a_time(schema: Oid, hash: u32) {
    let tag = pg_sys::LOCKTAG { locktag_field3: schema.to_u32(), ..tag(Kind::Target, hash) };
    Announcement::of(tag);
}

/// Handle and process id of all announcements of this kind in this database.
fn announced(kind: Kind) -> Vec<(u32, i32)> {
    held(kind, |tag| tag.locktag_field3 == SANI)
}

/// Handle and process id of the locks of this kind in this database whose tag is wanted.
fn held(kind: Kind, is_wanted: impl Fn(&pg_sys::LOCKTAG) -> bool) -> Vec<(u32, i32)> {
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
                        && tag.locktag_field4 == wanted.locktag_field4
                        && lock.holdMask != 0
                        && is_wanted(tag)
                })
                .map(|lock| (lock.locktag.locktag_field2, lock.pid))
                .collect()
        })
    }
}

/// True if there is such a process.
fn exists(pid: i32) -> bool {
    // SAFETY: a look at the process array.
    unsafe { !pg_sys::BackendPidGetProc(pid).is_null() }
}

/// Wakes a process, if it is still there.
fn wake(pid: i32) {
    // SAFETY: PGPROC slots are never unmapped; if the process has ended, setting the latch causes at most a spurious
    // wake-up.
    unsafe {
        let process = pg_sys::BackendPidGetProc(pid);
        if !process.is_null() {
            pg_sys::SetLatch(&mut (*process).procLatch);
        }
    }
}

/// Sleeps until woken or until the time is up.
fn sleep(time: Duration) {
    sleep_as(time, pg_sys::PG_WAIT_EXTENSION);
}

/// As [`sleep`], shown in pg_stat_activity with this wait event; with 0 the process appears to be working.
fn sleep_as(time: Duration, event: u32) {
    // SAFETY: MyLatch is this process's own.
    unsafe {
        let events = pg_sys::WL_LATCH_SET | pg_sys::WL_TIMEOUT | pg_sys::WL_EXIT_ON_PM_DEATH;
        let milliseconds = time.as_millis().max(1) as std::ffi::c_long;
        pg_sys::WaitLatch(pg_sys::MyLatch, events as i32, milliseconds, event);
        pg_sys::ResetLatch(pg_sys::MyLatch);
    }
    check_for_interrupts!();
}

/// A worker that this process has asked the postmaster for.
struct Launch(*mut pg_sys::BackgroundWorkerHandle);

impl Launch {
    /// `None` if no slot for a worker is free.
    fn new(name: &CStr, function: &CStr) -> Option<Self> {
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
            copy(&mut worker.bgw_name, name);
            copy(&mut worker.bgw_type, name);
            copy(&mut worker.bgw_library_name, c"pg_sanitize");
            copy(&mut worker.bgw_function_name, function);
            let mut handle = std::ptr::null_mut();
            pg_sys::RegisterDynamicBackgroundWorker(&mut worker, &mut handle)
                .then_some(Launch(handle))
        }
    }

    fn is_over(&self) -> bool {
        self.status().0 == pg_sys::BgwHandleStatus::BGWH_STOPPED
    }

    /// True if it is among the announced processes.
    fn is_among(&self, announced: &[(u32, i32)]) -> bool {
        let (status, pid) = self.status();
        status == pg_sys::BgwHandleStatus::BGWH_STARTED && announced.iter().any(|one| one.1 == pid)
    }

    fn status(&self) -> (pg_sys::BgwHandleStatus::Type, i32) {
        let mut pid = 0;
        // SAFETY: the handle came from the registration.
        let status = unsafe { pg_sys::GetBackgroundWorkerPid(self.0, &mut pid) };
        (status, pid)
    }
}

fn copy(to: &mut [std::ffi::c_char], from: &CStr) {
    for (to, from) in to.iter_mut().zip(from.to_bytes_with_nul()) {
        *to = *from as std::ffi::c_char;
    }
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

/// Has the configuration files read again between two requests.
#[pgrx::pg_guard]
unsafe extern "C-unwind" fn reload(_signal: i32) {
    // SAFETY: a flag that is made for signal handlers, and the process's own latch.
    unsafe {
        pg_sys::ConfigReloadPending = 1;
        pg_sys::SetLatch(pg_sys::MyLatch);
    }
}

type Handler = unsafe extern "C-unwind" fn(i32);

/// Sets the handler of a signal.
unsafe fn on_signal(signal: i32, handler: Handler) {
    // SAFETY: the handlers given here do what a handler may.
    unsafe {
        #[cfg(not(feature = "pg18"))]
        pg_sys::pqsignal(signal, Some(handler));
        #[cfg(feature = "pg18")]
        pg_sys::pqsignal_be(signal, Some(handler));
    }
}

/// The first steps of a worker: signals, connection, settings.
///
/// # Safety
/// Called once, by the main function of a worker, with the argument that [`Launch`] registered.
unsafe fn connect(argument: Datum, settings: &[&[(&CStr, &CStr)]]) {
    // SAFETY: the steps of a background worker in the order that they need.
    unsafe {
        on_signal(libc::SIGTERM, terminate);
        on_signal(libc::SIGHUP, reload);
        pg_sys::BackgroundWorkerUnblockSignals();
        // As the bootstrap superuser: any other role may lack the right to log in. What is done for
        // a request is done with the rights that it needs.
        pg_sys::BackgroundWorkerInitializeConnectionByOid(
            Oid::from(argument.value() as u32),
            pg_sys::InvalidOid,
            0,
        );
        for &(name, value) in settings.iter().copied().flatten() {
            fix(name, value);
        }
    }
}

/// What ALTER DATABASE or ALTER ROLE may say must not weaken a charge or change the meaning of a query.
const COMMON: &[(&CStr, &CStr)] = &[
    (c"search_path", c"pg_catalog, pg_temp"),
    (c"synchronous_commit", c"on"),
    (c"default_transaction_isolation", c"read committed"),
    (c"default_transaction_read_only", c"off"),
    (c"default_transaction_deferrable", c"off"),
    (c"session_replication_role", c"origin"),
    (c"statement_timeout", c"0"),
    (c"transaction_timeout", c"0"),
    (c"lock_timeout", c"1s"),
    (c"row_security", c"on"),
    (c"pg_stat_statements.track", c"none"),
];

/// Sets a setting for the rest of the session, even if the configuration files say otherwise later. A setting that this
/// server does not know, because it is of a newer version or of a library that is not loaded, is skipped.
unsafe fn fix(name: &CStr, value: &CStr) {
    // SAFETY: constant C strings.
    unsafe {
        if pg_sys::GetConfigOption(name.as_ptr(), true, false).is_null() {
            return;
        }
        pg_sys::SetConfigOption(
            name.as_ptr(),
            value.as_ptr(),
            pg_sys::GucContext::PGC_SUSET,
            pg_sys::GucSource::PGC_S_SESSION,
        );
    }
}

/// Reads the configuration files again if a reload was requested.
fn reload_settings() {
    // SAFETY: a flag of the signal handler; between transactions, where files may be read.
    unsafe {
        if pg_sys::ConfigReloadPending != 0 {
            pg_sys::ConfigReloadPending = 0;
            pg_sys::ProcessConfigFile(pg_sys::GucContext::PGC_SIGHUP);
        }
    }
}

/// Makes a function of this project the main function of a worker, as the symbol `$name`; `$serve` is the kind of
/// worker, and `$work` processes a request.
macro_rules! worker_function {
    ($name:ident, $serve:path, $work:path) => {
        #[allow(unsafe_code)]
        #[pgrx::pg_guard]
        #[unsafe(no_mangle)]
        /// # Safety
        /// Called by the postmaster's child only.
        pub unsafe extern "C-unwind" fn $name(argument: pgrx::pg_sys::Datum) {
            // SAFETY: the postmaster's child passes what was registered.
            unsafe { $serve(argument, $work) }
        }
    };
}
pub(crate) use worker_function;
