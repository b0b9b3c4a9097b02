//! Sums in 128 bits as the states of aggregates: a bigint[] of two elements, the high half and the low one, which
//! every Postgres can read and write.

use super::argument::Type;
use super::serve::Call;
use crate::pg::prelude::*;
use pgrx::{set_varsize_4b, varlena};

/// The array of two halves, as array.h lays it out.
#[repr(C)]
struct Halves {
    header: pg_sys::ArrayType,
    length: i32,
    lower_bound: i32,
    high: i64,
    low: u64,
}

impl Halves {
    /// The state of no rows.
    fn zero() -> Self {
        let mut header = pg_sys::ArrayType { ndim: 1, ..Default::default() };
        header.elemtype = pg_sys::INT8OID;
        // SAFETY: the header begins with the length of the whole.
        unsafe { set_varsize_4b((&raw mut header).cast(), size_of::<Halves>() as i32) };
        Halves { header, length: 2, lower_bound: 1, high: 0, low: 0 }
    }

    fn sum(&self) -> i128 {
        i128::from(self.high) << 64 | i128::from(self.low)
    }

    fn set(&mut self, sum: i128) {
        self.high = (sum >> 64) as i64;
        self.low = sum as u64;
    }
}

impl Call {
    /// The array in argument `i`; a copy if it came in another form.
    fn halves(&self, i: usize) -> Result<Option<*mut Halves>, Error> {
        let Some(datum) = self.declared(i, Type::Sums)? else { return Ok(None) };
        // SAFETY: the signature was compared with the catalog: an array. It is read as two numbers only if it has
        // the length, dimensions and element type of two numbers.
        unsafe {
            let given = datum.cast_mut_ptr();
            let array = match varlena::varatt_is_4b_u(given) {
                true => given,
                false => pg_sys::pg_detoast_datum(given),
            };
            let array = array.cast::<pg_sys::ArrayType>();
            let pg_sys::ArrayType { ndim, dataoffset, elemtype, .. } = *array;
            let shape = (ndim, dataoffset, elemtype, varlena::varsize(array.cast()));
            let halves = array.cast::<Halves>();
            if shape != (1, 0, pg_sys::INT8OID, size_of::<Halves>()) || (*halves).length != 2 {
                return Err(Error::argument(
                    "the state of a sum is not an array of two numbers",
                    "States are made by the aggregate itself.",
                ));
            }
            Ok(Some(halves))
        }
    }

    /// The sum in argument `i`.
    pub fn sum(&self, i: usize) -> Result<Option<i128>, Error> {
        self.needs_aggregate()?;
        // SAFETY: a valid array of two numbers.
        Ok(self.halves(i)?.map(|halves| unsafe { (*halves).sum() }))
    }

    /// Adds `term` to the state in argument 0, saturating. In place, because the array belongs to the aggregate.
    pub fn summed(&self, term: i128) -> Result<Datum, Error> {
        self.needs_aggregate()?;
        if let Some(halves) = self.halves(0)? {
            // SAFETY: a valid array of two numbers, which the executor does not look at during the call.
            unsafe { (*halves).set((*halves).sum().saturating_add(term)) };
            return Ok(halves.into());
        }
        let mut halves = Halves::zero();
        halves.set(term);
        // SAFETY: palloc returns that many aligned bytes or raises an error.
        unsafe {
            let kept = pg_sys::palloc(size_of::<Halves>()).cast::<Halves>();
            kept.write(halves);
            Ok(kept.into())
        }
    }
}
