//! Rows that are held under a name while a call runs: later statements read them like a table. Up to work_mem they are
//! in the backend's memory, beyond that in its temporary files; no other session can read them, and nothing is written
//! to the WAL.

use super::store::Store;
use crate::pg::prelude::*;

/// Rows held under names.
pub struct Held {
    environment: *mut pg_sys::QueryEnvironment,
    stores: Vec<*mut pg_sys::Tuplestorestate>,
    named: Vec<pg_sys::EphemeralNamedRelation>,
}

impl Held {
    /// Nothing yet.
    pub fn new() -> Self {
        // SAFETY: allocates in the context of the call.
        let environment = unsafe { pg_sys::create_queryEnv() };
        Held { environment, stores: Vec::new(), named: Vec::new() }
    }

    /// The held rows, for queries of SPI.
    pub(in crate::pg) fn named(&self) -> &[pg_sys::EphemeralNamedRelation] {
        &self.named
    }

    pub(in crate::pg) fn environment(&self) -> *mut pg_sys::QueryEnvironment {
        self.environment
    }

    /// A store for rows that are to be held. The descriptor may be null if it is not known yet.
    pub(in crate::pg) fn store(&mut self, descriptor: pg_sys::TupleDesc) -> Store {
        let store = Store::new(descriptor, true);
        self.stores.push(store.tuplestore());
        store
    }

    /// Gives complete rows a name.
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
            (*named).reldata = store.tuplestore().cast();
            pg_sys::register_ENR(self.environment, named);
            self.named.push(named);
        }
    }

    /// Frees memory and files. After an error the end of the transaction does this.
    pub fn end(self) {
        for rows in self.stores {
            // SAFETY: made by `store`, and nothing reads it any more.
            unsafe { pg_sys::tuplestore_end(rows) };
        }
    }
}
