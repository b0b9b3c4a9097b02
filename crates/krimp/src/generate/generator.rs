//! Rows drawn from a model (Vreeken, van Leeuwen and Siebes, Preserving privacy through data
//! generation).
//!
//! A row begins with all columns open. As long as there are any, one of them is chosen. Among the elements that have
//! a value for it and for no closed column, one is drawn with a probability proportional to its usage plus the
//! Laplace correction; its values are assigned and its columns closed. Generated rows carry no guarantee: a model is
//! made of the unprotected data.

use crate::Error;
use crate::cover::columns::{Columns, MAX_COLUMNS, MAX_WORDS};
use crate::generate::alias::Alias;
use crate::generate::correction::Correction;
use crate::generate::reject::Reject;
use crate::model::Model;
use crate::thread_buffers::ThreadBuffers;
use rand::Rng;
use rayon::prelude::*;
use std::collections::HashMap;
use table::{Item, Keyed, NONE, Watch};

/// The number of draws between two polls of the watch.
const STEP: usize = 256;

/// The number of bytes of lists that a thread keeps before it empties its cache.
const CACHE_BYTES: usize = 64 << 20;

/// Which open column comes next.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum DomainOrder {
    /// Any, all equally likely.
    #[default]
    Random,
    /// The first.
    Fixed,
}

/// Rows, as codes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Generated {
    /// Row after row, a cell per column: a position in the column's values, [`NONE`] for NULL.
    pub cells: Vec<u32>,
    /// The number of elements from which the rows were composed.
    pub elements: u64,
}

/// The number of successive rejected rows after which the generator gives up.
const TRIES: u64 = 10_000;

/// Draws rows from a model.
pub struct Generator {
    width: Width,
    reject: Reject,
}

enum Width {
    Narrow(Compiled<1>),
    Medium(Compiled<4>),
    Wide(Compiled<MAX_WORDS>),
}

impl Generator {
    /// The number of rows that share one stream of random numbers.
    pub const CHUNK: u64 = 1 << 12;

    /// A generator of rows with the model's columns.
    ///
    /// The correction may be 0 only if each column has a singleton that is in use.
    pub fn new(model: &Model, correction: &Correction, order: DomainOrder) -> Result<Self, Error> {
        let width = match model.columns.len() {
            0..=64 => Width::Narrow(Compiled::new(model, correction, order)?),
            65..=256 => Width::Medium(Compiled::new(model, correction, order)?),
            257..=MAX_COLUMNS => Width::Wide(Compiled::new(model, correction, order)?),
            columns => return Err(Error::TooWide { columns, limit: MAX_COLUMNS }),
        };
        Ok(Generator { width, reject: Reject::default() })
    }

    /// The same generator, where a row that contains an itemset of `reject` is drawn again: rows then have the
    /// model's law on condition that they contain none.
    pub fn rejecting(self, reject: Reject) -> Self {
        Generator { reject, ..self }
    }

    /// The rows from number `start` on.
    ///
    /// Rows are numbered, and chunk `c` of them is drawn from the random numbers `stream(c)`: the same streams give the
    /// same rows for any number of threads and of rows per call. Calls from a multiple of [`Generator::CHUNK`] on waste
    /// no work. Fails if 10,000 successive draws are rejected.
    pub fn rows<R: Rng>(
        &self,
        start: u64,
        rows: usize,
        stream: impl Fn(u64) -> R + Sync,
        watch: &Watch,
    ) -> Result<Generated, Error> {
        let reject = &self.reject;
        match &self.width {
            Width::Narrow(compiled) => compiled.rows(start, rows, reject, stream, watch),
            Width::Medium(compiled) => compiled.rows(start, rows, reject, stream, watch),
            Width::Wide(compiled) => compiled.rows(start, rows, reject, stream, watch),
        }
    }
}

/// An element and its weight.
struct WeightedElement<const W: usize> {
    columns: Columns<W>,
    /// NULL has the code [`NONE`].
    items: Vec<Item>,
    weight: f64,
}

/// A model prepared for drawing.
struct Compiled<const W: usize> {
    width: usize,
    order: DomainOrder,
    parts: Vec<WeightedElement<W>>,
    /// By column: the elements that have a value for it.
    by_column: Vec<Vec<u32>>,
    /// The columns that have any values, NULL included.
    filled: Columns<W>,
    caches: ThreadBuffers<Cache<W>>,
}

/// By closed columns and the column to be filled: the elements that can be drawn.
///
/// The result of a draw depends on the random number alone and not on the contents of this cache.
#[derive(Default)]
struct Cache<const W: usize> {
    lists: HashMap<(Columns<W>, u32), Alias, Keyed>,
    bytes: usize,
}

impl<const W: usize> Compiled<W> {
    fn new(model: &Model, correction: &Correction, order: DomainOrder) -> Result<Self, Error> {
        let mut parts = Vec::new();
        for pattern in &model.patterns {
            let correction =
                pattern.items.iter().map(|item| correction.of(item)).fold(0.0, f64::max);
            parts.push(WeightedElement {
                columns: pattern.items.iter().map(|item| item.column as usize).collect(),
                items: pattern.items.clone(),
                weight: pattern.usage as f64 + correction,
            });
        }
        let mut filled = Columns::EMPTY;
        for (column, known) in model.columns.iter().enumerate() {
            let mut sum = 0.0;
            let codes = known.usages.iter().enumerate().map(|(code, &usage)| (code as u32, usage));
            let missing = (known.nulls > 0).then_some((NONE, known.nulls));
            for (code, usage) in codes.chain(missing) {
                let item = Item { column: column as u32, code };
                let weight = usage as f64 + correction.of(&item);
                sum += weight;
                filled.insert(column);
                parts.push(WeightedElement {
                    columns: [column].into_iter().collect(),
                    items: vec![item],
                    weight,
                });
            }
            if filled.has(column) && sum == 0.0 {
                return Err(Error::Correction { value: 0.0 });
            }
        }
        let mut by_column = vec![Vec::new(); model.columns.len()];
        for (number, part) in parts.iter_mut().enumerate() {
            for item in &mut part.items {
                by_column[item.column as usize].push(number as u32);
                if Some(item.code) == model.columns[item.column as usize].null_code() {
                    item.code = NONE;
                }
            }
        }
        let caches = ThreadBuffers::default();
        Ok(Compiled { width: model.columns.len(), order, parts, by_column, filled, caches })
    }

    fn rows<R: Rng>(
        &self,
        start: u64,
        rows: usize,
        reject: &Reject,
        stream: impl Fn(u64) -> R + Sync,
        watch: &Watch,
    ) -> Result<Generated, Error> {
        let end = start.saturating_add(rows as u64);
        let chunks = (start / Generator::CHUNK..end.div_ceil(Generator::CHUNK))
            .into_par_iter()
            .map(|chunk| {
                let first = chunk * Generator::CHUNK;
                let last = end.min(first.saturating_add(Generator::CHUNK));
                let mut part = Generated { cells: Vec::new(), elements: 0 };
                let mut row = vec![NONE; self.width];
                let mut rng = stream(chunk);
                let mut draws = 0;
                self.caches.with(|cache| {
                    for number in first..last {
                        let mut tries = 0;
                        let elements = loop {
                            watch.poll_every(STEP, draws)?;
                            draws += 1;
                            let elements = self.row(&mut row, cache, &mut rng);
                            if !reject.contained(&row) {
                                break elements;
                            }
                            tries += 1;
                            if tries == TRIES {
                                return Err(Error::Rejected { tries });
                            }
                        };
                        if number >= start {
                            part.cells.extend_from_slice(&row);
                            part.elements += elements;
                        }
                    }
                    Ok(part)
                })
            });
        let parts = chunks.collect::<Result<Vec<_>, Error>>()?;
        let cells = parts.iter().map(|part| part.cells.len()).sum();
        let mut all = Generated { cells: Vec::with_capacity(cells), elements: 0 };
        for part in parts {
            all.cells.extend_from_slice(&part.cells);
            all.elements += part.elements;
        }
        Ok(all)
    }

    /// Draws a row; returns the number of elements in it.
    fn row<R: Rng>(&self, row: &mut [u32], cache: &mut Cache<W>, rng: &mut R) -> u64 {
        row.fill(NONE);
        let mut open = self.filled;
        let mut elements = 0;
        while !open.is_empty() {
            let choice = match self.order {
                DomainOrder::Random => {
                    ((u128::from(rng.next_u64()) * open.len() as u128) >> 64) as usize
                }
                DomainOrder::Fixed => 0,
            };
            let part = &self.parts[self.draw(open, open.nth(choice), cache, rng.next_u64())];
            for item in &part.items {
                row[item.column as usize] = item.code;
            }
            open = open.minus(&part.columns);
            elements += 1;
        }
        elements
    }

    /// The element that a random word selects for a column.
    #[inline]
    fn draw(&self, open: Columns<W>, column: usize, cache: &mut Cache<W>, word: u64) -> usize {
        let key = (open, column as u32);
        if let Some(list) = cache.lists.get(&key) {
            return list.pick(word) as usize;
        }
        let eligible = self.eligible(open, column);
        let list = Alias::new(&eligible);
        let part = list.pick(word) as usize;
        let bytes = Alias::bytes(eligible.len()) + size_of::<(Columns<W>, u32, Alias)>();
        if cache.bytes + bytes > CACHE_BYTES {
            *cache = Cache::default();
        }
        cache.bytes += bytes;
        cache.lists.insert(key, list);
        part
    }

    /// The elements that have a value for a column and for no closed one, with their weights.
    fn eligible(&self, open: Columns<W>, column: usize) -> Vec<(u32, f64)> {
        let parts = self.by_column[column].iter();
        let fitting = parts.filter(|&&part| open.contains(&self.parts[part as usize].columns));
        fitting.map(|&part| (part, self.parts[part as usize].weight)).collect()
    }
}

#[cfg(test)]
#[path = "tests.rs"]
mod tests;
