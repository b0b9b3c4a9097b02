//! Which rows a form makes equal, the inner loop of the search; and which groups of them are served first.

mod auction;
mod meeting;
mod tables;

pub(crate) use auction::auction;
pub(crate) use meeting::{Crowd, Lists, Meeting, Scratch, meetings};
pub(crate) use tables::KeyTable;
