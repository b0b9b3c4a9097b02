//! The publishes that are running, for other connections to see. The progress of each is in a segment of shared memory
//! that a lock announces: nothing has to be committed, and both end with the process.

use super::{Announcement, Kind, announced};
use crate::pg::prelude::*;
use std::sync::atomic::{AtomicPtr, AtomicU8, AtomicU32, AtomicU64, Ordering};

/// Bytes of a name that are shown; the name of a phase is shorter.
const NAME: usize = 192;
const PHASE: usize = 32;
/// How often a reader tries again when the writer changed the data meanwhile.
const TRIES: usize = 1000;

/// The contents of the segment: fields that do not change, then the progress.
#[repr(C)]
struct Shared {
    role: Oid,
    source: Oid,
    began: i64,
    target: [u8; NAME],
    method: [u8; NAME],
    /// Odd while the progress is being written.
    version: AtomicU32,
    rows: AtomicU64,
    /// A share of the phase's work; not a number if that is not known.
    share: AtomicU64,
    phase: [AtomicU8; PHASE],
}

/// This process's own segment, while it publishes.
static OWN: AtomicPtr<Shared> = AtomicPtr::new(std::ptr::null_mut());

/// Called when the segment goes, by an error too.
#[pgrx::pg_guard]
unsafe extern "C-unwind" fn forget(_segment: *mut pg_sys::dsm_segment, _argument: Datum) {
    OWN.store(std::ptr::null_mut(), Ordering::Release);
}

/// A publish whose progress other connections can see.
pub struct Running {
    segment: *mut pg_sys::dsm_segment,
    announcement: Announcement,
}

impl Running {
    /// Announces a publish; `None` if this process has already announced one.
    pub fn begin(target: &str, source: Oid, method: &str) -> Option<Self> {
        if !OWN.load(Ordering::Acquire).is_null() {
            return None;
        }
        // SAFETY: the segment has the size of a Shared, all of which may be zero, and is written before it is
        // announced. An error detaches it, which runs `forget`, and releases the lock.
        unsafe {
            let segment = pg_sys::dsm_create(size_of::<Shared>(), 0);
            let shared = pg_sys::dsm_segment_address(segment).cast::<Shared>();
            shared.write_bytes(0, 1);
            (*shared).role = rights::current_user();
            (*shared).source = source;
            (*shared).began = pg_sys::GetCurrentTimestamp();
            copy(&mut (*shared).target, target);
            copy(&mut (*shared).method, method);
            pg_sys::on_dsm_detach(segment, Some(forget), Datum::from(0));
            OWN.store(shared, Ordering::Release);
            tell("starting", 0, None);
            let handle = pg_sys::dsm_segment_handle(segment);
            Some(Running { segment, announcement: Announcement::new(Kind::Running, handle) })
        }
    }

    /// Ends the announcement.
    pub fn end(self) {
        self.announcement.end();
        // SAFETY: made by `begin`, and not detached since: an error would not come here.
        unsafe { pg_sys::dsm_detach(self.segment) };
    }
}

fn copy(to: &mut [u8; NAME], from: &str) {
    for (to, &from) in to.iter_mut().zip(from.as_bytes()) {
        *to = from;
    }
}

/// Records the progress of this process, if it publishes.
pub fn tell(phase: &str, rows: u64, share: Option<f64>) {
    // SAFETY: the segment is mapped as long as OWN names it; only this process writes.
    let Some(own) = (unsafe { OWN.load(Ordering::Acquire).as_ref() }) else { return };
    let version = own.version.load(Ordering::Relaxed);
    own.version.store(version.wrapping_add(1), Ordering::SeqCst);
    own.rows.store(rows, Ordering::SeqCst);
    own.share.store(share.unwrap_or(f64::NAN).to_bits(), Ordering::SeqCst);
    let letters = phase.bytes().chain(std::iter::repeat(0));
    for (place, letter) in own.phase.iter().zip(letters) {
        place.store(letter, Ordering::SeqCst);
    }
    own.version.store(version.wrapping_add(2), Ordering::SeqCst);
}

/// The progress of a publish.
pub struct Publish {
    pub pid: i32,
    pub role: Oid,
    pub target: String,
    pub source: Oid,
    pub method: String,
    pub phase: String,
    pub share: Option<f64>,
    pub rows: u64,
    pub seconds: f64,
}

/// The publishes that run in this database.
pub fn all() -> Vec<Publish> {
    let read = |(handle, pid)| {
        // SAFETY: a segment announced so was made by `begin`; it stays mapped until it is detached. This
        // process's own is mapped already.
        unsafe {
            let own = pg_sys::dsm_find_mapping(handle);
            let segment = if own.is_null() { pg_sys::dsm_attach(handle) } else { own };
            if segment.is_null() {
                return None;
            }
            let shared = pg_sys::dsm_segment_address(segment).cast::<Shared>();
            let read = (*shared).read(pid);
            if own.is_null() {
                pg_sys::dsm_detach(segment);
            }
            read
        }
    };
    announced(Kind::Running).into_iter().filter_map(read).collect()
}

impl Shared {
    /// `None` if the writer changed the data during every try.
    fn read(&self, pid: i32) -> Option<Publish> {
        let name = |bytes: &[u8]| {
            let end = bytes.iter().position(|&byte| byte == 0).unwrap_or(bytes.len());
            String::from_utf8_lossy(&bytes[..end]).into_owned()
        };
        for _ in 0..TRIES {
            let version = self.version.load(Ordering::SeqCst);
            let rows = self.rows.load(Ordering::SeqCst);
            let share = f64::from_bits(self.share.load(Ordering::SeqCst));
            let phase =
                std::array::from_fn::<u8, PHASE, _>(|i| self.phase[i].load(Ordering::SeqCst));
            if version.is_multiple_of(2) && self.version.load(Ordering::SeqCst) == version {
                // SAFETY: reads the clock.
                let now = unsafe { pg_sys::GetCurrentTimestamp() };
                return Some(Publish {
                    pid,
                    role: self.role,
                    target: name(&self.target),
                    source: self.source,
                    method: name(&self.method),
                    phase: name(&phase),
                    share: Some(share).filter(|share| !share.is_nan()),
                    rows,
                    seconds: (now - self.began).max(0) as f64 / 1e6,
                });
            }
            std::hint::spin_loop();
        }
        None
    }
}
