//! Rows that are held under a name while a call runs: later statements read them like a table. They lie in
//! the backend's memory up to work_mem and in its temporary files beyond; no other session can read them, and
//! nothing is written to the WAL.

use crate::pg::call::error::Error;
use crate::pg::call::text;
use crate::pg::read::rows::RowSink;
use pgrx::PgTupleDesc;
use pgrx::pg_sys::{self, Datum};

/// What is held.
pub struct Held {
    environment: *mut pg_sys::QueryEnvironment,
    stores: Vec<*mut pg_sys::Tuplestorestate>,
    named: Vec<pg_sys::EphemeralNamedRelation>,
}

/// Rows that are taken down, to be held.
pub(in crate::pg) struct Store {
    rows: *mut pg_sys::Tuplestorestate,
    descriptor: pg_sys::TupleDesc,
    count: u64,
    context: pg_sys::MemoryContext,
}

impl RowSink for Store {
    fn begin(&mut self, descriptor: &PgTupleDesc) {
        // SAFETY: the copy lives in the context of the call, as the rows do.
        unsafe {
            let before = pg_sys::MemoryContextSwitchTo(self.context);
            self.descriptor = pg_sys::CreateTupleDescCopy(descriptor.as_ptr());
            pg_sys::MemoryContextSwitchTo(before);
        }
    }

    unsafe fn row(&mut self, values: *const Datum, nulls: *const bool) -> Result<bool, Error> {
        // SAFETY: values of the types of the descriptor, which are copied and not changed.
        unsafe {
            pg_sys::tuplestore_putvalues(
                self.rows,
                self.descriptor,
                values.cast_mut(),
                nulls.cast_mut(),
            );
        }
        self.count += 1;
        Ok(true)
    }
}

impl Held {
    /// Nothing yet.
    pub fn new() -> Self {
        // SAFETY: allocates in the context of the call.
        let environment = unsafe { pg_sys::create_queryEnv() };
        Held { environment, stores: Vec::new(), named: Vec::new() }
    }

    /// What is held, for queries of SPI.
    pub(in crate::pg) fn named(&self) -> &[pg_sys::EphemeralNamedRelation] {
        &self.named
    }

    pub(in crate::pg) fn environment(&self) -> *mut pg_sys::QueryEnvironment {
        self.environment
    }

    pub(in crate::pg) fn store(&mut self) -> Store {
        // SAFETY: allocates in the context of the call; rows can be read again and again.
        let (rows, context) = unsafe {
            let rows = pg_sys::tuplestore_begin_heap(true, false, pg_sys::work_mem);
            (rows, pg_sys::CurrentMemoryContext)
        };
        self.stores.push(rows);
        Store { rows, descriptor: std::ptr::null_mut(), count: 0, context }
    }

    /// Gives the rows of a query that has ended a name.
    pub(in crate::pg) fn keep(&mut self, name: &str, store: Store) {
        // SAFETY: an entry in the context of the call, which owns rows and descriptor too.
        unsafe {
            let size = size_of::<pg_sys::EphemeralNamedRelationData>();
            let named = pg_sys::palloc0(size).cast::<pg_sys::EphemeralNamedRelationData>();
            (*named).md.name = text::c_string(name);
            (*named).md.reliddesc = pg_sys::InvalidOid;
            (*named).md.tupdesc = store.descriptor;
            (*named).md.enrtype = pg_sys::EphemeralNameRelationType::ENR_NAMED_TUPLESTORE;
            (*named).md.enrtuples = store.count as f64;
            (*named).reldata = store.rows.cast();
            pg_sys::register_ENR(self.environment, named);
            self.named.push(named);
        }
    }

    /// Gives memory and files back. An error leaves that to the end of the transaction.
    pub fn end(self) {
        for rows in self.stores {
            // SAFETY: made by `store`, and nothing reads it any more.
            unsafe { pg_sys::tuplestore_end(rows) };
        }
    }
}
