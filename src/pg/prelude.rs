//! What nearly every file over Postgres names: errors, statements, texts, relations, rights, types.

pub use super::call::error::Error;
pub use super::call::text::{self, Text};
pub use super::call::{settings, sql};
pub use super::catalog::relation::{Column, Relation};
pub use super::catalog::{rights, types};
pub use pgrx::pg_sys::{self, Datum, Oid};
