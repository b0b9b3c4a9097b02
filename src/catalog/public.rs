//! What is public of a column, so that private mechanisms may build on it: its values, or a range in bins.

use super::{bounds, domains};
use crate::pg::bins::Bins;
use crate::pg::error::Error;
use crate::pg::relation::{Column, Relation};

/// Into how many bins a range is cut that only constraints tell.
const BINS: i32 = 32;

/// What may be known of a column without its rows.
pub enum Public {
    Values(Vec<String>),
    Range { low: String, high: String, bins: Bins },
}

/// What the owner declared, values before bounds; else what type and constraints tell. An error that
/// shows how to declare it if there is nothing.
pub fn find(relation: &Relation, column: &Column) -> Result<Public, Error> {
    let range = |low: String, high: String, bins: i32| {
        let bins = Bins::new(column, &low, &high, u32::try_from(bins).unwrap_or(1))?;
        Ok(Public::Range { low, high, bins })
    };
    let values = domains::find(relation, column)?;
    if values.as_ref().is_none_or(|domain| domain.origin != "declared")
        && let Some(declared) = bounds::declared(relation, column)?
    {
        return range(declared.low, declared.high, declared.bins);
    }
    if let Some(domain) = values {
        return Ok(Public::Values(domain.values));
    }
    if let Some((low, high)) = bounds::find(relation, column)? {
        return range(low, high, BINS);
    }
    Err(Error::NoDomain {
        column: column.name.clone(),
        relation: relation.name.clone(),
        has_range: bounds::has_range(column),
    })
}
