//! Locks on the tables in which long values are stored.
//!
//! Postgres locks a TOAST table and its index while it fetches a value, and only then: so pg_locks shows that a long
//! value was fetched. A reader therefore takes these locks before its first row and holds them until the end of its
//! transaction: then they do not depend on what it fetches.

use pgrx::PgList;
use pgrx::pg_sys::{self, Oid};

const SHARED: pg_sys::LOCKMODE = pg_sys::AccessShareLock as pg_sys::LOCKMODE;

/// Locks the TOAST tables of all relations that the plan reads, partitions and tables below views included,
/// with their indexes.
///
/// # Safety
/// `plan` is a plan of SPI in the current connection.
pub unsafe fn lock(plan: pg_sys::SPIPlanPtr) {
    // SAFETY: what the plan depends on is locked and does not change; the plan, which SPI has not saved, is
    // released without an owner, as it was taken.
    unsafe {
        let cached = pg_sys::SPI_plan_get_cached_plan(plan);
        if cached.is_null() {
            return;
        }
        for statement in PgList::<pg_sys::PlannedStmt>::from_pg((*cached).stmt_list).iter_ptr() {
            let relations = PgList::<Oid>::from_pg((*statement).relationOids);
            relations.iter_oid().for_each(lock_of);
        }
        pg_sys::ReleaseCachedPlan(cached, std::ptr::null_mut());
    }
}

/// Locks the TOAST table of a relation, if it has one.
fn lock_of(relation: Oid) {
    // SAFETY: a relation is open until it is closed; the locks stay.
    unsafe {
        let opened = pg_sys::try_relation_open(relation, SHARED);
        if opened.is_null() {
            return;
        }
        let toast = (*(*opened).rd_rel).reltoastrelid;
        pg_sys::relation_close(opened, pg_sys::NoLock as pg_sys::LOCKMODE);
        if toast == pg_sys::InvalidOid {
            return;
        }
        let opened = pg_sys::relation_open(toast, SHARED);
        let indexes = PgList::<Oid>::from_pg(pg_sys::RelationGetIndexList(opened));
        indexes.iter_oid().for_each(|index| pg_sys::LockRelationOid(index, SHARED));
        pg_sys::relation_close(opened, pg_sys::NoLock as pg_sys::LOCKMODE);
    }
}
