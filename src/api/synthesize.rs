//! Synthetic tables from noisy marginals.

use crate::method::methods;

methods! {}
