//! Releases of a table's own rows: cells blanked, shown at a coarser level, or shuffled.
//!
//! * `suppression`: MII suppression, k-MII and imputation.
//! * `k_anonymize`, and `curve`, which previews its cost for several k.
//! * `generalize`: whole columns at a level of their hierarchies, and what that loses.
//! * `hierarchy`: declared and proposed levels of columns; `levels` reads them as arguments.
//! * `hide`: named itemsets made infrequent. `shuffle`: groups of columns put into random orders.

crate::method::family! {
    curve,
    generalize,
    hide,
    hierarchy,
    k_anonymize,
    shuffle,
    suppression,
}

pub mod levels;
