//! What a relation reads, according to the catalog: the tables of its views, and their inheriting tables.

use crate::pg::prelude::*;

/// True if rows of the relation may come from a foreign table.
pub fn has_foreign(relation: &Relation) -> Result<bool, Error> {
    if relation.is_plain_table {
        return Ok(false);
    }
    is_reached(
        relation.oid,
        "pg_catalog.pg_class AS c
           JOIN reached ON c.oid OPERATOR(pg_catalog.=) reached.oid
            AND c.relkind OPERATOR(pg_catalog.=) 'f'",
    )
}

/// True if a query with this FROM clause has rows; in it `reached` has a row for the relation and for each relation
/// that it reads.
pub(in crate::pg) fn is_reached(relation: Oid, from: &str) -> Result<bool, Error> {
    sql::any(&format!("{REACHED} SELECT 'yes' FROM {from} LIMIT 1"), &[relation.into()])
}

/// A materialized view stores its rows on this server.
const REACHED: &str = "WITH RECURSIVE edge AS (
         SELECT w.ev_class AS whole, d.refobjid AS part
           FROM pg_catalog.pg_rewrite AS w
           JOIN pg_catalog.pg_class AS v ON v.oid OPERATOR(pg_catalog.=) w.ev_class
            AND v.relkind OPERATOR(pg_catalog.=) 'v'
           JOIN pg_catalog.pg_depend AS d ON d.objid OPERATOR(pg_catalog.=) w.oid
          WHERE d.classid OPERATOR(pg_catalog.=) 'pg_catalog.pg_rewrite'::pg_catalog.regclass
            AND d.refclassid OPERATOR(pg_catalog.=) 'pg_catalog.pg_class'::pg_catalog.regclass
          UNION ALL
         SELECT inhparent, inhrelid FROM pg_catalog.pg_inherits),
     reached AS (
         SELECT $1 AS oid
          UNION
         SELECT edge.part FROM edge JOIN reached ON edge.whole OPERATOR(pg_catalog.=) reached.oid)";
