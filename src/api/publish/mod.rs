//! Releases kept as tables.
//!
//! * `releases`: publish, refresh, approve, retire. `maker`: how a method fills a table.
//! * `in_place`: a table's own rows and keys replaced.

crate::method::family! {
    in_place,
    releases,
}

pub mod maker;
