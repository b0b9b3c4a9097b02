//! Reads a protected relation for noisy aggregates: each row's group, unit and values. Runs in a
//! reader process only, see [`crate::pg::process::worker::isolated`].
//!
//! * `groups`: which group a row is in. `sinks`: where rows go. `bags`: rows that other servers have kept.

mod bags;
mod groups;
mod sinks;

pub use bags::bags;
pub use groups::Groups;

use super::cell::Form;
use super::rows::{RowSink, each_row_locked};
use crate::pg::prelude::*;
use crate::pg::process::pool;
use crate::pg::process::worker::isolated;
use crate::pg::write::held_rows::Held;
use aggregate::{Batch, Bounded, NO_VALUE, UnitRows};
use groups::GroupColumns;
use pgrx::{PgMemoryContexts, PgSqlErrorCode, PgTryBuilder, PgTupleDesc};
use question::Key;
use random::Coins;
use sinks::{ByUnit, OneEach, Sink, Totals, Visitor, held};
use std::ffi::CString;
use std::panic::AssertUnwindSafe;
use std::rc::Rc;
use std::sync::atomic::{AtomicU64, Ordering};

/// Rows between two checks of the memory.
const BATCH: u64 = 4096;

/// A row of a query whose rows come in the order of their groups.
pub struct Visit<'a> {
    /// The group, if it differs from that of the previous row.
    pub key: Option<Key>,
    /// The last columns of the row, [`NO_VALUE`] for NULL.
    pub values: &'a [i64],
    /// True if the column before these, a text, is not NULL and differs from that of the previous row.
    pub is_new_text: bool,
}

/// The columns of a row that is read.
pub struct Row {
    values: *const Datum,
    nulls: *const bool,
    /// A memory context that lives until the next row.
    scratch: pg_sys::MemoryContext,
}

impl Row {
    /// The value of a column of the query; `None` if it is NULL.
    fn at(&self, i: usize) -> Option<Datum> {
        // SAFETY: whoever makes a `Row` guarantees that it has the query's columns.
        unsafe { (!*self.nulls.add(i)).then(|| *self.values.add(i)) }
    }
}

struct Reader<S> {
    group_columns: usize,
    columns: GroupColumns,
    sink: S,
    values: Vec<i64>,
    scratch: PgMemoryContexts,
    count: u64,
    /// The rows did not fit into memory.
    is_full: bool,
}

impl<S: Sink> RowSink for Reader<S> {
    fn begin(&mut self, descriptor: &PgTupleDesc) {
        self.columns = GroupColumns::new(descriptor, self.group_columns);
        if let Some(attribute) = descriptor.get(self.group_columns) {
            self.sink.begin(attribute.atttypid);
        }
    }

    unsafe fn row(&mut self, values: *const Datum, nulls: *const bool) -> Result<bool, Error> {
        self.count += 1;
        if self.count.is_multiple_of(BATCH) {
            // SAFETY: nothing in the scratch context outlives its row.
            unsafe { self.scratch.reset() };
            if self.sink.held() > settings::max_memory() {
                self.is_full = true;
                return Ok(false);
            }
        }
        let row = Row { values, nulls, scratch: self.scratch.value() };
        let first = self.columns.len() + self.sink.between();
        for (i, place) in self.values.iter_mut().enumerate() {
            // The query casts every value to int8. The smallest int8 means NULL here; an actual value that small is
            // replaced by its neighbour, which is also out of every range.
            let number = |value: Datum| (value.value() as i64).max(NO_VALUE + 1);
            *place = row.at(first + i).map_or(NO_VALUE, number);
        }
        self.sink.row(&row, &mut self.columns, &self.values)
    }
}

/// What to read, as text of SQL expressions that the caller has built of quoted names only.
pub struct Query<'a> {
    pub owner: Oid,
    /// Held rows that it may read.
    pub held: Rc<Held>,
    pub text: &'a str,
    /// How many of its first columns define the group.
    pub group_columns: usize,
    /// How many of its last columns are values.
    pub width: usize,
}

/// Whether all rows fitted into memory.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Fit {
    All,
    TooMany,
}

impl Query<'_> {
    /// Reads rows of units that may have several rows, and keeps those that `bounded` chooses.
    pub fn by_unit(
        &self,
        groups: &mut Groups,
        bounded: &mut Bounded,
        coins: &mut Coins,
    ) -> Result<Fit, Error> {
        let (width, kept) = (self.width, AtomicU64::new(0));
        let keep = |batch: &mut Batch| {
            bounded.take(batch, coins);
            kept.store(held(bounded), Ordering::Relaxed);
        };
        pool::feed(
            || Batch::new(width),
            keep,
            |feed| self.read(ByUnit { groups, feed, held: &kept, unit: Form::ByValue(8) }),
        )
    }

    /// Reads rows each of which is a unit.
    pub fn one_each(
        &self,
        groups: &mut Groups,
        bounded: &mut Bounded,
        coins: &mut Coins,
    ) -> Result<Fit, Error> {
        self.read(OneEach { groups, bounded, coins })
    }

    /// Reads the totals of units.
    pub fn units(&self, groups: &mut Groups, units: &mut UnitRows) -> Result<Fit, Error> {
        self.read(Totals { groups, units })
    }

    /// Passes every row to `visit`, with or without a text before the values.
    pub fn each(
        &self,
        has_text: bool,
        visit: &mut dyn FnMut(Visit<'_>) -> Result<(), Error>,
    ) -> Result<(), Error> {
        self.read(Visitor { visit, has_text, last_key: None, last_text: None }).map(|_| ())
    }

    fn read(&self, sink: impl Sink) -> Result<Fit, Error> {
        let mut reader = Reader {
            group_columns: self.group_columns,
            columns: GroupColumns::default(),
            sink,
            values: vec![0; self.width],
            scratch: PgMemoryContexts::new("pg_sanitize row"),
            count: 0,
            is_full: false,
        };
        self.run(&mut reader)?;
        Ok(if reader.is_full { Fit::TooMany } else { Fit::All })
    }

    /// Runs the query with the owner's rights. Any error there may depend on the data: the caller learns only that
    /// there was one, and the server's log has the rest.
    fn run(&self, sink: &mut dyn RowSink) -> Result<(), Error> {
        let query = CString::new(text::from_utf8(self.text))
            .map_err(|_| Error::query("a query contains a zero byte"))?;
        let read = || each_row_locked(self.held.named(), &query, sink);
        guarded(|| rights::with_rights_of(self.owner, read))
    }
}

/// Holds all rows of a query under a name, with the owner's rights.
pub fn hold(held: &mut Held, name: &str, owner: Oid, query: &str) -> Result<(), Error> {
    let mut store = held.store(std::ptr::null_mut());
    run(owner, query, &mut store)?;
    held.keep(name, store);
    Ok(())
}

/// Runs a query that reads no held rows.
fn run(owner: Oid, text: &str, sink: &mut dyn RowSink) -> Result<(), Error> {
    let held = Rc::new(Held::new());
    Query { owner, held, text, group_columns: 0, width: 0 }.run(sink)
}

/// Runs work whose errors may depend on the data.
pub fn guarded<T>(work: impl FnOnce() -> T) -> Result<T, Error> {
    let work = std::cell::Cell::new(Some(work));
    PgTryBuilder::new(AssertUnwindSafe(|| {
        work.take().map(|work| work()).ok_or_else(|| Error::fault("work is done once"))
    }))
    .catch_when(PgSqlErrorCode::ERRCODE_QUERY_CANCELED, |_| Err(Error::Cancelled))
    .catch_when(PgSqlErrorCode::ERRCODE_LOCK_NOT_AVAILABLE, |_| Err(Error::Locked))
    .catch_others(|error| {
        isolated::log(&error);
        Err(Error::Unreadable)
    })
    .execute()
}
