//! Asks the shards for bags, and the other leaves for rows, and counts both.

use super::foreign_tables::{Shard, Shards};
use super::travel::{Engine, Way};
use crate::pg::call::text_input::Input;
use crate::pg::prelude::*;
use crate::pg::process::pool;
use crate::pg::read::bag;
use crate::pg::read::cell::Form;
use crate::pg::read::reader::{Reader, RowCoder};
use crate::pg::read::rows::{RowSink, each_row};
use pgrx::PgTupleDesc;
use std::cell::Cell;
use table::WireError;

/// Adds up the bags of the shards as they arrive.
struct Bags<'a> {
    rows: &'a mut RowCoder,
    /// The input functions of a bag's columns.
    inputs: &'a mut [Input],
    /// The shard whose bag is being read.
    at: &'a Cell<Option<usize>>,
    /// Whether the number of the shard is an additional column.
    numbered: bool,
    context: pg_sys::MemoryContext,
}

impl RowSink for Bags<'_> {
    unsafe fn row(&mut self, values: *const Datum, nulls: *const bool) -> Result<bool, Error> {
        // SAFETY: the query has two columns, a number and a text.
        unsafe {
            let number = (*values).value();
            // A shard without rows has no bag.
            if !*nulls.add(1) {
                self.at.set(Some(number));
                let held = self.rows.memory();
                let packed = *values.add(1);
                let bag =
                    Form::Text.bytes(packed, self.context, |packed| unpacked(packed, held))?;
                if bag.width() != self.inputs.len() {
                    return Err(WireError::Damaged("it has another number of columns").into());
                }
                let number = self.numbered.then(|| number.to_string());
                self.rows.add_bag(bag, self.inputs, number.as_deref())?;
                self.at.set(None);
            }
        }
        Ok(true)
    }
}

/// Receives the columns of a query that returns no rows.
struct Shape {
    reader: Reader,
    /// Types and modifiers of the columns.
    types: Vec<(Oid, i32)>,
}

impl RowSink for Shape {
    fn begin(&mut self, descriptor: &PgTupleDesc) {
        self.reader.begin(descriptor);
        self.types = descriptor.iter().map(|a| (a.atttypid, a.atttypmod)).collect();
    }

    unsafe fn row(&mut self, _: *const Datum, _: *const bool) -> Result<bool, Error> {
        Ok(false)
    }
}

/// The bag in a packed text, for a call that already holds `held` bytes.
pub(in crate::pg) fn unpacked(packed: &[u8], held: u64) -> Result<table::Bag, Error> {
    let held = held + packed.len() as u64;
    let bytes = pool::run("unpacking the bag", held, |watch| table::unpack(packed, watch))?;
    bag::decode(&bytes.ok_or(WireError::NotABag)?, held)
}

impl Shards<'_> {
    /// The columns of the query's rows, with further terms.
    fn shape(&self, held: u64, further: &[u8]) -> Shape {
        let mut shape = Shape { reader: Reader::new(held), types: Vec::new() };
        let nothing = [self.asked.from(), b" WHERE false"].concat();
        each_row(&self.asked.query_from(&[(further, &nothing)]), &mut shape);
        shape
    }

    /// The form in which each requested value is sent; `None` if the values have to be read as rows.
    pub(in crate::pg) fn ways(&self) -> Option<Vec<Way>> {
        self.ways_of(&self.shape(0, b"").types)
    }

    fn ways_of(&self, types: &[(Oid, i32)]) -> Option<Vec<Way>> {
        let engine = if self.by_citus { Engine::Citus } else { Engine::PostgresFdw };
        let asked = types.iter().take(self.asked.width());
        asked.map(|&(of, _)| Way::of(of, engine)).collect()
    }

    /// Reads the rows of all leaves, as bags where that is possible. If `numbered`, a last column has the number of
    /// each row's leaf.
    pub(in crate::pg) fn read(&self, held: u64, numbered: bool) -> Result<RowCoder, Error> {
        let number = |number: usize| match numbered {
            true => format!(", '{number}'::pg_catalog.text AS shard").into_bytes(),
            false => Vec::new(),
        };
        let shape = self.shape(held, &number(0));
        let ways = self.ways_of(&shape.types).ok_or(Error::Context)?;
        let columns = ways.iter().zip(&shape.types);
        let mut inputs: Vec<Input> =
            columns.map(|(way, &(of, typmod))| way.input(of, typmod)).collect();
        let mut rows = shape.reader.rows.ok_or(Error::Context)?;
        rows.begin("asking shards");
        let at = Cell::new(None);
        let mut bags = Bags {
            rows: &mut rows,
            inputs: &mut inputs,
            at: &at,
            numbered,
            // SAFETY: the context of the call.
            context: unsafe { pg_sys::CurrentMemoryContext },
        };
        self.caught(Some(&at), || each_row(&self.query(&ways), &mut bags))?;
        let others: Vec<(Vec<u8>, Vec<u8>)> = self
            .leaves
            .iter()
            .enumerate()
            .filter(|(_, leaf): &(usize, &Shard)| !self.by_citus && !leaf.makes_bags())
            .map(|(i, leaf)| (number(i), leaf.from()))
            .collect();
        if others.is_empty() {
            return Ok(rows);
        }
        rows.begin("reading");
        let parts: Vec<(&[u8], &[u8])> =
            others.iter().map(|(n, from)| (&n[..], &from[..])).collect();
        let mut reader = Reader::new(held);
        reader.rows = Some(rows);
        each_row(&self.asked.query_from(&parts), &mut reader);
        reader.rows.ok_or(Error::Context)
    }

    /// As [`Shards::read`] with numbers, but everything is read as rows, through the relation itself.
    pub(in crate::pg) fn read_rows(&self, held: u64) -> Result<RowCoder, Error> {
        let leaves: Vec<String> =
            self.leaves.iter().map(|leaf| leaf.relation.to_u32().to_string()).collect();
        let number = format!(
            ", (pg_catalog.array_position('{{{}}}'::pg_catalog.oid[], tableoid) OPERATOR(pg_catalog.-) 1)::pg_catalog.text AS shard",
            leaves.join(",")
        );
        let mut reader = Reader::new(held);
        each_row(&self.asked.query_from(&[(number.as_bytes(), self.asked.from())]), &mut reader);
        reader.rows.ok_or(Error::Context)
    }
}
