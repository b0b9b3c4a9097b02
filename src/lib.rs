//! pg_sanitize: the Postgres layer. It reads a relation once into a coded table, lets the crates
//! do the work and hands typed rows back.

// All unsafe code is in pg; what the macros of methods and workers make of it says so itself.
#![deny(unsafe_code)]
// What SQL can reach does not panic.
#![cfg_attr(not(test), deny(clippy::unwrap_used, clippy::expect_used))]

mod api;
mod catalog;
mod method;
#[allow(unsafe_code)]
mod pg;
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
pgrx::extension_sql_file!("../sql/bag.sql", name = "bag", requires = ["schema"]);
pgrx::extension_sql_file!("../sql/mining.sql", name = "mining", requires = ["bag"]);
pgrx::extension_sql_file!("../sql/release.sql", name = "release", requires = ["bag"]);
pgrx::extension_sql_file!("../sql/measures.sql", name = "measures", requires = ["bag"]);
pgrx::extension_sql_file!("../sql/domains.sql", name = "domains", requires = ["schema"]);
pgrx::extension_sql_file!("../sql/hierarchy.sql", name = "hierarchy", requires = ["schema"]);
pgrx::extension_sql_file!("../sql/private.sql", name = "private", requires = ["schema"]);
pgrx::extension_sql_file!("../sql/krimp.sql", name = "krimp", requires = ["schema"]);
pgrx::extension_sql_file!("../sql/budget.sql", name = "budget", requires = ["schema"]);
pgrx::extension_sql_file!("../sql/aggregate.sql", name = "aggregate", requires = ["budget"]);
pgrx::extension_sql_file!("../sql/randomize.sql", name = "randomize", requires = ["schema"]);
pgrx::extension_sql_file!("../sql/itemsets.sql", name = "itemsets", requires = ["schema"]);
pgrx::extension_sql_file!("../sql/tree.sql", name = "tree", requires = ["schema"]);
pgrx::extension_sql_file!("../sql/synthesize.sql", name = "synthesize", requires = ["schema"]);
pgrx::extension_sql_file!("../sql/shuffle.sql", name = "shuffle", requires = ["schema"]);
pgrx::extension_sql_file!("../sql/transactions.sql", name = "transactions", requires = ["schema"]);
pgrx::extension_sql_file!("../sql/operators.sql", name = "operators", requires = ["schema"]);
pgrx::extension_sql_file!("../sql/entropy.sql", name = "entropy", requires = ["schema"]);
pgrx::extension_sql_file!("../sql/cells.sql", name = "cells", requires = ["schema"]);
pgrx::extension_sql_file!("../sql/publish.sql", name = "publish", requires = ["schema"]);
pgrx::extension_sql_file!("../sql/shard.sql", name = "shard", requires = ["publish", "bag"]);
pgrx::extension_sql_file!("../sql/report.sql", name = "report", requires = ["schema"]);
