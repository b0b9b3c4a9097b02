//! Functions of earlier versions that are gone: CREATE EXTENSION of such a version and pg_upgrade look for their
//! symbols. No declaration fits them, so a call raises the error that names the versions.

use crate::api::prelude::*;
use crate::method::symbols;

/// Such a function is declared without arguments; the earlier declarations had some.
const fn gone(name: &'static str) -> Method {
    part(name, &[], Type::Internal, |_| Err(Error::NoAggregate))
}

symbols! {
    sanitize_row_bag_serial => gone("row_bag_serial");
    sanitize_row_bag_deserial => gone("row_bag_deserial");
    sanitize_clamped_serial => gone("clamped_serial");
    sanitize_clamped_deserial => gone("clamped_deserial");
}
