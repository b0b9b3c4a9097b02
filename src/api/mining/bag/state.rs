//! The state of an aggregate that makes a bag.

use crate::api::prelude::*;
use crate::pg::call::expanded::Flat;
use crate::pg::read::argument_rows::{Columns, Given};
use crate::pg::read::bag;
use crate::pg::read::reader::RowCoder;
use crate::pg::read::record::{Record, Records};
use pgrx::pg_sys::MemoryContext;
use std::cell::Cell;
use table::{Coder, Encoding};

thread_local! {
    /// Bytes of all states of this process. Each group has a state, and the leader of a parallel query gets those of
    /// its workers: the limit is for all of them together.
    static HELD: Cell<u64> = const { Cell::new(0) };
}

/// The bytes of all states of this process.
pub fn held() -> u64 {
    HELD.get()
}

/// The bytes that a state holds, as long as it lives.
#[derive(Default)]
struct Held(u64);

impl Held {
    fn set(&mut self, bytes: u64) {
        HELD.set(self.beside() + bytes);
        self.0 = bytes;
    }

    /// The bytes that the other states hold.
    fn beside(&self) -> u64 {
        HELD.get() - self.0
    }
}

impl Drop for Held {
    fn drop(&mut self) {
        self.set(0);
    }
}

/// The state.
pub struct State {
    part: Part,
    held: Held,
}

/// The contents of a state.
enum Part {
    /// Reads rows.
    Records(Records),
    /// Reads columns.
    Columns(Columns),
    /// Adds up bags.
    Sum(Coder),
    /// Has been written.
    Bytes(Vec<u8>),
    /// Was taken out.
    Spent,
}

/// Rows between two updates of the memory that a state holds.
const COUNTED: u64 = 1024;

impl State {
    /// A state that reads rows of the type of the first.
    pub fn records(first: &Record<'_>, context: MemoryContext) -> Result<Self> {
        State::reading(Part::Records(Records::new(first, context)))
    }

    /// A state that reads columns with the names and types of the first.
    pub fn columns(first: &Given<'_>, context: MemoryContext) -> Result<Self> {
        State::reading(Part::Columns(Columns::new(first, context)?))
    }

    /// A state that adds up bags with the columns of this one.
    pub fn sum(of: &Bag) -> Self {
        let columns = of.domains().iter().map(|d| (d.name().to_string(), Encoding::Text));
        State::new(Part::Sum(Coder::new(columns)))
    }

    fn reading(part: Part) -> Result<Self> {
        let mut state = State::new(part);
        let names: Vec<&str> = state.coder().into_iter().flat_map(|coder| coder.names()).collect();
        match (1..names.len()).find(|&i| names[..i].contains(&names[i])) {
            Some(i) => Err(Error::argument(
                format!("two columns of the rows are called \"{}\"", names[i]),
                "Give every column a name of its own.",
            )),
            None => Ok(state),
        }
    }

    fn new(part: Part) -> Self {
        let mut state = State { part, held: Held::default() };
        state.count();
        state
    }

    /// The coder of the rows, if the state has one.
    fn coder(&mut self) -> Option<&mut Coder> {
        match &mut self.part {
            Part::Records(rows) => Some(rows.coder.coder()),
            Part::Columns(rows) => Some(rows.coder.coder()),
            Part::Sum(coder) => Some(coder),
            Part::Bytes(_) | Part::Spent => None,
        }
    }

    /// Updates the memory that the state holds.
    fn count(&mut self) {
        let bytes = match &self.part {
            Part::Bytes(bytes) => bytes.capacity() as u64,
            _ => self.coder().map_or(0, |coder| coder.memory()),
        };
        self.held.set(bytes);
    }

    /// From time to time updates the memory of this state, and passes that of the others to its coder.
    fn added(&mut self) {
        let beside = self.held.beside();
        let tell = |rows: &mut RowCoder| {
            let now = rows.coder().read().is_multiple_of(COUNTED);
            if now {
                rows.beside(beside);
            }
            now
        };
        let now = match &mut self.part {
            Part::Records(rows) => tell(&mut rows.coder),
            Part::Columns(rows) => tell(&mut rows.coder),
            _ => false,
        };
        if now {
            self.count();
        }
    }

    /// Adds a row; false if the state does not read rows.
    pub fn add_record(&mut self, record: &Record<'_>) -> Result<bool> {
        let Part::Records(rows) = &mut self.part else { return Ok(false) };
        if !rows.add(record)? {
            return Err(Error::argument(
                "the rows given to row_bag are of different types",
                "Aggregate the rows of one relation or subquery.",
            ));
        }
        self.added();
        Ok(true)
    }

    /// Adds columns as a row; false if the state does not read columns.
    pub fn add_columns(&mut self, given: &Given<'_>) -> Result<bool> {
        let Part::Columns(rows) = &mut self.part else { return Ok(false) };
        if !rows.add(given)? {
            return Err(Error::argument(
                "the columns of the rows have different names or types",
                "Give the same names and columns for all rows.",
            ));
        }
        self.added();
        Ok(true)
    }

    /// Adds the rows of a bag; returns it if the state cannot take it.
    pub fn add_bag(&mut self, bag: Bag) -> Result<Option<Bag>> {
        let beside = self.held.beside();
        let Some(coder) = self.coder() else { return Ok(Some(bag)) };
        if !coder.names().eq(bag.domains().iter().map(|domain| domain.name())) {
            let list = |names: Vec<&str>| names.join(", ");
            let (own, other) = (
                list(coder.names().collect()),
                list(bag.domains().iter().map(|domain| domain.name()).collect()),
            );
            return Err(Error::argument(
                format!("a bag of the columns {other} is added to one of {own}"),
                "Merge bags of the same columns in the same order.",
            ));
        }
        let held = beside + bag.memory() + coder.memory();
        // The bag is moved into the job, because memory that the pool frees is returned to the system.
        pool::run("merging bags", held, move |watch| coder.absorb(&bag, watch))
            .map_err(Error::of_merging)?;
        self.count();
        Ok(None)
    }

    /// Takes the bag out, to be written.
    pub fn take(&mut self) -> Result<Vec<u8>> {
        let beside = self.held.beside();
        self.held.set(0);
        let bag = match std::mem::replace(&mut self.part, Part::Spent) {
            Part::Records(rows) => rows.coder.finish()?.bag,
            Part::Columns(rows) => rows.coder.finish()?.bag,
            Part::Sum(coder) => reader::finish(coder, beside)?.bag,
            Part::Bytes(bytes) => return Ok(bytes),
            Part::Spent => return Err(Error::NoAggregate),
        };
        bag::encode(bag)
    }
}

impl Flat for State {
    fn bytes(&mut self) -> Result<&[u8]> {
        if !matches!(self.part, Part::Bytes(_)) {
            self.part = Part::Bytes(self.take()?);
            self.count();
        }
        match &self.part {
            Part::Bytes(bytes) => Ok(bytes),
            _ => Err(Error::NoAggregate),
        }
    }
}
