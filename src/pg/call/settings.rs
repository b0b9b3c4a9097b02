//! The settings `pg_sanitize.*`.

use pgrx::{GucContext, GucFlags, GucRegistry, GucSetting, pg_sys};
use std::sync::OnceLock;
use std::time::Duration;
use table::Watch;

static MAX_MEMORY_MB: GucSetting<i32> = GucSetting::<i32>::new(2048);
static MAX_ITEMSETS: GucSetting<i32> = GucSetting::<i32>::new(50_000_000);
static PROGRESS_MS: GucSetting<i32> = GucSetting::<i32>::new(5000);
static MAX_READERS: GucSetting<i32> = GucSetting::<i32>::new(4);
static ANSWER_GRID_MS: GucSetting<i32> = GucSetting::<i32>::new(0);
static MAX_MEMORY_LIMIT_MB: GucSetting<i32> = GucSetting::<i32>::new(0);
static THREADS_LIMIT: GucSetting<i32> = GucSetting::<i32>::new(64);
static MAX_READERS_PER_ROLE: GucSetting<i32> = GucSetting::<i32>::new(3);
static READER_TIMEOUT_S: GucSetting<i32> = GucSetting::<i32>::new(3600);
static THREADS: OnceLock<GucSetting<i32>> = OnceLock::new();

/// Half of the cores: the other half belongs to the other connections.
fn default_threads() -> i32 {
    let cores = std::thread::available_parallelism().map_or(1, |n| n.get());
    (cores / 2).clamp(1, 64) as i32
}

pub fn register() {
    GucRegistry::define_int_guc(
        c"pg_sanitize.max_memory",
        c"Memory that one call may use for coded rows, search and results.",
        c"A call that needs more ends with an error and never with a partial result. The default of 2GB holds about 30 million distinct rows of 15 columns.",
        &MAX_MEMORY_MB,
        1,
        i32::MAX,
        GucContext::Userset,
        GucFlags::UNIT_MB,
    );
    GucRegistry::define_int_guc(
        c"pg_sanitize.threads",
        c"Threads that one call may use.",
        c"Results are the same for every value. The default is half of the cores, so that other connections keep theirs.",
        THREADS.get_or_init(|| GucSetting::<i32>::new(default_threads())),
        1,
        64,
        GucContext::Userset,
        GucFlags::default(),
    );
    GucRegistry::define_int_guc(
        c"pg_sanitize.max_memory_limit",
        c"The most that pg_sanitize.max_memory counts for, whatever a session sets.",
        c"Anybody may set max_memory; only superusers set this, for everybody or with ALTER ROLE. 0 is no limit.",
        &MAX_MEMORY_LIMIT_MB,
        0,
        i32::MAX,
        GucContext::Suset,
        GucFlags::UNIT_MB,
    );
    GucRegistry::define_int_guc(
        c"pg_sanitize.threads_limit",
        c"The most that pg_sanitize.threads counts for, whatever a session sets.",
        c"Anybody may set threads; only superusers set this, for everybody or with ALTER ROLE.",
        &THREADS_LIMIT,
        1,
        64,
        GucContext::Suset,
        GucFlags::default(),
    );
    GucRegistry::define_int_guc(
        c"pg_sanitize.max_itemsets",
        c"Itemsets that one call may find.",
        c"A table can have exponentially many; a call that finds more ends with an error.",
        &MAX_ITEMSETS,
        1,
        i32::MAX,
        GucContext::Userset,
        GucFlags::default(),
    );
    GucRegistry::define_int_guc(
        c"pg_sanitize.progress",
        c"Interval of the NOTICE lines that tell how far a long call is.",
        c"0 turns them off.",
        &PROGRESS_MS,
        0,
        i32::MAX,
        GucContext::Userset,
        GucFlags::UNIT_MS,
    );
    GucRegistry::define_int_guc(
        c"pg_sanitize.max_readers",
        c"Background workers of one database that read protected relations.",
        c"Each answers one question at a time and takes one of max_worker_processes; further questions wait. The default leaves half of the default of 8 to others.",
        &MAX_READERS,
        1,
        64,
        GucContext::Sighup,
        GucFlags::default(),
    );
    GucRegistry::define_int_guc(
        c"pg_sanitize.max_readers_per_role",
        c"Background workers of one database that read for the same login role at a time.",
        c"Where there are two readers or more, one of them is left to others whatever this says.",
        &MAX_READERS_PER_ROLE,
        1,
        64,
        GucContext::Sighup,
        GucFlags::default(),
    );
    GucRegistry::define_int_guc(
        c"pg_sanitize.reader_timeout",
        c"How long one question about a protected relation may take to read.",
        c"A view of its owner's can take for ever, and would keep a reader from everybody else. 0 turns the limit off.",
        &READER_TIMEOUT_S,
        0,
        i32::MAX,
        GucContext::Sighup,
        GucFlags::UNIT_S,
    );
    GucRegistry::define_int_guc(
        c"pg_sanitize.answer_grid",
        c"Answers about protected relations take this time, or twice, four times, ... as much.",
        c"How long reading takes depends on the data. Rounded up to a grid it tells less. The views answers and ledger tell times to this grid. 0 turns that off.",
        &ANSWER_GRID_MS,
        0,
        i32::MAX,
        GucContext::Sighup,
        GucFlags::UNIT_MS,
    );
    // SAFETY: called once, from _PG_init, with a constant string.
    unsafe {
        #[cfg(feature = "pg14")]
        pg_sys::EmitWarningsOnPlaceholders(c"pg_sanitize".as_ptr());
        #[cfg(not(feature = "pg14"))]
        pg_sys::MarkGUCPrefixReserved(c"pg_sanitize".as_ptr());
    }
}

/// Memory budget in bytes: the session's setting, up to the administrator's limit.
pub fn max_memory() -> u64 {
    let limit = match MAX_MEMORY_LIMIT_MB.get() {
        0 => i32::MAX,
        limit => limit,
    };
    (MAX_MEMORY_MB.get().min(limit) as u64) << 20
}

/// Number of threads: the session's setting, up to the administrator's limit.
pub fn threads() -> usize {
    let limit = THREADS_LIMIT.get() as usize;
    THREADS.get().map_or(1, |setting| (setting.get() as usize).min(limit))
}

/// Interval of progress notices, `None` if off.
pub fn progress() -> Option<Duration> {
    let ms = PROGRESS_MS.get() as u64;
    (ms > 0).then(|| Duration::from_millis(ms))
}

/// Readers that a database may have.
pub fn max_readers() -> usize {
    MAX_READERS.get() as usize
}

/// Readers that a role may have at a time: never all of them, unless there is only one.
pub fn readers_per_role() -> usize {
    (MAX_READERS_PER_ROLE.get() as usize).min(max_readers().saturating_sub(1).max(1))
}

/// How long reading for one question may take; `None` if that is not limited.
pub fn reader_timeout() -> Option<Duration> {
    let seconds = READER_TIMEOUT_S.get() as u64;
    (seconds > 0).then(|| Duration::from_secs(seconds))
}

/// The grid of answering times, `None` if off.
pub fn answer_grid() -> Option<Duration> {
    let ms = ANSWER_GRID_MS.get() as u64;
    (ms > 0).then(|| Duration::from_millis(ms))
}

/// A watch with the limits in force.
pub fn watch() -> Watch {
    Watch::new(max_memory(), MAX_ITEMSETS.get() as u64)
}
