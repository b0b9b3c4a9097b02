//! Values on their way from another server, as texts that mean the same under every setting of both sessions.
//!
//! A date, a float or an amount of money is written under the settings of one session and read under those of another.
//! Between two servers these may differ: 02.01.2024 would become the first of February, and floats that differ in their
//! last digits one value. postgres_fdw fixes these settings itself, except that of money. Citus fixes none: there such
//! values are sent as the hexadecimal digits of the output of the type's own send function.

use crate::pg::call::text_input::Input;
use crate::pg::catalog::syscache::cached;
use crate::pg::prelude::*;
use pgrx::pg_sys::SysCacheIdentifier;
use std::ffi::CStr;

/// Who asks the other server.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Engine {
    PostgresFdw,
    Citus,
}

/// The form in which values of a type are sent.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Way {
    /// As text.
    Text,
    /// As hexadecimal digits of the output of this function of pg_catalog.
    Sent(String),
}

/// Types whose values have the same text under all settings.
const PLAIN: [Oid; 22] = [
    pg_sys::BOOLOID,
    pg_sys::INT2OID,
    pg_sys::INT4OID,
    pg_sys::INT8OID,
    pg_sys::NUMERICOID,
    pg_sys::TEXTOID,
    pg_sys::VARCHAROID,
    pg_sys::BPCHAROID,
    pg_sys::NAMEOID,
    pg_sys::CHAROID,
    pg_sys::UUIDOID,
    pg_sys::OIDOID,
    pg_sys::TIMEOID,
    pg_sys::TIMETZOID,
    pg_sys::JSONOID,
    pg_sys::JSONBOID,
    pg_sys::XMLOID,
    pg_sys::INETOID,
    pg_sys::CIDROID,
    pg_sys::MACADDROID,
    pg_sys::BITOID,
    pg_sys::VARBITOID,
];

/// OIDs of objects, which differ between servers, and names that depend on the search path.
const OBJECTS: [Oid; 11] = [
    pg_sys::REGPROCOID,
    pg_sys::REGPROCEDUREOID,
    pg_sys::REGOPEROID,
    pg_sys::REGOPERATOROID,
    pg_sys::REGCLASSOID,
    pg_sys::REGCOLLATIONOID,
    pg_sys::REGTYPEOID,
    pg_sys::REGROLEOID,
    pg_sys::REGNAMESPACEOID,
    pg_sys::REGCONFIGOID,
    pg_sys::REGDICTIONARYOID,
];

impl Way {
    /// The form in which values of the type are sent; `None` if none is known to be safe: the text of a user-defined
    /// type may depend on anything.
    pub fn of(type_oid: Oid, engine: Engine) -> Option<Self> {
        let base = types::base(type_oid);
        let element = types::element(base);
        match engine {
            Engine::PostgresFdw if element != pg_sys::MONEYOID => Some(Way::Text),
            _ if types::is_enum(element) || PLAIN.contains(&element) => Some(Way::Text),
            // Built-in types have the same OIDs on every server.
            _ if [base, element].iter().any(|of| of.to_u32() >= pg_sys::FirstNormalObjectId)
                || OBJECTS.contains(&element) =>
            {
                None
            }
            _ => send_function(base).map(Way::Sent),
        }
    }

    /// The expression that is requested in place of a value.
    pub fn asked(&self, expression: &[u8]) -> Vec<u8> {
        match self {
            Way::Text => expression.to_vec(),
            Way::Sent(function) => {
                let before = format!("pg_catalog.encode(pg_catalog.{function}(");
                [before.as_bytes(), expression, b"), 'hex')"].concat()
            }
        }
    }

    /// The input function for the values on this server.
    pub fn input(&self, type_oid: Oid, typmod: i32) -> Input {
        match self {
            Way::Text => Input::new(type_oid, typmod),
            Way::Sent(_) => Input::of_sent(type_oid, typmod),
        }
    }
}

/// The name of the function of pg_catalog that sends values of a type, quoted; `None` if there is none.
fn send_function(base: Oid) -> Option<String> {
    let functions = |form: &pg_sys::FormData_pg_type| (form.typsend, form.typreceive);
    // SAFETY: the cache has rows of pg_type by their OIDs; a name that is found is palloc'd.
    unsafe {
        let (sends, receives) = cached(SysCacheIdentifier::TYPEOID, base, functions)?;
        if sends == pg_sys::InvalidOid || receives == pg_sys::InvalidOid {
            return None;
        }
        let name = pg_sys::get_func_name(sends);
        (!name.is_null()).then(|| text::quoted(CStr::from_ptr(name)))
    }
}
