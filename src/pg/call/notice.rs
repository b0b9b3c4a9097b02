//! NOTICE and WARNING lines to the client.

use super::error::{ThrowErrorData, report};
use pgrx::pg_sys;
use pgrx::{PgLogLevel, PgSqlErrorCode as Code};

/// A NOTICE.
pub fn notice(message: &str) {
    say(PgLogLevel::NOTICE, Code::ERRCODE_SUCCESSFUL_COMPLETION, message, None);
}

/// A NOTICE with a hint.
pub fn notice_hint(message: &str, hint: &str) {
    say(PgLogLevel::NOTICE, Code::ERRCODE_SUCCESSFUL_COMPLETION, message, Some(hint));
}

/// A WARNING.
pub fn warning(message: &str) {
    say(PgLogLevel::WARNING, Code::ERRCODE_WARNING, message, None);
}

/// A share in words, rounded down: 100.0 % is all of them.
pub fn percent(part: u128, all: u128) -> String {
    let thousandths = part * 1000 / all.max(1);
    format!("{}.{} %", thousandths / 10, thousandths % 10)
}

/// Sends a message.
///
/// Postgres looks for cancel requests after each message and raises its error there without pgrx: it would jump over
/// our frames while the pool's threads still use them. Interrupts are therefore held off until the caller's next check;
/// and an error while sending (a character that the client's encoding lacks, say) is caught and becomes a panic, which
/// waits for the threads.
fn say(level: PgLogLevel, code: Code, message: &str, hint: Option<&str>) {
    let data = report(level, code as i32, message, None, hint);
    // SAFETY: on the backend's own thread; nothing inside has anything to drop. If an error skips
    // the decrement, Postgres itself has set the counter to 0.
    unsafe {
        pg_sys::ffi::pg_guard_ffi_boundary(|| {
            pg_sys::InterruptHoldoffCount += 1;
            ThrowErrorData(data);
            pg_sys::InterruptHoldoffCount -= 1;
        });
    }
}
