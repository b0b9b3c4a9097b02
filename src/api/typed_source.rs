//! Sources whose rows come back with their own type, and what comes back of them.

use super::arguments::{COLUMNS, KEEP, ROWS_OF};
use super::input::Input;
use crate::catalog::domains;
use crate::pg::call::Call;
use crate::pg::error::Error;
use crate::pg::relation::Relation;
use crate::pg::typed::{self, ReadValues, TypedRows};
use crate::pg::{pool, reader, text};
use pgrx::pg_sys::{self, Datum};
use std::collections::HashSet;
use table::{Bag, CodedTable, NONE, Stop, Watch};

/// A relation that is read: the columns that take part, then those that are kept as they are.
pub struct TypedSource {
    relation: Relation,
    columns: Vec<usize>,
    table: CodedTable,
    /// The columns that take part; equal rows are merged.
    pub input: Input,
    /// For each distinct row of the table, its row of the input.
    input_rows: Vec<u32>,
}

impl TypedSource {
    /// Reads the relation whose row type the call has: the columns that take part (NULL: all that are
    /// not kept), and those that come back as they are.
    pub fn read(call: &Call) -> Result<Self, Error> {
        let (names, kept_names) = (call.get(&COLUMNS)?, call.get(&KEEP)?);
        let relation = typed::relation(call.get(&ROWS_OF)?)?;
        let keep = match &kept_names {
            Some(names) => relation.positions("keep", Some(names))?,
            None => Vec::new(),
        };
        let mut columns = relation.positions("columns", names.as_deref())?;
        if names.is_none() {
            columns.retain(|position| !keep.contains(position));
        } else if let Some(both) = columns.iter().find(|position| keep.contains(position)) {
            return Err(Error::argument(
                format!("column \"{}\" is in columns and in keep", relation.columns[*both].name),
                "A column is either protected (columns) or returned as it is (keep).",
            ));
        }
        if columns.is_empty() {
            return Err(Error::argument(
                "no column is left to protect: all are in keep",
                "Keep fewer columns.",
            ));
        }
        TypedSource::read_columns(relation, columns, keep)
    }

    /// Reads all columns of the relation whose row type the call has.
    pub fn read_all(call: &Call) -> Result<Self, Error> {
        let relation = typed::relation(call.get(&ROWS_OF)?)?;
        let columns = relation.positions("columns", None)?;
        TypedSource::read_columns(relation, columns, Vec::new())
    }

    fn read_columns(
        relation: Relation,
        mut columns: Vec<usize>,
        keep: Vec<usize>,
    ) -> Result<Self, Error> {
        let width = columns.len();
        columns.extend(keep);
        let table = reader::read(&relation, &columns)?;
        let name = relation.name.clone();
        let (input, input_rows) = if width == columns.len() {
            let rows = (0..table.bag.distinct() as u32).collect();
            (Input { name, bag: table.bag.clone() }, rows)
        } else {
            let own: Vec<usize> = (0..width).collect();
            let bag = &table.bag;
            let (bag, rows) =
                pool::run("choosing columns", bag.memory(), |watch| bag.project_rows(&own, watch))?;
            (Input { name, bag }, rows)
        };
        Ok(TypedSource { relation, columns, table, input, input_rows })
    }

    /// Refuses a relation without rows.
    pub fn with_rows(mut self) -> Result<Self, Error> {
        self.input = self.input.with_rows()?;
        Ok(self)
    }

    /// Maps every value that the public domain of its column does not have to NULL.
    pub fn within_public_domains(mut self) -> Result<Self, Error> {
        let width = self.input.bag.width();
        let mut known = Vec::with_capacity(width);
        for (column, &position) in self.columns[..width].iter().enumerate() {
            let column_of = &self.relation.columns[position];
            let public =
                domains::find(&self.relation, column_of)?.ok_or_else(|| Error::NoDomain {
                    column: column_of.name.clone(),
                    relation: self.relation.name.clone(),
                })?;
            let values: HashSet<Vec<u8>> =
                public.values.iter().map(|value| text::from_utf8(value)).collect();
            let domain = self.table.bag.domain(column);
            known.push(domain.values().map(|value| values.contains(value)).collect::<Vec<_>>());
        }
        let bag = &self.table.bag;
        let held = bag.memory() + self.input.bag.memory();
        let (bag, rows) = pool::run("mapping values", held, |watch| {
            let (own, mut rows) = bag.project_rows(&(0..width).collect::<Vec<_>>(), watch)?;
            let mut builder = own.builder();
            let mut cells = vec![NONE; width];
            let mut numbers = Vec::with_capacity(own.distinct());
            for row in 0..own.distinct() {
                if row % 4096 == 0 {
                    watch.check()?;
                }
                for ((cell, &code), known) in cells.iter_mut().zip(own.row(row)).zip(&known) {
                    *cell = if code != NONE && known[code as usize] { code } else { NONE };
                }
                numbers.push(builder.add(&cells, own.weight(row)) as u32);
            }
            rows.iter_mut().for_each(|row| *row = numbers[*row as usize]);
            Ok((builder.finish(), rows))
        })?;
        self.input.bag = bag;
        self.input_rows = rows;
        Ok(self)
    }

    /// The columns that take part, of another relation that has them too.
    pub fn same_columns(&self, other: pg_sys::Oid) -> Result<Bag, Error> {
        let other = Relation::open(other)?;
        let width = self.input.bag.width();
        let mut positions = Vec::with_capacity(width);
        for &position in &self.columns[..width] {
            let name = self.relation.columns[position].name.clone();
            positions.extend(other.positions("columns", Some(&[name]))?);
        }
        Ok(reader::read(&other, &positions)?.bag)
    }

    /// Returns rows of the relation's type.
    ///
    /// `pieces` says how each row of the input is released, ascending by row: its number, the
    /// codes of its cells, how many copies. The rows come out sorted by what they show, so that
    /// their order tells nothing of what was blanked, nor of their place in the heap.
    pub fn release(
        self,
        call: &Call,
        pieces: impl Iterator<Item = (u32, u64)> + Send,
        write: impl Fn(usize, &mut [u32]) + Send,
    ) -> Result<Datum, Error> {
        let TypedSource { relation, columns, table, input, input_rows } = self;
        let width = input.bag.width();
        let released = pool::run("releasing", table.bag.memory() + input.bag.memory(), |watch| {
            released(&table.bag, &input_rows, width, pieces, write, watch)
        })?;
        let values = ReadValues::new(&table, &relation, &columns);
        let mut rows = TypedRows::begin(call, &relation, &columns, values)?;
        for i in 0..released.distinct() {
            rows.push(released.row(i), released.weight(i));
        }
        Ok(rows.finish(call))
    }
}

/// The released rows, sorted. Where copies of an input row differ in kept columns, its pieces take
/// them in the order of the table, and in that order again if a row is released more often than it
/// occurs, as a scheme that draws with replacement does.
fn released(
    table: &Bag,
    input_rows: &[u32],
    width: usize,
    pieces: impl Iterator<Item = (u32, u64)>,
    write: impl Fn(usize, &mut [u32]),
    watch: &Watch,
) -> Result<Bag, Stop> {
    let mut order: Vec<u32> = (0..table.distinct() as u32).collect();
    order.sort_by_key(|&row| input_rows[row as usize]);
    let mut builder = table.builder();
    let mut cells = vec![NONE; table.width()];
    // The rows of the table that are the current row of the input, the one that is taken from, and
    // how many copies of it are left.
    let (mut copies, mut at, mut left): (&[u32], usize, u64) = (&[], 0, 0);
    let mut current = None;
    let mut rest = order.as_slice();
    for (number, (row, mut wanted)) in pieces.enumerate() {
        if number % 4096 == 0 {
            watch.check()?;
        }
        if current != Some(row) {
            current = Some(row);
            let first = rest.partition_point(|&from| input_rows[from as usize] < row);
            let end = rest.partition_point(|&from| input_rows[from as usize] <= row);
            (copies, rest) = (&rest[first..end], &rest[end..]);
            (at, left) = (0, copies.first().map_or(0, |&from| table.weight(from as usize)));
        }
        while wanted > 0 && !copies.is_empty() {
            if left == 0 {
                at = (at + 1) % copies.len();
                left = table.weight(copies[at] as usize);
            }
            let taken = if copies.len() == 1 { wanted } else { wanted.min(left) };
            cells.copy_from_slice(table.row(copies[at] as usize));
            write(number, &mut cells[..width]);
            builder.add(&cells, taken);
            wanted -= taken;
            left = left.saturating_sub(taken);
        }
    }
    let mut bag = builder.finish();
    bag.sort(watch)?;
    Ok(bag)
}
