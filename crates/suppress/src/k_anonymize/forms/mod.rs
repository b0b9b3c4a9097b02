//! Forms: sets of columns to blank. Which are tried, and in which order.

mod frontier;
mod suggest;

pub(crate) use frontier::{Form, Frontier};
pub(crate) use suggest::suggest;
