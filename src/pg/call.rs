//! A call from SQL: its arguments, and the macro that makes a Rust function callable.

use super::error::Error;
use super::text::Text;
use pgrx::pg_sys::{self, Datum};
use pgrx::{FromDatum, fcinfo};
use std::ffi::CStr;

/// The arguments of a call.
pub struct Call {
    pub(super) fcinfo: pg_sys::FunctionCallInfo,
}

impl Call {
    /// # Safety
    /// `fcinfo` comes from the function manager and outlives the call.
    pub unsafe fn new(fcinfo: pg_sys::FunctionCallInfo) -> Self {
        Call { fcinfo }
    }

    /// Argument `i`, `None` if NULL.
    pub fn optional<T: FromDatum>(&self, i: usize) -> Option<T> {
        // SAFETY: the SQL declaration gives argument `i` the type T.
        unsafe { fcinfo::pg_getarg(self.fcinfo, i) }
    }

    /// Argument `i`, which must not be NULL.
    pub fn value<T: FromDatum>(&self, i: usize, argument: &'static str) -> Result<T, Error> {
        self.optional(i).ok_or(Error::Null { argument })
    }

    /// Argument `i`, a text; `None` if NULL.
    pub fn optional_text(&self, i: usize) -> Option<String> {
        self.optional(i).map(|Text(text)| text)
    }

    /// Argument `i`, a text, which must not be NULL.
    pub fn text(&self, i: usize, argument: &'static str) -> Result<String, Error> {
        self.optional_text(i).ok_or(Error::Null { argument })
    }

    /// Argument `i`, a list of texts; `None` if NULL.
    pub fn texts(&self, i: usize) -> Option<Vec<Option<String>>> {
        let texts = self.optional::<Vec<Option<Text>>>(i)?;
        Some(texts.into_iter().map(|text| text.map(|Text(text)| text)).collect())
    }

    /// Argument `i` as the datum it is.
    pub fn datum(&self, i: usize) -> Option<Datum> {
        // SAFETY: reads the argument without interpreting it.
        unsafe { fcinfo::pg_getarg_datum(self.fcinfo, i) }
    }

    /// The type of argument `i` at the place of the call.
    pub fn argument_type(&self, i: usize) -> pg_sys::Oid {
        // SAFETY: fcinfo is valid for the call.
        unsafe { fcinfo::pg_getarg_type(self.fcinfo, i) }
    }

    /// Argument `i`, a list of column names; `None` if NULL.
    pub fn names(&self, i: usize, argument: &'static str) -> Result<Option<Vec<String>>, Error> {
        let Some(names) = self.texts(i) else {
            return Ok(None);
        };
        if names.is_empty() {
            return Err(Error::argument(
                format!("{argument} is an empty list"),
                format!("Leave {argument} out or name at least one column."),
            ));
        }
        let names: Option<Vec<String>> = names.into_iter().collect();
        names.map(Some).ok_or_else(|| {
            Error::argument(format!("{argument} contains NULL"), "Give every column by its name.")
        })
    }

    /// Argument `i` as its type's text; `None` if NULL.
    pub fn text_of(&self, i: usize) -> Option<String> {
        let value = self.datum(i)?;
        let mut function = pg_sys::InvalidOid;
        let mut is_varlena = false;
        // SAFETY: the value is of the argument's type, whose own output function is called.
        unsafe {
            pg_sys::getTypeOutputInfo(self.argument_type(i), &mut function, &mut is_varlena);
            let text = pg_sys::OidOutputFunctionCall(function, value);
            Some(super::text::to_utf8(CStr::from_ptr(text).to_bytes()))
        }
    }

    /// The memory context of the aggregate that makes this call.
    pub fn aggregate_context(&self) -> Result<pg_sys::MemoryContext, Error> {
        let mut context = std::ptr::null_mut();
        // SAFETY: fcinfo is valid; the out-variable is filled only if the result is not 0.
        match unsafe { pg_sys::AggCheckCallContext(self.fcinfo, &mut context) } {
            0 => Err(Error::Context),
            _ => Ok(context),
        }
    }

    /// The result NULL.
    pub fn null(&self) -> Datum {
        // SAFETY: fcinfo is valid for the call.
        unsafe { fcinfo::pg_return_null(self.fcinfo) }
    }
}

/// Makes `$body`, a `fn(&Call) -> Result<Datum, Error>`, callable from SQL as the symbol `$name`.
macro_rules! sql_function {
    ($name:ident, $body:path) => {
        const _: () = {
            #[unsafe(export_name = concat!("pg_finfo_", stringify!($name)))]
            pub extern "C" fn info() -> &'static pgrx::pg_sys::Pg_finfo_record {
                const V1: pgrx::pg_sys::Pg_finfo_record =
                    pgrx::pg_sys::Pg_finfo_record { api_version: 1 };
                &V1
            }
        };

        #[unsafe(no_mangle)]
        /// # Safety
        /// Called by the function manager only.
        pub unsafe extern "C-unwind" fn $name(
            fcinfo: pgrx::pg_sys::FunctionCallInfo,
        ) -> pgrx::pg_sys::Datum {
            #[pgrx::pg_guard]
            unsafe extern "C-unwind" fn guarded(
                fcinfo: pgrx::pg_sys::FunctionCallInfo,
            ) -> pgrx::pg_sys::Datum {
                // SAFETY: the function manager's fcinfo is valid during the call.
                let call = unsafe { $crate::pg::call::Call::new(fcinfo) };
                $body(&call).unwrap_or_else(|error| error.leave())
            }
            // SAFETY: as above; nothing here is left to drop when the second call jumps away.
            unsafe {
                let result = guarded(fcinfo);
                $crate::pg::error::raise_pending();
                result
            }
        }
    };
}
pub(crate) use sql_function;
