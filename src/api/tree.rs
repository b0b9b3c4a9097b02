//! Tables drawn from dependent code trees, privately or not.

use crate::method::methods;

methods! {}
