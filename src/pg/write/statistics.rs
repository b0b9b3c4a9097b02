//! Planner statistics, which keep values of a table: frequent values and bounds of histograms.

use pgrx::PgList;
use pgrx::pg_sys::{self, Oid};

/// Removes the statistics of columns of a locked table (of all if `None`), those of all its indexes, which may be on
/// expressions, and extended statistics. The next ANALYZE makes new ones.
pub fn forget(table: Oid, columns: Option<&[i16]>) {
    // SAFETY: changes in the catalog of statistics; the table is locked, and its lists are read while it is open.
    unsafe {
        pg_sys::CommandCounterIncrement();
        let opened = pg_sys::relation_open(table, pg_sys::NoLock as pg_sys::LOCKMODE);
        for &column in columns.unwrap_or(&[0]) {
            pg_sys::RemoveStatistics(table, column);
        }
        let indexes = PgList::<Oid>::from_pg(pg_sys::RelationGetIndexList(opened));
        for index in indexes.iter_oid() {
            pg_sys::RemoveStatistics(index, 0);
        }
        let several = PgList::<Oid>::from_pg(pg_sys::RelationGetStatExtList(opened));
        for statistics in several.iter_oid() {
            forget_several(statistics);
        }
        pg_sys::relation_close(opened, pg_sys::NoLock as pg_sys::LOCKMODE);
        pg_sys::CommandCounterIncrement();
    }
}

/// Removes the data of extended statistics, not their definition: those about the table's own rows, and those that
/// include its children.
///
/// # Safety
/// The statistics exist, and their table is locked.
#[cfg(not(feature = "pg14"))]
unsafe fn forget_several(statistics: Oid) {
    for with_tables_below in [false, true] {
        // SAFETY: as the caller says; nothing happens if there are no data.
        unsafe { pg_sys::RemoveStatisticsDataById(statistics, with_tables_below) };
    }
}

/// As above. In this version the catalog row has to remain for ANALYZE to write to; it is emptied.
#[cfg(feature = "pg14")]
unsafe fn forget_several(statistics: Oid) {
    /// pg_statistic_ext_data, which is not among the bindings of pgrx.
    const CATALOG: u32 = 3429;
    /// The key column and four columns of data.
    const COLUMNS: usize = 5;
    let mut values = [pg_sys::Datum::null(); COLUMNS];
    let mut nulls = [true; COLUMNS];
    nulls[0] = false;
    let mut replaced = nulls;
    // SAFETY: the tuple is one of the cache's until it is released; the new one has as many columns as the
    // arrays have entries.
    unsafe {
        let lock = pg_sys::RowExclusiveLock as pg_sys::LOCKMODE;
        let catalog = pg_sys::table_open(Oid::from(CATALOG), lock);
        let cache = pg_sys::SysCacheIdentifier::STATEXTDATASTXOID as i32;
        let found = pg_sys::SearchSysCache1(cache, pg_sys::Datum::from(statistics));
        if !found.is_null() {
            let emptied = pg_sys::heap_modify_tuple(
                found,
                (*catalog).rd_att,
                values.as_mut_ptr(),
                nulls.as_mut_ptr(),
                replaced.as_mut_ptr(),
            );
            pg_sys::CatalogTupleUpdate(catalog, &mut (*emptied).t_self, emptied);
            pg_sys::ReleaseSysCache(found);
        }
        pg_sys::table_close(catalog, lock);
    }
}
