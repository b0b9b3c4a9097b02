//! The session locks of a reader, which say that it runs and for which role. A role has a limited number of places
//! among the readers; each place is a lock that one reader holds at a time.

use super::{Kind, Until, acquire, held, tag};
use crate::pg::prelude::*;

/// The tag of one of the places that a role has among readers.
fn share(role: u32, place: u32) -> pg_sys::LOCKTAG {
    pg_sys::LOCKTAG { locktag_field3: place, ..tag(Kind::Share, role) }
}

/// How many readers work for the role.
pub(super) fn readers_for(role: u32) -> usize {
    held(Kind::Share, |tag| tag.locktag_field2 == role).len()
}

/// Takes one of the places that the role has among readers, until [`release_locks`]; false if none is free.
pub(super) fn take_place(role: u32) -> bool {
    let places = u32::try_from(settings::readers_per_role()).unwrap_or(1);
    (0..places).any(|place| acquire(&share(role, place), Until::Process, true))
}

/// Takes the lock that announces this reader.
pub(super) fn announce() {
    // SAFETY: a variable that is set once per process.
    let process = unsafe { pg_sys::MyProcPid };
    acquire(&tag(Kind::Reader, process as u32), Until::Process, false);
}

/// Releases the place and every other session lock: functions of a view may have taken advisory locks, which the end of
/// a transaction does not release.
pub(super) fn release_locks() {
    // SAFETY: between transactions.
    unsafe { pg_sys::LockReleaseSession(pg_sys::USER_LOCKMETHOD as pg_sys::LOCKMETHODID) };
    announce();
}
