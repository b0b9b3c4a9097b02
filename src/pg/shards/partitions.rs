//! The partitions of a relation that lie on other servers, and which units belong to each.

use super::foreign_tables::Server;
use crate::pg::prelude::*;
use pgrx::PgList;

// Not among the bindings of pgrx, so it is called through a guard.
unsafe extern "C-unwind" {
    fn find_all_inheritors(
        parent: Oid,
        lock: pg_sys::LOCKMODE,
        parents: *mut *mut pg_sys::List,
    ) -> *mut pg_sys::List;
}

/// A table and all its partitions and tables that inherit from it, directly or not, locked for reading until the
/// transaction ends.
pub fn inheritors(table: Oid) -> Vec<Oid> {
    locked_inheritors(table, pg_sys::AccessShareLock)
}

/// As [`inheritors`], with another lock.
pub fn locked_inheritors(table: Oid, lock: u32) -> Vec<Oid> {
    // SAFETY: the list is palloc'd; an error unwinds through the guard.
    unsafe {
        let lock = lock as pg_sys::LOCKMODE;
        let found = || find_all_inheritors(table, lock, std::ptr::null_mut());
        let found = PgList::<Oid>::from_pg(pg_sys::ffi::pg_guard_ffi_boundary(found));
        found.iter_oid().collect()
    }
}

/// A partition that can be asked on its own.
pub struct Leaf {
    /// Its name for a query, qualified and quoted.
    pub from: String,
    /// Modulus and remainder of a hash partition.
    pub hash: Option<(u64, u64)>,
    /// The condition of its rows, if it is not a hash partition. Postgres enforces it only for partitions on this
    /// server.
    pub condition: Option<String>,
}

/// True if the server of this number, as text, has the extension.
fn has_extension(server: &Option<String>) -> bool {
    sql::oid(server).is_ok_and(|number| Server::of(number).has_extension)
}

/// The partitions of a relation, whose owner the current user is, if their key is the unit and nothing
/// else, and one of them at least is a foreign table of a server that has this extension; or the relation
/// itself, if it is such a foreign table.
///
/// Asking a partition on its own must not bypass any check that reading the whole relation would make: partitions with
/// row security, or that the user may not read, are not asked on their own. Nor are those of a relation that is itself
/// a partition: to find their bounds Postgres would evaluate expressions in its parent's key.
pub fn by_unit(relation: &Relation, unit: &Column) -> Result<Option<Vec<Leaf>>, Error> {
    if is_foreign(relation)? {
        return Ok(Some(vec![Leaf { from: relation.from(), hash: None, condition: None }]));
    }
    let query = r"SELECT pg_catalog.format('%I.%I', n.nspname, c.relname),
                 p.partstrat::pg_catalog.text,
                 pg_catalog.pg_get_partition_constraintdef(c.oid),
                 (hash.parts)[1], (hash.parts)[2],
                 (c.relkind OPERATOR(pg_catalog.=) ANY ('{r,f}') AND NOT i.inhdetachpending
                  AND NOT c.relrowsecurity AND NOT parent.relrowsecurity
                  AND o.opcdefault AND o.oid OPERATOR(pg_catalog.<) 16384
                  AND (l.oid IS NULL OR l.collisdeterministic)
                  AND pg_catalog.has_table_privilege(c.oid, 'SELECT'))::pg_catalog.text,
                 f.ftserver::pg_catalog.text
            FROM pg_catalog.pg_partitioned_table AS p
            JOIN pg_catalog.pg_class AS parent ON parent.oid OPERATOR(pg_catalog.=) p.partrelid
            JOIN pg_catalog.pg_opclass AS o ON o.oid OPERATOR(pg_catalog.=) p.partclass[0]
            JOIN pg_catalog.pg_inherits AS i ON i.inhparent OPERATOR(pg_catalog.=) p.partrelid
            JOIN pg_catalog.pg_class AS c ON c.oid OPERATOR(pg_catalog.=) i.inhrelid
            JOIN pg_catalog.pg_namespace AS n ON n.oid OPERATOR(pg_catalog.=) c.relnamespace
            LEFT JOIN pg_catalog.pg_collation AS l ON l.oid OPERATOR(pg_catalog.=) p.partcollation[0]
            LEFT JOIN pg_catalog.pg_foreign_table AS f ON f.ftrelid OPERATOR(pg_catalog.=) c.oid
           CROSS JOIN LATERAL (SELECT pg_catalog.regexp_match(pg_catalog.pg_get_expr(c.relpartbound, c.oid),
                   '^FOR VALUES WITH \(modulus (\d+), remainder (\d+)\)$') AS parts) AS hash
           WHERE p.partrelid OPERATOR(pg_catalog.=) $1 AND NOT parent.relispartition
             AND p.partnatts OPERATOR(pg_catalog.=) 1
             AND p.partattrs[0] OPERATOR(pg_catalog.=) $2
           ORDER BY c.oid";
    let rows = sql::rows(query, &[relation.oid.into(), unit.number.into()])?;
    let is = |text: &Option<String>| text.as_deref() == Some("true");
    if !rows.iter().any(|row: &[_; 7]| has_extension(&row[6]))
        || !rows.iter().all(|row| is(&row[5]))
    {
        return Ok(None);
    }
    Ok(rows.into_iter().map(|row| leaf(unit, row)).collect())
}

/// True for a foreign table, without children, of a server that has this extension.
fn is_foreign(relation: &Relation) -> Result<bool, Error> {
    let query = "SELECT f.ftserver::pg_catalog.text FROM pg_catalog.pg_class AS c
            JOIN pg_catalog.pg_foreign_table AS f ON f.ftrelid OPERATOR(pg_catalog.=) c.oid
           WHERE c.oid OPERATOR(pg_catalog.=) $1 AND NOT c.relhassubclass AND NOT c.relrowsecurity";
    Ok(sql::texts(query, &[relation.oid.into()])?.iter().any(has_extension))
}

/// The partition, if its condition means the same on every server.
fn leaf(unit: &Column, row: [Option<String>; 7]) -> Option<Leaf> {
    let [from, strategy, condition, modulus, remainder, ..] = row;
    let from = from?;
    match strategy.as_deref()? {
        "h" => {
            let hash = (modulus?.parse().ok()?, remainder?.parse().ok()?);
            Some(Leaf { from, hash: Some(hash), condition: None })
        }
        // Servers may disagree on the order of texts, and even on which are equal.
        "l" | "r" if !types::is_text(unit.base_type) => {
            // The only partition, a default one, has no condition.
            let condition = condition.unwrap_or_else(|| "true".into());
            Some(Leaf { from, hash: None, condition: Some(condition) })
        }
        _ => None,
    }
}
