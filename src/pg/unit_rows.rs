//! Reads a protected relation for noisy aggregates: each row's unit, group and values.

use super::cell::Form;
use super::error::Error;
use super::rows::{RowSink, each_row};
use super::{rights, settings, text};
use dp::Coins;
use dp::aggregate::{Bounded, NO_VALUE};
use pgrx::pg_sys::panic::{CaughtError, ErrorReport};
use pgrx::pg_sys::{self, Datum, Oid};
use pgrx::{PgLogLevel, PgMemoryContexts, PgSqlErrorCode, PgTryBuilder, PgTupleDesc};
use std::collections::HashMap;
use std::ffi::{CStr, CString};
use std::panic::AssertUnwindSafe;

/// A group by the text of its columns, `None` for NULL.
pub type Key = Vec<Option<String>>;

/// No such group.
const NO_GROUP: u32 = u32::MAX;

/// Rows between two looks at the memory.
const BATCH: u64 = 4096;

/// The groups of a query: a public list, or those that the rows show.
#[derive(Default)]
pub struct Groups {
    pub keys: Vec<Key>,
    is_public: bool,
    codes: HashMap<Key, u32>,
    /// Codes by the bytes of the columns, so that text is made once per group.
    by_bytes: HashMap<Box<[u8]>, u32, foldhash::fast::RandomState>,
    bytes: u64,
}

impl Groups {
    /// Exactly these groups, whatever the rows show.
    pub fn public(keys: Vec<Key>) -> Self {
        let codes = keys.iter().cloned().zip(0..).collect();
        Groups { keys, is_public: true, codes, ..Default::default() }
    }

    fn code(&mut self, bytes: &[u8], key: impl FnOnce() -> Key) -> u32 {
        if let Some(&code) = self.by_bytes.get(bytes) {
            return code;
        }
        let key = key();
        self.bytes += bytes.len() as u64
            + 64
            + key.iter().flatten().map(|k| k.len() as u64 + 48).sum::<u64>();
        let code = match self.codes.get(&key) {
            Some(&code) => code,
            None if self.is_public => NO_GROUP,
            None => {
                let code = self.keys.len() as u32;
                self.codes.insert(key.clone(), code);
                self.keys.push(key);
                code
            }
        };
        self.by_bytes.insert(bytes.into(), code);
        code
    }
}

/// A column that tells groups apart.
struct GroupColumn {
    form: Form,
    output: Oid,
}

/// Where a query's rows go.
enum Rows<'a> {
    /// The unit is the first column after the groups, then one column for each value.
    ByUnit { bounded: &'a mut Bounded, unit: Form, coins: &'a mut Coins },
    /// Every row is a unit of its own: one column for each value.
    OneEach { bounded: &'a mut Bounded, coins: &'a mut Coins },
    /// Every row is a group: one column for each number.
    Totals(&'a mut Vec<(u32, Vec<i64>)>),
}

struct Reader<'a> {
    groups: &'a mut Groups,
    group_columns: usize,
    columns: Vec<GroupColumn>,
    width: usize,
    rows: Rows<'a>,
    values: Vec<i64>,
    key: Vec<u8>,
    scratch: PgMemoryContexts,
    count: u64,
}

impl RowSink for Reader<'_> {
    fn begin(&mut self, descriptor: &PgTupleDesc) {
        for attribute in descriptor.iter().take(self.group_columns) {
            let (mut output, mut is_varlena) = (pg_sys::InvalidOid, false);
            // SAFETY: a catalog look-up.
            unsafe { pg_sys::getTypeOutputInfo(attribute.atttypid, &mut output, &mut is_varlena) };
            self.columns.push(GroupColumn { form: Form::of(attribute.atttypid), output });
        }
        if let Rows::ByUnit { unit, .. } = &mut self.rows
            && let Some(attribute) = descriptor.get(self.group_columns)
        {
            *unit = Form::of(attribute.atttypid);
        }
    }

    unsafe fn row(&mut self, values: *const Datum, nulls: *const bool) -> Result<(), Error> {
        // SAFETY: as the caller says.
        let at = |i: usize| unsafe { (*values.add(i), *nulls.add(i)) };
        let scratch = self.scratch.value();
        self.count += 1;
        if self.count.is_multiple_of(BATCH) {
            self.check_memory()?;
        }
        let group = match self.columns.as_slice() {
            [] => 0,
            columns => {
                self.key.clear();
                for (i, column) in columns.iter().enumerate() {
                    let (value, null) = at(i);
                    if null {
                        self.key.push(0);
                        continue;
                    }
                    self.key.push(1);
                    let key = &mut self.key;
                    // SAFETY: the value is of the column's type.
                    unsafe {
                        column.form.bytes(value, scratch, |bytes| {
                            key.extend_from_slice(&(bytes.len() as u32).to_ne_bytes());
                            key.extend_from_slice(bytes);
                        });
                    }
                }
                let text = || {
                    let text = |(i, column): (usize, &GroupColumn)| {
                        let (value, null) = at(i);
                        // SAFETY: the type's own output function.
                        (!null).then(|| unsafe {
                            let text = pg_sys::OidOutputFunctionCall(column.output, value);
                            text::to_utf8(CStr::from_ptr(text).to_bytes())
                        })
                    };
                    columns.iter().enumerate().map(text).collect()
                };
                self.groups.code(&self.key, text)
            }
        };
        if group == NO_GROUP {
            return Ok(());
        }
        let first = self.columns.len() + usize::from(matches!(self.rows, Rows::ByUnit { .. }));
        for (i, place) in self.values.iter_mut().enumerate() {
            let (value, null) = at(first + i);
            // The query casts every value to int8. The smallest of them stands for NULL here; its
            // neighbour is out of every range just the same.
            *place = if null { NO_VALUE } else { (value.value() as i64).max(NO_VALUE + 1) };
        }
        match &mut self.rows {
            Rows::ByUnit { bounded, unit, coins } => {
                let (value, null) = at(first - 1);
                if null {
                    return Ok(());
                }
                let values = &self.values;
                // SAFETY: the value is of the unit column's type.
                unsafe {
                    unit.bytes(value, scratch, |bytes| {
                        if let Form::ByValue(_) = unit {
                            let mut word = [0; 8];
                            word[..bytes.len()].copy_from_slice(bytes);
                            bounded.row_of_number(u64::from_ne_bytes(word), group, values, *coins);
                        } else {
                            bounded.row_of_bytes(bytes, group, values, *coins);
                        }
                    });
                }
            }
            Rows::OneEach { bounded, coins } => {
                bounded.row_of_new_unit(group, &self.values, *coins)
            }
            Rows::Totals(totals) => totals.push((group, self.values.clone())),
        }
        Ok(())
    }
}

impl Reader<'_> {
    fn check_memory(&mut self) -> Result<(), Error> {
        // SAFETY: nothing in the scratch context outlives its row.
        unsafe { self.scratch.reset() };
        let limit = settings::max_memory();
        let held = match &self.rows {
            Rows::ByUnit { bounded, .. } | Rows::OneEach { bounded, .. } => {
                if bounded.is_full() {
                    return Err(Error::Memory { limit });
                }
                bounded.memory()
            }
            Rows::Totals(totals) => totals.len() as u64 * (32 + 8 * self.width as u64),
        };
        if held + self.groups.bytes > limit { Err(Error::Memory { limit }) } else { Ok(()) }
    }
}

/// What to read, as text of SQL expressions that the caller has built of quoted names only.
pub struct Query<'a> {
    pub owner: Oid,
    pub text: &'a str,
    /// How many of its first columns tell the group.
    pub group_columns: usize,
    /// How many of its last columns are values.
    pub width: usize,
}

impl Query<'_> {
    /// Reads rows whose units may have several, and keeps what `bounded` keeps.
    pub fn by_unit(
        &self,
        groups: &mut Groups,
        bounded: &mut Bounded,
        coins: &mut Coins,
    ) -> Result<(), Error> {
        self.read(groups, Rows::ByUnit { bounded, unit: Form::ByValue(8), coins })
    }

    /// Reads rows of which each is a unit.
    pub fn one_each(
        &self,
        groups: &mut Groups,
        bounded: &mut Bounded,
        coins: &mut Coins,
    ) -> Result<(), Error> {
        self.read(groups, Rows::OneEach { bounded, coins })
    }

    /// Reads one row of numbers for each group.
    pub fn totals(&self, groups: &mut Groups) -> Result<Vec<(u32, Vec<i64>)>, Error> {
        let mut totals = Vec::new();
        self.read(groups, Rows::Totals(&mut totals))?;
        Ok(totals)
    }

    /// Runs the query with the owner's rights. Whatever goes wrong there may depend on the data: the
    /// caller learns only that something did, and the server's log has the rest.
    fn read(&self, groups: &mut Groups, rows: Rows<'_>) -> Result<(), Error> {
        let mut reader = Reader {
            groups,
            group_columns: self.group_columns,
            columns: Vec::new(),
            width: self.width,
            rows,
            values: vec![0; self.width],
            key: Vec::new(),
            scratch: PgMemoryContexts::new("pg_sanitize row"),
            count: 0,
        };
        let query = CString::new(text::from_utf8(self.text))
            .map_err(|_| Error::query("a query contains a zero byte"))?;
        PgTryBuilder::new(AssertUnwindSafe(|| {
            rights::with_rights_of(self.owner, || {
                each_row(&query, &mut reader);
                Ok(())
            })
        }))
        .catch_when(PgSqlErrorCode::ERRCODE_QUERY_CANCELED, |_| Err(Error::Cancelled))
        .catch_others(|error| {
            log_for_owner(&error);
            Err(Error::Unreadable)
        })
        .execute()
    }
}

/// Writes an error to the server's log, and never to the client.
fn log_for_owner(error: &CaughtError) {
    let (CaughtError::PostgresError(report)
    | CaughtError::ErrorReport(report)
    | CaughtError::RustPanic { ereport: report, .. }) = error;
    let message = format!("pg_sanitize could not read a protected relation: {}", report.message());
    ErrorReport::new(report.sql_error_code(), message, "pg_sanitize")
        .report(PgLogLevel::LOG_SERVER_ONLY);
}
