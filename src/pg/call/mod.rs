//! Calls between Postgres and Rust: arguments, results and errors.
//!
//! * [`serve`]: a call, and how a Rust function becomes callable. [`signature`]: its declaration compared with the catalog.
//! * [`argument`]: arguments as values; [`argument_kinds`]: the usual ones; [`option`]: the same from jsonb. [`array`], [`jsonb`], [`text`], [`text_input`]: values.
//! * [`aggregate_state`], [`expanded`], [`sums`]: states of aggregates. [`trigger`]: calls by triggers.
//! * [`sql`]: statements on the extension's own tables; [`attempt`]: work whose changes are undone if it fails.
//! * [`error`], [`notice`], [`settings`].

pub mod aggregate_state;
pub mod argument;
pub mod argument_kinds;
pub mod array;
pub mod attempt;
pub mod error;
pub mod expanded;
pub mod jsonb;
pub mod notice;
pub mod option;
pub mod serve;
pub mod settings;
pub mod signature;
pub mod sql;
pub mod sums;
pub mod text;
pub mod text_input;
pub mod trigger;
