//! A call from SQL: its arguments, and how a Rust function becomes callable.

use super::argument::{Argument, Arguments};
use super::error::{self, Error};
use super::signature;
use crate::method::Method;
use crate::pg::process::pool;
use crate::pg::shards::keeper;
use pgrx::IntoDatum;
use pgrx::fcinfo;
use pgrx::pg_sys::{
    self, Datum, NullableDatum, Oid,
    panic::{CaughtError, ErrorReportWithLevel},
};
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};

/// A call whose signature was compared with the catalog.
pub struct Call {
    pub(in crate::pg) fcinfo: pg_sys::FunctionCallInfo,
    /// The method that is called.
    pub method: &'static Method,
    pub arguments: Arguments<'static>,
}

impl Call {
    /// # Safety
    /// `fcinfo` comes from the function manager and outlives the call.
    unsafe fn new(
        fcinfo: pg_sys::FunctionCallInfo,
        method: &'static Method,
    ) -> Result<Self, Error> {
        // SAFETY: as the caller says; the arguments are made after the check.
        unsafe {
            let Method { name, arguments, returns, .. } = method;
            signature::check(fcinfo, name, arguments, returns)?;
            Ok(Call { fcinfo, method, arguments: Arguments::of_call(arguments, fcinfo) })
        }
    }

    /// The value of an argument.
    pub fn get<T>(&self, argument: &Argument<T>) -> Result<T, Error> {
        self.arguments.get(argument)
    }

    /// Argument `i` as the datum it is, for functions that Postgres calls for a type or an aggregate.
    pub fn datum(&self, i: usize) -> Option<Datum> {
        // SAFETY: reads the argument without interpreting it.
        unsafe { fcinfo::pg_getarg_datum(self.fcinfo, i) }
    }

    /// All arguments as they came, those beyond the declared ones too.
    pub(in crate::pg) fn given(&self) -> &[NullableDatum] {
        // SAFETY: a call of the function manager has as many arguments as it says.
        unsafe {
            let fcinfo = &*self.fcinfo;
            fcinfo.args.as_slice(usize::try_from(fcinfo.nargs).unwrap_or(0))
        }
    }

    /// The type of argument `i`, if the call has an expression that says it.
    pub(in crate::pg) fn type_of(&self, i: usize) -> Option<Oid> {
        // SAFETY: a look into the expression that is called; there may be none.
        let of = unsafe { fcinfo::pg_getarg_type(self.fcinfo, i) };
        (of != pg_sys::InvalidOid).then_some(of)
    }

    /// The memory context of the aggregate that makes this call.
    pub fn aggregate_context(&self) -> Result<pg_sys::MemoryContext, Error> {
        let mut context = std::ptr::null_mut();
        // SAFETY: fcinfo is valid; the out-variable is filled only if the result is not 0.
        match unsafe { pg_sys::AggCheckCallContext(self.fcinfo, &mut context) } {
            0 => Err(Error::NoAggregate),
            _ => Ok(context),
        }
    }

    /// Refuses a call that no aggregate makes: as [`Call::aggregate_context`], but without a call into Postgres, so
    /// that it is fast enough for functions that run once for each row.
    #[inline]
    pub fn needs_aggregate(&self) -> Result<(), Error> {
        // SAFETY: what a call has as its context is a node or NULL.
        let tag = unsafe { (*self.fcinfo).context.as_ref().map(|node| node.type_) };
        match tag {
            Some(pg_sys::NodeTag::T_AggState | pg_sys::NodeTag::T_WindowAggState) => Ok(()),
            _ => Err(Error::NoAggregate),
        }
    }

    /// Returns a value, or NULL.
    pub fn value(&self, value: impl IntoDatum) -> Result<Datum, Error> {
        Ok(value.into_datum().unwrap_or_else(|| self.null()))
    }

    /// The result NULL.
    pub fn null(&self) -> Datum {
        // SAFETY: fcinfo is valid for the call.
        unsafe { fcinfo::pg_return_null(self.fcinfo) }
    }
}

/// Serves a call: checks the signature, runs the method, and turns every failure into one of our errors.
///
/// # Safety
/// `fcinfo` comes from the function manager. No value with a destructor may live in the frames above:
/// an error leaves them by a jump.
pub unsafe fn serve(fcinfo: pg_sys::FunctionCallInfo, method: &'static Method) -> Datum {
    #[pgrx::pg_guard]
    unsafe extern "C-unwind" fn guarded(
        fcinfo: pg_sys::FunctionCallInfo,
        method: &'static Method,
    ) -> Datum {
        // SAFETY: the function manager's fcinfo is valid during the call.
        let run = || unsafe {
            let call = Call::new(fcinfo, method)?;
            // Methods that take from a budget are refused where budgets are not kept.
            if method.price.is_some() {
                keeper::check()?;
            }
            (method.run)(&call)
        };
        let outer = error::serving(Some(method));
        let outcome = catch_unwind(AssertUnwindSafe(run));
        let outcome = outcome.map(|outcome| outcome.map_err(Error::raised));
        error::serving(outer);
        if outer.is_none() {
            pool::end_of_call();
        }
        match outcome {
            Ok(outcome) => outcome.unwrap_or_else(Error::leave),
            // Errors of Postgres travel as panics too.
            Err(payload) if payload.is::<CaughtError>() || payload.is::<ErrorReportWithLevel>() => {
                resume_unwind(payload)
            }
            Err(payload) => Error::fault(said(&*payload)).leave(),
        }
    }
    // SAFETY: as the caller says; nothing here is left to drop when the second call jumps away.
    unsafe {
        let result = guarded(fcinfo, method);
        error::raise_pending();
        result
    }
}

/// The text of a panic.
fn said(payload: &(dyn std::any::Any + Send)) -> String {
    let text = payload.downcast_ref::<&str>().map(|text| text.to_string());
    text.or_else(|| payload.downcast_ref::<String>().cloned()).unwrap_or_else(|| "panic".into())
}

/// Keeps Rust's backtraces out of errors, even if the server's environment asks for them: Rust decides this the first
/// time it is asked, which is here. It concerns only this library's copy of the Rust runtime.
pub fn without_backtraces() {
    const SWITCH: &str = "RUST_LIB_BACKTRACE";
    let before = std::env::var_os(SWITCH);
    // SAFETY: a backend that loads a library has one thread.
    unsafe {
        std::env::set_var(SWITCH, "0");
        let _ = std::backtrace::Backtrace::capture();
        match before {
            Some(value) => std::env::set_var(SWITCH, value),
            None => std::env::remove_var(SWITCH),
        }
    }
}
