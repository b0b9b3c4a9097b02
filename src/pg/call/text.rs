//! Text between Postgres' encoding and Rust's.

use pgrx::datum::UnboxDatum;
use pgrx::pg_sys::{self, Datum, Oid};
use pgrx::{FromDatum, IntoDatum};
use std::ffi::{CStr, c_char};

/// A text argument, parameter or result. Unlike pgrx' String it is converted from and to the
/// database's encoding.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Text(pub String);

impl FromDatum for Text {
    unsafe fn from_polymorphic_datum(datum: Datum, is_null: bool, oid: Oid) -> Option<Self> {
        // SAFETY: a text is a varlena, read as bytes; the caller vouches for the datum.
        let bytes = unsafe { Vec::<u8>::from_polymorphic_datum(datum, is_null, oid) }?;
        Some(Text(to_utf8(&bytes)))
    }
}

// SAFETY: an owned copy, made from a text datum.
unsafe impl UnboxDatum for Text {
    type As<'src> = Text;

    unsafe fn unbox<'src>(datum: pgrx::datum::Datum<'src>) -> Text
    where
        Self: 'src,
    {
        // SAFETY: the caller vouches for the datum, which is not NULL.
        unsafe { Text::from_datum(datum.sans_lifetime(), false) }.unwrap_or_default()
    }
}

impl IntoDatum for Text {
    fn into_datum(self) -> Option<Datum> {
        Some(datum(&from_utf8(&self.0)))
    }

    fn type_oid() -> Oid {
        pg_sys::TEXTOID
    }
}

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

/// A C string in the database's encoding as a Rust string; `None` for null.
///
/// # Safety
/// The pointer is null or to a C string.
pub(in crate::pg) unsafe fn of_c(text: *const c_char) -> Option<String> {
    // SAFETY: as the caller says.
    (!text.is_null()).then(|| to_utf8(unsafe { CStr::from_ptr(text) }.to_bytes()))
}

/// As [`of_c`]; nothing for null.
///
/// # Safety
/// As for [`of_c`].
pub(in crate::pg) unsafe fn name(text: *const c_char) -> String {
    // SAFETY: as the caller says.
    unsafe { of_c(text) }.unwrap_or_default()
}

/// A name in the database's encoding, quoted by Postgres itself where needed.
pub(in crate::pg) fn quoted(text: &CStr) -> String {
    // SAFETY: quote_identifier reads a C string and returns it or a palloc'd copy.
    unsafe { name(pg_sys::quote_identifier(text.as_ptr())) }
}

/// Any bytes in the database's encoding as a Rust string: a character without an equivalent becomes a question mark.
/// For values of protected relations, because errors must not depend on them.
pub fn to_utf8_always(bytes: &[u8]) -> String {
    // SAFETY: reads a setting of the database.
    let encoding = unsafe { pg_sys::GetDatabaseEncoding() };
    let utf8 = pg_sys::pg_enc::PG_UTF8 as i32;
    // SAFETY: a catalog look-up.
    let conversion = || unsafe { pg_sys::FindDefaultConversionProc(encoding, utf8) };
    let is_plain = bytes.is_ascii()
        || [utf8, pg_sys::pg_enc::PG_SQL_ASCII as i32].contains(&encoding)
        || conversion() == pg_sys::InvalidOid;
    if is_plain {
        return String::from_utf8_lossy(bytes).replace(char::REPLACEMENT_CHARACTER, "?");
    }
    let (conversion, mut rest, mut made) = (conversion(), bytes, String::new());
    let mut room = vec![0; bytes.len() * pg_sys::MAX_CONVERSION_GROWTH as usize + 1];
    while !rest.is_empty() {
        // SAFETY: the room is what a conversion may need; with errors off, it stops before a character that it cannot
        // convert, and ends its output with a zero byte.
        let done = unsafe {
            let done = pg_sys::pg_do_encoding_conversion_buf(
                conversion,
                encoding,
                utf8,
                rest.as_ptr().cast_mut(),
                rest.len() as i32,
                room.as_mut_ptr(),
                room.len() as i32,
                true,
            );
            made += &CStr::from_ptr(room.as_ptr().cast()).to_string_lossy();
            usize::try_from(done).unwrap_or(0)
        };
        rest = &rest[done.min(rest.len())..];
        if !rest.is_empty() {
            made.push('?');
            rest = &rest[1..];
        }
    }
    made
}

/// Bytes in the database's encoding as a Rust string; `None` if they are not valid UTF-8.
pub fn decode(bytes: &[u8]) -> Option<String> {
    if is_utf8() {
        return std::str::from_utf8(bytes).ok().map(String::from);
    }
    // An encoding that Postgres does not convert, SQL_ASCII, may hold anything.
    let text = to_utf8(bytes);
    (from_utf8(&text) == bytes).then_some(text)
}

/// True if the database's encoding is UTF-8.
pub fn is_utf8() -> bool {
    // SAFETY: reads a setting of the database.
    unsafe { pg_sys::GetDatabaseEncoding() == pg_sys::pg_enc::PG_UTF8 as i32 }
}

/// The name of the database's encoding.
pub fn encoding() -> String {
    // SAFETY: the name is a constant of Postgres.
    unsafe { CStr::from_ptr(pg_sys::GetDatabaseEncodingName()) }.to_string_lossy().into_owned()
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
pub fn c_string(text: &str) -> *mut c_char {
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
