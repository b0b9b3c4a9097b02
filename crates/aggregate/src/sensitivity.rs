//! How far one unit can move the integers of a measure (L1 and squared L2 sensitivity).

use crate::FINE;
use crate::measure::{Measure, MeasureKind};
use crate::plan::Query;
use crate::quantile::LEVELS;
use dashu_int::UBig;

/// How far one unit can move a vector of integers, in units of 1/1024.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Sensitivity {
    /// The sum of absolute changes.
    pub l1: UBig,
    /// The sum of squared changes.
    pub l2_squared: UBig,
}

impl Sensitivity {
    /// `rows` changes of at most `size` each, which may all be in one place, on each of `levels` levels.
    fn of_rows(rows: u64, size: u128, levels: u64) -> Self {
        let most = UBig::from(rows) * size * (FINE as u128);
        Sensitivity { l1: &most * levels, l2_squared: &most * &most * levels }
    }

    /// One change of at most `size` in each of `groups` groups, on each of `levels` levels.
    fn of_groups(groups: u64, size: u128, levels: u64) -> Self {
        let most = UBig::from(size) * (FINE as u128);
        let places = UBig::from(groups) * levels;
        Sensitivity { l1: &most * &places, l2_squared: &most * &most * places }
    }

    /// The squared L2 sensitivity as a float that is not below it.
    pub fn l2_squared_up(&self) -> f64 {
        let value = self.l2_squared.to_f64().value();
        if value == 0.0 { value } else { value.next_up() }
    }
}

/// The numbers of units in groups: one unit counts once in each of its groups.
pub fn of_units(query: &Query) -> Sensitivity {
    Sensitivity::of_groups(query.groups_counted(), 1, 1)
}

/// The sensitivities of the noisy numbers of a measure.
pub fn of_measure(measure: &Measure, query: &Query) -> Vec<Sensitivity> {
    let on_levels = |size: i128, levels: u64| match measure.per_unit {
        // The unit's own value in each of its groups, whatever the number of rows.
        true => Sensitivity::of_groups(query.groups_per_unit, size.unsigned_abs(), levels),
        // All rows may lie in one group: the number of groups does not matter.
        false => Sensitivity::of_rows(query.rows_per_unit, size.unsigned_abs(), levels),
    };
    let of = |size: i128| on_levels(size, 1);
    match &measure.kind {
        MeasureKind::Count
        | MeasureKind::CountOf
        | MeasureKind::Distinct
        | MeasureKind::Histogram(..) => vec![of(1)],
        MeasureKind::Units => vec![of_units(query)],
        MeasureKind::Sum(range) => vec![of(range.largest())],
        // Values are counted from the middle of their range, in half steps.
        MeasureKind::Mean(range) => vec![of(1), of(range.span())],
        MeasureKind::Variance(range) => {
            vec![of(1), of(range.span()), of(range.span() * range.span())]
        }
        MeasureKind::Quantiles(..) => vec![on_levels(1, LEVELS)],
    }
}
