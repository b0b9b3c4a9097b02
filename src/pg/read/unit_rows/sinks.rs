//! Sinks for the rows of a query: rows kept by unit, rows kept one by one, totals of units, rows passed on in order.

use super::groups::{GroupColumns, Groups, NO_GROUP};
use super::{Row, Visit};
use crate::pg::prelude::*;
use crate::pg::process::pool;
use crate::pg::read::cell::Form;
use aggregate::{Batch, Bounded, UnitRows};
use random::Coins;
use std::sync::atomic::{AtomicU64, Ordering};

/// Where the rows of a query go.
pub trait Sink {
    /// How many columns there are between those of the group and the values.
    fn between(&self) -> usize {
        1
    }

    /// Bytes held.
    fn held(&self) -> u64 {
        0
    }

    /// Receives the type of the column after those of the group.
    fn begin(&mut self, _between: Oid) {}

    /// Takes a row; false if no further rows are wanted.
    fn row(&mut self, row: &Row, columns: &mut GroupColumns, values: &[i64])
    -> Result<bool, Error>;
}

/// Bytes held; the largest number, if there are no more row numbers.
pub fn held(bounded: &Bounded) -> u64 {
    if bounded.is_full() { u64::MAX } else { bounded.memory() }
}

/// Rows of units that may have several: the unit, then one column for each value.
pub struct ByUnit<'a> {
    pub groups: &'a mut Groups,
    pub feed: &'a mut pool::Feed<Batch>,
    /// Bytes that the kept rows take.
    pub held: &'a AtomicU64,
    pub unit: Form,
}

impl Sink for ByUnit<'_> {
    fn held(&self) -> u64 {
        let reading = self.feed.part.memory() * pool::PARTS + self.groups.bytes;
        self.held.load(Ordering::Relaxed).saturating_add(reading)
    }

    fn begin(&mut self, between: Oid) {
        self.unit = Form::of(between);
    }

    fn row(
        &mut self,
        row: &Row,
        columns: &mut GroupColumns,
        values: &[i64],
    ) -> Result<bool, Error> {
        let group = columns.code(row, self.groups);
        let Some(unit) = row.at(columns.len()).filter(|_| group != NO_GROUP) else {
            return Ok(true);
        };
        let batch = &mut self.feed.part;
        // SAFETY: the value is of the unit column's type.
        unsafe {
            self.unit.bytes(unit, row.scratch, |bytes| {
                if let Form::ByValue(_) = self.unit {
                    let mut word = [0; 8];
                    word[..bytes.len()].copy_from_slice(bytes);
                    batch.row_of_number(u64::from_ne_bytes(word), group, values);
                } else {
                    batch.row_of_bytes(bytes, group, values);
                }
            });
        }
        // False only if the other thread panicked; the panic is raised when that thread is joined.
        Ok(!batch.is_full() || self.feed.next())
    }
}

/// Rows each of which is a unit: one column for each value.
pub struct OneEach<'a> {
    pub groups: &'a mut Groups,
    pub bounded: &'a mut Bounded,
    pub coins: &'a mut Coins,
}

impl Sink for OneEach<'_> {
    fn between(&self) -> usize {
        0
    }

    fn held(&self) -> u64 {
        held(self.bounded).saturating_add(self.groups.bytes)
    }

    fn row(
        &mut self,
        row: &Row,
        columns: &mut GroupColumns,
        values: &[i64],
    ) -> Result<bool, Error> {
        let group = columns.code(row, self.groups);
        if group != NO_GROUP {
            self.bounded.row_of_new_unit(group, values, self.coins);
        }
        Ok(true)
    }
}

/// Totals of units: the unit, which is not used here, then one column for each of its values in a group.
pub struct Totals<'a> {
    pub groups: &'a mut Groups,
    pub units: &'a mut UnitRows,
}

impl Sink for Totals<'_> {
    fn held(&self) -> u64 {
        self.units.memory() + self.groups.bytes
    }

    fn row(
        &mut self,
        row: &Row,
        columns: &mut GroupColumns,
        values: &[i64],
    ) -> Result<bool, Error> {
        let group = columns.code(row, self.groups);
        if group != NO_GROUP {
            self.units.push(group, values);
        }
        Ok(true)
    }
}

/// Passes each row on as it comes.
pub struct Visitor<'a> {
    pub visit: &'a mut dyn FnMut(Visit<'_>) -> Result<(), Error>,
    /// Whether a text precedes the values.
    pub has_text: bool,
    /// Group and text of the previous row.
    pub last_key: Option<Vec<u8>>,
    pub last_text: Option<Vec<u8>>,
}

impl Sink for Visitor<'_> {
    fn between(&self) -> usize {
        self.has_text.into()
    }

    fn row(
        &mut self,
        row: &Row,
        columns: &mut GroupColumns,
        values: &[i64],
    ) -> Result<bool, Error> {
        let bytes = columns.bytes(row);
        let is_new_group = self.last_key.as_deref() != Some(bytes);
        if is_new_group {
            self.last_key = Some(bytes.to_vec());
        }
        let mut is_new_text = false;
        if self.has_text
            && let Some(value) = row.at(columns.len())
        {
            // SAFETY: the query casts it to text.
            let bytes = unsafe { Form::Text.bytes(value, row.scratch, |bytes| bytes.to_vec()) };
            is_new_text = is_new_group || self.last_text.as_ref() != Some(&bytes);
            self.last_text = Some(bytes);
        }
        let key = is_new_group.then(|| columns.key(row));
        (self.visit)(Visit { key, values, is_new_text })?;
        Ok(true)
    }
}
