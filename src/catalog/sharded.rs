//! Releases whose rows lie on shards (`sharded_release`): the mark that their tables have there, and the generation
//! that readers see.

use crate::catalog::{Stored, execute, oid};
use crate::pg::prelude::*;

/// Where the rows of a release are.
pub struct Sharded {
    pub mark: String,
    /// `None` before the first one.
    pub generation: Option<u64>,
    /// Whether this transaction made that generation.
    pub is_new: bool,
}

/// The record of a release, as it is now; `None` if its rows are not on shards. A transaction whose snapshot is older
/// than the record gets an error: it would drop the generation that readers see.
pub fn find(target: Oid) -> Result<Option<Sharded>, Error> {
    let found = Stored::first("sharded_release", FIND, &[Some(&oid(target))])?;
    let Some(row) = found else { return Ok(None) };
    let mark = row.text(0, "mark")?.to_string();
    let is_new = row.truth(2, "written_in")?;
    Ok(Some(Sharded { mark, generation: row.count(1, "generation")?, is_new }))
}

const FIND: &str = "SELECT s.mark, s.generation::text,
           coalesce(s.written_in = pg_current_xact_id_if_assigned(), false)::text
    FROM sanitize.sharded_release s
    WHERE s.target = $1::oid AND s.row_type = sanitize_internal.row_type(s.target) FOR UPDATE";

/// Records a new release, of which there is no generation yet.
pub fn begin(target: Oid) -> Result<(), Error> {
    execute(BEGIN, &[Some(&oid(target))])?;
    execute(CLEAN, &[])
}

const BEGIN: &str = "INSERT INTO sanitize.sharded_release (target, row_type, mark)
    SELECT c.oid, c.reltype, replace(gen_random_uuid()::text, '-', '') FROM pg_class c WHERE c.oid = $1::oid
    ON CONFLICT (target) DO UPDATE SET row_type = excluded.row_type, mark = excluded.mark,
        generation = NULL, written_in = NULL";

/// Removes the records of tables that were dropped by hand, as for all releases.
const CLEAN: &str = "DELETE FROM sanitize.sharded_release WHERE target IN (
        SELECT s.target FROM sanitize.sharded_release s
         WHERE s.row_type IS DISTINCT FROM sanitize_internal.row_type(s.target)
           FOR UPDATE SKIP LOCKED)";

/// Records which generation readers see from now on.
pub fn point(target: Oid, generation: u64) -> Result<(), Error> {
    execute(POINT, &[Some(&oid(target)), Some(&generation.to_string())])
}

const POINT: &str =
    "UPDATE sanitize.sharded_release SET generation = $2::bigint, written_in = pg_current_xact_id()
    WHERE target = $1::oid";

/// Forgets a release.
pub fn forget(target: Oid) -> Result<(), Error> {
    execute("DELETE FROM sanitize.sharded_release WHERE target = $1::oid", &[Some(&oid(target))])
}
