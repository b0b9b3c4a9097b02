//! The one writer of rows: a tuplestore with its descriptor, which spills to disk when it outgrows work_mem.

use crate::pg::call::error::Error;
use crate::pg::read::rows::RowSink;
use pgrx::PgTupleDesc;
use pgrx::pg_sys::{self, Datum};

/// Rows that are written down.
pub(in crate::pg) struct Store {
    pub rows: *mut pg_sys::Tuplestorestate,
    /// Null until the shape of the rows is known.
    pub descriptor: pg_sys::TupleDesc,
    pub count: u64,
    /// Where rows and descriptor live.
    context: pg_sys::MemoryContext,
}

impl Store {
    /// A store in the current memory context, for rows of this shape; they can be read `again` and again, or once.
    pub fn new(descriptor: pg_sys::TupleDesc, again: bool) -> Self {
        // SAFETY: allocates in the current context.
        let (rows, context) = unsafe {
            let rows = pg_sys::tuplestore_begin_heap(again, false, pg_sys::work_mem);
            (rows, pg_sys::CurrentMemoryContext)
        };
        Store { rows, descriptor, count: 0, context }
    }

    /// Adds a row.
    ///
    /// # Safety
    /// The descriptor is known, the arrays have its length and the datums its types.
    pub unsafe fn put(&mut self, values: *const Datum, nulls: *const bool) {
        let (values, nulls) = (values.cast_mut(), nulls.cast_mut());
        // SAFETY: as the caller says; values are copied and not changed.
        unsafe { pg_sys::tuplestore_putvalues(self.rows, self.descriptor, values, nulls) };
        self.count += 1;
    }

    /// Adds a tuple.
    ///
    /// # Safety
    /// It was formed for the descriptor.
    pub unsafe fn put_tuple(&mut self, tuple: *mut pg_sys::HeapTupleData) {
        // SAFETY: as the caller says; the store copies what it is given and does not write to it.
        unsafe { pg_sys::tuplestore_puttuple(self.rows, tuple) };
        self.count += 1;
    }
}

impl RowSink for Store {
    fn begin(&mut self, descriptor: &PgTupleDesc) {
        // SAFETY: the copy lives where the rows do.
        unsafe {
            let before = pg_sys::MemoryContextSwitchTo(self.context);
            self.descriptor = pg_sys::CreateTupleDescCopy(descriptor.as_ptr());
            pg_sys::MemoryContextSwitchTo(before);
        }
    }

    unsafe fn row(&mut self, values: *const Datum, nulls: *const bool) -> Result<bool, Error> {
        // SAFETY: values of the types of the descriptor, which `begin` was told.
        unsafe { self.put(values, nulls) };
        Ok(true)
    }
}
