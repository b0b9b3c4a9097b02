//! Randomised response on every cell of a row, and supports estimated from such rows.
//!
//! From a row's epsilon to its randomised form, in order:
//! 1. `epsilon_split`: [`split`] divides a row's epsilon among its columns.
//! 2. `response`: [`Response`] is the law of one cell: kept, or any other value of its domain.
//! 3. `responses`: [`Responses`] randomises rows of codes, each cell by itself; the proof is in `cells.md`.
//! 4. `rows`: [`RandomisedRows`] randomises a whole bag in a random order, on many threads.
//! 5. `support`: [`Factors`] estimates from randomised rows how many of the true ones contain an itemset.

mod epsilon_split;
mod response;
mod responses;
mod rows;
mod support;

pub use epsilon_split::split;
pub use response::{Response, keep_probability};
pub use responses::{RandomisedColumn, Responses};
pub use rows::RandomisedRows;
pub use support::{Estimate, Factor, Factors};
