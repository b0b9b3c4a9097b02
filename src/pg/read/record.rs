//! Rows that come one by one as values of type record.

use super::reader::RowCoder;
use crate::pg::prelude::*;
use pgrx::{PgTupleDesc, varlena};
use std::marker::PhantomData;

/// A row, with its type.
pub struct Record<'a> {
    header: *mut pg_sys::HeapTupleHeaderData,
    row_type: (Oid, i32),
    lifetime: PhantomData<&'a ()>,
}

impl Record<'_> {
    /// # Safety
    /// The datum is a record and outlives this.
    pub(in crate::pg) unsafe fn new(datum: Datum) -> Self {
        // SAFETY: as the caller says; a record's header tells its type.
        unsafe {
            let header = pg_sys::pg_detoast_datum(datum.cast_mut_ptr())
                .cast::<pg_sys::HeapTupleHeaderData>();
            let fields = (*header).t_choice.t_datum;
            let row_type = (fields.datum_typeid, fields.datum_typmod);
            Record { header, row_type, lifetime: PhantomData }
        }
    }
}

/// Codes records of one type. Made by the first record, in the memory of an aggregate.
pub struct Records {
    row_type: (Oid, i32),
    descriptor: PgTupleDesc<'static>,
    values: Vec<Datum>,
    nulls: Vec<bool>,
    pub coder: RowCoder,
}

impl Records {
    /// `context` outlives the value.
    pub fn new(first: &Record<'_>, context: pg_sys::MemoryContext) -> Self {
        let row_type = first.row_type;
        // SAFETY: the descriptor is copied into the context and its reference given back.
        let (descriptor, coder) = unsafe {
            let before = pg_sys::MemoryContextSwitchTo(context);
            let shared = pg_sys::lookup_rowtype_tupdesc(row_type.0, row_type.1);
            let descriptor = PgTupleDesc::from_pg_is_copy(pg_sys::CreateTupleDescCopy(shared));
            pgrx::tupdesc::release_tupdesc(shared);
            let coder = RowCoder::new(&descriptor, context);
            pg_sys::MemoryContextSwitchTo(before);
            (descriptor, coder)
        };
        let width = descriptor.len();
        let (values, nulls) = (vec![Datum::null(); width], vec![true; width]);
        Records { row_type, descriptor, values, nulls, coder }
    }

    /// Counts a record; false if it is of another type.
    pub fn add(&mut self, record: &Record<'_>) -> Result<bool, Error> {
        if self.row_type != record.row_type {
            return Ok(false);
        }
        // SAFETY: the record has the type of the descriptor, whose length the deformed row has.
        unsafe {
            let mut tuple = pg_sys::HeapTupleData {
                t_len: varlena::varsize(record.header.cast()) as u32,
                t_data: record.header,
                ..Default::default()
            };
            pg_sys::heap_deform_tuple(
                &mut tuple,
                self.descriptor.as_ptr(),
                self.values.as_mut_ptr(),
                self.nulls.as_mut_ptr(),
            );
            self.coder.row(self.values.as_ptr(), self.nulls.as_ptr())?;
        }
        Ok(true)
    }
}
