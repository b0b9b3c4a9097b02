//! Tables drawn from dependent code trees, privately or not.
//!
//! `plain` reads a relation as it is, `private` randomises its cells first and sees nothing else. Here is
//! what both have: arguments, and rows drawn from a tree.

mod plain;
mod private;

use super::arguments::{COLUMNS, choice, number};
use crate::method::methods;
use crate::pg::argument::{Argument, Given, Type};
use crate::pg::call::Call;
use crate::pg::error::Error;
use crate::pg::pool::{self, Sender};
use crate::pg::relation::Relation;
use krimp::{CodeTree, TreeGenerator, Walk};
use random::Key;
use table::Watch;

/// Cells that are drawn at a time: 16 MB of codes.
const CELLS: usize = 4 << 20;

/// Rows that are drawn at a time; a multiple of the rows that share a stream of random numbers.
const ROWS: u64 = 1 << 16;

const N: Argument<u64> = Argument {
    name: "n",
    of: Type::Int8,
    default: None,
    about: "How many rows are wanted.",
    read: |given| {
        let n = given.needed(given.int8()?)?;
        u64::try_from(n).map_err(|_| given.refuse(n, "n is a number of rows: 0 or more."))
    },
};

const CLASS: Argument<Option<String>> = Argument {
    name: "class",
    of: Type::Text,
    default: Some("null"),
    about: "A column by whose values rows are modelled and drawn apart.",
    read: |given| given.text(),
};

/// A share of the rows that has to be given.
const MIN_SUPPORT: Argument<f64> = Argument {
    name: "min_support",
    of: Type::Float8,
    default: None,
    about: "The share of the rows that must have what counts as frequent.",
    read: min_support,
};

/// The same, where a tenth will do.
const MIN_SUPPORT_OR_TENTH: Argument<f64> = Argument { default: Some("0.1"), ..MIN_SUPPORT };

fn min_support(given: &Given<'_>) -> Result<f64, Error> {
    let share = number(given)?;
    if share > 0.0 && share <= 1.0 {
        return Ok(share);
    }
    Err(given.refuse(share, "min_support is a share of the rows: above 0, and at most 1."))
}

const TREE_THRESHOLD: Argument<Option<f64>> = Argument {
    name: "tree_threshold",
    of: Type::Float8,
    default: Some("null"),
    about: "The share of the rows that patterns must occur together in more than to be joined in the tree; min_support if it is left out.",
    read: |given| match given.float8()? {
        Some(share) if !(0.0..1.0).contains(&share) => {
            Err(given.refuse(share, "tree_threshold is a share of the rows: 0 or more, and less than 1."))
        }
        share => Ok(share),
    },
};

const GENERATOR: Argument<Walk> = Argument {
    name: "generator",
    of: Type::Text,
    default: Some("\"backoff\""),
    about: "How rows go through the tree: 'backoff', the longest path that fits decides, or 'literal', as published.",
    read: choice,
};

/// Draws rows and hands them on; `held` are the bytes that the call holds already.
fn draw(
    tree: &CodeTree,
    walk: Walk,
    n: u64,
    key: &Key,
    held: u64,
    mut emit: impl FnMut(&[u32]),
) -> Result<(), Error> {
    const CHUNK: u64 = TreeGenerator::CHUNK;
    let width = tree.width();
    let step = (CELLS as u64 / width.max(1) as u64 / CHUNK * CHUNK).clamp(CHUNK, ROWS);
    // One part is drawn, one waits, one is handed on; the generator has the tree in a form of its own.
    let parts = 4 * step.min(n) * width as u64 * size_of::<u32>() as u64;
    let held = held + 2 * tree.memory() + parts;
    let drawing = |_: &Watch| String::from("rows are drawn");
    let job = |watch: &Watch, sender: &Sender<(), Vec<u32>>| {
        let generator = TreeGenerator::new(tree, walk, watch)?;
        let mut start = 0;
        while start < n {
            let rows = step.min(n - start);
            let stream = |chunk| key.stream(chunk);
            sender.send(generator.rows(start, rows as usize, stream, watch)?)?;
            start += rows;
        }
        Ok(())
    };
    pool::run_sending("generating", held, drawing, job, |cells| {
        cells.chunks_exact(width.max(1)).for_each(&mut emit);
    })
}

/// Where a relation has the columns of a call: those that are drawn, and after them the class, if any.
fn columns_and_class(call: &Call, relation: &Relation) -> Result<(Vec<usize>, bool), Error> {
    let names = call.get(&COLUMNS)?;
    let class = call.get(&CLASS)?.map(|name| relation.position(&name)).transpose()?;
    let mut columns = relation.positions("columns", names.as_deref())?;
    columns.retain(|&position| Some(position) != class);
    if columns.is_empty() {
        return Err(Error::argument(
            "no column is left beside the class",
            "Name further columns, or leave class out.",
        ));
    }
    columns.extend(class);
    Ok((columns, class.is_some()))
}

methods! {
    sanitize_code_tree => plain::CODE_TREE;
    sanitize_code_tree_generate => plain::CODE_TREE_GENERATE;
    sanitize_private_krimp_generate => private::PRIVATE_KRIMP_GENERATE;
}
