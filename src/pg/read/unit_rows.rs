//! Reads a protected relation for noisy aggregates: each row's group, unit and values. Runs in a
//! reader process only, see [`crate::pg::process::worker::isolated`].

use super::cell::Form;
use super::rows::{RowSink, each_row_locked};
use crate::pg::call::error::Error;
use crate::pg::call::{settings, text};
use crate::pg::catalog::rights;
use crate::pg::process::pool;
use crate::pg::process::worker::isolated;
use crate::pg::shards::ask::unpacked;
use crate::pg::write::held_rows::Held;
use aggregate::{Batch, Bounded, NO_VALUE, UnitRows};
use pgrx::pg_sys::{self, Datum, Oid};
use pgrx::{PgMemoryContexts, PgSqlErrorCode, PgTryBuilder, PgTupleDesc};
use question::Key;
use random::Coins;
use std::collections::HashMap;
use std::ffi::{CStr, CString};
use std::panic::AssertUnwindSafe;
use std::rc::Rc;
use std::sync::atomic::{AtomicU64, Ordering};
use table::Bag;

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
    /// Codes by the bytes of the columns, so that text is made once per group. Hashed with a key of
    /// the process: whoever writes the table chooses these bytes.
    by_bytes: HashMap<Box<[u8]>, u32, table::Keyed>,
    /// Values of a single column that is passed by value, beside their codes.
    recent: Vec<Option<(u64, u32)>>,
    bytes: u64,
}

/// Groups that are told without a look at the map: of a hundred groups nearly all, which took a question
/// about 5 million rows of a million units from 1.17 to 1.00 s.
const RECENT: usize = 1024;

fn place(word: u64) -> usize {
    (word.wrapping_mul(0x9E37_79B9_7F4A_7C15) >> 54) as usize % RECENT
}

impl Groups {
    /// Exactly these groups, whatever the rows show.
    pub fn public(keys: Vec<Key>) -> Self {
        let codes = keys.iter().cloned().zip(0..).collect();
        Groups { keys, is_public: true, codes, ..Default::default() }
    }

    /// The code of a listed group.
    pub fn listed(&self, key: &Key) -> Option<usize> {
        self.codes.get(key).map(|&code| code as usize)
    }

    /// The code of a group by its texts; `None` if others are listed.
    pub fn of_key(&mut self, key: Key) -> Option<u32> {
        match self.codes.get(&key) {
            Some(&code) => Some(code),
            None if self.is_public => None,
            None => Some(self.add(key)),
        }
    }

    fn add(&mut self, key: Key) -> u32 {
        let code = self.keys.len() as u32;
        self.bytes += 64 + key.iter().flatten().map(|k| k.len() as u64 + 48).sum::<u64>();
        self.codes.insert(key.clone(), code);
        self.keys.push(key);
        code
    }

    fn recent(&self, word: u64) -> Option<u32> {
        let (found, code) = (*self.recent.get(place(word))?)?;
        (found == word).then_some(code)
    }

    fn remember(&mut self, word: u64, code: u32) {
        self.recent.resize(RECENT, None);
        self.recent[place(word)] = Some((word, code));
    }

    fn code(&mut self, bytes: &[u8], key: impl FnOnce() -> Key) -> u32 {
        if let Some(&code) = self.by_bytes.get(bytes) {
            return code;
        }
        let key = key();
        self.bytes += bytes.len() as u64 + 64;
        let code = self.of_key(key).unwrap_or(NO_GROUP);
        self.by_bytes.insert(bytes.into(), code);
        code
    }
}

/// A row of a query in the order of its groups.
pub struct Visit<'a> {
    /// The group, if it is another one than that of the row before.
    pub key: Option<Key>,
    /// The last columns of the row, [`NO_VALUE`] for NULL.
    pub values: &'a [i64],
    /// True if the column before these, a text, is not NULL and differs from that of the row before.
    pub is_new_text: bool,
}

/// Where a query's rows go.
enum Target<'a> {
    /// The unit is the first column after the groups, then one column for each value.
    /// `held` are the bytes of what is kept.
    ByUnit {
        groups: &'a mut Groups,
        feed: &'a mut pool::Feed<Batch>,
        held: &'a AtomicU64,
        unit: Form,
    },
    /// Every row is a unit of its own: one column for each value.
    OneEach { groups: &'a mut Groups, bounded: &'a mut Bounded, coins: &'a mut Coins },
    /// The unit, which does not matter here, then one column for each of its values in a group.
    Units { groups: &'a mut Groups, units: &'a mut UnitRows },
    /// Each row as it comes; `has_text`: a text stands before the values.
    Visitor { visit: &'a mut dyn FnMut(Visit<'_>) -> Result<(), Error>, has_text: bool },
}

/// A column that tells groups apart.
struct GroupColumn {
    form: Form,
    output: Oid,
}

struct Reader<'a> {
    group_columns: usize,
    columns: Vec<GroupColumn>,
    target: Target<'a>,
    values: Vec<i64>,
    /// The bytes of the group's columns, and those of the row before.
    key: Vec<u8>,
    last_key: Option<Vec<u8>>,
    last_text: Option<Vec<u8>>,
    scratch: PgMemoryContexts,
    count: u64,
    /// The rows did not fit into memory.
    is_full: bool,
}

impl RowSink for Reader<'_> {
    fn begin(&mut self, descriptor: &PgTupleDesc) {
        for attribute in descriptor.iter().take(self.group_columns) {
            let (mut output, mut is_varlena) = (pg_sys::InvalidOid, false);
            // SAFETY: a catalog look-up.
            unsafe { pg_sys::getTypeOutputInfo(attribute.atttypid, &mut output, &mut is_varlena) };
            self.columns.push(GroupColumn { form: Form::of(attribute.atttypid), output });
        }
        if let Target::ByUnit { unit, .. } = &mut self.target
            && let Some(attribute) = descriptor.get(self.group_columns)
        {
            *unit = Form::of(attribute.atttypid);
        }
    }

    unsafe fn row(&mut self, values: *const Datum, nulls: *const bool) -> Result<bool, Error> {
        // SAFETY: as the caller says.
        let at = |i: usize| unsafe { (*values.add(i), *nulls.add(i)) };
        self.count += 1;
        if self.count.is_multiple_of(BATCH) {
            // SAFETY: nothing in the scratch context outlives its row.
            unsafe { self.scratch.reset() };
            if self.held() > settings::max_memory() {
                self.is_full = true;
                return Ok(false);
            }
        }
        let scratch = self.scratch.value();
        // The only column that tells the group, if it is one word.
        let word = match self.columns.as_slice() {
            [GroupColumn { form: Form::ByValue(_), .. }] if !at(0).1 => {
                Some(at(0).0.value() as u64)
            }
            _ => None,
        };
        let groups = match &self.target {
            Target::ByUnit { groups, .. }
            | Target::OneEach { groups, .. }
            | Target::Units { groups, .. } => Some(&**groups),
            Target::Visitor { .. } => None,
        };
        let recent = word.zip(groups).and_then(|(word, groups)| groups.recent(word));
        if recent.is_none() {
            self.key.clear();
            for (i, column) in self.columns.iter().enumerate() {
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
        }
        let columns = &self.columns;
        let key = || {
            let text = |(i, column): (usize, &GroupColumn)| {
                let (value, null) = at(i);
                // SAFETY: the type's own output function.
                (!null).then(|| unsafe {
                    let text = pg_sys::OidOutputFunctionCall(column.output, value);
                    text::to_utf8_always(CStr::from_ptr(text).to_bytes())
                })
            };
            columns.iter().enumerate().map(text).collect()
        };
        let between = match &self.target {
            Target::OneEach { .. } | Target::Visitor { has_text: false, .. } => 0,
            _ => 1,
        };
        let first = columns.len() + between;
        for (i, place) in self.values.iter_mut().enumerate() {
            let (value, null) = at(first + i);
            // The query casts every value to int8. The smallest of them stands for NULL here; its
            // neighbour is out of every range just the same.
            *place = if null { NO_VALUE } else { (value.value() as i64).max(NO_VALUE + 1) };
        }
        let code = |groups: &mut Groups, bytes: &[u8]| match (columns.is_empty(), recent) {
            (true, _) => 0,
            (false, Some(code)) => code,
            (false, None) => {
                let code = groups.code(bytes, key);
                if let Some(word) = word {
                    groups.remember(word, code);
                }
                code
            }
        };
        match &mut self.target {
            Target::ByUnit { groups, feed, unit, .. } => {
                let (value, null) = at(first - 1);
                let group = code(groups, &self.key);
                if null || group == NO_GROUP {
                    return Ok(true);
                }
                let (values, batch) = (&self.values, &mut feed.part);
                // SAFETY: the value is of the unit column's type.
                unsafe {
                    unit.bytes(value, scratch, |bytes| {
                        if let Form::ByValue(_) = unit {
                            let mut word = [0; 8];
                            word[..bytes.len()].copy_from_slice(bytes);
                            batch.row_of_number(u64::from_ne_bytes(word), group, values);
                        } else {
                            batch.row_of_bytes(bytes, group, values);
                        }
                    });
                }
                if batch.is_full() {
                    // Nobody takes it only if the other thread panicked, which is told at its end.
                    return Ok(feed.next());
                }
            }
            Target::OneEach { groups, bounded, coins } => {
                let group = code(groups, &self.key);
                if group != NO_GROUP {
                    bounded.row_of_new_unit(group, &self.values, *coins);
                }
            }
            Target::Units { groups, units } => {
                let group = code(groups, &self.key);
                if group != NO_GROUP {
                    units.push(group, &self.values);
                }
            }
            Target::Visitor { visit, has_text } => {
                let is_new_group = self.last_key.as_ref() != Some(&self.key);
                let mut is_new_text = false;
                if *has_text {
                    let (value, null) = at(first - 1);
                    if !null {
                        // SAFETY: the query casts it to text.
                        let bytes =
                            unsafe { Form::Text.bytes(value, scratch, |bytes| bytes.to_vec()) };
                        is_new_text = is_new_group || self.last_text.as_ref() != Some(&bytes);
                        self.last_text = Some(bytes);
                    }
                }
                let key = is_new_group.then(key);
                if is_new_group {
                    self.last_key = Some(self.key.clone());
                }
                visit(Visit { key, values: &self.values, is_new_text })?;
            }
        }
        Ok(true)
    }
}

/// Bytes held; everything, if there is no room for further row numbers.
fn held(bounded: &Bounded) -> u64 {
    if bounded.is_full() { u64::MAX } else { bounded.memory() }
}

impl Reader<'_> {
    /// Bytes held.
    fn held(&self) -> u64 {
        match &self.target {
            Target::ByUnit { groups, feed, held, .. } => held
                .load(Ordering::Relaxed)
                .saturating_add(feed.part.memory() * pool::PARTS + groups.bytes),
            Target::OneEach { groups, bounded, .. } => held(bounded).saturating_add(groups.bytes),
            Target::Units { groups, units } => units.memory() + groups.bytes,
            Target::Visitor { .. } => 0,
        }
    }
}

/// What to read, as text of SQL expressions that the caller has built of quoted names only.
pub struct Query<'a> {
    pub owner: Oid,
    /// Rows that it may read.
    pub held: Rc<Held>,
    pub text: &'a str,
    /// How many of its first columns tell the group.
    pub group_columns: usize,
    /// How many of its last columns are values.
    pub width: usize,
}

/// Whether all rows found room.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Fit {
    All,
    TooMany,
}

impl Query<'_> {
    /// Reads rows whose units may have several, and keeps what `bounded` keeps.
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
            |feed| self.read(Target::ByUnit { groups, feed, held: &kept, unit: Form::ByValue(8) }),
        )
    }

    /// Reads rows of which each is a unit.
    pub fn one_each(
        &self,
        groups: &mut Groups,
        bounded: &mut Bounded,
        coins: &mut Coins,
    ) -> Result<Fit, Error> {
        self.read(Target::OneEach { groups, bounded, coins })
    }

    /// Reads the totals of units.
    pub fn units(&self, groups: &mut Groups, units: &mut UnitRows) -> Result<Fit, Error> {
        self.read(Target::Units { groups, units })
    }

    /// Hands every row to `visit`, with a text before the values or without one.
    pub fn each(
        &self,
        has_text: bool,
        visit: &mut dyn FnMut(Visit<'_>) -> Result<(), Error>,
    ) -> Result<(), Error> {
        self.read(Target::Visitor { visit, has_text }).map(|_| ())
    }

    fn read(&self, target: Target<'_>) -> Result<Fit, Error> {
        let mut reader = Reader {
            group_columns: self.group_columns,
            columns: Vec::new(),
            target,
            values: vec![0; self.width],
            key: Vec::new(),
            last_key: None,
            last_text: None,
            scratch: PgMemoryContexts::new("pg_sanitize row"),
            count: 0,
            is_full: false,
        };
        self.run(&mut reader)?;
        Ok(if reader.is_full { Fit::TooMany } else { Fit::All })
    }

    /// Runs the query with the owner's rights. Whatever goes wrong there may depend on the data: the
    /// caller learns only that something did, and the server's log has the rest.
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

/// The packed bags in the only column of a query's rows, with the owner's rights; `None` if one of them is NULL.
pub fn bags(owner: Oid, query: &str) -> Result<Option<Vec<Packed>>, Error> {
    let mut bags =
        Bags { bags: Some(Vec::new()), context: PgMemoryContexts::new("pg_sanitize bag") };
    run(owner, query, &mut bags)?;
    Ok(bags.bags)
}

/// Runs a query that reads nothing that is held.
fn run(owner: Oid, text: &str, sink: &mut dyn RowSink) -> Result<(), Error> {
    let held = Rc::new(Held::new());
    Query { owner, held, text, group_columns: 0, width: 0 }.run(sink)
}

/// Does what may fail for reasons that the data have.
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

/// A bag that another server has sent, as it came.
pub struct Packed(Vec<u8>);

impl Packed {
    pub fn unpacked(self) -> Result<Bag, Error> {
        guarded(|| unpacked(&self.0, 0).unwrap_or_else(|error| error.raise()))
    }
}

/// Takes bags, packed as text, until one is missing.
struct Bags {
    bags: Option<Vec<Packed>>,
    context: PgMemoryContexts,
}

impl RowSink for Bags {
    fn begin(&mut self, _descriptor: &PgTupleDesc) {}

    unsafe fn row(&mut self, values: *const Datum, nulls: *const bool) -> Result<bool, Error> {
        // SAFETY: the query's rows have one column, a text.
        let packed = unsafe {
            let copy = |packed: &[u8]| Packed(packed.to_vec());
            (!*nulls).then(|| Form::Text.bytes(*values, self.context.value(), copy))
        };
        self.bags = self.bags.take().zip(packed).map(|(mut bags, packed)| {
            bags.push(packed);
            bags
        });
        Ok(self.bags.is_some())
    }
}
