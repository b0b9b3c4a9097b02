//! Values randomised one record at a time, and what can be estimated from them.
//!
//! * `cells`: the cells of a table.
//! * `baskets`: transactions, as lists of items or as seeds.

crate::method::family! {
    baskets,
    cells,
}
