//! The Laplace correction of the generator, a number that is added to usages. (It is not Laplace noise.)

use crate::Error;
use std::collections::BTreeMap;
use table::Item;

/// What is added to the usage of each element, so that every value of every column can occur.
///
/// An element of several items gets the largest of their corrections. A larger one for a column or a value makes the
/// weights of the elements that have it more equal, and so weakens what they say about it.
#[derive(Debug, Clone)]
pub struct Correction {
    table: f64,
    columns: BTreeMap<u32, f64>,
    items: BTreeMap<Item, f64>,
}

impl Correction {
    /// The same correction for all elements.
    pub fn new(table: f64) -> Result<Self, Error> {
        Ok(Correction { table: valid(table)?, columns: BTreeMap::new(), items: BTreeMap::new() })
    }

    /// Another correction for a column of the model.
    pub fn column(&mut self, column: u32, value: f64) -> Result<(), Error> {
        self.columns.insert(column, valid(value)?);
        Ok(())
    }

    /// Another correction for a value of the model.
    pub fn item(&mut self, item: Item, value: f64) -> Result<(), Error> {
        self.items.insert(item, valid(value)?);
        Ok(())
    }

    /// The correction for an item.
    pub(crate) fn of(&self, item: &Item) -> f64 {
        let column = || self.columns.get(&item.column);
        self.items.get(item).or_else(column).copied().unwrap_or(self.table)
    }
}

fn valid(value: f64) -> Result<f64, Error> {
    // Far below the range in which sums overflow, and far above corrections that leave any effect of the data.
    if (0.0..=1e15).contains(&value) { Ok(value) } else { Err(Error::Correction { value }) }
}
