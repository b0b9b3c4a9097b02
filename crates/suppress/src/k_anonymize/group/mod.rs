//! The inner loop of the search: which rows a form makes equal.

mod meeting;
mod tables;

pub(crate) use meeting::{Crowd, Lists, Meeting, Scratch, meetings};
pub(crate) use tables::KeyTable;
