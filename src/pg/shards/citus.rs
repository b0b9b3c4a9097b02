//! Tables that Citus distributes. Citus itself splits an aggregate over such a table: its workers make states,
//! which travel as text, and the coordinator combines them. It can do so if the aggregate's arguments have types that
//! tell themselves, which those of `row_bag` do not: `cell_bag` takes the texts of the cells.

use crate::pg::error::Error;
use crate::pg::relation::{Asked, c_string};
use crate::pg::sql;
use pgrx::pg_sys::{self, Oid};
use std::ffi::CString;

/// True if the rows of the table are spread over the workers of Citus. The catalog of Citus is in pg_catalog, where
/// only a superuser can have put it.
pub(super) fn distributes(relation: Oid) -> Result<bool, Error> {
    // SAFETY: a catalog look-up.
    let catalog = unsafe {
        pg_sys::get_relname_relid(
            c"pg_dist_partition".as_ptr(),
            Oid::from(pg_sys::PG_CATALOG_NAMESPACE),
        )
    };
    if catalog == pg_sys::InvalidOid {
        return Ok(false);
    }
    let found = sql::texts(
        "SELECT 'yes' FROM pg_catalog.pg_dist_partition
          WHERE logicalrelid OPERATOR(pg_catalog.=) $1 AND partmethod OPERATOR(pg_catalog.<>) 'n'",
        &[relation.into()],
    )?;
    Ok(!found.is_empty())
}

/// Asks for one bag of all rows, packed, after the number 0.
pub(super) fn query(asked: &Asked) -> CString {
    let names: Vec<String> = (1..=asked.width()).map(|i| format!("f{i}")).collect();
    let before = format!(
        "SELECT 0, sanitize.bag_packed(sanitize.cell_bag('{{{}}}'::pg_catalog.text[], ARRAY[",
        names.join(",")
    );
    c_string([before.as_bytes(), &asked.texts(), b"])) FROM ", asked.from()].concat())
}
