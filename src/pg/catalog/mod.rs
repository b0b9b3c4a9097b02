//! The system catalogs read as data: nothing is opened, planned or evaluated.
//!
//! * [`relation`]: a relation and its columns. [`keys`]: keys and foreign keys. [`check_constraints`]: constants in CHECKs.
//! * [`types`]: which types a private query may touch. [`view_tree`]: the parse trees of views.
//! * [`rights`]: whose rights a piece of work has. [`lookup`]: tables that the caller did not name.
//! * `syscache`: rows of the system caches.

pub mod check_constraints;
pub mod keys;
pub mod lookup;
pub mod relation;
pub mod rights;
pub(in crate::pg) mod syscache;
pub mod types;
pub mod view_tree;
