//! Cells that are randomised, and what can be learned from them.

use crate::method::methods;

methods! {}
