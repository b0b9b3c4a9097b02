//! Krimp: candidates enter the code table if they make the total size smaller.

use crate::code_table::{CodeTable, Ended};
use crate::columns::with_width;
use crate::cover::{Cover, Scratch};
use crate::ground::Ground;
use crate::options::{Candidates, Nulls, Options};
use crate::pairs;
use crate::prune::prune;
use crate::size::TOLERANCE;
use crate::{Error, Progress};
use mining::{Kind, Run};
use rayon::prelude::*;
use std::borrow::Cow;
use std::sync::{Mutex, PoisonError};
use table::{Bag, Item, Stop, Watch};

/// Candidates that are fetched together.
const BLOCK: usize = 1 << 14;

/// Candidates that a thread evaluates before it looks at the watch.
const STEP: usize = 256;

/// Fits a code table to a bag (Siebes, Vreeken and van Leeuwen, Item sets that compress).
///
/// Beginning with the singletons, each candidate in candidate order (support descending, length
/// descending, item order) is inserted and kept if the total size of data and table strictly
/// falls. With [`Candidates::Pairs`] candidates are made on the way, in the order of what they are
/// estimated to save. The result does not depend on the number of threads, unless time ends it.
pub fn fit(
    bag: &Bag,
    options: &Options,
    watch: &Watch,
    progress: &Progress,
) -> Result<CodeTable, Error> {
    with_width!(bag.width(), W => fit_width::<W>(bag, options, watch, progress))
}

/// The bag in which items are what the options call items, and the codes that NULL got.
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
        Candidates::All => Kind::All,
        Candidates::Closed => Kind::Closed,
        Candidates::Pairs => return fit_pairs::<W>(&bag, null_codes, options, watch, progress),
    };
    let allowed = |items: &[Item]| options.allows(items);
    let (min_support, max_length) = (options.min_support, options.max_length);
    let candidates = mining::candidates(&bag, kind, min_support, max_length, allowed, watch)?;
    progress.begin(candidates.len() as u64);
    watch.begin(candidates.len() as u64);
    let ground = Ground::new(&bag, watch)?;
    let longest = candidates.runs().iter().map(|run| run.length).max().unwrap_or(1);
    let cover: Cover<'_, W> = Cover::new(&ground, longest, watch)?;
    let mut search = Search {
        numbers: candidates.items().iter().map(|&item| ground.number(item)).collect(),
        standard: ground.standard_bits(),
        size: ground.standard_bits(),
        cover,
        accepted: 0,
        window: 2 * STEP,
        scratches: Mutex::default(),
        options,
        watch,
        progress,
    };
    for run in candidates.runs() {
        search.run(&candidates, run)?;
    }
    let counts = (Ended::Complete, candidates.len() as u64, search.accepted);
    let table = CodeTable::new(&search.cover, &bag, null_codes, counts);
    watch.release(candidates.reserved() + ground.reserved() + search.cover.reserved());
    Ok(table)
}

fn fit_pairs<const W: usize>(
    bag: &Bag,
    null_codes: Vec<Option<u32>>,
    options: &Options,
    watch: &Watch,
    progress: &Progress,
) -> Result<CodeTable, Error> {
    progress.begin(0);
    watch.begin(0);
    let ground = Ground::new(bag, watch)?;
    let longest = ground.width.min(options.max_length.unwrap_or(usize::MAX));
    let mut cover: Cover<'_, W> = Cover::new(&ground, longest, watch)?;
    let counts = pairs::search(&mut cover, options, watch, progress)?;
    let table = CodeTable::new(&cover, bag, null_codes, counts);
    watch.release(ground.reserved() + cover.reserved());
    Ok(table)
}

/// A fit under way.
struct Search<'a, const W: usize> {
    cover: Cover<'a, W>,
    /// The item number of each number that the candidates use.
    numbers: Vec<u32>,
    /// The size in bits under singletons, and now.
    standard: f64,
    size: f64,
    accepted: u64,
    /// Candidates to look at before the next one enters, as far as can be foreseen.
    window: usize,
    /// What threads evaluate with, kept from window to window.
    scratches: Mutex<Vec<Scratch>>,
    options: &'a Options,
    watch: &'a Watch,
    progress: &'a Progress,
}

impl<const W: usize> Search<'_, W> {
    /// Tries the candidates of a run in order.
    fn run(&mut self, candidates: &mining::Candidates, run: &Run) -> Result<(), Stop> {
        let mut items = Vec::new();
        for start in (run.start..run.end).step_by(BLOCK) {
            let end = run.end.min(start + BLOCK);
            candidates.write(run, start, end, &mut items);
            items.iter_mut().for_each(|item| *item = self.numbers[*item as usize]);
            let mut rest = items.as_slice();
            while !rest.is_empty() {
                let (window, after) = rest.split_at(rest.len().min(self.window * run.length));
                if let Some((first, bits)) = self.first_accepted(run, window)? {
                    let candidate = first * run.length..(first + 1) * run.length;
                    rest = &rest[candidate.end..];
                    self.accept(&window[candidate], run.support, bits)?;
                    self.window = (self.window / 2).max(2 * STEP);
                } else {
                    rest = after;
                    self.window = (self.window * 2).min(BLOCK);
                }
            }
            self.progress.seen((end - start) as u64);
            self.watch.advance((end - start) as u64);
        }
        Ok(())
    }

    /// The first of the candidates that makes the total size smaller, and by how much.
    ///
    /// Threads look at parts of the list, against the table as it is: what they found out about
    /// candidates after the first one that enters is lost.
    fn first_accepted(&self, run: &Run, items: &[u32]) -> Result<Option<(usize, f64)>, Stop> {
        let evaluate = |(part, items): (usize, &[u32])| {
            let mut scratch = self
                .scratches
                .lock()
                .unwrap_or_else(PoisonError::into_inner)
                .pop()
                .unwrap_or_default();
            let found = self.first_in_part(run, items, &mut scratch);
            self.scratches.lock().unwrap_or_else(PoisonError::into_inner).push(scratch);
            match found {
                Ok(None) => None,
                Ok(Some((i, bits))) => Some(Ok((part * STEP + i, bits))),
                Err(stop) => Some(Err(stop)),
            }
        };
        let parts = STEP * run.length;
        let found = if rayon::current_num_threads() == 1 || items.len() <= parts {
            items.chunks(parts).enumerate().find_map(evaluate)
        } else {
            items.par_chunks(parts).enumerate().find_map_first(evaluate)
        };
        found.transpose()
    }

    fn first_in_part(
        &self,
        run: &Run,
        items: &[u32],
        scratch: &mut Scratch,
    ) -> Result<Option<(usize, f64)>, Stop> {
        self.watch.check()?;
        let rank = self.cover.elements.after_length(run.length);
        for (i, candidate) in items.chunks_exact(run.length).enumerate() {
            if let Some(bits) =
                self.cover.try_insert(candidate, rank, run.length, self.watch, scratch)?
                && bits < -TOLERANCE
            {
                return Ok(Some((i, bits)));
            }
        }
        Ok(None)
    }

    /// Lets a candidate enter that makes the size grow by `bits`.
    fn accept(&mut self, items: &[u32], support: u64, bits: f64) -> Result<(), Stop> {
        let element = self.cover.element(items, support);
        let fell = self.cover.insert(element, items.len(), &mut ());
        self.size += bits;
        if self.options.prune {
            let mut scratch = Scratch::default();
            self.size += prune(&mut self.cover, fell, self.watch, &mut scratch, &mut ())?;
        }
        self.accepted += 1;
        let ratio = if self.standard > 0.0 { self.size / self.standard } else { 1.0 };
        self.progress.accepted(self.cover.elements.len(), ratio);
        Ok(())
    }
}
