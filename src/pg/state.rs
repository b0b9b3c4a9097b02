//! What the functions of an aggregate get and give: states, which are Rust values behind Postgres' type
//! internal, and bytes.

use super::argument::Type;
use super::call::Call;
use super::error::Error;
use pgrx::pg_sys::{self, Datum};
use pgrx::{PgMemoryContexts, varlena};
use std::any::TypeId;

/// A state and its type: SQL lets a superuser combine the functions of two aggregates.
#[repr(C)]
struct Kept<T> {
    of: TypeId,
    state: T,
}

fn keep<T: 'static>(context: pg_sys::MemoryContext, state: T) -> Datum {
    let kept = Kept { of: TypeId::of::<T>(), state };
    PgMemoryContexts::For(context).leak_and_drop_on_delete(kept).into()
}

/// The state that a function of ours gave.
pub fn of_datum<'a, T: 'static>(datum: Datum) -> Result<&'a mut T, Error> {
    // SAFETY: in an aggregate over our functions only they make values of type internal, all of which
    // begin with the type of the state. The executor has no other reference to it during the call.
    unsafe {
        let kept = datum.cast_mut_ptr::<Kept<T>>();
        if kept.is_null() || *kept.cast::<TypeId>() != TypeId::of::<T>() {
            return Err(Error::Context);
        }
        Ok(&mut (*kept).state)
    }
}

impl Call {
    /// Argument `i` as the datum it is, if it is declared with this type.
    fn declared(&self, i: usize, of: Type) -> Result<Option<Datum>, Error> {
        match self.method.arguments.get(i).is_some_and(|argument| argument.of() == of) {
            true => Ok(self.datum(i)),
            false => Err(Error::fault(format!("argument {i} is no {of:?}"))),
        }
    }

    /// The state in argument `i`; `None` if there is none yet.
    pub fn state<T: 'static>(&self, i: usize) -> Result<Option<&mut T>, Error> {
        self.aggregate_context()?;
        self.declared(i, Type::Internal)?.map(of_datum).transpose()
    }

    /// The state in argument `i` as it is, to be given back; the first call makes it.
    pub fn state_or<T: 'static>(
        &self,
        i: usize,
        make: impl FnOnce(pg_sys::MemoryContext) -> Result<T, Error>,
    ) -> Result<Datum, Error> {
        if let Some(datum) = self.declared(i, Type::Internal)? {
            return Ok(datum);
        }
        let context = self.aggregate_context()?;
        Ok(keep(context, make(context)?))
    }

    /// Keeps a state for as long as the aggregate is computed.
    pub fn keep<T: 'static>(&self, state: T) -> Result<Datum, Error> {
        Ok(keep(self.aggregate_context()?, state))
    }

    /// Keeps a state that came from another process where the executor wants it.
    pub fn keep_here<T: 'static>(&self, state: T) -> Result<Datum, Error> {
        self.aggregate_context()?;
        // SAFETY: reads a variable of the session.
        Ok(keep(unsafe { pg_sys::CurrentMemoryContext }, state))
    }

    /// The number in argument `i`: without a search for its name, for functions that run once for each row.
    pub fn int8(&self, i: usize) -> Result<Option<i64>, Error> {
        Ok(self.declared(i, Type::Int8)?.map(|datum| datum.value() as i64))
    }

    /// The number in argument `i`, which must not be NULL.
    pub fn int8_needed(&self, i: usize) -> Result<i64, Error> {
        let argument = || self.method.arguments.get(i).map_or("value", |argument| argument.name());
        self.int8(i)?.ok_or_else(|| Error::Null { argument: argument() })
    }

    /// The bytes in argument `i`, detoasted into the current memory context.
    pub fn bytes(&self, i: usize) -> Result<Option<&[u8]>, Error> {
        Ok(self.declared(i, Type::Bytes)?.map(|datum| {
            // SAFETY: the signature was compared with the catalog: a bytea. The context outlives the call.
            unsafe {
                let detoasted = pg_sys::pg_detoast_datum_packed(datum.cast_mut_ptr());
                varlena::varlena_to_byte_slice(detoasted)
            }
        }))
    }

    /// The record in argument `i`.
    pub fn record(&self, i: usize) -> Result<Option<super::record::Record<'_>>, Error> {
        // SAFETY: the signature was compared with the catalog: a record.
        let record = |datum| unsafe { super::record::Record::new(datum) };
        Ok(self.declared(i, Type::Record)?.map(record))
    }
}

/// A bytea, in the current memory context.
pub fn bytea(bytes: &[u8]) -> Datum {
    varlena::rust_byte_slice_to_bytea(bytes).into_pg().into()
}
