//! Rows of a relation's own type: `f(NULL::patients, …) RETURNS SETOF patients`.

use super::layout::{Layout, Tuples};
use super::rowset::ResultRows;
use crate::pg::call::text_input::Input;
use crate::pg::prelude::*;
use crate::pg::read::cell::Form;
use pgrx::PgTupleDesc;
use std::ffi::CStr;
use table::{CodedTable, NONE};

/// The largest domain whose datums are made once and kept.
const KEPT: usize = 1 << 16;

/// The relation of a row type, to be read.
pub fn relation(row_type: Oid) -> Result<Relation, Error> {
    Relation::open(relation_oid(row_type)?)
}

/// The relation or composite type of a row type.
pub fn row_type(row_type: Oid) -> Result<Relation, Error> {
    Relation::row_type(relation_oid(row_type)?)
}

fn relation_oid(row_type: Oid) -> Result<Oid, Error> {
    // SAFETY: a look-up by type OID.
    match unsafe { pg_sys::typeOrDomainTypeRelid(row_type) } {
        pg_sys::InvalidOid => Err(Error::NotARow { found: types::name(row_type) }),
        relation => Ok(relation),
    }
}

/// The values of rows, by column and code.
pub trait Values {
    /// How many values a column has.
    fn count(&self, column: usize) -> usize;

    /// A value, of the type of its column, in the current memory context.
    fn datum(&mut self, column: usize, code: u32) -> Datum;
}

/// Values that were read from the relation.
pub struct ReadValues<'a> {
    table: &'a CodedTable,
    forms: Vec<Form>,
}

impl<'a> ReadValues<'a> {
    /// Column `c` of the table was read from column `columns[c]` of the relation.
    pub fn new(table: &'a CodedTable, relation: &Relation, columns: &[usize]) -> Self {
        let form = |&position: &usize| Form::of(relation.columns[position].type_oid);
        ReadValues { table, forms: columns.iter().map(form).collect() }
    }
}

impl Values for ReadValues<'_> {
    fn count(&self, column: usize) -> usize {
        self.table.bag.domain(column).len()
    }

    fn datum(&mut self, column: usize, code: u32) -> Datum {
        self.forms[column].datum(self.table.raw(column, code))
    }
}

/// Values given as text, which the types' own input functions read.
pub struct TextValues<'a> {
    /// By column and code.
    texts: Vec<Vec<&'a str>>,
    inputs: Vec<Input>,
}

impl<'a> TextValues<'a> {
    /// Column `c` of the texts is for column `columns[c]` of the relation.
    pub fn new(texts: Vec<Vec<&'a str>>, relation: &Relation, columns: &[usize]) -> Self {
        let input = |&position: &usize| Input::shown(&relation.columns[position]);
        TextValues { texts, inputs: columns.iter().map(input).collect() }
    }
}

impl Values for TextValues<'_> {
    fn count(&self, column: usize) -> usize {
        self.texts[column].len()
    }

    fn datum(&mut self, column: usize, code: u32) -> Datum {
        let text = text::c_string(self.texts[column][code as usize]);
        // SAFETY: a palloc'd C string.
        self.inputs[column].value(unsafe { CStr::from_ptr(text) })
    }
}

/// Values that were read from the relation and, numbered after them, others given as texts.
pub struct ShownValues<'a> {
    read: ReadValues<'a>,
    /// How many values of each column are shown as they were read.
    counts: Vec<usize>,
    others: TextValues<'a>,
}

impl<'a> ShownValues<'a> {
    /// A column in a range type shows no value as it was read: all its values are in the texts.
    pub fn new(
        read: ReadValues<'a>,
        others: TextValues<'a>,
        relation: &Relation,
        columns: &[usize],
    ) -> Self {
        let count = |(column, &position): (usize, &usize)| match relation.columns[position].range {
            None => read.count(column),
            Some(_) => 0,
        };
        let counts = columns.iter().enumerate().map(count).collect();
        ShownValues { read, counts, others }
    }
}

impl Values for ShownValues<'_> {
    fn count(&self, column: usize) -> usize {
        self.counts[column] + self.others.count(column)
    }

    fn datum(&mut self, column: usize, code: u32) -> Datum {
        match code.checked_sub(self.counts[column] as u32) {
            None => self.read.datum(column, code),
            Some(other) => self.others.datum(column, other),
        }
    }
}

/// A column of the result that has values: where they come from and how they are made.
struct Made {
    attribute: usize,
    column: usize,
    /// Datums made so far, by code; empty if the domain is too large for that.
    made: Vec<Option<Datum>>,
}

/// Rows of a relation's type, made from coded rows.
pub struct TypedRows<'a, V> {
    rows: &'a mut ResultRows,
    values: V,
    cells: Vec<Made>,
    datums: Vec<Datum>,
    nulls: Vec<bool>,
    /// For each attribute, its domain type until it is known to allow NULL.
    domains: Vec<Option<Oid>>,
    context: pg_sys::MemoryContext,
}

impl<'a, V: Values> TypedRows<'a, V> {
    /// Prepares rows; column `c` of the values is column `columns[c]` of the relation.
    /// All other columns of the result are NULL.
    pub fn begin(
        rows: &'a mut ResultRows,
        relation: &Relation,
        columns: &[usize],
        values: V,
    ) -> Result<Self, Error> {
        // SAFETY: the descriptor of the result lives until the call ends.
        let descriptor = unsafe { PgTupleDesc::from_pg_copy(rows.descriptor()) };
        let mut cells = Vec::with_capacity(columns.len());
        for (column, &position) in columns.iter().enumerate() {
            let attribute = relation.columns[position].attribute;
            let (of_column, _) = relation.columns[position].shown_type();
            if descriptor.get(attribute).is_none_or(|d| d.atttypid != of_column) {
                return Err(Error::Context);
            }
            let count = values.count(column);
            let made = if count <= KEPT { vec![None; count] } else { Vec::new() };
            cells.push(Made { attribute, column, made });
        }
        let domains = descriptor
            .iter()
            .map(|description| {
                // A dropped column has no type any more.
                let type_oid = Some(description.atttypid).filter(|_| !description.attisdropped)?;
                (types::base(type_oid) != type_oid).then_some(type_oid)
            })
            .collect();
        Ok(TypedRows {
            rows,
            values,
            cells,
            datums: vec![Datum::null(); descriptor.len()],
            nulls: vec![true; descriptor.len()],
            domains,
            // SAFETY: the context of the call, where datums that are used again are kept.
            context: unsafe { pg_sys::CurrentMemoryContext },
        })
    }

    /// Adds `copies` rows of the given codes, [`NONE`] for NULL.
    pub fn push(&mut self, codes: &[u32], copies: u64) {
        let TypedRows { rows, values, cells, datums, nulls, .. } = self;
        for cell in cells {
            let code = codes[cell.column];
            nulls[cell.attribute] = code == NONE;
            if code == NONE {
                continue;
            }
            datums[cell.attribute] = match cell.made.get_mut(code as usize) {
                // SAFETY: the context of the call outlives the rows.
                Some(made) => *made.get_or_insert_with(|| unsafe {
                    pgrx::PgMemoryContexts::For(self.context)
                        .switch_to(|_| values.datum(cell.column, code))
                }),
                None => rows.in_row_context(|| values.datum(cell.column, code)),
            };
        }
        self.check_domains();
        // SAFETY: the arrays have the descriptor's length; every value is of the type of the column
        // that it was read from.
        unsafe { self.rows.push_datums(&mut self.datums, &mut self.nulls, copies) };
        self.rows.end_row();
    }

    /// Makes all values that are kept, so that a value that its type refuses is an error even if it is not drawn.
    pub fn make_values(&mut self) {
        for Made { column, made, .. } in &mut self.cells {
            for (code, made) in made.iter_mut().enumerate() {
                *made = Some(self.values.datum(*column, code as u32));
            }
        }
    }

    /// A layout with which other threads form such rows for [`TypedRows::push_tuples`], after
    /// [`TypedRows::make_values`] has made all values. `None` if each row needs a call into Postgres: for values that
    /// are not kept, a domain type that may refuse NULL, or very long values.
    pub fn layout(&self) -> Option<Layout> {
        if self.domains.iter().any(Option::is_some) {
            return None;
        }
        let datums = |cell: &Made| {
            let made: Option<Vec<Datum>> = cell.made.iter().copied().collect();
            let made = made.filter(|made| made.len() == self.values.count(cell.column));
            made.map(|made| (cell.attribute, made))
        };
        let columns: Option<Vec<(usize, Vec<Datum>)>> = self.cells.iter().map(datums).collect();
        // SAFETY: `begin` compared the types of the values with those of the descriptor.
        unsafe { Layout::new(self.rows.descriptor(), &columns?) }
    }

    /// Adds rows that [`TypedRows::layout`] of these rows laid out.
    pub fn push_tuples(&mut self, tuples: &Tuples) {
        self.rows.push_tuples(tuples);
    }

    /// A NULL in a column whose domain type forbids it raises Postgres' own error. Values that are not NULL come from
    /// the same column and need no check.
    fn check_domains(&mut self) {
        for (domain, &null) in self.domains.iter_mut().zip(&self.nulls) {
            if null && let Some(type_oid) = domain.take() {
                types::check_domain(type_oid, None);
            }
        }
    }
}
