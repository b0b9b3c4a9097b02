//! The label beside every output, what mechanisms cost together, and audits of both.
#![forbid(unsafe_code)]

mod accounting;
pub mod audit;
mod gaussian_vector;
mod label;

pub use accounting::{
    Charge, Cost, REST, Spent, add_up, check_epsilon, concentrated_epsilon, mixture, rest_of,
    zcdp_delta, zcdp_epsilon, zcdp_rho,
};
pub use gaussian_vector::gaussian_rho;
pub use label::{
    Answers, DeltaMethod, Groups, Guarantee, Kind, Label, Mode, Neighbours, Numeric, Proved,
    Sampled, Unit,
};
