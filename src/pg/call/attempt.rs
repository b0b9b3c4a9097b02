//! Work that may fail without failing the statement.

use super::error::Error;
use pgrx::pg_sys::panic::{CaughtError, ErrorReportWithLevel};
use pgrx::{PgSqlErrorCode, PgTryBuilder, pg_sys};
use std::panic::{AssertUnwindSafe, RefUnwindSafe, UnwindSafe};

/// The result of `work`. If it fails in any way, its changes are undone and the result is `None`. A request to cancel
/// still ends the statement.
pub fn attempt<T>(work: impl FnOnce() -> Result<T, Error>) -> Result<Option<T>, Error> {
    let work = || match work() {
        Ok(found) => Ok(Some(found)),
        Err(Error::Cancelled) => Err(Error::Cancelled),
        Err(_) => Ok(None),
    };
    in_subtransaction(|| caught(work, |_| Ok(None)), |found| matches!(found, Ok(Some(_))))
}

/// Runs `work`; its changes are kept if `stands` is true for its result, and undone if not. An error of Postgres that
/// unwinds further leaves the subtransaction to the abort.
pub(in crate::pg) fn in_subtransaction<T>(
    work: impl FnOnce() -> T,
    stands: impl FnOnce(&T) -> bool,
) -> T {
    // SAFETY: as PL/pgSQL does for a block with an exception clause: memory context and resource owner are put
    // back after the subtransaction.
    unsafe {
        let (context, owner) = (pg_sys::CurrentMemoryContext, pg_sys::CurrentResourceOwner);
        pg_sys::BeginInternalSubTransaction(std::ptr::null());
        pg_sys::MemoryContextSwitchTo(context);
        let found = work();
        match stands(&found) {
            true => pg_sys::ReleaseCurrentSubTransaction(),
            false => pg_sys::RollbackAndReleaseCurrentSubTransaction(),
        }
        pg_sys::MemoryContextSwitchTo(context);
        pg_sys::CurrentResourceOwner = owner;
        found
    }
}

/// Runs `work`; an error of Postgres in it, unless it is a request to cancel, is converted by `made`.
pub(in crate::pg) fn caught<T>(
    work: impl FnOnce() -> Result<T, Error>,
    made: impl Fn(&ErrorReportWithLevel) -> Result<T, Error> + UnwindSafe + RefUnwindSafe,
) -> Result<T, Error> {
    PgTryBuilder::new(AssertUnwindSafe(work))
        .catch_others(|caught| match &caught {
            CaughtError::PostgresError(error) | CaughtError::ErrorReport(error)
                if error.sql_error_code() != PgSqlErrorCode::ERRCODE_QUERY_CANCELED =>
            {
                made(error)
            }
            _ => caught.rethrow(),
        })
        .execute()
}
