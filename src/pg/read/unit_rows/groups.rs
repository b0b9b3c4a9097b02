//! The groups of rows: codes by the bytes of the columns that define groups.

use crate::pg::prelude::*;
use crate::pg::read::cell::Form;
use pgrx::PgTupleDesc;
use question::Key;
use std::collections::HashMap;
use std::ffi::CStr;

use super::Row;

/// No such group.
pub const NO_GROUP: u32 = u32::MAX;

/// The groups of a query: a public list, or those that the rows show.
#[derive(Default)]
pub struct Groups {
    pub keys: Vec<Key>,
    is_public: bool,
    codes: HashMap<Key, u32>,
    /// Codes by the bytes of the columns, so that text is made once per group. The hash has a key per process, because
    /// the writer of the table chooses these bytes.
    by_bytes: HashMap<Box<[u8]>, u32, table::Keyed>,
    /// A cache for a single column that is passed by value: values with their codes.
    recent: Vec<Option<(u64, u32)>>,
    pub(super) bytes: u64,
}

/// Size of the cache that saves look-ups in the map. With a hundred groups nearly all are found in it, which took a
/// question about 5 million rows of a million units from 1.17 to 1.00 s.
const RECENT: usize = 1024;

fn place(word: u64) -> usize {
    (word.wrapping_mul(0x9E37_79B9_7F4A_7C15) >> 54) as usize % RECENT
}

impl Groups {
    /// Exactly these groups, whether rows have them or not.
    pub fn public(keys: Vec<Key>) -> Self {
        let codes = keys.iter().cloned().zip(0..).collect();
        Groups { keys, is_public: true, codes, ..Default::default() }
    }

    /// The code of a listed group.
    pub fn listed(&self, key: &Key) -> Option<usize> {
        self.codes.get(key).map(|&code| code as usize)
    }

    /// The code of a group by its texts; `None` if groups are listed and it is not among them.
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

/// A column that defines groups.
struct GroupColumn {
    form: Form,
    output: Oid,
}

/// The columns that define groups, and their bytes in a row.
#[derive(Default)]
pub struct GroupColumns {
    columns: Vec<GroupColumn>,
    bytes: Vec<u8>,
}

impl GroupColumns {
    /// The first columns of a query.
    pub fn new(descriptor: &PgTupleDesc, number: usize) -> Self {
        let column =
            |of: Oid| GroupColumn { form: Form::of(of), output: types::output_function(of) };
        let columns = descriptor.iter().take(number).map(|attribute| column(attribute.atttypid));
        GroupColumns { columns: columns.collect(), bytes: Vec::new() }
    }

    pub fn len(&self) -> usize {
        self.columns.len()
    }

    /// The bytes of the columns in a row: equal for rows of the same group.
    pub fn bytes(&mut self, row: &Row) -> &[u8] {
        self.bytes.clear();
        for (i, column) in self.columns.iter().enumerate() {
            let Some(value) = row.at(i) else {
                self.bytes.push(0);
                continue;
            };
            self.bytes.push(1);
            let key = &mut self.bytes;
            // SAFETY: the value is of the column's type.
            unsafe {
                column.form.bytes(value, row.scratch, |bytes| {
                    key.extend_from_slice(&(bytes.len() as u32).to_ne_bytes());
                    key.extend_from_slice(bytes);
                });
            }
        }
        &self.bytes
    }

    /// The texts of the columns in a row.
    pub fn key(&self, row: &Row) -> Key {
        let text = |(i, column): (usize, &GroupColumn)| {
            // SAFETY: the type's own output function.
            row.at(i).map(|value| unsafe {
                let text = pg_sys::OidOutputFunctionCall(column.output, value);
                text::to_utf8_always(CStr::from_ptr(text).to_bytes())
            })
        };
        self.columns.iter().enumerate().map(text).collect()
    }

    /// The code of a row's group, or [`NO_GROUP`].
    pub fn code(&mut self, row: &Row, groups: &mut Groups) -> u32 {
        // The group's only column, if its value is one word.
        let word = match self.columns.as_slice() {
            [] => return 0,
            [GroupColumn { form: Form::ByValue(_), .. }] => {
                row.at(0).map(|value| value.value() as u64)
            }
            _ => None,
        };
        if let Some(code) = word.and_then(|word| groups.recent(word)) {
            return code;
        }
        self.bytes(row);
        let code = groups.code(&self.bytes, || self.key(row));
        if let Some(word) = word {
            groups.remember(word, code);
        }
        code
    }
}
