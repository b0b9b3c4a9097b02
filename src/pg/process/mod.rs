//! Threads and processes.
//!
//! * [`pool`]: work on threads that never touch Postgres. [`progress`]: how far a long call is.
//! * [`worker`]: background workers: autonomous commits and isolated reads.

pub mod pool;
pub mod progress;
pub mod worker;
