//! Krimp: candidates enter the code table if they make the total size smaller.
//!
//! This file tries a list of candidates in order, with several threads. `unions` makes candidates of the `pairs` that
//! often cover a row together, whose changes `pair_changes` adds up; `prune` removes elements that are no longer
//! worth their bits; `code_table` is the result, `options` has the parameters, `progress` the counters for the
//! caller.

mod code_table;
mod options;
mod pair_changes;
mod pairs;
mod progress;
mod prune;
mod unions;

pub use code_table::{CodeTable, Element, Ended};
pub use options::{Candidates, Forbidden, Nulls, Options};
pub use progress::{Progress, Snapshot};

use crate::Error;
use crate::cover::columns::with_width;
use crate::cover::item_rows::ItemRows;
use crate::cover::size::{TOLERANCE, share_of};
use crate::cover::{Cover, Scratch};
use crate::thread_buffers::{ThreadBuffers, lock};
use mining::{CandidateKind, CandidateList};
use prune::prune;
use std::borrow::Cow;
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};
use std::sync::{Mutex, PoisonError};
use std::time::Instant;
use table::{Bag, Item, Itemsets, Stop, Watch};

/// The number of candidates that a thread evaluates before it polls the watch and looks at the results of others.
const STEP: usize = 256;

/// The number of candidates that threads share before progress is reported. It covers several runs of equal support
/// and length: half of the time goes to runs that are too short to be shared one by one.
const WINDOW: usize = 1 << 14;

/// Fits a code table to a bag (Siebes, Vreeken and van Leeuwen, Item sets that compress).
///
/// Beginning with the singletons, each candidate in candidate order (support descending, length descending, item
/// order) is inserted and kept if the total size of data and table strictly falls. With [`Candidates::Pairs`]
/// candidates are made during the search, in the order of their estimated savings. The result does not depend on the
/// number of threads, unless the time limit ends it.
pub fn fit(
    bag: &Bag,
    options: &Options,
    watch: &Watch,
    progress: &Progress,
) -> Result<CodeTable, Error> {
    with_width!(bag.width(), W => fit_width::<W>(bag, options, watch, progress))
}

/// The bag in which items are as the options define them, and the codes of NULL.
pub(crate) fn itemised<'a>(bag: &'a Bag, nulls: Nulls) -> (Cow<'a, Bag>, Vec<Option<u32>>) {
    match nulls {
        Nulls::Missing => (Cow::Borrowed(bag), vec![None; bag.width()]),
        Nulls::Value => {
            let (bag, codes) = bag.with_null_items();
            (Cow::Owned(bag), codes)
        }
    }
}

fn fit_width<const W: usize>(
    bag: &Bag,
    options: &Options,
    watch: &Watch,
    progress: &Progress,
) -> Result<CodeTable, Error> {
    let (bag, null_codes) = itemised(bag, options.nulls);
    let kind = match options.candidates {
        Candidates::All => CandidateKind::All,
        Candidates::Closed => CandidateKind::Closed,
        Candidates::Pairs => return fit_pairs::<W>(&bag, null_codes, options, watch, progress),
    };
    let allowed = |items: &[Item]| options.allows(items);
    let (min_support, max_length) = (options.min_support, options.max_length);
    let candidates = mining::candidates(&bag, kind, min_support, max_length, allowed, watch)?;
    fit_list::<W>(&bag, null_codes, candidates, options, watch, progress)
}

/// Fits a code table to a bag with these candidates, which all occur in it. NULL is no item.
pub(crate) fn fit_candidates(
    bag: &Bag,
    sets: &Itemsets,
    watch: &Watch,
    progress: &Progress,
) -> Result<CodeTable, Error> {
    let candidates = mining::candidates_of(sets, bag.width(), watch)?;
    let (nulls, options) = (vec![None; bag.width()], Options::new(1));
    with_width!(bag.width(), W => {
        fit_list::<W>(bag, nulls, candidates, &options, watch, progress)
    })
}

fn fit_list<const W: usize>(
    bag: &Bag,
    null_codes: Vec<Option<u32>>,
    candidates: CandidateList,
    options: &Options,
    watch: &Watch,
    progress: &Progress,
) -> Result<CodeTable, Error> {
    progress.begin(candidates.len() as u64);
    watch.begin(candidates.len() as u64);
    let ground = ItemRows::new(bag, watch)?;
    let longest = candidates.runs().iter().map(|run| run.length).max().unwrap_or(1);
    let cover: Cover<'_, W> = Cover::new(&ground, longest, watch)?;
    let mut search = Search {
        numbers: candidates.items().iter().map(|&item| ground.number(item)).collect(),
        standard: ground.standard_bits(),
        size: ground.standard_bits(),
        cover,
        candidates: &candidates,
        accepted: 0,
        workers: ThreadBuffers::default(),
        options,
        watch,
        progress,
    };
    search.run()?;
    let counts = (Ended::Complete, candidates.len() as u64, search.accepted);
    let table = CodeTable::new(&search.cover, bag, null_codes, counts);
    watch.release(candidates.reserved());
    Ok(table)
}

fn fit_pairs<const W: usize>(
    bag: &Bag,
    null_codes: Vec<Option<u32>>,
    options: &Options,
    watch: &Watch,
    progress: &Progress,
) -> Result<CodeTable, Error> {
    // A time beyond the range of clocks is no limit.
    let deadline = options.time.and_then(|time| Instant::now().checked_add(time));
    progress.begin(0);
    watch.begin(0);
    let ground = ItemRows::new(bag, watch)?;
    let longest = ground.width.min(options.max_length.unwrap_or(usize::MAX));
    let mut cover: Cover<'_, W> = Cover::new(&ground, longest, watch)?;
    let counts = unions::search(&mut cover, options, deadline, watch, progress)?;
    Ok(CodeTable::new(&cover, bag, null_codes, counts))
}

/// The state of a fit.
struct Search<'a, const W: usize> {
    cover: Cover<'a, W>,
    candidates: &'a CandidateList,
    /// The item number of each number that the candidates use.
    numbers: Vec<u32>,
    /// The size in bits with singletons only, and now.
    standard: f64,
    size: f64,
    accepted: u64,
    workers: ThreadBuffers<Worker>,
    options: &'a Options,
    watch: &'a Watch,
    progress: &'a Progress,
}

/// The buffers of a thread that evaluates, kept for the next time.
#[derive(Default)]
struct Worker {
    scratch: Scratch,
    items: Vec<u32>,
}

/// A candidate that makes the total size smaller: its place in candidate order, its items, and the bits by which the
/// size grows.
struct Accepted {
    place: usize,
    items: Vec<u32>,
    support: u64,
    bits: f64,
}

impl<const W: usize> Search<'_, W> {
    /// Tries all candidates in order.
    fn run(&mut self) -> Result<(), Stop> {
        let mut start = 0;
        // If several candidates in a hundred enter, waking other threads takes longer than finding the next one
        // alone.
        let mut window = STEP;
        while start < self.candidates.len() {
            let end = self.candidates.len().min(start + window);
            let next = match self.first_accepted(start, end)? {
                Some(accepted) => {
                    window = STEP;
                    let next = accepted.place + 1;
                    self.accept(accepted)?;
                    next
                }
                None => {
                    window = WINDOW;
                    end
                }
            };
            self.progress.seen((next - start) as u64);
            self.watch.advance((next - start) as u64);
            start = next;
        }
        Ok(())
    }

    /// The first of the candidates `start..end` that makes the total size smaller.
    ///
    /// Threads take small steps in turn and evaluate them against the current table. Results for candidates after the
    /// first one that enters are lost: at most one step each.
    fn first_accepted(&self, start: usize, end: usize) -> Result<Option<Accepted>, Stop> {
        let threads = rayon::current_num_threads().min((end - start) / STEP);
        let next = AtomicUsize::new(start);
        let end = AtomicUsize::new(end);
        let first: Mutex<Result<Option<Accepted>, Stop>> = Mutex::new(Ok(None));
        let work = |worker: &mut Worker| {
            loop {
                let step = next.fetch_add(STEP, Relaxed);
                let last = end.load(Relaxed);
                if step >= last {
                    break;
                }
                let found = self.step(step, last.min(step + STEP), worker);
                if !matches!(found, Ok(None)) {
                    // Steps begin in order, so everything before this one is done or in progress.
                    end.fetch_min(step, Relaxed);
                    let mut first = lock(&first);
                    match (&*first, &found) {
                        (Ok(Some(a)), Ok(Some(b))) if a.place < b.place => {}
                        (Err(_), _) => {}
                        _ => *first = found,
                    }
                }
            }
        };
        rayon::scope(|scope| {
            (1..threads).for_each(|_| scope.spawn(|_| self.workers.with(work)));
            self.workers.with(work);
        });
        first.into_inner().unwrap_or_else(PoisonError::into_inner)
    }

    /// [`Search::first_accepted`] by one thread.
    fn step(
        &self,
        start: usize,
        end: usize,
        worker: &mut Worker,
    ) -> Result<Option<Accepted>, Stop> {
        self.watch.check()?;
        let runs = self.candidates.runs();
        let first = runs.partition_point(|run| run.end <= start);
        for run in runs[first..].iter().take_while(|run| run.start < end) {
            let Worker { scratch, items } = worker;
            let start = start.max(run.start);
            self.candidates.write(run, start, end.min(run.end), items);
            items.iter_mut().for_each(|item| *item = self.numbers[*item as usize]);
            let rank = self.cover.elements.after_length(run.length);
            for (i, items) in items.chunks_exact(run.length).enumerate() {
                if let Some(bits) =
                    self.cover.try_insert(items, rank, run.length, self.watch, scratch)?
                    && bits < -TOLERANCE
                {
                    let (place, items) = (start + i, items.to_vec());
                    return Ok(Some(Accepted { place, items, support: run.support, bits }));
                }
            }
        }
        Ok(None)
    }

    /// Inserts a candidate.
    fn accept(&mut self, accepted: Accepted) -> Result<(), Stop> {
        let Accepted { items, support, bits, .. } = accepted;
        let element = self.cover.element(&items, support);
        let fell = self.cover.insert(element, items.len(), &mut ());
        self.size += bits;
        if self.options.prune {
            let mut scratch = Scratch::default();
            self.size += prune(&mut self.cover, fell, self.watch, &mut scratch, &mut ())?;
        }
        self.accepted += 1;
        let ratio = share_of(self.size, self.standard);
        self.progress.now(self.accepted, self.cover.elements.len(), ratio);
        Ok(())
    }
}
