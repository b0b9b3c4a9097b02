//! Itemsets that are drawn privately.

use crate::method::methods;

methods! {}
