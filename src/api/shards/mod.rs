//! Work over relations whose rows lie on other servers; `pg::shards` talks to those servers.
//!
//! * `question`: the query that asks shards for bounded rows. `bounded_bags`: adding up what they return.
//! * `release`: releases whose rows are written where those of the source are. `work`: the shard's side of that.

crate::method::family! {
    work,
}

pub mod bounded_bags;
pub mod question;
pub mod release;
