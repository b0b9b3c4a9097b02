//! Rows of units that come one by one as the arguments of a call, of which a bounded number per unit is kept: the
//! shard's part of a noisy aggregate. See `crates/aggregate/src/reservoir.md`.
//!
//! A shard without enough memory reports that, and is asked for its rows instead; everyone who can see its statements
//! can see this. So it must not depend on which rows count. Every row is coded, and a second state bounds all rows as
//! if all counted: there is room only if that state fits, on this server and on the one that asks.

use super::cell::Form;
use super::reader::{self, RowCoder};
use crate::pg::call::argument::Type;
use crate::pg::call::array::Elements;
use crate::pg::call::expanded::Flat;
use crate::pg::call::serve::Call;
use crate::pg::call::{jsonb, settings, sql, text};
use crate::pg::prelude::*;
use crate::pg::process::pool;
use aggregate::Bounded;
use pgrx::{PgMemoryContexts, direct_function_call_as_datum};
use question::Key;
use random::Coins;
use serde::{Deserialize, Serialize};
use std::collections::{HashMap, HashSet};
use std::ffi::CStr;
use table::{Bag, Coder, Encoding, Keyed, NONE, RowCounter, Stop, Watch};

/// The rule for which rows are kept, as it is sent to a shard.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Terms {
    pub rows_per_unit: u64,
    pub groups_per_unit: u64,
    /// The types of the unit and of the columns that define groups, see [`kind`]. Other columns follow.
    pub types: Vec<u32>,
    /// The database's encoding, and the hash of a text: other kinds of servers may hash differently.
    pub encoding: i32,
    pub probe: i64,
    /// Modulus and remainder of the hash partition that a unit must belong to.
    pub hash: Option<(u64, u64)>,
    /// The groups whose rows count, if they are listed.
    pub groups: Option<Vec<Key>>,
    /// Whether an array of truth values precedes the unit: a row counts if all of them are true.
    #[serde(default)]
    pub flagged: bool,
    /// The most bytes that the bag of all rows may have, whether they count or not.
    #[serde(default)]
    pub most_bytes: Option<u64>,
}

/// The encoding of this database.
pub fn encoding() -> i32 {
    // SAFETY: reads a setting of the database.
    unsafe { pg_sys::GetDatabaseEncoding() }
}

/// The hash of a fixed text on this server.
pub fn probe() -> i64 {
    // SAFETY: the value is a text, and so is what the function hashes.
    unsafe { hash(text::datum(b"pg_sanitize"), hashing(pg_sys::TEXTOID), 0) as i64 }
}

/// How values of a type are hashed; the entry stays for the life of the process.
fn hashing(type_oid: Oid) -> *mut pg_sys::TypeCacheEntry {
    // SAFETY: catalog look-ups.
    unsafe {
        let wanted = pg_sys::TYPECACHE_HASH_EXTENDED_PROC_FINFO as i32;
        pg_sys::lookup_type_cache(pg_sys::getBaseType(type_oid), wanted)
    }
}

/// True if this database knows the aggregate.
pub fn is_known() -> Result<bool, Error> {
    sql::is_known("sanitize_internal.bounded_rows(pg_catalog.jsonb, \"any\")")
}

/// A number for a type whose equal values have equal bytes and the same text on every server; `None` for other types.
/// Types with the same number have the same values for the same texts, and the same hashes.
pub fn kind(type_oid: Oid) -> Option<u32> {
    match types::base(type_oid) {
        base if types::is_integer(base) => Some(pg_sys::INT8OID.to_u32()),
        pg_sys::VARCHAROID => Some(pg_sys::TEXTOID.to_u32()),
        // Equal values may have different blanks.
        pg_sys::BPCHAROID => None,
        // The OID of an enum differs between servers, and so do the hashes of its values.
        base if base.to_u32() >= pg_sys::FirstNormalObjectId => {
            types::identifies(base).then_some(ENUM)
        }
        base => types::identifies(base).then_some(base.to_u32()),
    }
}

/// The number of all enums: values are identified by their labels.
pub const ENUM: u32 = 0;

/// No such group.
const NO_GROUP: u32 = u32::MAX;
/// About the number of bytes that a group takes.
const GROUP_BYTES: usize = 128;
/// Rows between two checks of the memory.
const BATCH: u64 = 4096;
/// The most bytes that a shard sends at a time; as text the bag is somewhat longer.
const MOST_BYTES: u64 = 1 << 29;
/// How many copies of the kept rows and of the texts of their values are in memory, at most, while a bag is made of
/// them.
const COPIES: u64 = 5;

/// What Postgres hashes a partition key with.
const SEED: u64 = 0x7A5B_2236_7996_DCFD;

/// The hash of a partition key of one column.
///
/// # Safety
/// As for [`hash`].
unsafe fn partition_hash(value: Datum, cache: *mut pg_sys::TypeCacheEntry) -> u64 {
    // SAFETY: as the caller says.
    unsafe { hash(value, cache, SEED) }.wrapping_add(0x49a0_f4dd_15e5_a8e3)
}

/// The hash of a value.
///
/// # Safety
/// The value is of the type of the entry, which has a hash function.
unsafe fn hash(value: Datum, cache: *mut pg_sys::TypeCacheEntry, seed: u64) -> u64 {
    // SAFETY: as the caller says. Texts are hashed by their bytes under this collation.
    let hash = unsafe {
        let function = &raw mut (*cache).hash_extended_proc_finfo;
        pg_sys::FunctionCall2Coll(function, pg_sys::C_COLLATION_OID, value, Datum::from(seed))
    };
    hash.value() as u64
}

/// More bytes than a hash has.
const LONG: usize = 64;

/// A digest that differs for different long texts, and from every value that is not long.
///
/// # Safety
/// The value is a varlena; `scratch` is a context that outlives the call.
unsafe fn digest(value: Datum, scratch: pg_sys::MemoryContext) -> Result<[u8; LONG + 1], Error> {
    let mut digest = [0; LONG + 1];
    // SAFETY: as the caller says; the hash is a varlena too.
    unsafe {
        let hash = PgMemoryContexts::For(scratch)
            .switch_to(|_| direct_function_call_as_datum(pg_sys::sha256_bytea, &[Some(value)]))
            .ok_or(Error::Context)?;
        Form::Varlena.bytes(hash, scratch, |hash| {
            digest.iter_mut().zip(hash).for_each(|(place, &byte)| *place = byte);
        });
    }
    Ok(digest)
}

/// The text of a value of any type.
///
/// # Safety
/// The value is of the type.
unsafe fn output(type_oid: Oid, value: Datum) -> String {
    // SAFETY: the type's own output function.
    unsafe {
        let text = pg_sys::OidOutputFunctionCall(types::output_function(type_oid), value);
        text::to_utf8_always(CStr::from_ptr(text).to_bytes())
    }
}

/// The state of the aggregate.
pub enum State {
    Keeping(Box<Keeping>),
    /// This server cannot bound the rows, so the asking server has to read them: they do not fit into memory here, or
    /// columns have other types here.
    Cannot,
}

impl Flat for State {
    /// The state is never sent: which rows are kept is decided when all have arrived.
    fn bytes(&mut self) -> Result<&[u8], Error> {
        Err(Error::NoAggregate)
    }
}

/// Keeps rows.
pub struct Keeping {
    /// Whether the first column says which rows count.
    flagged: bool,
    unit: Form,
    /// Modulus, remainder and how a unit is hashed.
    hash: Option<(u64, u64, *mut pg_sys::TypeCacheEntry)>,
    /// The types of the columns that define groups.
    group_types: Vec<Oid>,
    listed: Option<HashSet<Key>>,
    /// The group of each combination of codes, and of each combination of texts as they will be shown: in some
    /// encodings several codes have one text, and a unit counts once in groups that are shown as one.
    groups: HashMap<Box<[u32]>, u32, Keyed>,
    keys: HashMap<Key, u32, Keyed>,
    /// Codes the mark, the columns of the group and the columns after them.
    rows: RowCoder,
    /// The codes of the mark: false, true.
    marks: [u32; 2],
    /// The rows that count.
    bounded: Bounded,
    /// As `bounded`, if all rows counted. Used only to decide whether there is room.
    all: Bounded,
    most_bytes: u64,
    coins: Coins,
    values: Vec<Datum>,
    nulls: Vec<bool>,
    codes: Vec<i64>,
    count: u64,
}

/// The arguments after the state and the terms.
fn columns(call: &Call) -> &[pg_sys::NullableDatum] {
    call.given().get(FIRST..).unwrap_or(&[])
}

/// The position of the unit.
const FIRST: usize = 2;

impl State {
    /// A state for rows like those of this call. `context` outlives the state.
    pub fn new(call: &Call, context: pg_sys::MemoryContext) -> Result<Self, Error> {
        if call.method.arguments.get(1).map(|argument| argument.of()) != Some(Type::Json) {
            return Err(Error::fault("argument 1 has no terms"));
        }
        let terms = call.datum(1).ok_or(Error::Null { argument: "terms" })?;
        let terms = jsonb::text(terms)?.ok_or(Error::Null { argument: "terms" })?;
        let terms: Terms = serde_json::from_str(&terms).map_err(|error| {
            Error::argument(
                format!("terms cannot be read: {error}"),
                "bounded_rows is called by dp_aggregate of a server of the same version.",
            )
        })?;
        let of = |column: usize| call.type_of(FIRST + column).ok_or(Error::Context);
        let first = usize::from(terms.flagged);
        let given: Vec<Oid> = (first..columns(call).len()).map(of).collect::<Result<_, _>>()?;
        if terms.flagged && of(0)? != pg_sys::BOOLARRAYOID {
            return Ok(State::Cannot);
        }
        let kinds: Vec<_> = given.iter().take(terms.types.len()).map(|&of| kind(of)).collect();
        let fits = !kinds.is_empty()
            && kinds.into_iter().eq(terms.types.iter().copied().map(Some))
            && (terms.encoding, terms.probe) == (encoding(), probe());
        if !fits {
            return Ok(State::Cannot);
        }
        let cache = hashing(given[0]);
        // SAFETY: the entry is valid.
        let is_hashed = unsafe { (*cache).hash_extended_proc } != pg_sys::InvalidOid;
        let hash = match terms.hash {
            Some((modulus, remainder)) if modulus > 0 && is_hashed => {
                Some((modulus, remainder, cache))
            }
            Some(_) => return Ok(State::Cannot),
            None => None,
        };
        // The mark takes the place of the unit.
        let mark = std::iter::once(pg_sys::BOOLOID);
        let coded: Vec<Oid> = mark.chain(given[1..].iter().copied()).collect();
        let named = coded.iter().enumerate().map(|(i, &of)| (i, of, format!("c{i}")));
        // SAFETY: the context outlives this value, as the caller says.
        let mut rows = unsafe { RowCoder::of_columns(named, context) };
        let width = coded.len();
        let (mut values, mut nulls) = (vec![Datum::null(); width], vec![true; width]);
        nulls[0] = false;
        let marks = [false, true].map(|mark| {
            values[0] = Datum::from(mark);
            // SAFETY: a boolean and NULLs.
            unsafe { rows.code(values.as_ptr(), nulls.as_ptr()) };
            rows.coder().row()[0]
        });
        Ok(State::Keeping(Box::new(Keeping {
            flagged: terms.flagged,
            unit: Form::of(given[0]),
            hash,
            group_types: given[1..terms.types.len()].to_vec(),
            listed: terms.groups.map(|groups| groups.into_iter().collect()),
            groups: HashMap::default(),
            keys: HashMap::default(),
            rows,
            marks,
            bounded: Bounded::new(terms.rows_per_unit, terms.groups_per_unit, width - 1),
            all: Bounded::new(terms.rows_per_unit, terms.groups_per_unit, width - 1),
            most_bytes: terms.most_bytes.unwrap_or(MOST_BYTES).min(MOST_BYTES),
            coins: Coins::os()?,
            values,
            nulls,
            codes: vec![0; width - 1],
            count: 0,
        })))
    }

    /// Adds the row of a call.
    pub fn row(&mut self, call: &Call) -> Result<(), Error> {
        let State::Keeping(keeping) = self else { return Ok(()) };
        let (flags, given) = columns(call).split_at(usize::from(keeping.flagged));
        if given.len() != keeping.values.len() {
            return Err(Error::Context);
        }
        // SAFETY: all calls of an aggregate have columns of the same types.
        if !unsafe { keeping.row(flags.first(), given) }? {
            *self = State::Cannot;
        }
        Ok(())
    }

    /// The kept rows; `None` if they could not be kept.
    pub fn take(&mut self) -> Result<Option<Bag>, Error> {
        let State::Keeping(mut keeping) = std::mem::replace(self, State::Cannot) else {
            return Ok(None);
        };
        keeping.fits().then(|| keeping.finish()).transpose()
    }
}

/// The bag of no rows.
pub fn nothing() -> Result<Bag, Error> {
    Ok(reader::finish(Coder::new([]), 0)?.bag)
}

impl Keeping {
    /// Adds a row; false if there is no room.
    ///
    /// # Safety
    /// The columns have the types that this was made for, and the flags are an array of truth values.
    unsafe fn row(
        &mut self,
        flags: Option<&pg_sys::NullableDatum>,
        given: &[pg_sys::NullableDatum],
    ) -> Result<bool, Error> {
        self.count += 1;
        if self.count.is_multiple_of(BATCH) {
            let memory = 2 * self.all.memory() + self.texts();
            if self.all.is_full() || self.rows.end_batch(self.count, memory, 0).is_err() {
                return Ok(false);
            }
        }
        for (i, value) in given.iter().enumerate().skip(1) {
            self.values[i] = value.value;
            self.nulls[i] = value.isnull;
        }
        let unit = given[0];
        // SAFETY: as the caller says; the first is the mark, a boolean.
        unsafe { self.rows.code(self.values.as_ptr(), self.nulls.as_ptr()) };
        // SAFETY: as the caller says.
        let group = unsafe { self.group() };
        // A row without a unit: whose row it is is unknown, so it does not count.
        if unit.isnull {
            return Ok(true);
        }
        // A unit that belongs to another partition must not count here too.
        // SAFETY: the value is of the type whose hash function it is.
        let is_here = |&(modulus, remainder, cache): &(u64, u64, _)| unsafe {
            partition_hash(unit.value, cache) % modulus == remainder
        };
        let is_here = self.hash.as_ref().is_none_or(is_here);
        // SAFETY: as the caller says.
        let is_kept = flags.is_none_or(|flags| unsafe { self.all_true(flags) });
        let counts = is_here && is_kept && group != NO_GROUP;
        let codes = &self.rows.coder().row()[1..];
        self.codes.iter_mut().zip(codes).for_each(|(place, &code)| *place = code.into());
        let Keeping { all, bounded, codes, coins, unit: form, .. } = self;
        let mut add = |bytes: &[u8], to: &mut Bounded| {
            if let Form::ByValue(_) = form {
                let mut word = [0; 8];
                word[..bytes.len()].copy_from_slice(bytes);
                to.row_of_number(u64::from_ne_bytes(word), group, codes, coins);
            } else {
                to.row_of_bytes(bytes, group, codes, coins);
            }
        };
        // SAFETY: the value is of the unit's type; a detoasted copy lives until the next batch.
        unsafe {
            let scratch = self.rows.scratch();
            form.bytes(unit.value, scratch, |bytes| {
                // The time must not show how long the unit of a row that counts is.
                let digest =
                    (bytes.len() > LONG).then(|| digest(unit.value, scratch)).transpose()?;
                let bytes = digest.as_ref().map_or(bytes, |digest| digest);
                add(bytes, all);
                if counts {
                    add(bytes, bounded);
                }
                Ok(true)
            })
        }
    }

    /// Bytes that the values and groups of all rows take.
    fn texts(&mut self) -> u64 {
        let groups = 2 * self.groups.capacity() * GROUP_BYTES;
        self.rows.coder().memory() + groups as u64
    }

    /// Whether a bag of all rows could be made and sent.
    fn fits(&mut self) -> bool {
        self.all.settle(&mut self.coins);
        let (kept, texts) = (self.all.memory(), self.texts());
        let bytes = texts + self.all.rows() as u64 * (4 * self.values.len() as u64 + 8);
        COPIES * (kept + texts) <= settings::max_memory() && bytes <= self.most_bytes
    }

    /// True if all elements of the array are true.
    ///
    /// # Safety
    /// It is an array of truth values.
    unsafe fn all_true(&self, flags: &pg_sys::NullableDatum) -> bool {
        // SAFETY: as the caller says; the parts live until the next batch.
        !flags.isnull
            && unsafe {
                PgMemoryContexts::For(self.rows.scratch()).switch_to(|_| {
                    let array = pg_sys::pg_detoast_datum(flags.value.cast_mut_ptr());
                    let flags = Elements::new(array.cast());
                    (0..flags.len())
                        .all(|i| matches!(flags.get(i), (value, false) if value.value() != 0))
                })
            }
    }

    /// The group of the current row, [`NO_GROUP`] if it does not count.
    ///
    /// # Safety
    /// The current row has values of the group's types.
    unsafe fn group(&mut self) -> u32 {
        let width = self.group_types.len();
        let codes = &self.rows.coder().row()[1..=width];
        if let Some(&group) = self.groups.get(codes) {
            return group;
        }
        let text = |(i, &of): (usize, &Oid)| {
            // SAFETY: as the caller says.
            (!self.nulls[1 + i]).then(|| unsafe { output(of, self.values[1 + i]) })
        };
        let key: Key = self.group_types.iter().enumerate().map(text).collect();
        let group = match self.listed.as_ref().is_none_or(|listed| listed.contains(&key)) {
            true => {
                let fresh = self.keys.len() as u32;
                *self.keys.entry(key).or_insert(fresh)
            }
            false => NO_GROUP,
        };
        self.groups.insert(codes.into(), group);
        group
    }

    /// The kept rows as a bag: the mark, the columns of the group and the columns after them.
    fn finish(mut self) -> Result<Bag, Error> {
        drop(self.all);
        let coder = std::mem::replace(self.rows.coder(), Coder::new([]));
        let (mut bounded, mut coins, marks) = (self.bounded, self.coins, self.marks);
        pool::run("keeping rows", 0, move |watch| {
            bounded.finish(&mut coins);
            // The rows are copied; the copy takes no more than they take now.
            let copied = watch.hold(2 * bounded.memory() + coder.memory())?;
            let mut row = vec![NONE; coder.row().len()];
            let mut counter = RowCounter::new(row.len());
            bounded.each_kept(|is_first, _, codes| {
                row[0] = marks[usize::from(is_first)];
                row[1..].iter_mut().zip(codes).for_each(|(place, &code)| *place = code as u32);
                counter.add(&row, 1);
            });
            drop(bounded);
            drop(copied);
            used(&coder.with_rows(counter).finish(watch)?.bag, watch)
        })
    }
}

/// The bag without values that no row has.
fn used(bag: &Bag, watch: &Watch) -> Result<Bag, Stop> {
    let columns = bag.domains().iter().map(|d| (d.name().to_string(), Encoding::Text));
    // This bag and the copy that is made of it.
    let _held = watch.hold(2 * bag.memory())?;
    let mut coder = Coder::new(columns);
    let mut counter = RowCounter::new(bag.width());
    for i in 0..bag.distinct() {
        watch.poll(i)?;
        for (column, &code) in bag.row(i).iter().enumerate() {
            match code {
                NONE => coder.null(column),
                code => coder.text(column, bag.domain(column).value(code)),
            }
        }
        counter.add(coder.row(), bag.weight(i));
    }
    Ok(coder.with_rows(counter).finish(watch)?.bag)
}
