//! Draws rows from a code tree.

use crate::thread_buffers::ThreadBuffers;
use crate::tree::backoff::Backoff;
use crate::tree::code_tree::CodeTree;
use crate::tree::literal::{Literal, Pools};
use rand::Rng;
use rayon::prelude::*;
use table::{Choice, NONE, Stop, Watch};

/// The number of rows between two polls of the watch.
const STEP: usize = 256;

/// The method by which a row is drawn from the tree.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Walk {
    /// Column by column: the longest path that the row contains so far decides, what it leaves open goes to the next
    /// longest, and so on to the root.
    #[default]
    Backoff,
    /// As published: nodes wait in pools of their columns, where the root is drawn as often as each.
    Literal,
}

impl Choice for Walk {
    const NAMES: &'static [(&'static str, Self)] =
        &[("backoff", Walk::Backoff), ("literal", Walk::Literal)];
}

/// Draws rows from a [`CodeTree`].
pub struct TreeGenerator {
    width: usize,
    walk: Prepared,
}

enum Prepared {
    Backoff(Backoff),
    Literal(Literal, ThreadBuffers<Pools>),
}

impl TreeGenerator {
    /// The number of rows that share one stream of random numbers.
    pub const CHUNK: u64 = crate::Generator::CHUNK;

    /// A generator of rows with the tree's columns.
    pub fn new(tree: &CodeTree, walk: Walk, watch: &Watch) -> Result<Self, Stop> {
        let prepared = match walk {
            Walk::Backoff => Prepared::Backoff(Backoff::new(tree, watch)?),
            Walk::Literal => Prepared::Literal(Literal::new(tree), ThreadBuffers::default()),
        };
        Ok(TreeGenerator { width: tree.width(), walk: prepared })
    }

    /// The bytes held in addition to the tree, while rows are drawn.
    pub fn memory(&self) -> u64 {
        match &self.walk {
            Prepared::Backoff(walk) => walk.memory,
            Prepared::Literal(..) => 0,
        }
    }

    /// The rows from number `start` on, a cell per column: a code, or [`NONE`] for NULL.
    ///
    /// Rows are numbered, and chunk `c` of them is drawn from the random numbers `stream(c)`: the same streams give the
    /// same rows for any number of threads and of rows per call. Calls from a multiple of [`TreeGenerator::CHUNK`] on
    /// waste no work.
    pub fn rows<R: Rng>(
        &self,
        start: u64,
        rows: usize,
        stream: impl Fn(u64) -> R + Sync,
        watch: &Watch,
    ) -> Result<Vec<u32>, Stop> {
        let end = start.saturating_add(rows as u64);
        let chunks =
            (start / Self::CHUNK..end.div_ceil(Self::CHUNK)).into_par_iter().map(|chunk| {
                let first = chunk * Self::CHUNK;
                let last = end.min(first.saturating_add(Self::CHUNK));
                let mut rng = stream(chunk);
                let cells = match &self.walk {
                    Prepared::Backoff(walk) => walk.scratch.with(|scratch| {
                        self.chunk(first..last, watch, |row| walk.row(row, scratch, &mut rng))
                    }),
                    Prepared::Literal(walk, pools) => pools.with(|pools| {
                        self.chunk(first..last, watch, |row| walk.row(row, pools, &mut rng))
                    }),
                }?;
                let skipped = start.saturating_sub(first) as usize * self.width;
                Ok((cells, skipped))
            });
        let chunks = chunks.collect::<Result<Vec<_>, Stop>>()?;
        let mut all = Vec::with_capacity(rows * self.width);
        chunks.iter().for_each(|(cells, skipped)| all.extend_from_slice(&cells[*skipped..]));
        Ok(all)
    }

    fn chunk(
        &self,
        rows: std::ops::Range<u64>,
        watch: &Watch,
        mut draw: impl FnMut(&mut [u32]),
    ) -> Result<Vec<u32>, Stop> {
        let mut cells = vec![NONE; (rows.end - rows.start) as usize * self.width];
        for (i, row) in cells.chunks_exact_mut(self.width.max(1)).enumerate() {
            watch.poll_every(STEP, i)?;
            draw(row);
        }
        Ok(cells)
    }
}
