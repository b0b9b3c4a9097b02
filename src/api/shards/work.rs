//! A coordinator's requests to a shard for a sharded release: rows inserted into `sanitize_internal.shard_work`. Its
//! trigger carries out the request and stores nothing. It runs with the inserter's rights, does one of three things,
//! and accepts names, never statements.

use crate::api::prelude::*;
use crate::pg::call::trigger;
use crate::pg::read::bag;
use crate::pg::shards::generation::{self, Mark};
use crate::pg::write::target::{Name, NamedColumn, NewColumn};
use serde::{Deserialize, Serialize};

/// A piece of work.
#[derive(Serialize, Deserialize)]
#[serde(rename_all = "lowercase", deny_unknown_fields)]
pub enum Task {
    /// Drops the generations that nothing points at, and makes the table of the next one.
    Create {
        release: String,
        schema: String,
        table: String,
        generation: u64,
        /// The generation that readers see.
        current: Option<u64>,
        columns: Vec<NamedColumn>,
    },
    /// Writes the rows of the bag beside it into that table.
    Rows { schema: String, table: String },
    /// Drops all generations of a release but one.
    Drop { release: String, current: Option<u64> },
}

impl Task {
    fn run(&self, rows: Option<Datum>) -> Result<()> {
        match self {
            Task::Create { release, schema, table, generation, current, columns } => {
                let (mark, name) = (Mark::new(release)?, Name::within(schema, table)?);
                let columns: Result<Vec<_>> = columns.iter().map(NewColumn::named).collect();
                generation::drop_all_but(&mark, *current)?;
                generation::create(&mark, &name, *generation, *current, &columns?)
            }
            Task::Rows { schema, table } => {
                let rows = rows.ok_or(Error::Null { argument: "rows" })?;
                generation::write(&Name::within(schema, table)?, &bag::read(rows)?)
            }
            Task::Drop { release, current } => {
                generation::drop_all_but(&Mark::new(release)?, *current)
            }
        }
    }
}

const DO_SHARD_WORK: Method = part("do_shard_work", &[], Type::Trigger, |call| {
    let [task, rows] = trigger::inserted(call, "shard_work")?;
    let task = task.map(jsonb::text).transpose()?.flatten();
    let task = task.ok_or(Error::Null { argument: "task" })?;
    let task: Task = serde_json::from_str(&task).map_err(|error| {
        Error::argument(
            format!("task cannot be read: {error}"),
            "The coordinator of a sharded release writes it; both servers need the same version of pg_sanitize.",
        )
    })?;
    trigger::fixed(|| task.run(rows))?;
    Ok(Datum::null())
}).about("part of sanitize_internal.shard_work: makes, fills or drops a table of a sharded release");

methods! {
    sanitize_do_shard_work => DO_SHARD_WORK;
}
