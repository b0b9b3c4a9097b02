//! The label beside every output, what mechanisms cost together, and audits of both.
#![forbid(unsafe_code)]

pub mod audit;
mod cost;
mod gaussian_vector;
mod label;
mod ledger;
mod zcdp;

pub use cost::{Charge, Cost, add_up, check_epsilon, mixture, rest_of};
pub use gaussian_vector::gaussian_rho;
pub use label::{
    Answers, DeltaMethod, Groups, Guarantee, Kind, Label, Mode, Neighbours, Numeric, Proved,
    Sampled, Unit,
};
pub use ledger::{REST, Spent, concentrated_epsilon};
pub use zcdp::{pure_rho, zcdp_delta, zcdp_epsilon, zcdp_rho};
