//! Rows of the system caches.

use pgrx::pg_sys::{self, Datum, SysCacheIdentifier};

/// The result of `read` for a row of a cache; `None` if there is no row.
///
/// # Safety
/// The key is one of the cache, and its rows are of type `T`.
pub(in crate::pg) unsafe fn cached<T, R>(
    cache: SysCacheIdentifier::Type,
    key: impl Into<Datum>,
    read: impl FnOnce(&T) -> R,
) -> Option<R> {
    // SAFETY: as the caller says; the tuple is read while the cache holds it.
    unsafe {
        let tuple = pg_sys::SearchSysCache1(cache as i32, key.into());
        if tuple.is_null() {
            return None;
        }
        let read = read(&*pg_sys::GETSTRUCT(tuple).cast::<T>());
        pg_sys::ReleaseSysCache(tuple);
        Some(read)
    }
}
