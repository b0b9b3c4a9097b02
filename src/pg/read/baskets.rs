//! Reads a column of randomised transactions: arrays of items, or seeds.

use super::cell::Form;
use super::rows::{RowSink, each_row};
use crate::pg::prelude::*;
use crate::pg::process::progress::Progress;
use crate::pg::shards::foreign_tables::Shards;
use pgrx::PgMemoryContexts;
use pgrx::array::RawArray;
use randomize::seed::Code;
use randomize::transaction::itemsets::{Listed, Seeded};
use std::ptr::NonNull;
use table::{CodedTable, NONE};

/// Rows between two checks of memory and clock.
const BATCH: u64 = 4096;

/// Collects transactions.
trait Kept {
    /// Keeps a transaction.
    ///
    /// # Safety
    /// `value` is a datum of the type that is kept; copies may be made in `scratch`.
    unsafe fn keep(&mut self, value: Datum, scratch: &mut PgMemoryContexts) -> Result<(), Error>;

    /// The bytes held.
    fn memory(&self) -> u64;
}

impl Kept for Listed {
    unsafe fn keep(&mut self, value: Datum, scratch: &mut PgMemoryContexts) -> Result<(), Error> {
        // SAFETY: the caller vouches for an int4[]; detoasted, it has aligned elements, which lie side by
        // side if none is NULL. `scratch` outlives the look at them.
        unsafe {
            let array = scratch.switch_to(|_| pg_sys::pg_detoast_datum(value.cast_mut_ptr()));
            let array = NonNull::new(array.cast::<pg_sys::ArrayType>());
            let mut array = RawArray::from_ptr(array.ok_or_else(|| Error::fault("no array"))?);
            let dimensions = array.dims().len();
            if dimensions > 1 {
                return Err(Error::argument(
                    format!("a transaction is an array of {dimensions} dimensions"),
                    "Transactions are arrays of one dimension.",
                ));
            }
            if array.any_nulls() {
                return Err(Error::argument(
                    "a transaction has NULL",
                    "Items are numbers from 1 on.",
                ));
            }
            let items = array.data::<i32>();
            self.push(items.as_ref().iter().copied())?;
        }
        Ok(())
    }

    fn memory(&self) -> u64 {
        Listed::memory(self)
    }
}

impl Kept for Seeded {
    unsafe fn keep(&mut self, value: Datum, scratch: &mut PgMemoryContexts) -> Result<(), Error> {
        // SAFETY: the caller vouches for a bytea; `scratch` outlives the look at it.
        Ok(unsafe { Form::Varlena.bytes(value, scratch.value(), |bytes| self.push(bytes)) }?)
    }

    fn memory(&self) -> u64 {
        Seeded::memory(self)
    }
}

/// Passes the one column of a query on.
struct Reader<'a> {
    kept: &'a mut dyn Kept,
    scratch: PgMemoryContexts,
    count: u64,
    limit: u64,
    progress: Progress,
}

impl RowSink for Reader<'_> {
    unsafe fn row(&mut self, values: *const Datum, nulls: *const bool) -> Result<bool, Error> {
        // SAFETY: the query has one column, of the type that is kept.
        unsafe {
            if !*nulls {
                self.kept.keep(*values, &mut self.scratch)?;
            }
        }
        self.count += 1;
        if self.count.is_multiple_of(BATCH) {
            // SAFETY: nothing in the scratch context outlives its row.
            unsafe { self.scratch.reset() };
            if self.kept.memory() > self.limit {
                return Err(Error::Memory { limit: self.limit });
            }
            self.progress.rows(self.count);
        }
        Ok(true)
    }
}

fn read(relation: &Relation, position: usize, kept: &mut dyn Kept) -> Result<(), Error> {
    let asked = relation.asked(&[position]);
    if let Some(shards) = Shards::with_bags(&asked)? {
        let form = Form::of(relation.columns[position].type_oid);
        return keep_counted(&shards.read(0, false)?.finish()?, form, kept);
    }
    let mut reader = Reader {
        kept,
        scratch: PgMemoryContexts::new("pg_sanitize transaction"),
        count: 0,
        limit: settings::max_memory(),
        progress: Progress::begin("reading"),
    };
    each_row(&asked.query(), &mut reader);
    Ok(())
}

/// Adds each transaction of the table as often as it was counted; `form` is that of its values.
fn keep_counted(table: &CodedTable, form: Form, kept: &mut dyn Kept) -> Result<(), Error> {
    let mut scratch = PgMemoryContexts::new("pg_sanitize transaction");
    let limit = settings::max_memory();
    for i in 0..table.bag.distinct() {
        let code = table.bag.row(i)[0];
        if code == NONE {
            continue;
        }
        for copy in 0..table.bag.weight(i) {
            // SAFETY: a value of the column, made of the bytes that were read; nothing of it outlives its turn.
            unsafe {
                let value = scratch.switch_to(|_| form.datum(table.raw(0, code)));
                kept.keep(value, &mut scratch)?;
                scratch.reset();
            }
            if copy.is_multiple_of(BATCH) && kept.memory() + table.memory() > limit {
                return Err(Error::Memory { limit });
            }
            pgrx::check_for_interrupts!();
        }
    }
    Ok(())
}

/// The transactions of a column of type int4[]; rows where it is NULL have none.
pub fn lists(relation: &Relation, position: usize) -> Result<Listed, Error> {
    let mut lists = Listed::new(settings::max_memory());
    read(relation, position, &mut lists)?;
    Ok(lists)
}

/// The seeds of a column of type bytea; rows where it is NULL have none.
pub fn seeds(relation: &Relation, position: usize, code: Code) -> Result<Seeded, Error> {
    let mut seeds = Seeded::new(code);
    read(relation, position, &mut seeds)?;
    Ok(seeds)
}

/// True if the column has lists of items, false if it has seeds; any other type is refused.
pub fn has_lists(relation: &Relation, position: usize) -> Result<bool, Error> {
    let column = &relation.columns[position];
    match column.base_type {
        pg_sys::INT4ARRAYOID => Ok(true),
        pg_sys::BYTEAOID => Ok(false),
        _ => Err(Error::argument(
            format!("column \"{}\" of {} has no transactions", column.name, relation.name),
            "Transactions are integer[], lists of items, or bytea, seeds of sanitize.randomize_to_seed.",
        )),
    }
}
