//! Encodes data with a model that was fitted to other data.

use crate::Error;
use crate::cover::columns::with_width;
use crate::cover::item_rows::standard_bits;
use crate::cover::size::Sizes;
use crate::model::covering::{Covering, Translation, element_usages};
use crate::model::{Data, Model, ModelColumn};
use rayon::prelude::*;
use table::{Stop, Watch};

/// Data encoded with a model.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Encoded {
    pub sizes: Sizes,
    /// True if the data use elements without a code, so that the model was completed: with the missing singletons,
    /// and with one more usage for every element.
    pub completed: bool,
    /// The average number of elements in the cover of a row; 0 without rows.
    pub elements_per_row: f64,
}

/// The size of a bag encoded with the code lengths of a model.
///
/// The bag must have the model's columns, in any order. `standard_bits` is the size of the bag under its own
/// singletons, so for the data that the model was fitted to all sizes are those of the fit. Where the bag needs an
/// element without a code, the model is completed (see [`Encoded::completed`]), and so are the supports of the
/// standard code.
pub fn encode<'a>(
    model: &Model,
    data: impl Into<Data<'a>>,
    watch: &Watch,
) -> Result<Encoded, Error> {
    let data = data.into();
    let (bag, cover) = (data.bag(), Cover::new(model, data, watch)?);
    let codes = Codes::new(model, &cover);
    let more = u64::from(codes.completed);
    let supports = model.columns.iter().flat_map(|column| &column.supports);
    let supports = supports.map(|&support| support + more);
    let supports: Vec<u64> = supports.chain(std::iter::repeat_n(more, cover.unseen)).collect();
    let standard = model.standard(&supports);
    let (mut data_bits, mut model_bits) = (0.0, 0.0);
    for ((&usage, standard), &used) in codes.usages.iter().zip(standard).zip(&cover.usages) {
        if usage > 0 {
            let code = codes.length(usage);
            data_bits += used as f64 * code;
            model_bits += standard + code;
        }
    }
    let used: u64 = cover.usages.iter().sum();
    Ok(Encoded {
        sizes: Sizes::new(data_bits, model_bits, cover.standard_bits),
        completed: codes.completed,
        elements_per_row: if bag.row_count() == 0 {
            0.0
        } else {
            used as f64 / bag.row_count() as f64
        },
    })
}

/// The usages that determine the code lengths when a bag is encoded with a model.
pub(super) struct Codes {
    /// By element, as a [`Covering`] numbers them.
    pub usages: Vec<u64>,
    /// Their sum.
    total: u64,
    /// See [`Encoded::completed`].
    completed: bool,
}

impl Codes {
    pub(super) fn new(model: &Model, cover: &Cover) -> Self {
        let mut usages = element_usages(model, cover.unseen);
        let completed =
            cover.usages.iter().zip(&usages).any(|(&used, &code)| used > 0 && code == 0);
        if completed {
            usages.iter_mut().for_each(|usage| *usage += 1);
        }
        Codes { total: usages.iter().sum(), usages, completed }
    }

    /// The bits of the code of an element with this usage.
    pub(super) fn length(&self, usage: u64) -> f64 {
        (self.total as f64 / usage as f64).log2()
    }
}

/// How unlike two databases are: the larger of (CT_b(a) - CT_a(a)) / CT_a(a) and the same with a and b exchanged,
/// where CT_x(y) is the size of data y encoded with the model of data x (Vreeken, van Leeuwen and Siebes,
/// Characterising the difference). 0 for equal data; `None` if data that take no bits at all, as an empty table does,
/// are compared with others.
///
/// Both models get the singletons of all items of both databases and one more usage for every element, so that each
/// can encode the other's data.
pub fn dissimilarity<'a>(
    a: (&Model, impl Into<Data<'a>>),
    b: (&Model, impl Into<Data<'a>>),
    watch: &Watch,
) -> Result<Dissimilarity, Error> {
    let (a, b) = ((a.0, a.1.into()), (b.0, b.1.into()));
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

/// [`dissimilarity`] and the sizes in bits from which it is computed.
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
fn completed_bits(
    model: &Model,
    other: &Model,
    data: Data<'_>,
    watch: &Watch,
) -> Result<f64, Error> {
    let cover = Cover::new(model, data, watch)?;
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
    let usages = element_usages(model, cover.unseen);
    let total = (usages.iter().sum::<u64>() + items + model.patterns.len() as u64) as f64;
    let bits = usages.iter().zip(&cover.usages).map(|(usage, &used)| {
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
pub(super) struct Cover {
    /// The usage of each element, as a [`Covering`] numbers them.
    usages: Vec<u64>,
    /// Number of items that the model does not have.
    unseen: usize,
    /// The size of the bag under singletons of its own.
    standard_bits: f64,
}

impl Cover {
    fn new(model: &Model, data: Data<'_>, watch: &Watch) -> Result<Self, Error> {
        with_width!(model.columns.len(), W => Ok(Cover::of(&Covering::<W>::new(model, data)?, watch)?))
    }

    pub(super) fn of<const W: usize>(
        covering: &Covering<'_, W>,
        watch: &Watch,
    ) -> Result<Self, Stop> {
        let empty = || vec![0u64; covering.elements()];
        let add = |mut a: Vec<u64>, b: Vec<u64>| {
            a.iter_mut().zip(b).for_each(|(a, b)| *a += b);
            Ok(a)
        };
        let usages = covering
            .parts()
            .try_fold(empty, |mut usages, part| {
                watch.check()?;
                covering.cover(part, |row, taken| {
                    let weight = covering.bag.weight(row);
                    taken.iter().for_each(|&element| usages[element] += weight);
                });
                Ok(usages)
            })
            .try_reduce(empty, add)?;
        let Translation { unseen, supports, .. } = &covering.translation;
        Ok(Cover { usages, unseen: unseen.len(), standard_bits: standard_bits(supports) })
    }
}
