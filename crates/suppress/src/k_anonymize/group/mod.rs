//! Which rows a form makes equal: the inner loop of the search.

mod meeting;
mod tables;

pub(crate) use meeting::{Crowd, Lists, Meeting, Scratch, meetings};
pub(crate) use tables::KeyTable;
