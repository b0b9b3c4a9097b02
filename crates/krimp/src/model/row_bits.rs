//! The length of the code of each row.

use crate::Error;
use crate::cover::columns::with_width;
use crate::model::covering::Covering;
use crate::model::encode::{Codes, Cover};
use crate::model::{Data, Model};
use table::{Bag, Stop, Watch};

/// The code of a row.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct RowCode {
    /// The length of the code.
    pub bits: f64,
    /// The number of elements in it, single values included.
    pub elements: u32,
}

/// The codes of the distinct rows of a bag, in the order of the bag.
///
/// Code lengths are those of [`crate::encode`], so the bits of all rows add up to its `data_bits`, for any bag: if an
/// element has no code, the model is completed for all rows.
pub fn row_bits<'a>(
    model: &Model,
    data: impl Into<Data<'a>>,
    watch: &Watch,
) -> Result<Vec<RowCode>, Error> {
    let data = data.into();
    with_width!(model.columns.len(), W => Ok(codes(model, &Covering::<W>::new(model, data)?, watch)?))
}

fn codes<const W: usize>(
    model: &Model,
    covering: &Covering<'_, W>,
    watch: &Watch,
) -> Result<Vec<RowCode>, Stop> {
    let codes = Codes::new(model, &Cover::of(covering, watch)?);
    let lengths: Vec<f64> = codes.usages.iter().map(|&usage| codes.length(usage)).collect();
    let rows = covering.bag.distinct();
    let _held = watch.hold((rows * size_of::<RowCode>()) as u64)?;
    let mut found = vec![RowCode::default(); rows];
    covering.each_row(&mut found, watch, |_, found, taken| {
        *found = RowCode {
            bits: in_order(taken.iter().map(|&element| lengths[element])),
            elements: taken.len() as u32,
        };
    })?;
    Ok(found)
}

/// The numbers of the distinct rows, by ascending code length; equal ones in the order of their items.
pub fn shortest_first(codes: &[RowCode], bag: &Bag, watch: &Watch) -> Result<Vec<u32>, Stop> {
    // The order, and a copy while it is sorted.
    let _held = watch.hold(codes.len() as u64 * 8)?;
    let mut order: Vec<u32> = (0..codes.len() as u32).collect();
    table::sort_watched(&mut order, watch, |a, b| {
        let (a, b) = (a as usize, b as usize);
        let by_bits = codes[a].bits.total_cmp(&codes[b].bits);
        by_bits.then_with(|| bag.row(a).cmp(bag.row(b)))
    })?;
    Ok(order)
}

/// The sum of numbers, independent of their order: rows whose elements are used equally often have equal codes to the
/// last bit.
pub(super) fn in_order(numbers: impl Iterator<Item = f64>) -> f64 {
    let mut numbers: Vec<f64> = numbers.collect();
    numbers.sort_unstable_by(f64::total_cmp);
    // The sum of no floats would be -0.
    numbers.iter().fold(0.0, |sum, number| sum + number)
}
