//! Which relations hold data about the same units, according to the catalog. The catalog is read as data: no relation
//! is opened, so a role that locks its own relation cannot make others wait here.

use crate::catalog::{look, protection};
use crate::pg::catalog::relation::{Relation, try_lock};
use crate::pg::prelude::*;
use crate::rules::stability;
use std::collections::HashSet;

/// A column that identifies the unit of a row.
pub type Unit = (Oid, String);

fn list(oids: &HashSet<Oid>) -> String {
    let oids: Vec<String> = oids.iter().map(|oid| oid.to_u32().to_string()).collect();
    format!("{{{}}}", oids.join(","))
}

fn found(statement: &str, arguments: &[Option<&str>]) -> Result<HashSet<Oid>, Error> {
    look::<1>(statement, arguments)?.iter().map(|[oid]| sql::oid(oid)).collect()
}

/// True if a query about some relations has rows, of one text each.
fn any(query: &str, relations: &HashSet<Oid>) -> Result<bool, Error> {
    Ok(!look::<1>(query, &[Some(&list(relations))])?.is_empty())
}

/// The relations with their ancestors and descendants by inheritance or partitioning: these may share rows.
pub fn inherited(relations: &HashSet<Oid>) -> Result<HashSet<Oid>, Error> {
    linked(relations, "")
}

/// The relations and all that are connected to them, by inheritance and by further links.
fn linked(relations: &HashSet<Oid>, further: &str) -> Result<HashSet<Oid>, Error> {
    let query = format!(
        "WITH RECURSIVE link AS (
                 SELECT inhrelid AS one, inhparent AS other FROM pg_inherits
                  UNION ALL SELECT inhparent, inhrelid FROM pg_inherits {further}),
             family AS (
                 SELECT unnest($1::oid[]) AS oid
                  UNION SELECT other FROM family JOIN link ON one = oid)
         SELECT oid::text FROM family"
    );
    found(&query, &[Some(&list(relations))])
}

/// What the rows of a relation are made of.
struct Origins {
    /// The relation and, if it is a view, all that it reads, directly or through other views.
    read: HashSet<Oid>,
    /// The sources of releases among these or their children. Differentially private releases are not followed: what
    /// they reveal of their source was charged.
    released: HashSet<Oid>,
    /// All these, and their children.
    all: HashSet<Oid>,
}

impl Origins {
    fn of(relation: Oid) -> Result<Self, Error> {
        let rows = look(
            "WITH RECURSIVE reach AS (
                     SELECT $1::oid AS oid, 'read' AS how
                      UNION
                     SELECT next.oid, CASE reach.how WHEN 'released' THEN reach.how ELSE coalesce(next.how, reach.how) END
                       FROM reach CROSS JOIN LATERAL (
                         SELECT d.refobjid AS oid, NULL AS how FROM pg_rewrite r
                           JOIN pg_depend d ON d.classid = 'pg_rewrite'::regclass AND d.objid = r.oid
                            AND d.refclassid = 'pg_class'::regclass
                          WHERE r.ev_class = reach.oid AND r.ev_type = '1'
                          UNION ALL
                         SELECT inhrelid, 'inherited' FROM pg_inherits WHERE inhparent = reach.oid
                          UNION ALL
                         SELECT p.source::oid, 'released' FROM sanitize.published p
                          WHERE p.target = reach.oid AND p.row_type = sanitize_internal.row_type(p.target)
                            AND coalesce(p.source_row_type = sanitize_internal.row_type(p.source), true)
                            AND coalesce(p.guarantee ->> 'kind', 'none') NOT IN ('dp', 'ldp')) AS next)
             SELECT oid::text, how FROM reach",
            &[Some(&crate::catalog::oid(relation))],
        )?;
        let mut origins =
            Origins { read: HashSet::new(), released: HashSet::new(), all: HashSet::new() };
        for [oid, how] in &rows {
            let oid = sql::oid(oid)?;
            origins.all.insert(oid);
            match how.as_deref() {
                Some("read") => origins.read.insert(oid),
                Some("released") => origins.released.insert(oid),
                _ => false,
            };
        }
        Ok(origins)
    }
}

/// A relation and everything its rows come from: relations that a view reads, children, sources of releases.
pub fn reach(relation: Oid) -> Result<HashSet<Oid>, Error> {
    Ok(Origins::of(relation)?.all)
}

/// True if one of these views calls a user-defined function, also through an operator or a cast: it is unknown what
/// such a function reads. Labels of a user-defined enum do not count.
pub fn runs_code(reached: &HashSet<Oid>) -> Result<bool, Error> {
    any(
        "SELECT 'yes' FROM pg_rewrite r
           JOIN pg_depend d ON d.classid = 'pg_rewrite'::regclass AND d.objid = r.oid
           LEFT JOIN pg_type t ON d.refclassid = 'pg_type'::regclass AND t.oid = d.refobjid
           LEFT JOIN pg_type e ON e.oid = t.typelem
          WHERE r.ev_class = ANY ($1::oid[]) AND r.ev_type = '1'
            AND (d.refclassid IN ('pg_proc'::regclass, 'pg_operator'::regclass)
                 OR t.typtype <> 'e' AND e.typtype IS DISTINCT FROM 'e')
          LIMIT 1",
        reached,
    )
}

/// True if the catalog does not know where the rows of one of the relations, or of an ancestor or descendant, come
/// from: a foreign table, a sequence, a table of TOAST, a catalog of Postgres or of this extension.
pub fn is_of_unknown_origin(relations: &HashSet<Oid>) -> Result<bool, Error> {
    any(
        "SELECT 'yes' FROM pg_class
          WHERE oid = ANY ($1::oid[])
            AND (oid < 16384 OR relkind IN ('f', 'S', 't') OR relnamespace IN ('sanitize'::regnamespace, 'sanitize_internal'::regnamespace))
          LIMIT 1",
        &inherited(relations)?,
    )
}

/// True if one of the relations, or an ancestor or descendant, has row security.
pub fn has_row_security(relations: &HashSet<Oid>) -> Result<bool, Error> {
    any(
        "SELECT 'yes' FROM pg_class WHERE oid = ANY ($1::oid[]) AND relrowsecurity LIMIT 1",
        &inherited(relations)?,
    )
}

/// All relations that may hold data about the units of a relation: the relation itself, where its units come from, what
/// their column references, everything that references any of these, directly or not, and all inheriting tables.
/// Without a unit column, rows are units. Views of these are not included: see [`reach`].
pub fn of_units(relation: Oid, unit: Option<&str>) -> Result<HashSet<Oid>, Error> {
    let Origins { read: own, released, .. } = Origins::of(relation)?;
    let mut seeds = own.clone();
    if let Some(unit) = unit {
        let units = match traced(relation, unit, &own)? {
            Some(units) => {
                // A view may join public relations, which are not about units.
                seeds = units.iter().map(|unit| unit.0).collect();
                units
            }
            None => columns(&own)?,
        };
        seeds.extend(referred_to(&units)?);
        seeds.insert(relation);
    }
    seeds.extend(released);
    linked(&seeds, "UNION ALL SELECT confrelid, conrelid FROM pg_constraint WHERE contype = 'f'")
}

/// The relations whose rows a relation shows as those of its units: itself, where its units come from, and the tables
/// that have the same rows as any of these: children, other partitions of the same table, sources of releases. What a
/// view joins to its units is not among them, unless it is unknown where they come from.
pub fn shown(relation: Oid, unit: &str) -> Result<HashSet<Oid>, Error> {
    let own = Origins::of(relation)?.read;
    let mut seeds = match traced(relation, unit, &own)? {
        Some(units) => units.into_iter().map(|unit| unit.0).collect(),
        None => own,
    };
    seeds.insert(relation);
    rights::without_compiling(|| found(SHOWN, &[Some(&list(&seeds))]))
}

/// All that the source of a release reads is among its rows.
const SHOWN: &str = "WITH RECURSIVE shown AS (
        SELECT unnest($1::oid[]) AS oid, false AS released
         UNION
        SELECT next.oid, shown.released OR next.released FROM shown CROSS JOIN LATERAL (
            SELECT inhrelid AS oid, false AS released FROM pg_inherits WHERE inhparent = shown.oid
             UNION ALL
            SELECT i.inhparent, false FROM pg_inherits i JOIN pg_class c ON c.oid = i.inhrelid AND c.relispartition
             WHERE i.inhrelid = shown.oid
             UNION ALL
            SELECT p.source::oid, true FROM sanitize.published p
             WHERE p.target = shown.oid AND p.row_type = sanitize_internal.row_type(p.target)
               AND coalesce(p.source_row_type = sanitize_internal.row_type(p.source), true)
               AND coalesce(p.guarantee ->> 'kind', 'none') NOT IN ('dp', 'ldp')
             UNION ALL
            SELECT d.refobjid, true FROM pg_rewrite r
              JOIN pg_depend d ON d.classid = 'pg_rewrite'::regclass AND d.objid = r.oid
               AND d.refclassid = 'pg_class'::regclass
             WHERE shown.released AND r.ev_class = shown.oid AND r.ev_type = '1') AS next)
    SELECT DISTINCT oid::text FROM shown";

/// The columns that the unit of a relation comes from; `None` if unknown.
fn traced(relation: Oid, unit: &str, own: &HashSet<Oid>) -> Result<Option<Vec<Unit>>, Error> {
    if own.len() == 1 {
        return Ok(Some(vec![(relation, unit.to_string())]));
    }
    // The trees of views are read under a lock.
    if !own.iter().all(|&relation| try_lock(relation)) {
        return Ok(None);
    }
    stability::origins(&Relation::row_type(relation)?, unit)
}

/// All columns of some relations.
fn columns(relations: &HashSet<Oid>) -> Result<Vec<Unit>, Error> {
    let rows = look(
        "SELECT attrelid::text, attname::text FROM pg_attribute
          WHERE attrelid = ANY ($1::oid[]) AND attnum > 0 AND NOT attisdropped",
        &[Some(&list(relations))],
    )?;
    let unit = |[oid, name]: [Option<String>; 2]| {
        Ok((sql::oid(&oid)?, name.ok_or_else(|| Error::query("a column has no name"))?))
    };
    rows.into_iter().map(unit).collect()
}

/// The relations that foreign keys of these columns refer to, and those of the columns that they refer to.
fn referred_to(units: &[Unit]) -> Result<HashSet<Oid>, Error> {
    let names: Vec<&str> = units.iter().map(|(_, name)| name.as_str()).collect();
    let oids: Vec<u32> = units.iter().map(|(relation, _)| relation.to_u32()).collect();
    let units = serde_json::json!({ "relations": oids, "names": names }).to_string();
    found(
        "WITH RECURSIVE unit AS (
                 SELECT u.relation::oid AS relation, u.name COLLATE \"C\" AS name
                   FROM ROWS FROM (jsonb_array_elements_text($1::jsonb -> 'relations'),
                                   jsonb_array_elements_text($1::jsonb -> 'names')) AS u(relation, name)
                  UNION
                 SELECT next.relation, next.name FROM unit CROSS JOIN LATERAL (
                     SELECT inhparent AS relation, unit.name FROM pg_inherits WHERE inhrelid = unit.relation
                      UNION ALL
                     SELECT inhrelid, unit.name FROM pg_inherits WHERE inhparent = unit.relation
                      UNION ALL
                     SELECT c.confrelid, other.attname::text COLLATE \"C\" FROM pg_constraint c
                      CROSS JOIN LATERAL ROWS FROM (unnest(c.conkey), unnest(c.confkey)) AS k(own, other)
                       JOIN pg_attribute own ON own.attrelid = c.conrelid AND own.attnum = k.own
                       JOIN pg_attribute other ON other.attrelid = c.confrelid AND other.attnum = k.other
                      WHERE c.contype = 'f' AND c.conrelid = unit.relation AND own.attname = unit.name) AS next)
         SELECT DISTINCT relation::text FROM unit",
        &[Some(&units)],
    )
}

/// All relations that may hold data about the units of a protected relation.
pub fn of_protected() -> Result<HashSet<Oid>, Error> {
    let mut all = HashSet::new();
    for (relation, unit) in protection::units()? {
        all.extend(of_units(relation, Some(&unit))?);
    }
    Ok(all)
}
