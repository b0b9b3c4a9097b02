//! Krimp: code tables, tables drawn from them, and dependent code trees.
//!
//! * `code_table`: code tables, models and their sizes; `fit`: the arguments that all fitting functions share.
//! * `generate`: rows drawn from a model; `reject`: itemsets that no drawn row may contain.
//! * `tree`: code trees, plain and private.

crate::method::family! {
    code_table,
    generate,
    tree,
}

pub mod fit;
pub mod reject;
