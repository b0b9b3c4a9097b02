//! Which server keeps the budgets. Everything that was revealed of a relation must be counted in one place: a node that
//! is asked directly has a ledger of its own, which knows nothing of the others'.
//!
//! Every method that takes from a budget asks [`check`] before it does anything, and [`check_relation`] once it knows
//! what it reads.

use super::citus;
use crate::pg::prelude::*;

/// Refuses on a node that gets its rows from a coordinator: budgets are kept there.
pub fn check() -> Result<(), Error> {
    match citus::group()? {
        Some(group) if group != "0" => Err(Error::NotKeeper {
            what: "this server is a worker of Citus".into(),
            why: format!("Budgets are kept on the coordinator; this node is of group {group}."),
        }),
        _ => Ok(()),
    }
}

/// Refuses a relation that is a part of another one, whose budget counts.
pub fn check_relation(relation: &Relation) -> Result<(), Error> {
    match citus::is_shard(relation)? {
        false => Ok(()),
        true => Err(Error::NotKeeper {
            what: format!(
                "{} is or reads a shard of a table that Citus distributes",
                relation.name
            ),
            why: "Budgets are those of the distributed table.".into(),
        }),
    }
}
