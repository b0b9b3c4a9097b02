//! The four crates of private mechanisms under one name. Nothing lives here.
#![forbid(unsafe_code)]

pub use aggregate;
pub use guarantee::DeltaMethod as Method;
pub use guarantee::{
    self, Charge, Cost, Guarantee, REST, Spent, audit, concentrated_epsilon, gaussian_rho, mixture,
    zcdp_delta, zcdp_epsilon, zcdp_rho,
};
pub use random::{
    Coins, Error, Key, Noise, Ratio, Source, below, below_big, bernoulli, bernoulli_exp,
    discrete_gaussian, discrete_laplace, shuffle,
};
pub use sample::{
    Design as Plan, Parameters, Piece, Public, Rate, Released, Request, Rule, Rules, SamplingDelta,
    Scheme, Thinning, draw as sample, parameters, sampling_delta,
};
