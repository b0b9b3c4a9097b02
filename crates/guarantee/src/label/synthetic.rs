//! The label of tables drawn from noisy marginals.
