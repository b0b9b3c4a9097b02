//! Tables that Citus distributes, and which node of its cluster this server is.
//!
//! Citus itself splits an aggregate over such a table: its workers make states, which are sent as text, and the
//! coordinator combines them. For this it needs to know the types of the aggregate's arguments. Those of `row_bag` are
//! unknown there, so `cell_bag` takes the texts of the cells.

use super::reach::is_reached;
use super::travel::Way;
use crate::pg::catalog::relation::{Asked, Relation, c_string};
use crate::pg::prelude::*;
use std::ffi::{CStr, CString};

/// True if Citus has this catalog here. It is in pg_catalog, where only a superuser can have put it.
fn has_catalog(name: &CStr) -> bool {
    let schema = Oid::from(pg_sys::PG_CATALOG_NAMESPACE);
    // SAFETY: a catalog look-up.
    unsafe { pg_sys::get_relname_relid(name.as_ptr(), schema) != pg_sys::InvalidOid }
}

/// How Citus keeps the rows of a table, in the words of its catalog (`n` for a copy on every node); `None` if it
/// does not know it.
fn method(relation: Oid) -> Result<Option<String>, Error> {
    if !has_catalog(c"pg_dist_partition") {
        return Ok(None);
    }
    let found = sql::texts(
        "SELECT partmethod::pg_catalog.text FROM pg_catalog.pg_dist_partition
          WHERE logicalrelid OPERATOR(pg_catalog.=) $1",
        &[relation.into()],
    )?;
    Ok(found.into_iter().flatten().next())
}

/// True if the rows of the table are spread over the workers of Citus.
pub(in crate::pg) fn distributes(relation: Oid) -> Result<bool, Error> {
    Ok(method(relation)?.is_some_and(|method| method != "n"))
}

/// True if Citus answers queries on the table, wherever its rows are.
pub fn manages(relation: Oid) -> Result<bool, Error> {
    Ok(method(relation)?.is_some())
}

/// The group of this node, `0` for the coordinator; `None` without Citus.
pub fn group() -> Result<Option<String>, Error> {
    if !has_catalog(c"pg_dist_local_group") {
        return Ok(None);
    }
    let found =
        sql::texts("SELECT groupid::pg_catalog.text FROM pg_catalog.pg_dist_local_group", &[])?;
    Ok(found.into_iter().flatten().next())
}

/// True for a table that Citus made to hold a part of another one, whose name ends with the number of a shard, and for
/// relations that read such a table.
pub fn is_shard(relation: &Relation) -> Result<bool, Error> {
    if !has_catalog(c"pg_dist_shard") {
        return Ok(false);
    }
    is_reached(
        relation.oid,
        r"pg_catalog.pg_dist_shard AS s
            JOIN pg_catalog.pg_class AS whole ON whole.oid OPERATOR(pg_catalog.=) s.logicalrelid::pg_catalog.oid
            JOIN pg_catalog.pg_class AS c ON c.relnamespace OPERATOR(pg_catalog.=) whole.relnamespace
             AND s.shardid::pg_catalog.text
                 OPERATOR(pg_catalog.=) pg_catalog.substring(c.relname::pg_catalog.text, '_(\d+)$')
            JOIN reached ON c.oid OPERATOR(pg_catalog.=) reached.oid",
    )
}

/// True if Citus knows the relation, or a table that it reads: through views, or as their parent.
pub fn is_asked_for(relation: Oid) -> Result<bool, Error> {
    if !has_catalog(c"pg_dist_partition") {
        return Ok(false);
    }
    is_reached(
        relation,
        "pg_catalog.pg_dist_partition AS p
           JOIN reached ON p.logicalrelid::pg_catalog.oid OPERATOR(pg_catalog.=) reached.oid",
    )
}

/// The node that an error came from, according to Citus.
pub(in crate::pg) fn node(message: &str, context: &str) -> Option<String> {
    let behind = |text: &str, mark: &str| {
        let (_, rest) = text.split_once(mark)?;
        let end = rest.find([' ', '\n', ',']).unwrap_or(rest.len());
        // The role may precede the name.
        let name = rest[..end].rsplit('@').next()?;
        (!name.is_empty()).then(|| name.to_string())
    };
    behind(context, "while executing command on ")
        .or_else(|| behind(message, "remote node "))
        .or_else(|| behind(message, "connection to the node "))
}

/// True if Citus may answer a query on the relation: it knows the table, or Citus is installed and the relation is a
/// view or has leaves. Any part of a query that Citus answers may be sent to other nodes.
pub fn may_answer(relation: &Relation) -> Result<bool, Error> {
    Ok(has_catalog(c"pg_dist_partition") && (!relation.is_plain_table || manages(relation.oid)?))
}

/// Asks for one bag of all rows, packed, after the number 0.
pub(in crate::pg) fn query(asked: &Asked, ways: &[Way]) -> CString {
    let before = format!(
        "SELECT 0, sanitize_internal.bag_packed(sanitize.cell_bag('{{{}}}'::pg_catalog.text[], ARRAY[",
        asked.numbered()
    );
    c_string([before.as_bytes(), &asked.texts(ways), b"])) FROM ", asked.from()].concat())
}
