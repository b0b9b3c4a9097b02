//! Whether the owner of a relation can have its rows from other servers: a question is read with the owner's rights,
//! and problems with these should be found before the charge.

use super::citus;
use super::foreign_tables::Shards;
use crate::pg::prelude::*;

/// Refuses a relation whose owner cannot log in to the other servers.
pub fn check(relation: &Relation) -> Result<(), Error> {
    let Some(owner) = rights::owner_of(relation.oid) else { return Ok(()) };
    let name = || rights::role_name(owner).unwrap_or_default();
    let refused = |why: String, hint: String| {
        Err(Error::OwnerCannotRead { relation: relation.name.clone(), why, hint })
    };
    if citus::is_asked_for(relation.oid)? && !rights::may_log_in(owner) {
        return refused(
            format!("Citus logs in to its workers as role \"{}\", which is NOLOGIN", name()),
            "Let a role own it that may log in there.".into(),
        );
    }
    let asked = relation.asked(&[]);
    let leaves = Shards::of(&asked)?.map(|shards| shards.leaves).unwrap_or_default();
    let unmapped = leaves.into_iter().filter_map(|leaf| leaf.server).find(|server| {
        ![owner, pg_sys::InvalidOid].iter().any(|&role| is_mapped(role, server.oid))
    });
    match unmapped {
        Some(server) => refused(
            format!("server \"{}\" has no user mapping for role \"{}\"", server.name, name()),
            format!("Make one: CREATE USER MAPPING FOR {} SERVER {} …", name(), server.name),
        ),
        None => Ok(()),
    }
}

/// True if the role has a user mapping for the server; the invalid OID means PUBLIC.
fn is_mapped(role: Oid, server: Oid) -> bool {
    // SAFETY: the tuple is released as soon as it is found.
    unsafe {
        let cache = pg_sys::SysCacheIdentifier::USERMAPPINGUSERSERVER as i32;
        let tuple = pg_sys::SearchSysCache2(cache, Datum::from(role), Datum::from(server));
        if tuple.is_null() {
            return false;
        }
        pg_sys::ReleaseSysCache(tuple);
        true
    }
}
