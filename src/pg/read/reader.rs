//! Reads rows through the executor into a coded table: privileges, row security, views,
//! partitions and foreign tables work as in any query, and no row is kept.

use super::cell::Form;
use super::rows::{RowSink, each_row};
use crate::pg::call::text_input::Input;
use crate::pg::catalog::relation::{Asked, Relation};
use crate::pg::prelude::*;
use crate::pg::process::pool;
use crate::pg::process::progress::Progress;
use crate::pg::shards::foreign_tables::{Shard, Shards};
use pgrx::{PgMemoryContexts, PgTupleDesc};
use std::ffi::{CStr, CString};
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use table::{Bag, CodedTable, Coder, RowCounter, WireError};

/// Rows between two checks of memory and clock.
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
    unsafe fn new(attribute: usize, type_oid: Oid, context: pg_sys::MemoryContext) -> Self {
        let mut output = pg_sys::FmgrInfo::default();
        // SAFETY: a catalog look-up, which fills `output`.
        unsafe { pg_sys::fmgr_info_cxt(types::output_function(type_oid), &mut output, context) };
        Cell { attribute, form: Form::of(type_oid), output }
    }
}

/// Codes rows of datums: used by the reader of relations and by the aggregate `row_bag`.
pub struct RowCoder {
    cells: Vec<Cell>,
    coder: Coder,
    /// For detoasted values and output text; reset after every batch, gone with its parent.
    scratch: pg_sys::MemoryContext,
    limit: u64,
    /// Bytes that the call holds in addition to these rows.
    held: u64,
    progress: Progress,
}

impl RowCoder {
    /// A coder for the live columns of `descriptor`.
    ///
    /// # Safety
    /// `context` lives at least as long as the coder.
    pub unsafe fn new(descriptor: &PgTupleDesc, context: pg_sys::MemoryContext) -> Self {
        let columns = descriptor.iter().enumerate().filter(|(_, column)| !column.attisdropped);
        let columns = columns.map(|(i, column)| {
            // SAFETY: a name of the catalog ends with NUL.
            let name = unsafe { CStr::from_ptr(column.attname.data.as_ptr()) };
            let name = match name.is_empty() {
                // A row made by an expression may have no names: then they are those of ROW(…).
                true => format!("f{}", i + 1),
                false => text::to_utf8(name.to_bytes()),
            };
            (i, column.atttypid, name)
        });
        // SAFETY: as the caller says.
        unsafe { RowCoder::of_columns(columns, context) }
    }

    /// A coder for columns of these places in a row, types and names.
    ///
    /// # Safety
    /// `context` lives at least as long as the coder.
    pub unsafe fn of_columns(
        columns: impl Iterator<Item = (usize, Oid, String)>,
        context: pg_sys::MemoryContext,
    ) -> Self {
        let (mut cells, mut coded) = (Vec::new(), Vec::new());
        for (place, type_oid, name) in columns {
            // SAFETY: the caller vouches for `context`.
            let cell = unsafe { Cell::new(place, type_oid, context) };
            coded.push((name, cell.form.encoding()));
            cells.push(cell);
        }
        RowCoder {
            cells,
            coder: Coder::new(coded),
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
        // SAFETY: as the caller says.
        unsafe { self.code(values, nulls) };
        self.coder.end_row();
        let read = self.coder.read();
        if !read.is_multiple_of(BATCH) {
            return Ok(());
        }
        self.end_batch(read, self.coder.memory(), self.coder.distinct())
    }

    /// Codes the cells of a row.
    ///
    /// # Safety
    /// As for [`RowCoder::row`].
    #[inline]
    pub(in crate::pg) unsafe fn code(&mut self, values: *const Datum, nulls: *const bool) {
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
    }

    /// Checks memory and clock after `read` rows, `distinct` of which are distinct.
    pub(in crate::pg) fn end_batch(
        &mut self,
        read: u64,
        memory: u64,
        distinct: usize,
    ) -> Result<(), Error> {
        // SAFETY: nothing in the scratch context outlives the coding of its cell.
        unsafe { pg_sys::MemoryContextReset(self.scratch) };
        // Row numbers have 32 bits, even if the memory limit allows more rows.
        if self.held + memory > self.limit || distinct > u32::MAX as usize / 2 {
            return Err(Error::Memory { limit: self.limit });
        }
        self.progress.rows(read);
        Ok(())
    }

    /// Adds the rows of a bag, whose columns are the first ones here. Each value is read by the input function of its
    /// column, so that the result is the same as if the rows had come one by one. `last` is the text of one more
    /// column.
    pub fn add_bag(
        &mut self,
        bag: Bag,
        inputs: &mut [Input],
        last: Option<&str>,
    ) -> Result<(), Error> {
        let read = self.coder.read().checked_add(bag.row_count());
        let read = read.filter(|&read| read <= i64::MAX as u64);
        let read = read.ok_or(WireError::Damaged("there are too many rows"))?;
        let mut codes = Vec::with_capacity(bag.width());
        for (column, (domain, input)) in bag.domains().iter().zip(inputs).enumerate() {
            let mut own = Vec::with_capacity(domain.len());
            for (i, value) in domain.values().enumerate() {
                self.code_text(column, input, value)?;
                own.push(self.coder.row()[column]);
                if (i as u64).is_multiple_of(BATCH) {
                    pgrx::check_for_interrupts!();
                    let memory = self.coder.memory() + bag.memory();
                    self.end_batch(self.coder.read(), memory, self.coder.distinct())?;
                }
            }
            codes.push(own);
        }
        if let Some(last) = last {
            self.coder.text(bag.width(), last.as_bytes());
        }
        let held = self.held + bag.memory() + self.coder.memory();
        let coder = &mut self.coder;
        pool::run("merging bags", held, move |watch| coder.add_rows(&bag, &codes, watch))?;
        self.end_batch(read, self.coder.memory(), self.coder.distinct())
    }

    /// Codes the value of a text.
    fn code_text(&mut self, column: usize, input: &mut Input, value: &[u8]) -> Result<(), Error> {
        if input.takes_all() {
            self.coder.text(column, value);
            return Ok(());
        }
        let text = CString::new(value)
            .map_err(|_| Error::BagEncoding { of: None, here: text::encoding() })?;
        let cell = self.cells.get_mut(column).ok_or(Error::Context)?;
        // SAFETY: the value is of the type that the cell was made for; it lives in the scratch context, which
        // nothing outlives.
        unsafe {
            let value = PgMemoryContexts::For(self.scratch).switch_to(|_| input.value(&text));
            code(&mut self.coder, column, cell, value, self.scratch);
        }
        Ok(())
    }

    /// Starts a new phase with this name in the progress notices.
    pub fn begin(&mut self, phase: &'static str) {
        self.progress = Progress::begin(phase);
    }

    /// The bytes held, including those of the call.
    pub fn memory(&self) -> u64 {
        self.held + self.coder.memory()
    }

    /// Sets how many bytes the call holds in addition to these rows.
    pub fn beside(&mut self, held: u64) {
        self.held = held;
    }

    /// A memory context for copies of values that live until the batch ends.
    pub(in crate::pg) fn scratch(&self) -> pg_sys::MemoryContext {
        self.scratch
    }

    pub fn coder(&mut self) -> &mut Coder {
        &mut self.coder
    }

    /// The coded rows.
    pub fn finish(self) -> Result<CodedTable, Error> {
        finish(self.coder, self.held)
    }
}

/// The rows that the coder has read; the call holds `held` bytes in addition. Sorting the dictionaries is work for the
/// pool.
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

/// Makes the coder once the columns of the rows are known; an existing coder is continued.
pub(in crate::pg) struct Reader {
    pub(in crate::pg) rows: Option<RowCoder>,
    /// The caller's, which lives longer than the query.
    context: pg_sys::MemoryContext,
    held: u64,
}

impl Reader {
    pub(in crate::pg) fn new(held: u64) -> Self {
        // SAFETY: the context of the call.
        Reader { rows: None, context: unsafe { pg_sys::CurrentMemoryContext }, held }
    }

    /// The coder, after all rows were read.
    fn rows(self, relation: &Relation) -> Result<RowCoder, Error> {
        self.rows.ok_or_else(|| Error::NotReadable { relation: relation.name.clone() })
    }
}

impl RowSink for Reader {
    fn begin(&mut self, descriptor: &PgTupleDesc) {
        self.rows.get_or_insert_with(|| {
            // SAFETY: the context outlives the coder.
            let rows = unsafe { RowCoder::new(descriptor, self.context) };
            RowCoder { held: self.held, ..rows }
        });
    }

    unsafe fn row(&mut self, values: *const Datum, nulls: *const bool) -> Result<bool, Error> {
        if let Some(rows) = &mut self.rows {
            // SAFETY: the row has the columns of the descriptor that `begin` received.
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
    read_asked(relation, &relation.asked(columns), held)
}

/// Reads what is asked of the relation, for a call that holds `held` bytes already. Rows on shards arrive as bags.
pub fn read_asked(relation: &Relation, asked: &Asked, held: u64) -> Result<CodedTable, Error> {
    match Shards::with_bags(asked)? {
        Some(shards) => shards.read(held, false)?.finish(),
        None => read_query(relation, &asked.query(), held),
    }
}

/// As [`read_asked`], with one more column: the number of the row's leaf in the list that is returned too. `None` if all
/// rows are on this server.
pub fn read_by_shard(asked: &Asked) -> Result<Option<(CodedTable, Vec<Shard>)>, Error> {
    let Some(shards) = Shards::of(asked)? else { return Ok(None) };
    let rows = match shards.noted()? {
        true => shards.read(0, true)?,
        false => shards.read_rows(0)?,
    };
    Ok(Some((rows.finish()?, shards.leaves)))
}

/// Reads what a query on the relation returns, for a call that holds `held` bytes already.
pub fn read_query(relation: &Relation, query: &CStr, held: u64) -> Result<CodedTable, Error> {
    let mut reader = Reader::new(held);
    each_row(query, &mut reader);
    reader.rows(relation)?.finish()
}

/// Rows of codes on their way to the thread that counts them.
#[derive(Default)]
struct Batch {
    width: usize,
    cells: Vec<u32>,
}

/// What the counting thread reports about its rows.
#[derive(Default)]
struct Counted {
    memory: AtomicU64,
    distinct: AtomicUsize,
}

/// Hands rows to the counting thread.
struct Listing<'a> {
    reader: Reader,
    feed: &'a mut pool::Feed<Batch>,
    counted: &'a Counted,
    read: u64,
}

impl RowSink for Listing<'_> {
    fn begin(&mut self, descriptor: &PgTupleDesc) {
        self.reader.begin(descriptor);
    }

    unsafe fn row(&mut self, values: *const Datum, nulls: *const bool) -> Result<bool, Error> {
        let Some(rows) = &mut self.reader.rows else { return Ok(false) };
        // SAFETY: the row has the columns of the descriptor that `begin` received.
        unsafe { rows.code(values, nulls) };
        let batch = &mut self.feed.part;
        batch.cells.extend_from_slice(rows.coder.row());
        self.read += 1;
        if !self.read.is_multiple_of(BATCH) {
            return Ok(true);
        }
        batch.width = rows.coder.row().len();
        let batches = pool::PARTS * (batch.cells.capacity() * size_of::<u32>()) as u64;
        let memory = self.counted.memory.load(Ordering::Relaxed) + batches + rows.coder.memory();
        rows.end_batch(self.read, memory, self.counted.distinct.load(Ordering::Relaxed))?;
        // False only if the other thread panicked; the panic is raised when that thread is joined.
        Ok(self.feed.next())
    }
}

/// As [`read_asked`], but equal rows may stay apart, see [`RowCounter::listing`], and another thread counts them:
/// that was a third of the time to read 5 million rows of 15 columns.
pub fn read_listed(relation: &Relation, asked: &Asked) -> Result<CodedTable, Error> {
    if let Some(shards) = Shards::with_bags(asked)? {
        return shards.read(0, false)?.finish();
    }
    let query = &asked.query();
    let (mut counter, counted) = (None, Counted::default());
    let count = |batch: &mut Batch| {
        let counter = counter.get_or_insert_with(|| RowCounter::new(batch.width).listing());
        batch.cells.chunks_exact(batch.width.max(1)).for_each(|row| counter.add(row, 1));
        batch.cells.clear();
        counted.memory.store(counter.memory() as u64, Ordering::Relaxed);
        counted.distinct.store(counter.distinct(), Ordering::Relaxed);
    };
    let mut rows = pool::feed(Batch::default, count, |feed| {
        let mut listing = Listing { reader: Reader::new(0), feed, counted: &counted, read: 0 };
        each_row(query, &mut listing);
        let rows = listing.reader.rows(relation)?;
        listing.feed.part.width = rows.coder.row().len();
        Ok(rows)
    })?;
    if let Some(counter) = counter {
        rows.coder = rows.coder.with_rows(counter);
    }
    rows.finish()
}
