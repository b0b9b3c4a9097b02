//! Rows that come one by one as the arguments of a call: their names in an array, then the columns, or an array
//! of their cells.

use super::reader::RowCoder;
use crate::pg::call::argument::Type;
use crate::pg::call::array::Elements;
use crate::pg::call::error::Error;
use crate::pg::call::serve::Call;
use pgrx::pg_sys::{self, ArrayType, Datum, Oid};
use pgrx::varlena;

/// The names and the cells of a row.
pub struct Given<'a> {
    call: &'a Call,
    names: *mut ArrayType,
    cells: Cells,
}

/// Where the cells are.
enum Cells {
    /// In the arguments from this one on.
    Arguments(usize),
    /// They are the elements of an array of texts.
    Texts(Elements),
}

/// The elements of an array that must have one dimension at most.
///
/// # Safety
/// As for [`Elements::new`].
unsafe fn elements(array: *mut ArrayType, what: &str) -> Result<Elements, Error> {
    // SAFETY: as the caller says.
    unsafe {
        match (*array).ndim {
            0 | 1 => Ok(Elements::new(array)),
            dimensions => Err(Error::argument(
                format!("{what} is an array of {dimensions} dimensions"),
                "Give one for each column: an array of one dimension.",
            )),
        }
    }
}

impl Call {
    /// The array in argument `i`, detoasted into the current memory context.
    fn array(&self, i: usize, of: Type) -> Result<Option<*mut ArrayType>, Error> {
        // SAFETY: the signature was compared with the catalog: an array. The context outlives the call.
        let array = |datum: Datum| unsafe { pg_sys::pg_detoast_datum(datum.cast_mut_ptr()).cast() };
        Ok(self.declared(i, of)?.map(array))
    }

    /// The names in argument `first` and the columns behind them.
    pub fn columns(&self, first: usize) -> Result<Given<'_>, Error> {
        let names = self.array(first, Type::Names)?.ok_or(Error::Null { argument: "names" })?;
        self.declared(first + 1, Type::Columns)?;
        Ok(Given { call: self, names, cells: Cells::Arguments(first + 1) })
    }

    /// The names in argument `first` and the array of cells behind them; `None` if there is no row.
    pub fn cells(&self, first: usize) -> Result<Option<Given<'_>>, Error> {
        let Some(cells) = self.array(first + 1, Type::Texts)? else { return Ok(None) };
        let names = self.array(first, Type::Texts)?.ok_or(Error::Null { argument: "names" })?;
        // SAFETY: the array is a valid argument of this call, which outlives what is given.
        let cells = Cells::Texts(unsafe { elements(cells, "cells")? });
        Ok(Some(Given { call: self, names, cells }))
    }
}

impl Given<'_> {
    /// The bytes of the array of names.
    fn name_bytes(&self) -> &[u8] {
        // SAFETY: the array was detoasted: it has as many bytes as its header says.
        unsafe {
            std::slice::from_raw_parts(self.names.cast(), varlena::varsize(self.names.cast()))
        }
    }

    /// The names, for any lower bound of the array.
    fn names(&self) -> Result<Vec<String>, Error> {
        // SAFETY: the array is a valid argument of this call.
        let names = unsafe { elements(self.names, "names")? };
        let name = |i: usize| match names.get(i) {
            (_, true) => Err(Error::argument(
                format!("name {} of names is NULL", i + 1),
                "Give every column a name.",
            )),
            // SAFETY: an element of the array's type.
            (name, false) => Ok(unsafe { crate::pg::catalog::types::output(names.of, name) }),
        };
        (0..names.len()).map(name).collect()
    }

    /// Cells of the row.
    fn width(&self) -> usize {
        match &self.cells {
            Cells::Arguments(first) => self.call.given().len().saturating_sub(*first),
            Cells::Texts(cells) => cells.len(),
        }
    }

    /// Puts the cells where a deformed row has them.
    fn put(&self, values: &mut [Datum], nulls: &mut [bool]) {
        let cells = values.iter_mut().zip(nulls).enumerate();
        match &self.cells {
            Cells::Arguments(first) => {
                for ((_, (value, null)), given) in cells.zip(&self.call.given()[*first..]) {
                    (*value, *null) = (given.value, given.isnull);
                }
            }
            Cells::Texts(texts) => cells.for_each(|(i, (v, n))| (*v, *n) = texts.get(i)),
        }
    }

    /// The types of the columns.
    fn types(&self) -> Result<Vec<Oid>, Error> {
        let Cells::Arguments(first) = self.cells else {
            return Ok(vec![pg_sys::TEXTOID; self.width()]);
        };
        let of = |column: usize| {
            self.call.type_of(first + column).ok_or_else(|| {
                Error::argument(
                    "whoever calls row_bag does not tell the types of the columns",
                    "Aggregate with cell_bag, whose arguments are arrays of texts.",
                )
            })
        };
        (0..self.width()).map(of).collect()
    }

    /// The call site.
    fn place(&self) -> *const pg_sys::FmgrInfo {
        // SAFETY: reads a field of a valid call.
        unsafe { (*self.call.fcinfo).flinfo }
    }

    /// True if the columns are an array behind the word VARIADIC.
    fn is_array(&self) -> bool {
        // SAFETY: a look into the expression that is called; there may be none.
        matches!(self.cells, Cells::Arguments(_))
            && unsafe { pg_sys::get_fn_expr_variadic((*self.call.fcinfo).flinfo) }
    }
}

/// Codes the columns of calls. Made by the first call, in the memory of an aggregate.
pub struct Columns {
    /// Calls from the same place have columns of the same types.
    place: *const pg_sys::FmgrInfo,
    types: Vec<Oid>,
    /// The array of names as it came.
    names: Vec<u8>,
    values: Vec<Datum>,
    nulls: Vec<bool>,
    pub coder: RowCoder,
}

impl Columns {
    /// `context` outlives the value.
    pub fn new(first: &Given<'_>, context: pg_sys::MemoryContext) -> Result<Self, Error> {
        if first.is_array() {
            return Err(Error::argument(
                "the columns are given as one array",
                "Give the columns themselves, without VARIADIC: row_bag(ARRAY['a', 'b'], t.a, t.b).",
            ));
        }
        let names = first.names()?;
        let width = first.width();
        if names.len() != width {
            return Err(Error::argument(
                format!("names has {} names for {width} columns", names.len()),
                "Give one name for each column, in their order.",
            ));
        }
        let types = first.types()?;
        let columns = types.iter().zip(names).enumerate().map(|(i, (&of, name))| (i, of, name));
        // SAFETY: the context outlives this value, as the caller says.
        let coder = unsafe { RowCoder::of_columns(columns, context) };
        let (values, nulls) = (vec![Datum::null(); width], vec![true; width]);
        let names = first.name_bytes().to_vec();
        Ok(Columns { place: first.place(), types, names, values, nulls, coder })
    }

    /// Counts the columns of a call as a row; false if their names or types differ from those of the first call.
    pub fn add(&mut self, given: &Given<'_>) -> Result<bool, Error> {
        if given.width() != self.types.len() || given.name_bytes() != self.names {
            return Ok(false);
        }
        if given.place() != self.place {
            if given.types()? != self.types {
                return Ok(false);
            }
            self.place = given.place();
        }
        given.put(&mut self.values, &mut self.nulls);
        // SAFETY: the columns have the types that the coder was made for.
        unsafe { self.coder.row(self.values.as_ptr(), self.nulls.as_ptr())? };
        Ok(true)
    }
}
