//! Work that may fail and leaves nothing behind then.

use super::error::Error;
use pgrx::pg_sys::panic::CaughtError;
use pgrx::{PgSqlErrorCode, PgTryBuilder, pg_sys};
use std::panic::AssertUnwindSafe;

/// What `work` finds; `None` if it fails, whatever raised the error, and what it did is undone. A request to cancel
/// the statement still ends it.
pub fn attempt<T>(work: impl FnOnce() -> Result<T, Error>) -> Result<Option<T>, Error> {
    // SAFETY: as PL/pgSQL does for a block with an exception clause: memory context and resource owner are put
    // back after the subtransaction. An error that goes on leaves the subtransaction to the abort.
    unsafe {
        let (context, owner) = (pg_sys::CurrentMemoryContext, pg_sys::CurrentResourceOwner);
        pg_sys::BeginInternalSubTransaction(std::ptr::null());
        pg_sys::MemoryContextSwitchTo(context);
        let found = PgTryBuilder::new(AssertUnwindSafe(|| match work() {
            Ok(found) => Ok(Some(found)),
            Err(Error::Cancelled) => Err(Error::Cancelled),
            Err(_) => Ok(None),
        }))
        .catch_others(|caught| match &caught {
            CaughtError::PostgresError(error) | CaughtError::ErrorReport(error)
                if error.sql_error_code() != PgSqlErrorCode::ERRCODE_QUERY_CANCELED =>
            {
                Ok(None)
            }
            _ => caught.rethrow(),
        })
        .execute();
        match found {
            Ok(Some(_)) => pg_sys::ReleaseCurrentSubTransaction(),
            _ => pg_sys::RollbackAndReleaseCurrentSubTransaction(),
        }
        pg_sys::MemoryContextSwitchTo(context);
        pg_sys::CurrentResourceOwner = owner;
        found
    }
}
