//! Text between Postgres' encoding and Rust's.

use pgrx::pg_sys::{self, Datum};
use std::ffi::CStr;

/// Bytes in the database's encoding as a Rust string.
pub fn to_utf8(bytes: &[u8]) -> String {
    // SAFETY: the conversion reads `bytes` and returns them or a palloc'd string.
    unsafe {
        let converted = pg_sys::pg_server_to_any(
            bytes.as_ptr().cast(),
            bytes.len() as i32,
            pg_sys::pg_enc::PG_UTF8 as i32,
        );
        if converted.cast_const() == bytes.as_ptr().cast() || converted.is_null() {
            return String::from_utf8_lossy(bytes).into_owned();
        }
        CStr::from_ptr(converted).to_string_lossy().into_owned()
    }
}

/// A Rust string as bytes in the database's encoding.
pub fn from_utf8(text: &str) -> Vec<u8> {
    // SAFETY: as above, the other way round.
    unsafe {
        let converted = pg_sys::pg_any_to_server(
            text.as_ptr().cast(),
            text.len() as i32,
            pg_sys::pg_enc::PG_UTF8 as i32,
        );
        if converted.cast_const() == text.as_ptr().cast() || converted.is_null() {
            return text.as_bytes().to_vec();
        }
        CStr::from_ptr(converted).to_bytes().to_vec()
    }
}

/// A `text` datum of bytes in the database's encoding, in the current memory context.
pub fn datum(bytes: &[u8]) -> Datum {
    // SAFETY: copies `bytes` into a fresh varlena.
    unsafe { pg_sys::cstring_to_text_with_len(bytes.as_ptr().cast(), bytes.len() as i32).into() }
}

/// A Rust string as a palloc'd C string in the database's encoding.
pub fn c_string(text: &str) -> *mut std::ffi::c_char {
    let bytes = from_utf8(text);
    // SAFETY: pnstrdup stops at the length or at a NUL and adds one.
    unsafe { pg_sys::pnstrdup(bytes.as_ptr().cast(), bytes.len()) }
}

/// True if the bytes are valid text in the database's encoding.
pub fn valid(bytes: &[u8]) -> bool {
    // SAFETY: reads `bytes`; with the last argument true it raises nothing.
    unsafe {
        !bytes.contains(&0)
            && pg_sys::pg_verifymbstr(bytes.as_ptr().cast(), bytes.len() as i32, true)
    }
}
