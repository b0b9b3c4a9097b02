//! The ledger: the one place that decides whether something private may be released.
//!
//! * `decision`: who may ask, what a charge costs, whether it fits in; the charge itself.
//! * [`account`]: the arithmetic of one budget. [`entries`]: what was charged (`ledger_entry`, `ledger_home`).

pub mod account;
mod decision;
pub mod entries;

pub use decision::*;
