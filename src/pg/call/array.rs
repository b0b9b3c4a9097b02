//! Arrays: their elements; those of numbers as arguments and results, vectors and matrices.

use pgrx::FromDatum;
use pgrx::array::RawArray;
use pgrx::pg_sys::{self, Datum};
use serde_json::Value as Json;
use std::ptr::NonNull;

/// The elements of an array of any type, in the current memory context.
pub struct Elements {
    /// Their type.
    pub of: pg_sys::Oid,
    values: *const Datum,
    nulls: *const bool,
    count: usize,
}

impl Elements {
    /// # Safety
    /// The array is valid and detoasted, and the elements are used no longer than the current memory context.
    pub unsafe fn new(array: *mut pg_sys::ArrayType) -> Self {
        // SAFETY: as the caller says; the elements are taken apart as values of the array's own type.
        unsafe {
            let of = (*array).elemtype;
            let (mut length, mut by_value, mut align) = (0, false, 0);
            pg_sys::get_typlenbyvalalign(of, &mut length, &mut by_value, &mut align);
            let (mut values, mut nulls, mut count) =
                (std::ptr::null_mut(), std::ptr::null_mut(), 0);
            pg_sys::deconstruct_array(
                array,
                of,
                length.into(),
                by_value,
                align,
                &mut values,
                &mut nulls,
                &mut count,
            );
            Elements { of, values, nulls, count: usize::try_from(count).unwrap_or(0) }
        }
    }

    pub fn len(&self) -> usize {
        self.count
    }

    /// An element, and whether it is NULL.
    pub fn get(&self, i: usize) -> (Datum, bool) {
        assert!(i < self.count);
        // SAFETY: there are as many as were counted.
        unsafe { (*self.values.add(i), *self.nulls.add(i)) }
    }
}

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

/// A `float8[]` of one dimension, in the current memory context.
pub fn vector(numbers: &[f64]) -> Datum {
    array([numbers.len()], numbers)
}

/// A `float8[]` of rows of `width` numbers, in the current memory context.
pub fn matrix(numbers: &[f64], width: usize) -> Datum {
    array([numbers.len() / width.max(1), width], numbers)
}

/// An array with these numbers of elements in its dimensions, none of them 0, and lower bounds of 1. A matrix may have
/// millions of elements: they are copied as they are, without a datum for each.
fn array<const N: usize>(dimensions: [usize; N], numbers: &[f64]) -> Datum {
    let header = size_of::<pg_sys::ArrayType>() + 2 * N * size_of::<i32>();
    let header = header.next_multiple_of(pg_sys::MAXIMUM_ALIGNOF as usize);
    let bytes = header + size_of_val(numbers);
    // SAFETY: palloc0 returns that many aligned bytes or raises an error; the fields of the header, the
    // lengths and lower bounds after it and the elements after those lie within them, as array.h lays them
    // out for an array without NULL.
    unsafe {
        let array = pg_sys::palloc0(bytes).cast::<pg_sys::ArrayType>();
        pgrx::set_varsize_4b(array.cast(), bytes as i32);
        (*array).ndim = N as i32;
        (*array).dataoffset = 0;
        (*array).elemtype = pg_sys::FLOAT8OID;
        let shape = array.add(1).cast::<i32>();
        for (i, length) in dimensions.into_iter().enumerate() {
            shape.add(i).write(length as i32);
            shape.add(N + i).write(1);
        }
        let elements = array.cast::<u8>().add(header).cast::<f64>();
        elements.copy_from_nonoverlapping(numbers.as_ptr(), numbers.len());
        array.into()
    }
}
