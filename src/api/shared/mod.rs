//! What several families share.
//!
//! * `registry`: all methods, and the functions that read them; `declarations`: the SQL that declares them.
//! * `arguments`, `weights`: arguments that several functions have.
//! * `input`: rows to work on; `typed_source`: sources whose rows come back with their own type.
//! * `drawing`: rows that are drawn on other threads and returned while the next are drawn.
//! * `internal`: what functions share that Postgres calls for types and aggregates; `removed`: functions that are gone.

crate::method::family! {
    registry,
}

pub mod arguments;
mod declarations;
pub mod drawing;
pub mod input;
pub mod internal;
mod removed;
pub mod typed_source;
pub mod weights;
