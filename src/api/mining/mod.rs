//! Mining: what makes rows stand out, and what many rows share.
//!
//! * `itemsets`: minimal infrequent itemsets, risk by value, frequent itemsets, orthogonal arrays.
//! * `bag`: the type `sanitize.bag` and the parallel aggregates that build bags.

crate::method::family! {
    bag,
    itemsets,
}
