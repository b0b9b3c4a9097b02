//! Everything that touches Postgres, and all `unsafe` of the project.

pub mod bag;
pub mod call;
pub mod cell;
pub mod check;
pub mod clamped;
pub mod error;
pub mod from_clause;
pub mod jsonb;
pub mod notice;
pub mod pool;
pub mod progress;
pub mod reader;
pub mod relation;
pub mod rights;
pub mod rows;
pub mod rowset;
pub mod settings;
pub mod sql;
pub mod text;
pub mod tree;
pub mod typed;
pub mod types;
pub mod unit_rows;
pub mod view;
pub mod worker;
