//! Rows of a relation's own type: `f(NULL::patients, …) RETURNS SETOF patients`.

use super::call::Call;
use super::cell::Form;
use super::error::Error;
use super::relation::Relation;
use super::rowset::ResultRows;
use super::text;
use pgrx::PgTupleDesc;
use pgrx::pg_sys::{self, Datum};
use std::ffi::CStr;
use table::{CodedTable, NONE};

/// Values of a domain up to which their datums are made once and kept.
const KEPT: usize = 1 << 16;

/// The relation whose row type argument `i` has.
pub fn relation(call: &Call, i: usize) -> Result<Relation, Error> {
    let row_type = call.argument_type(i);
    // SAFETY: look-ups by type OID.
    unsafe {
        let relation = pg_sys::typeOrDomainTypeRelid(row_type);
        if relation == pg_sys::InvalidOid {
            let name = CStr::from_ptr(pg_sys::format_type_be(row_type));
            return Err(Error::NotARow { found: text::to_utf8(name.to_bytes()) });
        }
        Relation::open(relation)
    }
}

/// A column of the result that has values: where they come from and how they are made.
struct Cell {
    attribute: usize,
    column: usize,
    form: Form,
    /// Datums made so far, by code; empty if the domain is too large for that.
    made: Vec<Option<Datum>>,
}

/// The rows of a call that returns rows of a relation's type, made from coded rows.
pub struct TypedRows<'a> {
    rows: ResultRows,
    table: &'a CodedTable,
    cells: Vec<Cell>,
    datums: Vec<Datum>,
    nulls: Vec<bool>,
    /// For each attribute, its domain type until it is known to allow NULL.
    domains: Vec<Option<pg_sys::Oid>>,
    context: pg_sys::MemoryContext,
}

impl<'a> TypedRows<'a> {
    /// Prepares the call; column `c` of the coded table is column `columns[c]` of the relation.
    /// All other columns of the result are NULL.
    pub fn begin(
        call: &Call,
        relation: &Relation,
        columns: &[usize],
        table: &'a CodedTable,
    ) -> Result<Self, Error> {
        let rows = ResultRows::begin(call)?;
        // SAFETY: the descriptor of the result lives until the call ends.
        let descriptor = unsafe { PgTupleDesc::from_pg_copy(rows.descriptor()) };
        let mut cells = Vec::with_capacity(columns.len());
        for (column, &position) in columns.iter().enumerate() {
            let attribute = relation.columns[position].attribute;
            let description = descriptor.get(attribute).ok_or(Error::Context)?;
            let values = table.bag.domain(column).len();
            let made = if values <= KEPT { vec![None; values] } else { Vec::new() };
            cells.push(Cell { attribute, column, form: Form::of(description), made });
        }
        let domains = descriptor
            .iter()
            .map(|description| {
                // A dropped column has no type any more.
                let type_oid = Some(description.atttypid).filter(|_| !description.attisdropped)?;
                // SAFETY: look-up by type OID.
                let base = unsafe { pg_sys::getBaseType(type_oid) };
                (base != type_oid).then_some(type_oid)
            })
            .collect();
        Ok(TypedRows {
            rows,
            table,
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
        let TypedRows { rows, table, cells, datums, nulls, .. } = self;
        for cell in cells {
            let code = codes[cell.column];
            nulls[cell.attribute] = code == NONE;
            if code == NONE {
                continue;
            }
            let form = cell.form;
            let raw = table.raw(cell.column, code);
            datums[cell.attribute] = match cell.made.get_mut(code as usize) {
                // SAFETY: the context of the call outlives the rows.
                Some(made) => *made.get_or_insert_with(|| unsafe {
                    pgrx::PgMemoryContexts::For(self.context).switch_to(|_| form.datum(raw))
                }),
                None => rows.in_row_context(|| form.datum(raw)),
            };
        }
        self.check_domains();
        // SAFETY: the arrays have the descriptor's length; every value is of the type of the column
        // that it was read from.
        unsafe { self.rows.push_datums(&mut self.datums, &mut self.nulls, copies) };
        self.rows.end_row();
    }

    /// A NULL in a column whose domain type forbids it is refused in Postgres' own words. Values
    /// that are not NULL come from the same column and need no check.
    fn check_domains(&mut self) {
        for (domain, &null) in self.domains.iter_mut().zip(&self.nulls) {
            if null && let Some(type_oid) = domain.take() {
                let mut extra = std::ptr::null_mut();
                // SAFETY: `type_oid` is a domain; `extra` is the check's own cache.
                unsafe {
                    pg_sys::domain_check(Datum::null(), true, type_oid, &mut extra, self.context);
                }
            }
        }
    }

    pub fn finish(self, call: &Call) -> Datum {
        self.rows.finish(call)
    }
}
