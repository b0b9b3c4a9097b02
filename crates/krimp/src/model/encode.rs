//! Encoding data with a model that was fitted to other data.

use crate::cover::columns::{Columns, with_width};
use crate::cover::elements::{Element, Elements};
use crate::cover::ground::standard_code;
use crate::cover::size::{Sizes, encoded};
use crate::model::{Model, ModelColumn};
use crate::{Error, Nulls};
use rayon::prelude::*;
use std::collections::HashMap;
use table::{Bag, NONE, Watch};

/// Rows that a thread covers before it looks at the watch.
const STEP: usize = 1 << 12;

/// Data encoded with a model.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Encoded {
    pub sizes: Sizes,
    /// True if the data use elements that the model has no code for, so that the model was
    /// completed: with the missing singletons, and with one more usage for every element.
    pub completed: bool,
    /// The average number of elements in the cover of a row; 0 without rows.
    pub elements_per_row: f64,
}

/// The size of a bag encoded with the code lengths of a model.
///
/// The bag must have the model's columns, in any order. `standard_bits` is the size of the bag
/// under singletons of its own, so for the data that the model was fitted to all sizes are those
/// of the fit. Where the bag needs an element without a code, the model is completed (see
/// [`Encoded::completed`]), and so are the supports that the standard code comes from.
pub fn encode(model: &Model, bag: &Bag, watch: &Watch) -> Result<Encoded, Error> {
    let cover = Cover::new(model, bag, watch)?;
    let singletons = || model.columns.iter().flat_map(|c| c.supports.iter().zip(&c.usages));
    let unseen = cover.unseen;
    let usages = singletons()
        .map(|(_, &usage)| usage)
        .chain(std::iter::repeat_n(0, unseen))
        .chain(model.patterns.iter().map(|p| p.usage));
    let completed =
        cover.usages.iter().zip(usages.clone()).any(|(&used, code)| used > 0 && code == 0);
    let more = u64::from(completed);
    let supports: Vec<u64> =
        singletons().map(|(&s, _)| s + more).chain(std::iter::repeat_n(more, unseen)).collect();
    let standard = standard_code(&supports);
    let starts = model.starts();
    let pattern_bits = model.patterns.iter().map(|pattern| {
        let numbers = pattern.items.iter().map(|i| starts[i.column as usize] + i.code);
        numbers.map(|number| standard[number as usize]).sum::<f64>()
    });
    let total: u64 = usages.clone().map(|usage| usage + more).sum();
    let (mut data_bits, mut model_bits) = (0.0, 0.0);
    let standards = standard.iter().copied().chain(pattern_bits);
    for ((usage, standard), &used) in usages.zip(standards).zip(&cover.usages) {
        if usage + more > 0 {
            let code = (total as f64 / (usage + more) as f64).log2();
            data_bits += used as f64 * code;
            model_bits += standard + code;
        }
    }
    let used: u64 = cover.usages.iter().sum();
    Ok(Encoded {
        sizes: Sizes::new(data_bits, model_bits, cover.standard_bits),
        completed,
        elements_per_row: if bag.row_count() == 0 {
            0.0
        } else {
            used as f64 / bag.row_count() as f64
        },
    })
}

/// How unlike two databases are: the larger of (CT_b(a) - CT_a(a)) / CT_a(a) and the same with a
/// and b exchanged, where CT_x(y) is the size of data y encoded with the model of data x (Vreeken,
/// van Leeuwen and Siebes, Characterising the difference). 0 for equal data; `None` if data that
/// take no bits at all, as an empty table does, are compared with others.
///
/// Both models get the singletons of all items of both databases and one more usage for every
/// element, so that each can encode the other's data.
pub fn dissimilarity(
    a: (&Model, &Bag),
    b: (&Model, &Bag),
    watch: &Watch,
) -> Result<Dissimilarity, Error> {
    let own_a = completed_bits(a.0, b.0, a.1, watch)?;
    let own_b = completed_bits(b.0, a.0, b.1, watch)?;
    let a_by_b = completed_bits(b.0, a.0, a.1, watch)?;
    let b_by_a = completed_bits(a.0, b.0, b.1, watch)?;
    let (more_a, more_b) = (a_by_b - own_a, b_by_a - own_b);
    let value = if more_a == 0.0 && more_b == 0.0 {
        Some(0.0)
    } else {
        (own_a > 0.0 && own_b > 0.0).then(|| (more_a / own_a).max(more_b / own_b))
    };
    Ok(Dissimilarity { value, own_a, own_b, a_by_b, b_by_a })
}

/// [`dissimilarity`] and the sizes in bits that it comes from.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Dissimilarity {
    pub value: Option<f64>,
    /// Data a with the model of a, and b with that of b.
    pub own_a: f64,
    pub own_b: f64,
    /// Data a with the model of b, and b with that of a.
    pub a_by_b: f64,
    pub b_by_a: f64,
}

/// The bits of data encoded with a model that is completed with the items of another one.
fn completed_bits(model: &Model, other: &Model, bag: &Bag, watch: &Watch) -> Result<f64, Error> {
    let cover = Cover::new(model, bag, watch)?;
    let mut items = 0u64;
    for column in &model.columns {
        let Some(theirs) = other.column(&column.name).map(|c| &other.columns[c]) else {
            return Err(Error::Columns(format!("there is no column \"{}\"", column.name)));
        };
        items += used_values(column).count() as u64;
        items += used_values(theirs)
            .filter(|value| {
                column.code(value.as_deref()).is_none_or(|c| column.supports[c as usize] == 0)
            })
            .count() as u64;
    }
    let usages = model.columns.iter().flat_map(|c| &c.usages).copied();
    let patterns = model.patterns.iter().map(|p| p.usage);
    let usage: u64 = usages.clone().chain(patterns.clone()).sum();
    let total = (usage + items + model.patterns.len() as u64) as f64;
    let codes = usages.chain(std::iter::repeat_n(0, cover.unseen)).chain(patterns);
    let bits = codes.zip(&cover.usages).map(|(usage, &used)| {
        if used == 0 { 0.0 } else { used as f64 * (total / (usage + 1) as f64).log2() }
    });
    Ok(bits.sum())
}

/// The values of a column that the data have.
fn used_values(column: &ModelColumn) -> impl Iterator<Item = &Option<String>> {
    let values = column.values.iter().zip(&column.supports);
    values.filter(|&(_, &support)| support > 0).map(|(value, _)| value)
}

/// The cover of a bag by the elements of a model.
struct Cover {
    /// How often each element is used: the model's values column by column, then the items that
    /// the model does not have, then the patterns.
    usages: Vec<u64>,
    /// Number of items that the model does not have.
    unseen: usize,
    /// The size of the bag under singletons of its own.
    standard_bits: f64,
}

impl Cover {
    fn new(model: &Model, bag: &Bag, watch: &Watch) -> Result<Self, Error> {
        with_width!(model.columns.len(), W => Cover::with_width::<W>(model, bag, watch))
    }

    fn with_width<const W: usize>(model: &Model, bag: &Bag, watch: &Watch) -> Result<Self, Error> {
        let Translation { numbers, nulls, columns, mut column_of, unseen, supports } =
            Translation::new(model, bag)?;
        column_of.extend(&unseen);
        let items = column_of.len();
        let mut elements: Elements<W> = Elements::new(model.columns.len(), &column_of);
        let starts = model.starts();
        for pattern in &model.patterns {
            elements.insert(Element {
                items: pattern.items.iter().map(|i| starts[i.column as usize] + i.code).collect(),
                columns: pattern.items.iter().map(|i| i.column as usize).collect(),
                support: pattern.support,
                standard: 0.0,
            });
        }
        let count = |usages: &mut Vec<u64>, rows: std::ops::Range<usize>| {
            let mut cells = vec![NONE; columns.len()];
            let mut offsets = Vec::new();
            for row in rows {
                let (codes, weight) = (bag.row(row), bag.weight(row));
                for (cell, &column) in cells.iter_mut().zip(&columns) {
                    *cell = match codes[column] {
                        NONE => nulls[column],
                        code => numbers[column][code as usize],
                    };
                }
                let filled = cells.iter().enumerate().filter(|&(_, &cell)| cell != NONE);
                let rest: Columns<W> = filled.map(|(column, _)| column).collect();
                let left = elements.cover(&cells, rest, 0, &mut offsets, |slot| {
                    usages[items + elements.rank(slot) as usize] += weight;
                });
                left.iter().for_each(|column| usages[cells[column] as usize] += weight);
            }
        };
        let empty = || vec![0u64; items + model.patterns.len()];
        let add = |mut a: Vec<u64>, b: Vec<u64>| {
            a.iter_mut().zip(b).for_each(|(a, b)| *a += b);
            Ok(a)
        };
        let usages = (0..bag.distinct().div_ceil(STEP))
            .into_par_iter()
            .try_fold(empty, |mut usages, part| {
                watch.check()?;
                count(&mut usages, part * STEP..bag.distinct().min((part + 1) * STEP));
                Ok::<_, Error>(usages)
            })
            .try_reduce(empty, add)?;
        let standard = standard_code(&supports);
        let (data, table) = encoded(supports.iter().copied().zip(standard.iter().copied()));
        Ok(Cover { usages, unseen: unseen.len(), standard_bits: data + table })
    }
}

/// What the codes of a bag are in a model.
struct Translation {
    /// By column of the bag and code: the item's number; [`NONE`] for values that no row has.
    numbers: Vec<Vec<u32>>,
    /// By column of the bag: the number of NULL, or [`NONE`] where it is no item.
    nulls: Vec<u32>,
    /// By column of the model: the column of the bag.
    columns: Vec<usize>,
    /// By item of the model: its column.
    column_of: Vec<u32>,
    /// By item that the model does not have, in the order of their numbers: its column.
    unseen: Vec<u32>,
    /// The supports of the bag's items.
    supports: Vec<u64>,
}

impl Translation {
    fn new(model: &Model, bag: &Bag) -> Result<Self, Error> {
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
            for (value, &support) in bag.domain(own).values().zip(&by_column[own]) {
                let code = std::str::from_utf8(value).ok().and_then(|text| known.code(Some(text)));
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

    /// The number of an item of a column whose first has number `start`; a new one if the model
    /// has no code for it.
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
