//! The four crates of private mechanisms under one name. Nothing lives here.
#![forbid(unsafe_code)]

pub use aggregate;
pub use guarantee::{
    self, Charge, Cost, Guarantee, REST, Spent, audit, concentrated_epsilon, gaussian_rho, mixture,
    zcdp_delta, zcdp_epsilon, zcdp_rho,
};
pub use random::{
    Coins, Error, Key, Noise, Ratio, Source, below, below_big, bernoulli, bernoulli_exp,
    discrete_gaussian, discrete_laplace, shuffle,
};
pub use sample::{
    Method, Parameters, Plan, Public, Rate, Request, Rule, Rules, SamplingDelta, Scheme, Thinning,
    parameters, sample, sampling_delta,
};
