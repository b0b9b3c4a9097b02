//! Values of a type from their texts, by the type's own input function.

use super::rights;
use pgrx::pg_sys::{self, Datum, Oid};
use std::ffi::CStr;

/// Reads values of one type.
pub struct Input {
    of: Oid,
    function: pg_sys::FmgrInfo,
    parameter: Oid,
    typmod: i32,
}

impl Input {
    /// For values of the type and modifier, as long as the current memory context lives.
    pub fn new(of: Oid, typmod: i32) -> Self {
        let (mut oid, mut parameter) = (pg_sys::InvalidOid, pg_sys::InvalidOid);
        let mut function = pg_sys::FmgrInfo::default();
        // SAFETY: look-ups by type OID.
        unsafe {
            pg_sys::getTypeInputInfo(of, &mut oid, &mut parameter);
            pg_sys::fmgr_info_cxt(oid, &mut function, pg_sys::CurrentMemoryContext);
        }
        Input { of, function, parameter, typmod }
    }

    /// True if every text is a value, as it is.
    pub fn takes_all(&self) -> bool {
        self.of == pg_sys::TEXTOID
    }

    /// The value of a text in the database's encoding, in the current memory context. Raises what the type raises
    /// if there is none.
    pub fn value(&mut self, text: &CStr) -> Datum {
        let Input { of, function, parameter, typmod } = self;
        // SAFETY: the type's own input function on a C string, which it does not write to.
        rights::with_rights_for_type(*of, || unsafe {
            pg_sys::InputFunctionCall(function, text.as_ptr().cast_mut(), *parameter, *typmod)
        })
    }
}
