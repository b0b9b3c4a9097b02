//! Rows read from Postgres.
//!
//! * [`reader`]: a relation through the executor into a coded table; [`rows`]: any query, row by row; [`cell`]: datums
//!   as bytes.
//! * [`record`], [`argument_rows`], [`bounded_rows`]: rows that come one by one as arguments of an aggregate; [`bag`]: bags.
//! * [`unit_rows`]: a protected relation for noisy aggregates; [`toast`]: the locks on its long values.
//! * [`baskets`]: a column of transactions. [`bins`]: numbers and times cut into bins. [`text_chunks`]: texts handed to
//!   Postgres in parts.

pub mod argument_rows;
pub mod bag;
pub mod baskets;
pub mod bins;
pub mod bounded_rows;
pub mod cell;
pub mod reader;
pub mod record;
pub mod rows;
pub mod text_chunks;
pub mod toast;
pub mod unit_rows;
