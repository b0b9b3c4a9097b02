//! Arguments and results of the functions of an aggregate: states, numbers, records and bytes.

use super::argument::Type;
use super::expanded::{self, Access, Flat};
use super::serve::Call;
use crate::pg::prelude::*;
use pgrx::varlena;

impl Call {
    /// Argument `i` as the datum it is, if it is declared with this type.
    pub(in crate::pg) fn declared(&self, i: usize, of: Type) -> Result<Option<Datum>, Error> {
        match self.method.arguments.get(i).is_some_and(|argument| argument.of() == of) {
            true => Ok(self.datum(i)),
            false => Err(Error::fault(format!("argument {i} is no {of:?}"))),
        }
    }

    /// The state in argument `i`, if functions of this aggregate made it and if `access` to it is allowed.
    pub fn state<T: Flat>(&self, i: usize, access: Access) -> Result<Option<&mut T>, Error> {
        let context = self.aggregate_context()?;
        let datum = self.declared(i, Type::Bag)?;
        Ok(datum.and_then(|datum| expanded::of_datum(datum, context, access)))
    }

    /// Makes a state for as long as the aggregate is computed.
    pub fn keep<T: Flat>(
        &self,
        make: impl FnOnce(pg_sys::MemoryContext) -> Result<T, Error>,
    ) -> Result<Datum, Error> {
        expanded::keep(self.aggregate_context()?, make)
    }

    /// The bag in argument `i` as the datum it is.
    pub fn passed_bag(&self, i: usize) -> Result<Option<Datum>, Error> {
        self.declared(i, Type::Bag)
    }

    /// The number in argument `i`, without a look-up of its declaration, for functions that run once for each row.
    pub fn int8(&self, i: usize) -> Result<Option<i64>, Error> {
        Ok(self.declared(i, Type::Int8)?.map(|datum| datum.value() as i64))
    }

    /// The number in argument `i`, which must not be NULL.
    pub fn int8_needed(&self, i: usize) -> Result<i64, Error> {
        let argument = || self.method.arguments.get(i).map_or("value", |argument| argument.name());
        self.int8(i)?.ok_or_else(|| Error::Null { argument: argument() })
    }

    /// The record in argument `i`.
    pub fn record(&self, i: usize) -> Result<Option<crate::pg::read::record::Record<'_>>, Error> {
        // SAFETY: the signature was compared with the catalog: a record.
        let record = |datum| unsafe { crate::pg::read::record::Record::new(datum) };
        Ok(self.declared(i, Type::Record)?.map(record))
    }
}

/// A bytea, in the current memory context.
pub fn bytea(bytes: &[u8]) -> Datum {
    varlena::rust_byte_slice_to_bytea(bytes).into_pg().into()
}
