//! Releases whose rows are written where those of the source are. The method runs here, over all shards at once, and
//! its release is checked as a whole; then each shard gets its part as a bag and writes it into a table of its own, a
//! *generation*. Readers read the generation that the coordinator's foreign tables point at, and these tables change in
//! the coordinator's own transaction. So readers see all parts of the new release or all of the old one, also after a
//! crash. The transaction that replaces a generation never drops it: if the transaction fails, the old generation is
//! still needed.

use super::work::Task;
use crate::api::prelude::*;
use crate::api::publish::maker::{MADE, Maker, Written};
use crate::catalog::sharded::{self, Sharded};
use crate::pg::process::progress::Progress;
use crate::pg::shards::foreign_tables::{Server, Shards};
use crate::pg::shards::release_parts::{self, Work};
use crate::pg::write::held_rows::Held;
use crate::pg::write::statement;
use crate::pg::write::target::{NewColumn, identifier};

/// Rows in one bag that is sent.
const SENT: u64 = 1_000_000;

/// Where the rows of a source are.
struct Places {
    servers: Vec<Server>,
    /// For each leaf of the source the number of its server; `None` if its rows are distributed over the other servers.
    leaves: Vec<Option<usize>>,
}

impl Places {
    fn of(source: &Relation) -> Result<Self> {
        let all: Vec<usize> = (0..source.columns.len()).collect();
        let asked = source.asked(&all);
        let leaves = Shards::of(&asked)?.map(|shards| shards.leaves).unwrap_or_default();
        let (mut servers, mut places): (Vec<Server>, _) = (Vec::new(), Vec::new());
        for leaf in leaves {
            let server = leaf.server.filter(|server| server.has_extension);
            places.push(server.map(|server| {
                let known = servers.iter().position(|known| known.oid == server.oid);
                known.unwrap_or_else(|| {
                    servers.push(server);
                    servers.len() - 1
                })
            }));
        }
        match servers.is_empty() {
            false => Ok(Places { servers, leaves: places }),
            true => Err(Error::argument(
                format!("option target is \"sharded\", but {} has no shards", source.name),
                "A shard is a partition or a child that is a foreign table of postgres_fdw, on a server whose option extensions names pg_sanitize.",
            )),
        }
    }

    /// The number of the server for a held row, as an expression: that of its leaf, or round robin.
    fn of_row(&self, leaf: Option<&str>) -> String {
        let dealt = format!(
            "((pg_catalog.row_number() OVER ()) OPERATOR(pg_catalog.%) {})::pg_catalog.int4",
            self.servers.len()
        );
        let Some(leaf) = leaf else { return dealt };
        let places: Vec<String> = self
            .leaves
            .iter()
            .map(|place| place.map_or("NULL".into(), |place| place.to_string()))
            .collect();
        let place = format!(
            "(ARRAY[{}]::pg_catalog.int4[])[made.{leaf}::pg_catalog.int4 OPERATOR(pg_catalog.+) 1]",
            places.join(", ")
        );
        match self.leaves.iter().all(Option::is_some) {
            true => place,
            false => format!("COALESCE({place}, {dealt})"),
        }
    }
}

/// A name that no column has.
fn unused(stem: &str, columns: &[NewColumn]) -> String {
    let mut name = stem.to_string();
    while columns.iter().any(|column| column.name == name) {
        name.push('_');
    }
    name
}

/// Writes the release of a locked target to the shards, and makes it visible to readers.
pub fn write(maker: &Maker<'_>, source: &Relation, target: &Relation) -> Result<Written> {
    let Some(Sharded { mark, generation: current, is_new }) = sharded::find(target.oid)? else {
        let reason = "its rows are on this server".into();
        return Err(Error::Unsuitable { relation: target.name.clone(), reason });
    };
    refuse_new(is_new, target)?;
    release_parts::check(target)?;
    let (places, base) = (Places::of(source)?, release_parts::base_name(target)?);
    let generation = current.unwrap_or(0) + 1;
    let table = format!("{base}_g{generation}");
    let schema = target.schema().ok_or(Error::Swapped)?;
    let mut held = Held::new();
    let columns = maker.columns(source)?;
    let leaf = maker.rows_stay().then(|| unused("leaf", &columns));
    let made = maker.hold(&mut held, source, leaf.as_deref())?;
    let place = places.of_row(leaf.as_deref().map(identifier).transpose()?.as_deref());
    let count = |statement: &str| {
        let references = statement::References::Checked;
        statement::write_beside(&held, statement, target.oid, &[], references)
    };
    let (counts, blanked) = maker.counts(target);
    let counted = count(&format!("SELECT {counts} FROM {MADE}"))?;
    let named = columns.iter().map(NewColumn::to_named).collect();
    let create = Task::Create {
        release: mark.clone(),
        schema: schema.clone(),
        table: table.clone(),
        generation,
        current,
        columns: named,
    };
    let (create, fill) =
        (json(&create)?, json(&Task::Rows { schema: schema.clone(), table: table.clone() })?);
    let shown: Vec<String> = target.columns.iter().map(|column| column.quoted()).collect();
    let shown = shown.join(", ");
    // Rows are distributed in the order in which they are held, which is the same for every statement.
    let of = unused("place", &columns);
    let placed = format!("(SELECT made.*, {place} AS {of} FROM {MADE} AS made) AS placed");
    let mut progress = Progress::begin("writing to shards");
    let mut sent = 0;
    for (number, server) in places.servers.iter().enumerate() {
        let part = format!("FROM {placed} WHERE {of} OPERATOR(pg_catalog.=) {number}");
        let rows = count(&format!("SELECT 0 {part}"))?.rows;
        let work = Work::open(target, &mark, server)?;
        work.send(&create)?;
        for offset in (0..rows).step_by(SENT as usize) {
            let query = format!("SELECT {shown} {part} OFFSET {offset} LIMIT {SENT}");
            work.send_rows(&fill, &held, &query, target)?;
            sent += SENT.min(rows - offset);
            progress.rows(sent);
        }
        work.close()?;
    }
    held.end();
    // Only this code writes rows here; any other rows are not part of the release.
    statement::write(&format!("DELETE FROM ONLY {}", target.from()), target.oid, &[])?;
    release_parts::point(target, &base, &places.servers, &schema, &table)?;
    sharded::point(target.oid, generation)?;
    let shards = places.servers.into_iter().map(|server| server.name).collect();
    Ok(Written { shards, ..Written::new(&counted, blanked, made) })
}

fn json(task: &Task) -> Result<Json> {
    serde_json::to_value(task).map_err(Error::fault)
}

/// Refuses a release that this transaction has written: readers still see the previous generation, and dropping all
/// others would drop it.
fn refuse_new(is_new: bool, target: &Relation) -> Result<()> {
    let reason = || "this transaction has written it on the shards already".into();
    match is_new {
        true => Err(Error::Unsuitable { relation: target.name.clone(), reason: reason() }),
        false => Ok(()),
    }
}

/// Drops all generations on the shards but the one that readers see; with `all`, that one too.
pub fn drop_generations(target: &Relation, all: bool) -> Result<()> {
    let Some(Sharded { mark, generation, is_new }) = sharded::find(target.oid)? else {
        return Err(Error::NotARelease { relation: target.name.clone() });
    };
    refuse_new(is_new, target)?;
    let current = generation.filter(|_| !all);
    let task = json(&Task::Drop { release: mark.clone(), current })?;
    for server in &release_parts::servers(target)? {
        let work = Work::open(target, &mark, server)?;
        work.send(&task)?;
        work.close()?;
    }
    Ok(())
}
