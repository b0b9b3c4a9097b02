//! What nearly every file of a family needs: a function's declaration, a call and its arguments, errors, relations and
//! bags that are read, rows that are returned. Files begin with `use crate::api::prelude::*`, and name beside it only
//! what is their own.

pub use super::shared::arguments::*;
pub use super::shared::input::Input;
pub use super::shared::internal::{part, passed};
pub use super::shared::typed_source::TypedSource;
pub use crate::catalog::{bounds, ledger, protection};
pub use crate::method::Method;
pub(crate) use crate::method::{columns, methods};
pub use crate::pg::call::argument::{Argument, Arguments, Declared, Given, Type};
pub use crate::pg::call::error::Error;
pub use crate::pg::call::jsonb::ItemsetJson;
pub use crate::pg::call::notice::notice_hint;
pub use crate::pg::call::serve::Call;
pub use crate::pg::call::signature::Returns;
pub use crate::pg::call::text::{Text, from_utf8, to_utf8};
pub use crate::pg::call::{jsonb, settings, sql, text};
pub use crate::pg::catalog::relation::{Column, Relation, positions};
pub use crate::pg::catalog::{rights, types};
pub use crate::pg::process::pool;
pub use crate::pg::read::reader;
pub use crate::pg::write::rowset::{ResultRows, Value};
pub use crate::pg::write::typed::{ReadValues, TypedRows};
pub use crate::release::{Filled, Origin, Release, ReleaseCall};
pub use crate::rules::counted::{self, Unit};
pub use crate::rules::public::Public;
pub use crate::rules::public_source::PublicSource;
pub use crate::rules::terms::TERMS;
pub use guarantee::{Charge, Cost, Guarantee, Protects};
pub use pgrx::pg_sys::{self, Datum, Oid};
pub use pgrx::{AnyNumeric, IntoDatum};
pub use random::Coins;
pub use serde_json::{Map, Value as Json, json};
pub use suppress::{Hierarchy, Written};
pub use table::{Bag, Domain, Item, NONE, Stop, Units, Watch};

/// What may fail with one of our errors, unless another kind is named.
pub type Result<T, E = Error> = std::result::Result<T, E>;
