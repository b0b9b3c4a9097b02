//! Reads rows through the executor into a coded table: privileges, row security, views,
//! partitions and foreign tables work as in any query, and no row is kept.

use super::cell::Form;
use super::error::Error;
use super::pool;
use super::progress::Progress;
use super::relation::Relation;
use super::rows::{RowSink, each_row};
use super::settings;
use pgrx::pg_sys::{self, Datum};
use pgrx::{PgMemoryContexts, PgTupleDesc};
use std::ffi::CStr;
use table::{CodedTable, Coder};

/// Rows between two looks at memory and clock.
const BATCH: u64 = 4096;

/// A column that is read.
struct Cell {
    attribute: usize,
    form: Form,
    output: pg_sys::FmgrInfo,
}

impl Cell {
    /// # Safety
    /// `context` lives at least as long as the cell.
    unsafe fn new(
        attribute: usize,
        description: &pg_sys::FormData_pg_attribute,
        context: pg_sys::MemoryContext,
    ) -> Self {
        let mut function = pg_sys::InvalidOid;
        let mut is_varlena = false;
        let mut output = pg_sys::FmgrInfo::default();
        // SAFETY: catalog look-ups by type OID; `output` is filled by fmgr_info_cxt.
        unsafe {
            pg_sys::getTypeOutputInfo(description.atttypid, &mut function, &mut is_varlena);
            pg_sys::fmgr_info_cxt(function, &mut output, context);
        }
        Cell { attribute, form: Form::of(description.atttypid), output }
    }
}

/// Codes rows of datums: used by the reader of relations and by the aggregate `row_bag`.
pub struct RowCoder {
    cells: Vec<Cell>,
    coder: Coder,
    /// For detoasted values and output text; reset after every batch, gone with its parent.
    scratch: pg_sys::MemoryContext,
    limit: u64,
    /// Bytes that the call holds beside these rows.
    held: u64,
    progress: Progress,
}

impl RowCoder {
    /// A coder for the live columns of `descriptor`.
    ///
    /// # Safety
    /// `context` lives at least as long as the coder.
    pub unsafe fn new(descriptor: &PgTupleDesc, context: pg_sys::MemoryContext) -> Self {
        let mut cells = Vec::new();
        let mut columns = Vec::new();
        for (i, attribute) in descriptor.iter().enumerate() {
            if attribute.attisdropped {
                continue;
            }
            // SAFETY: the caller vouches for `context`.
            let cell = unsafe { Cell::new(i, attribute, context) };
            // SAFETY: a name of the catalog ends with NUL.
            let name = unsafe { CStr::from_ptr(attribute.attname.data.as_ptr()) };
            columns.push((super::text::to_utf8(name.to_bytes()), cell.form.encoding()));
            cells.push(cell);
        }
        RowCoder {
            cells,
            coder: Coder::new(columns),
            // SAFETY: a plain child context; its parent deletes it.
            scratch: unsafe {
                pg_sys::AllocSetContextCreateExtended(
                    context,
                    c"pg_sanitize row".as_ptr(),
                    pg_sys::ALLOCSET_DEFAULT_MINSIZE as usize,
                    pg_sys::ALLOCSET_DEFAULT_INITSIZE as usize,
                    pg_sys::ALLOCSET_DEFAULT_MAXSIZE as usize,
                )
            },
            limit: settings::max_memory(),
            held: 0,
            progress: Progress::begin("reading"),
        }
    }

    /// Codes one row.
    ///
    /// # Safety
    /// `values` and `nulls` hold a deformed row of the descriptor given to `new`.
    pub unsafe fn row(&mut self, values: *const Datum, nulls: *const bool) -> Result<(), Error> {
        for (column, cell) in self.cells.iter_mut().enumerate() {
            // SAFETY: the attribute lies within the deformed row.
            let (value, null) =
                unsafe { (*values.add(cell.attribute), *nulls.add(cell.attribute)) };
            if null {
                self.coder.null(column);
            } else {
                // SAFETY: the value is of the cell's type.
                unsafe { code(&mut self.coder, column, cell, value, self.scratch) };
            }
        }
        self.coder.end_row();
        if self.coder.read().is_multiple_of(BATCH) { self.end_batch() } else { Ok(()) }
    }

    fn end_batch(&mut self) -> Result<(), Error> {
        // SAFETY: nothing in the scratch context outlives the coding of its cell.
        unsafe { pg_sys::MemoryContextReset(self.scratch) };
        // Row numbers are 32 bits wide; a limit that allows so many rows does not change that.
        let memory = self.held + self.coder.memory();
        if memory > self.limit || self.coder.distinct() > u32::MAX as usize / 2 {
            return Err(Error::Memory { limit: self.limit });
        }
        self.progress.rows(self.coder.read());
        Ok(())
    }

    /// Says how many bytes others hold now.
    pub fn beside(&mut self, held: u64) {
        self.held = held;
    }

    pub fn coder(&mut self) -> &mut Coder {
        &mut self.coder
    }

    /// The coded rows.
    pub fn finish(self) -> Result<CodedTable, Error> {
        finish(self.coder, self.held)
    }
}

/// What the coder has read; the call holds `held` bytes beside it. Sorting the dictionaries is work
/// for the pool.
pub fn finish(coder: Coder, held: u64) -> Result<CodedTable, Error> {
    pool::run("coding", held, move |watch| coder.finish(watch))
}

/// Codes one value that is not NULL.
///
/// # Safety
/// `value` is a datum of the cell's type.
#[inline]
unsafe fn code(
    coder: &mut Coder,
    column: usize,
    cell: &mut Cell,
    value: Datum,
    scratch: pg_sys::MemoryContext,
) {
    // SAFETY: the cell's form is that of the value's type.
    let word = unsafe { cell.form.word(value) };
    if word.is_some_and(|word| coder.word(column, word)) {
        return;
    }
    // SAFETY: as the caller says.
    unsafe { code_bytes(coder, column, cell, value, scratch) };
    if let Some(word) = word {
        coder.remember(column, word);
    }
}

/// Codes one value by its bytes.
///
/// # Safety
/// `value` is a datum of the cell's type.
#[inline(never)]
unsafe fn code_bytes(
    coder: &mut Coder,
    column: usize,
    cell: &mut Cell,
    value: Datum,
    scratch: pg_sys::MemoryContext,
) {
    // SAFETY: the cell's form and output function are those of the value's type.
    unsafe {
        cell.form.bytes(value, scratch, |raw| {
            if matches!(cell.form, Form::Text) {
                coder.text(column, raw);
            } else if !coder.raw(column, raw) {
                let text = PgMemoryContexts::For(scratch)
                    .switch_to(|_| pg_sys::OutputFunctionCall(&mut cell.output, value));
                coder.raw_text(column, raw, CStr::from_ptr(text).to_bytes());
            }
        });
    }
}

/// Makes the coder once the shape of the rows is known.
struct Reader {
    rows: Option<RowCoder>,
    /// The caller's, which lives longer than the query.
    context: pg_sys::MemoryContext,
    held: u64,
    /// Equal rows may stay apart.
    listing: bool,
}

impl RowSink for Reader {
    fn begin(&mut self, descriptor: &PgTupleDesc) {
        // SAFETY: the context outlives the coder.
        let rows = unsafe { RowCoder::new(descriptor, self.context) };
        let coder = if self.listing { rows.coder.listing() } else { rows.coder };
        self.rows = Some(RowCoder { coder, held: self.held, ..rows });
    }

    unsafe fn row(&mut self, values: *const Datum, nulls: *const bool) -> Result<bool, Error> {
        if let Some(rows) = &mut self.rows {
            // SAFETY: the row has the shape that `begin` was told.
            unsafe { rows.row(values, nulls)? };
        }
        Ok(true)
    }
}

/// Reads the given columns of a relation with the caller's rights, in the caller's snapshot.
pub fn read(relation: &Relation, columns: &[usize]) -> Result<CodedTable, Error> {
    read_beside(relation, columns, 0)
}

/// As [`read`], for a call that holds `held` bytes already.
pub fn read_beside(relation: &Relation, columns: &[usize], held: u64) -> Result<CodedTable, Error> {
    read_query(relation, &relation.query(columns), held)
}

/// Reads what a query on the relation returns, for a call that holds `held` bytes already.
pub fn read_query(relation: &Relation, query: &CStr, held: u64) -> Result<CodedTable, Error> {
    read_rows(relation, query, held, false)
}

/// As [`read_query`], but equal rows may stay apart: see [`Coder::listing`].
pub fn read_listed(relation: &Relation, query: &CStr) -> Result<CodedTable, Error> {
    read_rows(relation, query, 0, true)
}

fn read_rows(
    relation: &Relation,
    query: &CStr,
    held: u64,
    listing: bool,
) -> Result<CodedTable, Error> {
    // SAFETY: the context of the call.
    let context = unsafe { pg_sys::CurrentMemoryContext };
    let mut reader = Reader { rows: None, context, held, listing };
    each_row(query, &mut reader);
    let rows = reader.rows.ok_or_else(|| Error::NotReadable { relation: relation.name.clone() })?;
    rows.finish()
}
