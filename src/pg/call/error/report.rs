//! How an error reaches Postgres, or another process.

use super::{Error, Message};
use crate::method::Method;
use crate::pg::prelude::*;
use pgrx::PgLogLevel;
use pgrx::pg_sys::panic::ErrorReport;
use std::cell::Cell;
use std::sync::atomic::{AtomicPtr, Ordering};

/// The SQLSTATE of an exhausted budget, in a class of our own, PS.
const BUDGET_EXHAUSTED: [u8; 5] = *b"PS001";

impl Error {
    /// The error as the called function raises it.
    pub fn raised(self) -> Self {
        let Some(hint) = SERVED.get().and_then(|method| self.fitting_hint(method)) else {
            return self;
        };
        let (code, message, detail, _) = self.parts();
        Error::told(code, message, detail, hint)
    }

    /// The error for another process.
    pub fn message(&self) -> Message {
        let (code, message, detail, hint) = self.parts();
        let code = match self {
            // Six bits for each character, as MAKE_SQLSTATE has it.
            Error::Exhausted(_) => BUDGET_EXHAUSTED
                .iter()
                .rev()
                .fold(0, |code, &c| code << 6 | ((i32::from(c) - 48) & 63)),
            Error::Told(told) => told.code,
            _ => code as i32,
        };
        Message { code, message, detail, hint }
    }

    /// Leaves a function called from SQL with the error: [`raise_pending`] raises it once nothing is
    /// left to drop.
    pub fn leave(self) -> Datum {
        let Message { code, message, detail, hint } = self.message();
        let data = report(PgLogLevel::ERROR, code, &message, detail.as_deref(), Some(&hint));
        if let Error::Fault { what } = &self {
            // SAFETY: `report` made it.
            unsafe { (*data).detail_log = text::c_string(what) };
        }
        PENDING.store(data, Ordering::Relaxed);
        Datum::null()
    }

    /// Raises the error in Postgres; does not return.
    #[track_caller]
    pub fn raise(self) -> ! {
        let (code, message, detail, hint) = self.parts();
        let fitting = SERVED.get().and_then(|method| self.fitting_hint(method));
        let hint = fitting.unwrap_or(hint);
        let mut report = ErrorReport::new(code, message, "pg_sanitize").set_hint(hint);
        if let Some(detail) = detail {
            report = report.set_detail(detail);
        }
        report.report(PgLogLevel::ERROR);
        unreachable!("an ERROR does not return")
    }
}

thread_local! {
    /// The method whose call is served: hints name its arguments.
    static SERVED: Cell<Option<&'static Method>> = const { Cell::new(None) };
}

/// Runs `work` as a call of the method: hints of errors name its arguments.
pub fn while_serving<T>(
    method: &'static Method,
    work: impl FnOnce() -> Result<T, Error>,
) -> Result<T, Error> {
    let outer = serving(Some(method));
    let done = work().map_err(Error::raised);
    // If an error unwinds, the function called from SQL does this.
    serving(outer);
    done
}

/// Sets the method that is being served; returns the previous one.
pub fn serving(method: Option<&'static Method>) -> Option<&'static Method> {
    SERVED.replace(method)
}

/// True while a call from SQL is being served.
pub fn is_serving() -> bool {
    SERVED.get().is_some()
}

/// The error that the function will raise when it returns.
static PENDING: AtomicPtr<pg_sys::ErrorData> = AtomicPtr::new(std::ptr::null_mut());

/// A message for Postgres to raise, in the database's encoding and the current memory context.
pub(in crate::pg) fn report(
    level: PgLogLevel,
    code: i32,
    message: &str,
    detail: Option<&str>,
    hint: Option<&str>,
) -> *mut pg_sys::ErrorData {
    let c_string = |text: Option<&str>| text.map_or(std::ptr::null_mut(), text::c_string);
    // SAFETY: all fields of the struct may be zero.
    unsafe {
        let data = pg_sys::palloc0(size_of::<pg_sys::ErrorData>()).cast::<pg_sys::ErrorData>();
        (*data).elevel = level as i32;
        (*data).sqlerrcode = code;
        (*data).message = c_string(Some(message));
        (*data).detail = c_string(detail);
        (*data).hint = c_string(hint);
        data
    }
}

// Declared here without the guard of pgrx, which replaces SQLSTATEs that are not Postgres' own and
// takes every text for UTF-8.
unsafe extern "C-unwind" {
    pub(in crate::pg) fn ThrowErrorData(data: *mut pg_sys::ErrorData);
}

/// Raises what [`Error::leave`] left behind, if anything.
///
/// # Safety
/// Called by a function that holds nothing to drop, as the error jumps over it into Postgres.
pub unsafe fn raise_pending() {
    let data = PENDING.swap(std::ptr::null_mut(), Ordering::Relaxed);
    if !data.is_null() {
        // SAFETY: made by `leave` in this call; Postgres copies it.
        unsafe { ThrowErrorData(data) };
    }
}
