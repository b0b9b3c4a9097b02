//! Arrays of numbers as arguments and results: vectors and matrices.

use pgrx::array::RawArray;
use pgrx::pg_sys::{self, Datum};
use pgrx::{FromDatum, IntoDatum};
use serde_json::Value as Json;
use std::ptr::NonNull;

/// The elements of an array, row by row, and its shape.
pub struct Numbers<T> {
    /// How many elements it has in each dimension; none if it is empty.
    dimensions: Vec<usize>,
    elements: Vec<Option<T>>,
}

impl<T: Copy> Numbers<T> {
    /// The numbers of a vector; what is wrong with it otherwise.
    pub fn vector(self) -> Result<Vec<T>, &'static str> {
        match self.dimensions.len() {
            0 | 1 => self.without_nulls(),
            _ => Err("an array of more than one dimension"),
        }
    }

    /// The numbers of a matrix row by row, and the length of its rows; what is wrong with it otherwise.
    pub fn matrix(self) -> Result<(Vec<T>, usize), &'static str> {
        match self.dimensions[..] {
            [] => Err("empty"),
            [_, width] => Ok((self.without_nulls()?, width)),
            _ => Err("no array of two dimensions"),
        }
    }

    fn without_nulls(self) -> Result<Vec<T>, &'static str> {
        self.elements.into_iter().collect::<Option<_>>().ok_or("an array that has NULL")
    }

    /// An array, or an array of arrays of equal lengths.
    pub fn from_json(value: &Json, number: impl Fn(&Json) -> Option<T>) -> Option<Self> {
        let rows = value.as_array()?;
        let element =
            |value: &Json| if value.is_null() { Some(None) } else { number(value).map(Some) };
        if !rows.first().is_some_and(Json::is_array) {
            let elements: Vec<_> = rows.iter().map(element).collect::<Option<_>>()?;
            let dimensions = if elements.is_empty() { vec![] } else { vec![elements.len()] };
            return Some(Numbers { dimensions, elements });
        }
        let rows: Vec<&Vec<Json>> = rows.iter().map(Json::as_array).collect::<Option<_>>()?;
        let width = rows.first()?.len();
        if rows.iter().any(|row| row.len() != width) {
            return None;
        }
        let elements = rows.iter().copied().flatten().map(element).collect::<Option<_>>()?;
        Some(Numbers { dimensions: vec![rows.len(), width], elements })
    }
}

impl<T> FromDatum for Numbers<T>
where
    Vec<Option<T>>: FromDatum,
{
    unsafe fn from_polymorphic_datum(
        datum: Datum,
        is_null: bool,
        type_oid: pg_sys::Oid,
    ) -> Option<Self> {
        if is_null {
            return None;
        }
        // SAFETY: the caller vouches that the datum is an array of T; it is detoasted into the current
        // memory context, where both views of it are read before this returns.
        unsafe {
            let array = pg_sys::pg_detoast_datum(datum.cast_mut_ptr()).cast::<pg_sys::ArrayType>();
            let raw = RawArray::from_ptr(NonNull::new(array)?);
            let dimensions = raw.dims().iter().map(|&length| length.max(0) as usize).collect();
            let elements = Vec::from_polymorphic_datum(array.into(), false, type_oid)?;
            Some(Numbers { dimensions, elements })
        }
    }
}

/// A matrix as an array of two dimensions, in the current memory context; its rows have one length.
pub fn matrix(rows: &[Vec<f64>]) -> Option<Datum> {
    let mut elements: Vec<Datum> = rows.iter().flatten().filter_map(|x| x.into_datum()).collect();
    let width = rows.first().map_or(0, Vec::len);
    let mut dimensions = [rows.len() as i32, width as i32];
    if elements.len() != rows.len() * width || elements.is_empty() {
        return None;
    }
    // SAFETY: as many float8 datums as the dimensions say; construct_md_array copies them.
    unsafe {
        let array = pg_sys::construct_md_array(
            elements.as_mut_ptr(),
            std::ptr::null_mut(),
            dimensions.len() as i32,
            dimensions.as_mut_ptr(),
            [1, 1].as_mut_ptr(),
            pg_sys::FLOAT8OID,
            8,
            true,
            pg_sys::TYPALIGN_DOUBLE as std::ffi::c_char,
        );
        Some(array.into())
    }
}
