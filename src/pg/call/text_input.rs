//! Values of a type from their texts, by the type's own input function, or from the hexadecimal digits of its send
//! function's output.

use crate::pg::prelude::*;
use std::ffi::CStr;

/// Reads values of one type.
pub struct Input {
    of: Oid,
    authors: Vec<Oid>,
    function: pg_sys::FmgrInfo,
    parameter: Oid,
    typmod: i32,
    /// Whether the texts are digits for the type's receive function.
    is_sent: bool,
}

impl Input {
    /// For values of the type and modifier; valid as long as the current memory context.
    pub fn new(of: Oid, typmod: i32) -> Self {
        Input::by(of, typmod, false)
    }

    /// For values of the type in which the column's values are shown.
    pub fn shown(column: &Column) -> Self {
        let (of, typmod) = column.shown_type();
        Input::new(of, typmod)
    }

    /// For values whose texts are the hexadecimal digits of the output of the type's send function.
    pub fn of_sent(of: Oid, typmod: i32) -> Self {
        Input::by(of, typmod, true)
    }

    fn by(of: Oid, typmod: i32, is_sent: bool) -> Self {
        let (mut oid, mut parameter) = (pg_sys::InvalidOid, pg_sys::InvalidOid);
        let mut function = pg_sys::FmgrInfo::default();
        // SAFETY: look-ups by type OID.
        unsafe {
            match is_sent {
                true => pg_sys::getTypeBinaryInputInfo(of, &mut oid, &mut parameter),
                false => pg_sys::getTypeInputInfo(of, &mut oid, &mut parameter),
            }
            pg_sys::fmgr_info_cxt(oid, &mut function, pg_sys::CurrentMemoryContext);
        }
        Input { of, authors: types::authors(of), function, parameter, typmod, is_sent }
    }

    /// True if every text is a value of the type and unchanged by it.
    pub fn takes_all(&self) -> bool {
        self.of == pg_sys::TEXTOID
    }

    /// The value of a text in the database's encoding, in the current memory context. Raises the type's own error if
    /// the text is invalid.
    pub fn value(&mut self, text: &CStr) -> Datum {
        let Input { of, authors, function, parameter, typmod, is_sent } = self;
        // SAFETY: the type's own functions, on a C string which input does not write to, and on a copy of bytes that
        // ends with a zero byte, as those of a message do.
        rights::with_rights_of_authors(*of, authors, || unsafe {
            if !*is_sent {
                let text = text.as_ptr().cast_mut();
                return pg_sys::InputFunctionCall(function, text, *parameter, *typmod);
            }
            let bytes = bytes_of(text.to_bytes());
            let mut message = pg_sys::StringInfoData::default();
            pg_sys::initStringInfo(&mut message);
            pg_sys::appendBinaryStringInfo(&mut message, bytes.as_ptr().cast(), bytes.len() as i32);
            pg_sys::ReceiveFunctionCall(function, &mut message, *parameter, *typmod)
        })
    }
}

/// The bytes of hexadecimal digits. Empty if the text is not hexadecimal: no value of a type that is sent this way has
/// no bytes.
fn bytes_of(digits: &[u8]) -> Vec<u8> {
    let digit = |&byte: &u8| char::from(byte).to_digit(16).map(|digit| digit as u8);
    let byte = |pair: &[u8]| match pair {
        [high, low] => Some(digit(high)? << 4 | digit(low)?),
        _ => None,
    };
    digits.chunks(2).map(byte).collect::<Option<Vec<u8>>>().unwrap_or_default()
}
