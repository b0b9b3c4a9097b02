//! Columns shuffled in groups.

use crate::method::methods;

methods! {}
