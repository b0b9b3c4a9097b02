//! Arrays of numbers as arguments: vectors and matrices.

use pgrx::FromDatum;
use pgrx::array::RawArray;
use pgrx::pg_sys::{self, Datum};
use serde_json::Value as Json;
use std::ptr::NonNull;

/// The elements of an array, row by row, and its shape.
pub struct Numbers<T> {
    /// How many elements it has in each dimension; none if it is empty.
    dimensions: Vec<usize>,
    elements: Vec<Option<T>>,
}

impl<T> Numbers<T> {
    /// True unless it has two dimensions or more.
    pub fn is_vector(&self) -> bool {
        self.dimensions.len() < 2
    }

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
