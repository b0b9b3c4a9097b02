//! Everything that touches Postgres, and all `unsafe` of the project.

pub mod argument;
pub mod bag;
pub mod call;
pub mod cell;
pub mod check;
pub mod error;
pub mod jsonb;
pub mod notice;
pub mod pool;
pub mod progress;
pub mod reader;
pub mod record;
pub mod relation;
pub mod rights;
pub mod rows;
pub mod rowset;
pub mod settings;
pub mod signature;
pub mod sql;
pub mod state;
pub mod text;
pub mod tree;
pub mod typed;
pub mod types;
pub mod unit_rows;
pub mod worker;
