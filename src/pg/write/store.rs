//! The one writer of rows: into a tuplestore, which spills to disk when it outgrows work_mem, or into a table that this
//! transaction has made.

use crate::pg::prelude::*;
use crate::pg::read::rows::RowSink;
use pgrx::PgTupleDesc;

/// A store for rows.
pub(in crate::pg) struct Store {
    place: Place,
    /// Null until the columns of the rows are known.
    pub descriptor: pg_sys::TupleDesc,
    pub count: u64,
    /// Where rows and descriptor live.
    context: pg_sys::MemoryContext,
}

/// Where rows are written.
enum Place {
    Tuplestore(*mut pg_sys::Tuplestorestate),
    Table { table: pg_sys::Relation, bulk: pg_sys::BulkInsertState, command: pg_sys::CommandId },
}

impl Store {
    /// A tuplestore in the current memory context, for rows with this descriptor. With `again` they can be read several
    /// times, otherwise once.
    pub fn new(descriptor: pg_sys::TupleDesc, again: bool) -> Self {
        // SAFETY: allocates in the current context.
        let rows = unsafe { pg_sys::tuplestore_begin_heap(again, false, pg_sys::work_mem) };
        Store::at(Place::Tuplestore(rows), descriptor)
    }

    /// A table of the access method heap, without indexes, triggers and constraints, for rows that are frozen.
    ///
    /// # Safety
    /// The table is open until the end of the writing, and this transaction has made it.
    pub unsafe fn frozen(table: pg_sys::Relation) -> Self {
        // SAFETY: as the caller says.
        let (place, descriptor) = unsafe {
            let (bulk, command) = (pg_sys::GetBulkInsertState(), pg_sys::GetCurrentCommandId(true));
            (Place::Table { table, bulk, command }, (*table).rd_att)
        };
        Store::at(place, descriptor)
    }

    fn at(place: Place, descriptor: pg_sys::TupleDesc) -> Self {
        // SAFETY: reads a variable of the session.
        let context = unsafe { pg_sys::CurrentMemoryContext };
        Store { place, descriptor, count: 0, context }
    }

    /// The tuplestore; null for a table.
    pub fn tuplestore(&self) -> *mut pg_sys::Tuplestorestate {
        match self.place {
            Place::Tuplestore(rows) => rows,
            Place::Table { .. } => std::ptr::null_mut(),
        }
    }

    /// Adds a row.
    ///
    /// # Safety
    /// The descriptor is known, the arrays have its length and the datums its types.
    pub unsafe fn put(&mut self, values: *const Datum, nulls: *const bool) {
        let (values, nulls) = (values.cast_mut(), nulls.cast_mut());
        // SAFETY: as the caller says; values are copied and not changed.
        unsafe {
            if let Place::Tuplestore(rows) = self.place {
                pg_sys::tuplestore_putvalues(rows, self.descriptor, values, nulls);
                self.count += 1;
                return;
            }
            let tuple = pg_sys::heap_form_tuple(self.descriptor, values, nulls);
            self.put_tuple(tuple);
            pg_sys::heap_freetuple(tuple);
        }
    }

    /// Adds a tuple.
    ///
    /// # Safety
    /// It was formed for the descriptor.
    pub unsafe fn put_tuple(&mut self, tuple: *mut pg_sys::HeapTupleData) {
        // SAFETY: as the caller says; what is written is a copy.
        unsafe {
            match self.place {
                Place::Tuplestore(rows) => pg_sys::tuplestore_puttuple(rows, tuple),
                Place::Table { table, bulk, command } => {
                    let options = pg_sys::HEAP_INSERT_SKIP_FSM | pg_sys::HEAP_INSERT_FROZEN;
                    pg_sys::heap_insert(table, tuple, command, options as i32, bulk);
                }
            }
        }
        self.count += 1;
    }

    /// Ends the writing: statements that follow see the rows of a table.
    pub fn end(self) {
        if let Place::Table { bulk, .. } = self.place {
            // SAFETY: made by `frozen`.
            unsafe {
                pg_sys::FreeBulkInsertState(bulk);
                pg_sys::CommandCounterIncrement();
            }
        }
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
        // SAFETY: values of the types of the descriptor, which `begin` received.
        unsafe { self.put(values, nulls) };
        Ok(true)
    }
}
