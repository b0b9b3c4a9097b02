//! Tables drawn from dependent code trees, privately or not.
//!
//! `plain` reads a relation as it is; `private` randomises its cells first and uses only these. This file has what both
//! share: arguments, and drawing rows from a tree.

mod plain;
mod private;

use crate::api::prelude::*;
use crate::api::shared::drawing::{draw_rows, step};
use krimp::{CodeTree, TreeGenerator, Walk};
use random::Key;

const TREE_THRESHOLD: Argument<Option<f64>> = Argument::optional("tree_threshold", Type::Float8, |given| {
    let hint = "tree_threshold is a share of the rows: 0 or more, and less than 1.";
    given.if_fitting(|share: f64| (0.0..1.0).contains(&share), hint)
})
.about("The share of the rows that patterns must occur together in more than to be joined in the tree; min_share if it is left out.");

const GENERATOR: Argument<Walk> = Argument::choice("generator")
    .or("\"backoff\"")
    .about("How rows go through the tree: 'backoff', the longest path that fits decides, or 'literal', as published.");

/// Draws rows and passes them on; `held` is the number of bytes that the call already holds.
fn draw(
    tree: &CodeTree,
    walk: Walk,
    n: u64,
    key: &Key,
    held: u64,
    emit: impl FnMut(&[u32]),
) -> Result<()> {
    let width = tree.width();
    // The generator holds a second form of the tree.
    let held = held + 2 * tree.memory();
    let generator = pool::run("generating", held, |watch| TreeGenerator::new(tree, walk, watch))?;
    let stream = |chunk| key.stream(chunk);
    let part = |start, rows, watch: &Watch| generator.rows(start, rows, stream, watch);
    draw_rows(held + generator.memory(), width, n, step(width, TreeGenerator::CHUNK), part, emit)
}

methods! {
    sanitize_code_tree => plain::CODE_TREE;
    sanitize_code_tree_generate => plain::CODE_TREE_GENERATE;
    sanitize_private_krimp_generate => private::PRIVATE_KRIMP_GENERATE;
}
