//! A model prepared to cover the rows of a bag, which may have values that the model does not have.

use crate::cover::columns::Columns;
use crate::cover::elements::{Element, Elements};
use crate::model::{Data, Model};
use crate::{Error, Nulls};
use rayon::prelude::*;
use std::collections::HashMap;
use std::ops::Range;
use table::{Bag, NONE, Stop, Watch};

/// The number of rows that a thread covers before it polls the watch.
const STEP: usize = 1 << 12;

/// The elements of a model, and the bag that they are to cover.
///
/// Elements are numbered: the model's values column by column, then the items of the bag that the
/// model does not have, then the patterns in cover order.
pub(super) struct Covering<'a, const W: usize> {
    pub(super) bag: &'a Bag,
    pub(super) translation: Translation,
    patterns: Elements<W>,
    /// Number of singletons, unseen ones included.
    items: usize,
}

impl<'a, const W: usize> Covering<'a, W> {
    pub(super) fn new(model: &Model, data: Data<'a>) -> Result<Self, Error> {
        let bag = data.bag();
        let mut translation = Translation::new(model, data)?;
        translation.column_of.extend(&translation.unseen);
        let items = translation.column_of.len();
        let mut patterns = Elements::new(model.columns.len(), &translation.column_of);
        let starts = model.starts();
        for pattern in &model.patterns {
            patterns.insert(Element {
                items: pattern.items.iter().map(|i| starts[i.column as usize] + i.code).collect(),
                columns: pattern.items.iter().map(|i| i.column as usize).collect(),
                support: pattern.support,
                standard: 0.0,
            });
        }
        Ok(Covering { bag, translation, patterns, items })
    }

    /// Number of elements.
    pub(super) fn elements(&self) -> usize {
        self.items + self.patterns.len()
    }

    /// The distinct rows, in parts for the threads; the caller polls the watch before each part.
    pub(super) fn parts(&self) -> impl IndexedParallelIterator<Item = Range<usize>> + use<W> {
        let rows = self.bag.distinct();
        (0..rows.div_ceil(STEP))
            .into_par_iter()
            .map(move |part| part * STEP..rows.min((part + 1) * STEP))
    }

    /// Calls `row` for each distinct row, on the threads, with its place in `found` and the numbers of the elements
    /// in its cover.
    pub(super) fn each_row<T: Send>(
        &self,
        found: &mut [T],
        watch: &Watch,
        row: impl Fn(usize, &mut T, &[usize]) + Sync,
    ) -> Result<(), Stop> {
        self.parts().zip(found.par_chunks_mut(STEP)).try_for_each(|(part, found)| {
            watch.check()?;
            let first = part.start;
            self.cover(part, |number, taken| row(number, &mut found[number - first], taken));
            Ok(())
        })
    }

    /// Calls `covered` for each of these distinct rows with the numbers of the elements in its cover.
    pub(super) fn cover(&self, rows: Range<usize>, mut covered: impl FnMut(usize, &[usize])) {
        let Translation { numbers, nulls, columns, .. } = &self.translation;
        let mut cells = vec![NONE; columns.len()];
        let (mut offsets, mut taken) = (Vec::new(), Vec::new());
        for row in rows {
            taken.clear();
            let codes = self.bag.row(row);
            for (cell, &column) in cells.iter_mut().zip(columns) {
                *cell = match codes[column] {
                    NONE => nulls[column],
                    code => numbers[column][code as usize],
                };
            }
            let filled = cells.iter().enumerate().filter(|&(_, &cell)| cell != NONE);
            let rest: Columns<W> = filled.map(|(column, _)| column).collect();
            let left = self.patterns.cover(&cells, rest, 0, &mut offsets, |slot| {
                taken.push(self.items + self.patterns.rank(slot) as usize);
            });
            taken.extend(left.iter().map(|column| cells[column] as usize));
            covered(row, &taken);
        }
    }
}

/// The usages of a model's elements, numbered as a [`Covering`] with `unseen` unseen items does.
pub(super) fn element_usages(model: &Model, unseen: usize) -> Vec<u64> {
    let singletons = model.columns.iter().flat_map(|column| &column.usages).copied();
    let patterns = model.patterns.iter().map(|pattern| pattern.usage);
    singletons.chain(std::iter::repeat_n(0, unseen)).chain(patterns).collect()
}

/// The items of a bag in the numbers of a model.
pub(super) struct Translation {
    /// By column of the bag and code: the item's number; [`NONE`] for values that no row has.
    numbers: Vec<Vec<u32>>,
    /// By column of the bag: the number of NULL, or [`NONE`] where it is no item.
    nulls: Vec<u32>,
    /// By column of the model: the column of the bag.
    columns: Vec<usize>,
    /// By item of the model: its column.
    column_of: Vec<u32>,
    /// By item that the model does not have, in the order of their numbers: its column.
    pub(super) unseen: Vec<u32>,
    /// The supports of the bag's items.
    pub(super) supports: Vec<u64>,
}

impl Translation {
    fn new(model: &Model, data: Data<'_>) -> Result<Self, Error> {
        let bag = data.bag();
        let width = model.columns.len();
        if bag.width() != width {
            return Err(Error::Columns(format!("{} columns instead of {width}", bag.width())));
        }
        let names: HashMap<&str, usize> =
            bag.domains().iter().enumerate().map(|(c, domain)| (domain.name(), c)).collect();
        let mut column_of = Vec::new();
        for (column, known) in model.columns.iter().enumerate() {
            column_of.extend(std::iter::repeat_n(column as u32, known.values.len()));
        }
        let by_column = bag.supports();
        let mut all = Translation {
            numbers: vec![Vec::new(); width],
            nulls: vec![NONE; width],
            columns: Vec::with_capacity(width),
            column_of,
            unseen: Vec::new(),
            supports: by_column.iter().flatten().copied().collect(),
        };
        for (column, (known, start)) in model.columns.iter().zip(model.starts()).enumerate() {
            let Some(&own) = names.get(known.name.as_str()) else {
                return Err(Error::Columns(format!("there is no column \"{}\"", known.name)));
            };
            all.columns.push(own);
            for (code, &support) in by_column[own].iter().enumerate() {
                let code = data.text(own, code).and_then(|text| known.code(Some(text)));
                let number = if support > 0 { all.number(column, start, code) } else { NONE };
                all.numbers[own].push(number);
            }
            let null_cells = bag.row_count() - by_column[own].iter().sum::<u64>();
            if model.options.nulls == Nulls::Value && null_cells > 0 {
                all.nulls[own] = all.number(column, start, known.null_code());
                all.supports.push(null_cells);
            }
        }
        Ok(all)
    }

    /// The number of an item of a column whose first item has number `start`; a new one if the model has no code for
    /// it.
    fn number(&mut self, column: usize, start: u32, code: Option<u32>) -> u32 {
        code.map_or_else(
            || {
                self.unseen.push(column as u32);
                (self.column_of.len() + self.unseen.len() - 1) as u32
            },
            |code| start + code,
        )
    }
}
