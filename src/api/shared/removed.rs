//! Functions of earlier versions that are gone: CREATE EXTENSION of such a version and pg_upgrade look for their
//! symbols. No declaration fits them, so that a call says which versions meet.

use crate::api::prelude::*;
use crate::method::symbols;

/// Such a function: it takes nothing, and those that were declared took something.
const fn gone(name: &'static str) -> Method {
    part(name, &[], Type::Internal, |_| Err(Error::NoAggregate))
}

symbols! {
    sanitize_row_bag_serial => gone("row_bag_serial");
    sanitize_row_bag_deserial => gone("row_bag_deserial");
    sanitize_clamped_serial => gone("clamped_serial");
    sanitize_clamped_deserial => gone("clamped_deserial");
}
