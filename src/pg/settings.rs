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
        c"pg_sanitize.answer_grid",
        c"Answers about protected relations take a multiple of this time.",
        c"How long reading takes depends on the data. Rounded up to a grid it tells less. 0 turns that off.",
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

/// Memory budget in bytes.
pub fn max_memory() -> u64 {
    (MAX_MEMORY_MB.get() as u64) << 20
}

/// Number of threads.
pub fn threads() -> usize {
    THREADS.get().map_or(1, |setting| setting.get() as usize)
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

/// The grid of answering times, `None` if off.
pub fn answer_grid() -> Option<Duration> {
    let ms = ANSWER_GRID_MS.get() as u64;
    (ms > 0).then(|| Duration::from_millis(ms))
}

/// A watch with the limits in force.
pub fn watch() -> Watch {
    Watch::new(max_memory(), MAX_ITEMSETS.get() as u64)
}
