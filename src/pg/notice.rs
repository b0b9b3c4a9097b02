//! NOTICE and WARNING lines to the client.

use pgrx::pg_sys::{self, panic::ErrorReport};
use pgrx::{PgLogLevel, PgSqlErrorCode as Code};

/// A NOTICE.
pub fn notice(message: String) {
    say(report(Code::ERRCODE_SUCCESSFUL_COMPLETION, message), PgLogLevel::NOTICE);
}

/// A NOTICE with a hint.
pub fn notice_hint(message: String, hint: &str) {
    say(report(Code::ERRCODE_SUCCESSFUL_COMPLETION, message).set_hint(hint), PgLogLevel::NOTICE);
}

/// A WARNING.
pub fn warning(message: String) {
    say(report(Code::ERRCODE_WARNING, message), PgLogLevel::WARNING);
}

fn report(code: Code, message: String) -> ErrorReport {
    ErrorReport::new(code, message, "pg_sanitize")
}

/// Sends a message.
///
/// Postgres looks for cancel requests after each message and raises its error there, past pgrx: it
/// would jump over our frames while the pool's threads still use them. Interrupts are held off, so
/// that the caller's next look answers them; and an error of the sending itself (a character that
/// the client's encoding lacks, say) is caught and goes on as a panic, which waits for the threads.
fn say(report: ErrorReport, level: PgLogLevel) {
    // SAFETY: on the backend's own thread. If the error of the sending skips the decrement,
    // Postgres itself has set the counter to 0.
    unsafe {
        pg_sys::ffi::pg_guard_ffi_boundary(|| {
            pg_sys::InterruptHoldoffCount += 1;
            report.report(level);
            pg_sys::InterruptHoldoffCount -= 1;
        });
    }
}
