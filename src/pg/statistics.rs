//! What the planner remembers of a table's values: frequent ones, and the bounds of its histograms.

use pgrx::PgList;
use pgrx::pg_sys::{self, Oid};

/// Forgets the statistics of columns of a locked table (of all if `None`), those of all its indexes, which may
/// be on expressions, and those of several columns. The next ANALYZE makes new ones.
pub fn forget(table: Oid, columns: Option<&[i16]>) {
    // SAFETY: changes in the catalog of statistics; the table is locked, and what is listed of it is read while
    // it is open.
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
        #[cfg(not(feature = "pg14"))]
        {
            let several = PgList::<Oid>::from_pg(pg_sys::RelationGetStatExtList(opened));
            for statistics in several.iter_oid() {
                pg_sys::RemoveStatisticsDataById(statistics, false);
            }
        }
        pg_sys::relation_close(opened, pg_sys::NoLock as pg_sys::LOCKMODE);
        pg_sys::CommandCounterIncrement();
    }
}
