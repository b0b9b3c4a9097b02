//! Errors of a shard, with its name. postgres_fdw says in the context of an error which query it had sent, and each
//! shard's query contains its number; an error before any query names the server.

use super::citus;
use super::foreign_tables::Shards;
use crate::pg::call::error::Error;
use pgrx::pg_sys::panic::{CaughtError, ErrorReportWithLevel};
use pgrx::pg_sys::{self, MemoryContextSwitchTo};
use pgrx::{PgLogLevel, PgSqlErrorCode as Code, pg_guard};
use std::cell::{Cell, RefCell};
use std::ffi::{CStr, c_void};
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};

/// The context of an error.
type Said = RefCell<String>;

/// Called by Postgres while it makes a message; stores the context of errors.
#[pg_guard]
unsafe extern "C-unwind" fn note(said: *mut c_void) {
    // SAFETY: `said` outlives the callback. Messages are made in the context of errors, from which nothing can be
    // copied to itself.
    unsafe {
        let before = MemoryContextSwitchTo(pg_sys::TopTransactionContext);
        let data = pg_sys::CopyErrorData();
        if (*data).elevel >= PgLogLevel::ERROR as i32 && !(*data).context.is_null() {
            let context = CStr::from_ptr((*data).context).to_bytes();
            said.cast::<Said>()
                .as_ref()
                .map(|said| said.replace(String::from_utf8_lossy(context).into()));
        }
        pg_sys::FreeErrorData(data);
        MemoryContextSwitchTo(before);
    }
}

impl Shards<'_> {
    /// Runs `work`; an error in it that a shard caused gets the shard's name. `at` has the shard whose bag is being
    /// read.
    pub(in crate::pg) fn caught<T>(
        &self,
        at: Option<&Cell<Option<usize>>>,
        work: impl FnOnce() -> T,
    ) -> Result<T, Error> {
        let said = Said::default();
        let mut callback = pg_sys::ErrorContextCallback {
            // SAFETY: reads a variable of the session.
            previous: unsafe { pg_sys::error_context_stack },
            callback: Some(note),
            arg: (&raw const said).cast_mut().cast(),
        };
        let before = callback.previous;
        // SAFETY: the callback lives until it is taken away below, whatever happens in between: errors of Postgres
        // come here as panics.
        unsafe { pg_sys::error_context_stack = &raw mut callback };
        let outcome = catch_unwind(AssertUnwindSafe(work));
        // SAFETY: as it was found.
        unsafe { pg_sys::error_context_stack = before };
        outcome.or_else(|payload| {
            let error = match payload.downcast_ref() {
                Some(CaughtError::PostgresError(error) | CaughtError::ErrorReport(error)) => {
                    Some(error)
                }
                _ => payload.downcast_ref::<ErrorReportWithLevel>(),
            };
            let at = at.and_then(Cell::get);
            match error.and_then(|error| self.told(error, &said.borrow(), at)) {
                Some(told) => Err(told),
                None => resume_unwind(payload),
            }
        })
    }

    /// The error with the name of the shard; `None` if it does not come from a shard.
    fn told(&self, error: &ErrorReportWithLevel, said: &str, at: Option<usize>) -> Option<Error> {
        let of_query = || {
            let numbers = self.asked_shards().map(|(number, _)| number);
            let sent = |number: usize| {
                said.find(&format!("SELECT {number}, sanitize_internal.bag_packed("))
            };
            numbers
                .filter_map(|number| Some((sent(number)?, number)))
                .min()
                .map(|(_, number)| number)
        };
        let of_server = || {
            let named = self.asked_shards().filter(|(_, shard)| {
                let server = shard.server.as_ref().map(|server| format!("\"{}\"", server.name));
                server.is_some_and(|server| error.message().contains(&server))
            });
            named.map(|(number, _)| number).next()
        };
        let code = error.sql_error_code();
        let lost = is_lost(code);
        let number = at.or_else(of_query).or_else(|| lost.then(of_server).flatten());
        let whose = match number {
            _ if self.by_citus => match citus::node(error.message(), said) {
                Some(node) => format!("node {node} of Citus"),
                None if lost => format!("a node of Citus with rows of {}", self.leaves[0].name),
                None => return None,
            },
            Some(number) => format!("shard \"{}\"", self.leaves[number].name),
            // The connection to a shard whose bag has arrived broke before the other bags arrived.
            None if lost => {
                let names: Vec<&str> = self.asked_shards().map(|(_, s)| s.name.as_str()).collect();
                format!("one of the shards \"{}\"", names.join("\", \""))
            }
            None => return None,
        };
        Some(told(error, &whose, hint(code)))
    }
}

/// An error of another server, with the server's name.
pub(in crate::pg) fn told(error: &ErrorReportWithLevel, whose: &str, hint: Option<&str>) -> Error {
    let message = format!("{whose}: {}", error.message());
    let hint = hint.or(error.hint()).unwrap_or("Nothing was changed, here or there.");
    let detail = error.detail().map(String::from);
    Error::told(error.sql_error_code(), message, detail, hint.into())
}

/// True if the connection is gone, or was never there.
pub(in crate::pg) fn is_lost(code: Code) -> bool {
    matches!(
        code,
        Code::ERRCODE_SQLCLIENT_UNABLE_TO_ESTABLISH_SQLCONNECTION
            | Code::ERRCODE_SQLSERVER_REJECTED_ESTABLISHMENT_OF_SQLCONNECTION
            | Code::ERRCODE_CONNECTION_EXCEPTION
            | Code::ERRCODE_CONNECTION_FAILURE
            | Code::ERRCODE_CONNECTION_DOES_NOT_EXIST
            | Code::ERRCODE_ADMIN_SHUTDOWN
            | Code::ERRCODE_CRASH_SHUTDOWN
            | Code::ERRCODE_CANNOT_CONNECT_NOW
            | Code::ERRCODE_FDW_ERROR
            | Code::ERRCODE_S_R_E_PROHIBITED_SQL_STATEMENT_ATTEMPTED
    )
}

/// A hint for the kind of error.
fn hint(code: Code) -> Option<&'static str> {
    Some(match code {
        code if is_lost(code) => {
            "The server is down, starts, or has lost the connection: see its log, and call again. Nothing was changed."
        }
        Code::ERRCODE_INVALID_SCHEMA_NAME
        | Code::ERRCODE_UNDEFINED_FUNCTION
        | Code::ERRCODE_UNDEFINED_OBJECT
        | Code::ERRCODE_INVALID_BINARY_REPRESENTATION => {
            "Install the same version of pg_sanitize there (CREATE EXTENSION, or ALTER EXTENSION … UPDATE), or take it out of the server's option extensions: then rows are read."
        }
        Code::ERRCODE_INSUFFICIENT_PRIVILEGE => {
            "The role of the user mapping needs the right to read the table there."
        }
        Code::ERRCODE_OUT_OF_MEMORY
        | Code::ERRCODE_CONFIGURATION_LIMIT_EXCEEDED
        | Code::ERRCODE_PROGRAM_LIMIT_EXCEEDED => {
            "Raise pg_sanitize.max_memory for the role of the user mapping there, or name fewer columns."
        }
        Code::ERRCODE_QUERY_CANCELED => {
            "The query was stopped there: see statement_timeout of the role of the user mapping."
        }
        _ => return None,
    })
}
