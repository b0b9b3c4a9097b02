//! The parts of a sharded release, as the coordinator knows them: foreign tables that inherit from the release's own
//! table, one on each server, and the requests to the servers to fill the tables that they point at.

use super::foreign_tables::Server;
use super::remote_error::{is_lost, told};
use crate::pg::call::attempt::caught;
use crate::pg::call::{jsonb, sql, text};
use crate::pg::prelude::*;
use crate::pg::write::held_rows::Held;
use crate::pg::write::statement::{self, Parameter};
use crate::pg::write::target::{Name, identifier};
use pgrx::{PgMemoryContexts, PgSqlErrorCode as Code};
use serde_json::Value as Json;

/// Bytes of a target's name: the suffixes for its parts must fit as well.
const LONGEST: usize = 40;

/// The name of a sharded release, from which those of its parts are made.
pub fn base_name(target: &Relation) -> Result<String, Error> {
    let name = target.own_name().ok_or(Error::Swapped)?;
    match text::from_utf8(&name).len() <= LONGEST {
        true => Ok(name),
        false => Err(Error::argument(
            format!("target is {}, whose name is too long for a sharded release", target.name),
            format!("Its parts are named after it: let it have at most {LONGEST} bytes."),
        )),
    }
}

/// A foreign table that inherits from a release.
struct Part {
    oid: Oid,
    /// Qualified and quoted.
    name: String,
    server: Oid,
}

const CHILDREN: &str =
    "SELECT c.oid::pg_catalog.text, pg_catalog.format('%I.%I', n.nspname, c.relname),
         f.ftserver::pg_catalog.text
    FROM pg_catalog.pg_inherits AS i
    JOIN pg_catalog.pg_class AS c ON c.oid OPERATOR(pg_catalog.=) i.inhrelid
    JOIN pg_catalog.pg_namespace AS n ON n.oid OPERATOR(pg_catalog.=) c.relnamespace
    LEFT JOIN pg_catalog.pg_foreign_table AS f ON f.ftrelid OPERATOR(pg_catalog.=) c.oid
   WHERE i.inhparent OPERATOR(pg_catalog.=) $1 ORDER BY c.oid";

/// The parts of a release that the caller has locked.
fn parts(target: &Relation) -> Result<Vec<Part>, Error> {
    let mut parts: Vec<Part> = Vec::new();
    for [oid, name, server] in sql::latest_rows(CHILDREN, &[target.oid.into()])? {
        let name = name.ok_or(Error::Swapped)?;
        let unsuitable = |reason| Error::Unsuitable { relation: target.name.clone(), reason };
        if server.is_none() {
            return Err(unsuitable(format!("{name} inherits from it and is no part of it")));
        }
        let server = sql::oid(&server)?;
        if parts.iter().any(|part| part.server == server) {
            return Err(unsuitable(format!("{name} is a second part of it on one server")));
        }
        parts.push(Part { oid: sql::oid(&oid)?, name, server });
    }
    Ok(parts)
}

/// Refuses a release whose parts differ from those that publish made.
pub fn check(target: &Relation) -> Result<(), Error> {
    parts(target).map(drop)
}

/// The servers on which a release has parts.
pub fn servers(target: &Relation) -> Result<Vec<Server>, Error> {
    Ok(parts(target)?.iter().map(|part| Server::of(part.server)).collect())
}

/// Makes readers see the tables of this schema and name, on these servers. From here on until the transaction ends,
/// readers of the release wait: they see all parts as they were, or all as they are now.
pub fn point(
    target: &Relation,
    base: &str,
    servers: &[Server],
    schema: &str,
    table: &str,
) -> Result<(), Error> {
    lock_out(target.oid);
    // This commit must not be lost: the shards may later drop the tables that readers would then see again.
    // SAFETY: sets a flag of the transaction.
    unsafe { pg_sys::ForceSyncCommit() };
    let (schema, table) = (types::text_literal(schema), types::text_literal(table));
    let parts = parts(target)?;
    for part in &parts {
        lock_out(part.oid);
        let Part { name, .. } = part;
        let stays = servers.iter().any(|server| server.oid == part.server);
        let statement = match stays {
            true => format!(
                "ALTER FOREIGN TABLE {name} OPTIONS (SET schema_name {schema}, SET table_name {table})"
            ),
            false => format!("DROP FOREIGN TABLE {name} RESTRICT"),
        };
        sql::run_as_caller(&statement, &[])?;
    }
    let mut number = 0;
    for server in servers {
        if parts.iter().any(|part| part.server == server.oid) {
            continue;
        }
        let name = loop {
            number += 1;
            let name = Name::beside(target.oid, &format!("{base}_s{number}"))?;
            if name.find().is_none() {
                break name;
            }
        };
        sql::run_as_caller(
            &format!(
                "CREATE FOREIGN TABLE {} () INHERITS ({}) SERVER {} OPTIONS (schema_name {schema}, table_name {table}, updatable 'false', fetch_size '10000')",
                name.quoted(),
                target.from(),
                identifier(&server.name)?,
            ),
            &[],
        )?;
    }
    // Each statement looked up the names again, so check that the intended tables were changed.
    let pointing = sql::latest_rows::<1>(POINTING, &[target.oid.into(), Text(table).into()])?;
    match pointing.len() == servers.len() {
        true => Ok(()),
        false => Err(Error::Swapped),
    }
}

const POINTING: &str = "SELECT i.inhrelid::pg_catalog.text FROM pg_catalog.pg_inherits AS i
    JOIN pg_catalog.pg_foreign_table AS f ON f.ftrelid OPERATOR(pg_catalog.=) i.inhrelid
   CROSS JOIN LATERAL pg_catalog.pg_options_to_table(f.ftoptions) AS o
   WHERE i.inhparent OPERATOR(pg_catalog.=) $1 AND o.option_name OPERATOR(pg_catalog.=) 'table_name'
     AND pg_catalog.quote_literal(o.option_value) OPERATOR(pg_catalog.=) $2";

fn lock_out(relation: Oid) {
    // SAFETY: waits for a lock that is held until the transaction ends.
    unsafe {
        pg_sys::LockRelationOid(relation, pg_sys::AccessExclusiveLock as pg_sys::LOCKMODE);
    }
}

/// Drops the parts of a release as the coordinator knows them.
pub fn drop_parts(target: &Relation) -> Result<(), Error> {
    for part in parts(target)? {
        lock_out(part.oid);
        sql::run_as_caller(&format!("DROP FOREIGN TABLE {} RESTRICT", part.name), &[])?;
    }
    Ok(())
}

/// A foreign table through which work is sent to a server, for the duration of a call.
pub struct Work<'a> {
    server: &'a Server,
    table: Relation,
}

impl<'a> Work<'a> {
    /// Makes it in the target's schema, for the release with this mark.
    pub fn open(target: &Relation, mark: &str, server: &'a Server) -> Result<Self, Error> {
        let name = Name::beside(target.oid, &format!("pg_sanitize_{mark}"))?;
        sql::run_as_caller(
            &format!(
                "CREATE FOREIGN TABLE {} (task pg_catalog.jsonb, rows sanitize.bag) SERVER {} OPTIONS (schema_name 'sanitize_internal', table_name 'shard_work', updatable 'true')",
                name.quoted(),
                identifier(&server.name)?,
            ),
            &[],
        )?;
        let made = name.find().ok_or(Error::Swapped)?;
        if rights::owner_of(made) != Some(rights::current_user()) {
            return Err(Error::Swapped);
        }
        Ok(Work { server, table: Relation::open(made)? })
    }

    /// Has a task done.
    pub fn send(&self, task: &Json) -> Result<(), Error> {
        self.send_with(task, None)
    }

    /// Has a task done with the rows of a query on held rows: they are sent as a bag, in texts that mean the same on
    /// every server.
    pub fn send_rows(
        &self,
        task: &Json,
        held: &Held,
        query: &str,
        target: &Relation,
    ) -> Result<(), Error> {
        let query = format!("SELECT sanitize.row_bag(part.*) FROM ({query}) AS part");
        let bag = || statement::value(held, &query, target.oid);
        let mut memory = PgMemoryContexts::new("pg_sanitize part");
        // SAFETY: the bag is sent before its memory is freed.
        unsafe {
            memory.switch_to(|_| {
                let bag = rights::with_fixed_names(|| rights::with_fixed_formats(bag))?;
                self.send_with(task, Some(bag))
            })
        }
    }

    fn send_with(&self, task: &Json, rows: Option<Parameter>) -> Result<(), Error> {
        let task = Parameter { of: pg_sys::JSONBOID, value: Some(jsonb::datum(task)?) };
        let from = self.table.from();
        let (statement, parameters) = match rows {
            None => (format!("INSERT INTO {from} (task) VALUES ($1)"), vec![task]),
            Some(rows) => {
                (format!("INSERT INTO {from} (task, rows) VALUES ($1, $2)"), vec![task, rows])
            }
        };
        named(self.server, || statement::write(&statement, self.table.oid, &parameters).map(drop))
    }

    pub fn close(self) -> Result<(), Error> {
        sql::run_as_caller(&format!("DROP FOREIGN TABLE {} RESTRICT", self.table.from()), &[])
    }
}

/// Runs `work`, which another server does: its errors get the server's name.
fn named(server: &Server, work: impl FnOnce() -> Result<(), Error>) -> Result<(), Error> {
    let whose = format!("shard \"{}\"", server.name);
    caught(work, |error| Err(told(error, &whose, hint(error.sql_error_code()))))
}

/// A hint for the kind of error.
fn hint(code: Code) -> Option<&'static str> {
    Some(match code {
        Code::ERRCODE_UNDEFINED_TABLE | Code::ERRCODE_INVALID_SCHEMA_NAME => {
            "Install the same version of pg_sanitize there (CREATE EXTENSION, or ALTER EXTENSION … UPDATE). Nothing was changed."
        }
        Code::ERRCODE_INSUFFICIENT_PRIVILEGE => {
            "The role of the user mapping makes the table there: it needs CREATE on the schema of the target's name."
        }
        Code::ERRCODE_DUPLICATE_TABLE => {
            "A table of that name is there and no part of this release: rename it, or publish under another name."
        }
        code if is_lost(code) => {
            "The server is down, starts, or has lost the connection: see its log, and call again. The release that is there stays as it is."
        }
        _ => return None,
    })
}
