//! Whose code runs when a relation is read.
//!
//! Views and policies call functions, and planning a query evaluates what it can of index conditions, statistics and
//! constraints. The owner of a relation writes all of these, and they run with the rights of the role that reads. So a
//! relation is read with its owner's rights only if everything below it belongs to the same owner or to a superuser.
//! Below a relation are the relations that its views read, and all partitions and inheriting tables of these.

use crate::pg::catalog::relation::{Relation, lock};
use crate::pg::prelude::*;
use std::collections::HashSet;

/// A relation below another one.
struct Below {
    oid: Oid,
    name: String,
    owner: Oid,
}

/// The relation and everything below it, as committed now. A materialized view has rows of its own: the relations
/// that it was built from are not read.
fn all(relation: Oid) -> Result<Vec<Below>, Error> {
    let query = "WITH RECURSIVE below AS (
                 SELECT $1::oid AS oid
                  UNION
                 SELECT next.oid FROM below CROSS JOIN LATERAL (
                     SELECT inhrelid AS oid FROM pg_inherits WHERE inhparent = below.oid
                      UNION ALL
                     SELECT d.refobjid FROM pg_class v
                       JOIN pg_rewrite r ON r.ev_class = v.oid AND r.ev_type = '1'
                       JOIN pg_depend d ON d.classid = 'pg_rewrite'::regclass AND d.objid = r.oid
                        AND d.refclassid = 'pg_class'::regclass
                      WHERE v.oid = below.oid AND v.relkind = 'v') AS next)
         SELECT oid::text, oid::regclass::text, relowner::text FROM below JOIN pg_class USING (oid)
          WHERE relkind = ANY ('{r,p,v,m,f}')";
    let argument = Text(crate::catalog::oid(relation)).into();
    let rows = rights::with_extension_rights(|| sql::latest_rows(query, &[argument]))?;
    let below = |[oid, name, owner]: [Option<String>; 3]| {
        let name = name.ok_or_else(|| Error::query("a relation has no name"))?;
        Ok(Below { oid: sql::oid(&oid)?, name, owner: sql::oid(&owner)? })
    };
    rows.into_iter().map(below).collect()
}

/// The owner of the relation, with whose rights it may be read, or a relation below it that belongs to another role.
/// Everything below is locked for reading until the transaction ends, so it keeps its owners.
fn examined(relation: &Relation) -> Result<Result<Oid, Below>, Error> {
    let owner = rights::owner_of(relation.oid)
        .ok_or_else(|| Error::NoSuchRelation { relation: relation.name.clone() })?;
    let mut locked = HashSet::from([relation.oid]);
    loop {
        let below = all(relation.oid)?;
        let new: Vec<Oid> =
            below.iter().map(|one| one.oid).filter(|&oid| locked.insert(oid)).collect();
        if let Some(stranger) = below.into_iter().find(|one| !rights::is_trusted(one.owner, owner))
        {
            return Ok(Err(stranger));
        }
        if new.is_empty() {
            return Ok(Ok(owner));
        }
        new.into_iter().for_each(lock);
    }
}

/// The owner of the relation, with whose rights it may be read. An error if that would run code of another role.
pub fn owner(relation: &Relation) -> Result<Oid, Error> {
    examined(relation)?.map_err(|Below { name, owner, .. }| Error::OwnerCannotRead {
        relation: relation.name.clone(),
        why: format!(
            "{name}, which it reads, belongs to role \"{}\"",
            rights::role_name(owner).unwrap_or_default()
        ),
        hint: "Functions in its indexes, constraints or policies would run with these rights. Give the relation and all that it reads one owner: ALTER TABLE … OWNER TO, ALTER VIEW … OWNER TO.".into(),
    })
}

/// As [`owner`], but `None` if reading would run code of another role.
pub fn owner_if_alone(relation: &Relation) -> Result<Option<Oid>, Error> {
    Ok(examined(relation)?.ok())
}
