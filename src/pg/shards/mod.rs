//! Other servers that hold rows of a relation.
//!
//! * [`foreign_tables`]: which shards a relation has; [`partitions`]: which units belong to each; [`reach`]: what a
//!   relation reads; [`owner`]: whether its owner may read it there; [`citus`]: tables that Citus distributes.
//! * `ask`: bags and rows requested from shards; [`travel`]: values as text on the way; [`remote_error`]: errors of a shard.
//! * [`release_parts`], [`generation`]: the tables of a sharded release, seen from the coordinator and on the shard.
//! * [`keeper`]: which server keeps the budgets.

pub mod ask;
pub mod citus;
pub mod foreign_tables;
pub mod generation;
pub mod keeper;
pub mod owner;
pub mod partitions;
pub mod reach;
pub mod release_parts;
pub mod remote_error;
pub mod travel;
