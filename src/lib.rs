//! pg_sanitize: the Postgres layer. It reads a relation once into a coded table, lets the crates
//! do the work and hands typed rows back.

// Unsafe code is allowed in `pg` only; functions that the macros of methods and workers generate allow it themselves.
#![deny(unsafe_code)]
// Code that SQL can reach does not panic.
#![cfg_attr(not(test), deny(clippy::unwrap_used, clippy::expect_used))]

mod api;
mod catalog;
mod method;
#[allow(unsafe_code)]
mod pg;
mod release;
mod rules;

pgrx::pg_module_magic!(name, version);

/// Called once when a backend loads the library.
#[pgrx::pg_guard]
pub extern "C-unwind" fn _PG_init() {
    pg::call::serve::without_backtraces();
    pg::call::settings::register();
    pg::call::signature::register();
}

pgrx::extension_sql_file!("../sql/schema.sql", name = "schema", bootstrap);
pgrx::extension_sql_file!("../sql/functions.sql", name = "functions", requires = ["schema"]);
pgrx::extension_sql_file!("../sql/bag.sql", name = "bag", requires = ["functions"]);
pgrx::extension_sql_file!("../sql/domains.sql", name = "domains", requires = ["functions"]);
pgrx::extension_sql_file!("../sql/hierarchy.sql", name = "hierarchy", requires = ["functions"]);
pgrx::extension_sql_file!("../sql/budget.sql", name = "budget", requires = ["functions"]);
pgrx::extension_sql_file!("../sql/aggregate.sql", name = "aggregate", requires = ["bag", "budget"]);
pgrx::extension_sql_file!("../sql/publish.sql", name = "publish", requires = ["budget"]);
pgrx::extension_sql_file!("../sql/shard.sql", name = "shard", requires = ["publish", "bag"]);
