//! Rows that are made: for SQL, which reads them when the call ends, held for statements of a publication, or in a table
//! of a shard.

use super::held_rows::Held;
use super::layout::Tuples;
use super::store::Store;
use super::target::NewColumn;
use crate::pg::call::argument::Type;
use crate::pg::call::serve::Call;
use crate::pg::call::signature::Returns;
use crate::pg::prelude::*;
use crate::pg::process::progress::Progress;
use pgrx::{IntoDatum, PgMemoryContexts};

/// Rows between two checks for interrupts, and between two resets of the row context.
const BATCH: u64 = 256;

/// One value of a result row.
pub enum Value<'a> {
    Null,
    Bool(bool),
    Int(i32),
    BigInt(i64),
    Float(f64),
    /// Text in the database's encoding.
    Text(&'a [u8]),
    IntArray(&'a [i32]),
    /// A datum made on demand, in the row's memory context.
    Made(&'a dyn Fn() -> Datum),
}

impl Value<'_> {
    /// A count, which Postgres has as bigint.
    pub fn count(n: u64) -> Self {
        Value::BigInt(i64::try_from(n).unwrap_or(i64::MAX))
    }

    fn datum(&self) -> Option<Datum> {
        match self {
            Value::Null => None,
            Value::Bool(yes) => Some(Datum::from(*yes)),
            Value::Int(n) => Some(Datum::from(*n)),
            Value::BigInt(n) => Some(Datum::from(*n)),
            Value::Float(x) => x.into_datum(),
            Value::Text(bytes) => Some(text::datum(bytes)),
            Value::IntArray(numbers) => Some(int_array(numbers)),
            Value::Made(make) => Some(make()),
        }
    }
}

/// An array of numbers, in the current memory context.
pub fn int_array(numbers: &[i32]) -> Datum {
    let mut elements: Vec<Datum> = numbers.iter().map(|&n| Datum::from(n)).collect();
    // SAFETY: `elements` are int4 datums; construct_array copies them.
    unsafe {
        pg_sys::construct_array(
            elements.as_mut_ptr(),
            elements.len() as i32,
            pg_sys::INT4OID,
            4,
            true,
            pg_sys::TYPALIGN_INT as std::ffi::c_char,
        )
        .into()
    }
}

/// The rows that a method makes.
pub struct ResultRows {
    store: Store,
    /// What the method is declared to return.
    returns: &'static Returns,
    row_context: PgMemoryContexts,
    row_age: u64,
    /// The phase in progress notices from the first rows on; making the rows has progress of its own.
    phase: &'static str,
    progress: Option<Progress>,
}

impl Call {
    /// Returns one row.
    pub fn one_row<const N: usize>(&self, row: [Value<'_>; N]) -> Result<Datum, Error> {
        let mut rows = ResultRows::begin(self)?;
        rows.push(row);
        Ok(rows.finish(self))
    }
}

impl ResultRows {
    /// Prepares the call to return rows of its declared type.
    pub fn begin(call: &Call) -> Result<Self, Error> {
        // SAFETY: the result information is checked to be what the executor passes for sets; the
        // store and its descriptor are made in the per-query context, where the executor wants them.
        unsafe {
            let info = (*call.fcinfo).resultinfo.cast::<pg_sys::ReturnSetInfo>();
            if info.is_null()
                || (*info).type_ != pg_sys::NodeTag::T_ReturnSetInfo
                || (*info).allowedModes & pg_sys::SetFunctionReturnMode::SFRM_Materialize as i32
                    == 0
            {
                return Err(Error::Context);
            }
            let query_context = (*(*info).econtext).ecxt_per_query_memory;
            let store = PgMemoryContexts::For(query_context).switch_to(|_| {
                let random = (*info).allowedModes
                    & pg_sys::SetFunctionReturnMode::SFRM_Materialize_Random as i32
                    != 0;
                Store::new(descriptor(call.fcinfo), random)
            });
            if store.descriptor.is_null() {
                return Err(Error::Context);
            }
            (*info).returnMode = pg_sys::SetFunctionReturnMode::SFRM_Materialize;
            (*info).setResult = store.tuplestore();
            (*info).setDesc = store.descriptor;
            Ok(ResultRows::new(store, &call.method.returns, "returning"))
        }
    }

    fn new(store: Store, returns: &'static Returns, phase: &'static str) -> Self {
        let row_context = PgMemoryContexts::new("pg_sanitize result row");
        ResultRows { store, returns, row_context, row_age: 0, phase, progress: None }
    }

    /// Lets `make` write rows of its own columns into a table, as frozen: everyone who can find the table sees them,
    /// however old their snapshot is.
    ///
    /// # Safety
    /// The table is open, and fit for [`Store::frozen`].
    pub(in crate::pg) unsafe fn frozen(
        table: pg_sys::Relation,
        make: impl FnOnce(&mut ResultRows) -> Result<(), Error>,
    ) -> Result<(), Error> {
        // SAFETY: as the caller says.
        let store = unsafe { Store::frozen(table) };
        let mut rows = ResultRows::new(store, &Returns::Set(Type::Any), "writing");
        make(&mut rows)?;
        rows.store.end();
        Ok(())
    }

    /// Lets `make` make rows of these columns, as a method that returns `returns` does, and holds them under a name;
    /// returns how many there are. Everything else that `make` allocates is freed.
    pub fn held(
        held: &mut Held,
        name: &str,
        columns: &[NewColumn],
        returns: &'static Returns,
        make: impl FnOnce(&mut ResultRows) -> Result<(), Error>,
    ) -> Result<u64, Error> {
        let descriptor = NewColumn::descriptor(columns);
        let mut rows = ResultRows::new(held.store(descriptor), returns, "returning");
        let mut context = PgMemoryContexts::new("pg_sanitize release");
        // SAFETY: the context outlives `make`; rows and descriptor are in the one around it.
        unsafe { context.switch_to(|_| make(&mut rows))? };
        let count = rows.store.count;
        held.keep(name, rows.store);
        Ok(count)
    }

    /// Adds one row: as many values as the result has columns, of their types.
    pub fn push<const N: usize>(&mut self, row: [Value<'_>; N]) {
        if !self.fits(&row) {
            Error::fault("a row does not fit its declaration").raise();
        }
        // SAFETY: the row context outlives the row; the arrays have the length of the descriptor,
        // which the declaration in SQL was compared with.
        unsafe {
            let datums = self.row_context.switch_to(|_| row.map(|value| value.datum()));
            let mut nulls = datums.map(|datum| datum.is_none());
            let mut datums = datums.map(|datum| datum.unwrap_or(Datum::null()));
            self.push_datums(&mut datums, &mut nulls, 1);
        }
        self.end_row();
    }

    /// True if a row fits the declaration.
    fn fits(&self, row: &[Value<'_>]) -> bool {
        let fits = |value: &Value<'_>, of: Type| {
            matches!(
                (value, of),
                (Value::Null | Value::Made(_), _)
                    | (Value::Bool(_), Type::Bool)
                    | (Value::Int(_), Type::Int4)
                    | (Value::BigInt(_), Type::Int8)
                    | (Value::Float(_), Type::Float8)
                    | (Value::Text(_), Type::Text)
                    | (Value::IntArray(_), Type::Ints)
            )
        };
        match *self.returns {
            Returns::Table(columns) => {
                row.len() == columns.len()
                    && row.iter().zip(columns).all(|(value, column)| fits(value, column.1))
            }
            Returns::Set(of) | Returns::One(of) => row.len() == 1 && fits(&row[0], of),
        }
    }

    /// Adds copies of one row of datums.
    ///
    /// # Safety
    /// The arrays have the length of the descriptor and the datums its types.
    pub(in crate::pg) unsafe fn push_datums(
        &mut self,
        datums: &mut [Datum],
        nulls: &mut [bool],
        copies: u64,
    ) {
        // SAFETY: the caller vouches for the arrays; the store copies what it is given. A row that
        // comes more than once is formed once: storing it again then costs a third less.
        unsafe {
            let (datums, nulls) = (datums.as_mut_ptr(), nulls.as_mut_ptr());
            if copies == 1 {
                self.store.put(datums, nulls);
                self.counted();
            } else if copies > 1 {
                let tuple = pg_sys::heap_form_tuple(self.store.descriptor, datums, nulls);
                for _ in 0..copies {
                    self.store.put_tuple(tuple);
                    self.counted();
                }
                pg_sys::heap_freetuple(tuple);
            }
        }
    }

    /// Adds tuples that were laid out for the descriptor.
    pub(in crate::pg) fn push_tuples(&mut self, tuples: &Tuples) {
        if !tuples.are_of(self.store.descriptor) {
            Error::fault("tuples were laid out for other rows").raise();
        }
        for bytes in tuples.iter() {
            let mut tuple = pg_sys::HeapTupleData {
                t_len: bytes.len() as u32,
                t_data: bytes.as_ptr().cast_mut().cast(),
                ..Default::default()
            };
            // SAFETY: a tuple of the descriptor.
            unsafe { self.store.put_tuple(&mut tuple) };
            self.counted();
        }
    }

    /// From time to time checks for interrupts and reports how many rows are stored.
    fn counted(&mut self) {
        if self.store.count.is_multiple_of(BATCH) {
            pgrx::check_for_interrupts!();
            let progress = self.progress.get_or_insert_with(|| Progress::begin(self.phase));
            progress.rows(self.store.count);
        }
    }

    /// Frees the data of the current row.
    pub(in crate::pg) fn end_row(&mut self) {
        self.row_age += 1;
        if self.row_age.is_multiple_of(BATCH) {
            // SAFETY: the store has its own copies of all rows so far.
            unsafe { self.row_context.reset() };
        }
    }

    /// The descriptor of the rows.
    pub(in crate::pg) fn descriptor(&self) -> pg_sys::TupleDesc {
        self.store.descriptor
    }

    /// Runs `make` in the memory context of the current row.
    pub(in crate::pg) fn in_row_context<R>(&mut self, make: impl FnOnce() -> R) -> R {
        // SAFETY: the context lives as long as self.
        unsafe { self.row_context.switch_to(|_| make()) }
    }

    /// The datum that a set-returning function returns in addition to its rows.
    pub fn finish(self, call: &Call) -> Datum {
        call.null()
    }
}

/// The descriptor of the call's result rows, in the current memory context; null if unknown.
unsafe fn descriptor(fcinfo: pg_sys::FunctionCallInfo) -> pg_sys::TupleDesc {
    // SAFETY: fcinfo is the call's; the two out-variables are filled by get_call_result_type.
    unsafe {
        let mut result_type = pg_sys::InvalidOid;
        let mut descriptor = std::ptr::null_mut();
        match pg_sys::get_call_result_type(fcinfo, &mut result_type, &mut descriptor) {
            pg_sys::TypeFuncClass::TYPEFUNC_COMPOSITE => pg_sys::CreateTupleDescCopy(descriptor),
            pg_sys::TypeFuncClass::TYPEFUNC_SCALAR => {
                let descriptor = pg_sys::CreateTemplateTupleDesc(1);
                pg_sys::TupleDescInitEntry(descriptor, 1, c"value".as_ptr(), result_type, -1, 0);
                descriptor
            }
            _ => std::ptr::null_mut(),
        }
    }
}
