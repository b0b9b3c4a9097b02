//! What a question about a protected relation means, and what it costs. Nothing here knows Postgres or
//! looks at a row: arguments, the relation's columns and the terms of its protection decide everything.
//!
//! [`Question::read`] makes a [`Question`] from [`Arguments`] (the JSON of a call), from the [`Schema`] of the
//! relation, and from the [`Terms`] that its owner set. The code that answers it uses
//! * [`Question::charge`], the price, before anything is read;
//! * [`Question::asked`], [`Question::conditions`] and [`Question::group_by`] to make the query,
//! * [`Question::scales`] to find unknown bounds, and [`Question::plan`] for the noise;
//! * [`Question::normal`], the question printed without the order of its parts, to recognise equal questions.
//!
//! [`measure`](Asked) reads the measures, `range` their bounds in steps, `filter` the conditions, `groups` the
//! groups; `normal` prints.
#![forbid(unsafe_code)]

mod error;
mod filter;
mod groups;
mod measure;
mod normal;
mod question;
mod range;
mod schema;

pub use error::Error;
pub use filter::{Condition, Operator, conditions};
pub use groups::{GROUPS, Key};
pub use measure::Asked;
pub use question::{Arguments, Question, Terms};
pub use schema::{Column, ColumnType, Schema};
