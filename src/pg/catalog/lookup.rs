//! Tables that are read for a call although the caller did not name them: those that foreign keys refer to, and tables
//! of hierarchies.
//!
//! Planning a query evaluates what it can of index conditions, statistics and constraints, all of which the table's
//! owner wrote. So the table is read with its owner's rights, in a restricted context, as ANALYZE does. Whether the
//! caller may read it is checked before.

use super::syscache::cached;
use crate::pg::prelude::*;
use crate::pg::read::reader;
use crate::pg::shards::partitions::inheritors;
use pgrx::pg_sys::SysCacheIdentifier;
use table::CodedTable;

/// The kinds of relations whose rows are stored on this server, so that reading them runs no code.
const STORED: [u8; 3] =
    [pg_sys::RELKIND_RELATION, pg_sys::RELKIND_PARTITIONED_TABLE, pg_sys::RELKIND_MATVIEW];

/// Reads columns of a table for the current user, who did not name it; `None` if they may not read it, or if reading it
/// could run another role's code: it is not a table, has row security, or has partitions of another owner.
pub fn read(relation: &Relation, columns: &[usize]) -> Result<Option<CodedTable>, Error> {
    let Some(owner) = rights::owner_of(relation.oid) else { return Ok(None) };
    if !may_read(relation, columns)
        || !inheritors(relation.oid).iter().all(|&part| is_safe(part, owner))
    {
        return Ok(None);
    }
    rights::with_rights_of(owner, || reader::read(relation, columns)).map(Some)
}

/// True if the current user may read these columns.
pub fn may_read(relation: &Relation, columns: &[usize]) -> bool {
    let number = |&column: &usize| relation.columns[column].number;
    columns.iter().map(number).all(|number| rights::may_read_column(relation.oid, number))
}

/// True if reading the table as its owner runs only code that the owner may have written.
fn is_safe(table: Oid, owner: Oid) -> bool {
    let is_safe = |class: &pg_sys::FormData_pg_class| {
        STORED.contains(&(class.relkind as u8)) && !class.relrowsecurity && class.relowner == owner
    };
    // SAFETY: the cache has rows of pg_class by their OIDs.
    unsafe { cached(SysCacheIdentifier::RELOID, table, is_safe) }.unwrap_or(false)
}
