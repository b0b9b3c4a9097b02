//! Everything that touches Postgres, and all `unsafe` of the project.

pub mod call;
pub mod catalog;
pub mod prelude;
pub mod process;
pub mod read;
pub mod shards;
pub mod write;
