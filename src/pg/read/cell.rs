//! Datums as bytes and back: how the values of each type lie in memory.

use pgrx::pg_sys::{self, Datum};
use pgrx::{PgMemoryContexts, varlena};
use std::ffi::CStr;
use table::Encoding;

/// The largest value that Postgres stores, less some room for headers.
pub const MAX_DATUM: usize = (1 << 30) - 64;

/// How the bytes of a type's values lie in memory.
#[derive(Debug, Clone, Copy)]
pub enum Form {
    /// A varlena whose bytes are the text.
    Text,
    Varlena,
    Fixed(usize),
    CString,
    /// Passed by value; the number of bytes that are used.
    ByValue(usize),
}

impl Form {
    /// The form of a type's values.
    pub fn of(type_oid: pg_sys::Oid) -> Self {
        let (mut length, mut by_value) = (0, false);
        // SAFETY: catalog look-ups by type OID.
        let base = unsafe {
            pg_sys::get_typlenbyval(type_oid, &mut length, &mut by_value);
            pg_sys::getBaseType(type_oid)
        };
        let text = [pg_sys::TEXTOID, pg_sys::VARCHAROID, pg_sys::BPCHAROID, pg_sys::JSONOID];
        match length {
            -1 if text.contains(&base) => Form::Text,
            -1 => Form::Varlena,
            -2 => Form::CString,
            length if by_value => Form::ByValue(length as usize),
            length => Form::Fixed(length as usize),
        }
    }

    pub fn encoding(self) -> Encoding {
        match self {
            Form::Text => Encoding::Text,
            _ => Encoding::Raw,
        }
    }

    /// The bytes of a value, handed to `take`; a detoasted copy is made in `scratch`.
    ///
    /// # Safety
    /// `value` is a datum of a type of this form.
    #[inline]
    pub unsafe fn bytes<R>(
        self,
        value: Datum,
        scratch: pg_sys::MemoryContext,
        take: impl FnOnce(&[u8]) -> R,
    ) -> R {
        // SAFETY: the form was taken from the type's own description, so the datum is read as
        // what it is; `scratch` outlives `take`.
        unsafe {
            match self {
                Form::ByValue(length) => {
                    take(&value.value().to_ne_bytes()[..length.min(size_of::<usize>())])
                }
                Form::Fixed(length) => {
                    take(std::slice::from_raw_parts(value.cast_mut_ptr::<u8>(), length))
                }
                Form::CString => take(CStr::from_ptr(value.cast_mut_ptr()).to_bytes()),
                Form::Text | Form::Varlena => {
                    let mut pointer = value.cast_mut_ptr::<pg_sys::varlena>();
                    // Checked here and not by a call into Postgres: the guard around such a call costs as much as all
                    // the rest of coding a short text.
                    if varlena::varatt_is_1b_e(pointer) || varlena::varatt_is_4b_c(pointer) {
                        pointer = PgMemoryContexts::For(scratch)
                            .switch_to(|_| pg_sys::pg_detoast_datum_packed(pointer));
                    }
                    take(varlena::varlena_to_byte_slice(pointer))
                }
            }
        }
    }

    /// A short value as one word, made of all its bytes, those of its header included: different values of the type
    /// have different words.
    ///
    /// # Safety
    /// `value` is a datum of a type of this form.
    #[inline]
    pub unsafe fn word(self, value: Datum) -> Option<u64> {
        match self {
            Form::ByValue(length @ 1..8) => Some(value.value() as u64 & ((1 << (8 * length)) - 1)),
            Form::ByValue(8) => Some(value.value() as u64),
            // SAFETY: the header of a varlena says how long it is; no byte after it is read. Two reads that
            // overlap give the bytes of any length without a loop.
            Form::Text | Form::Varlena => unsafe {
                let pointer = value.cast_mut_ptr::<pg_sys::varlena>();
                if !varlena::varatt_is_1b(pointer) || varlena::varatt_is_1b_e(pointer) {
                    return None;
                }
                let (bytes, size) = (pointer.cast::<u8>(), varlena::varsize_1b(pointer));
                match size {
                    4..=8 => {
                        let first = u32::from_le(bytes.cast::<u32>().read_unaligned());
                        let last = bytes.add(size - 4).cast::<u32>().read_unaligned();
                        let last = u32::from_le(last);
                        Some(u64::from(first) | u64::from(last) << (8 * (size - 4)))
                    }
                    2..4 => {
                        let first = u16::from_le(bytes.cast::<u16>().read_unaligned());
                        let last = bytes.add(size - 2).cast::<u16>().read_unaligned();
                        let last = u16::from_le(last);
                        Some(u64::from(first) | u64::from(last) << (8 * (size - 2)))
                    }
                    1 => Some(u64::from(bytes.read())),
                    _ => None,
                }
            },
            _ => None,
        }
    }

    /// A datum of the bytes that [`Form::bytes`] gave, in the current memory context.
    pub fn datum(self, bytes: &[u8]) -> Datum {
        match self {
            Form::ByValue(length) => {
                let mut word = [0; size_of::<usize>()];
                word[..length].copy_from_slice(&bytes[..length]);
                Datum::from(usize::from_ne_bytes(word))
            }
            // SAFETY: palloc'd memory of at least the length written, aligned for any type.
            Form::Fixed(_) | Form::CString => unsafe {
                let copy = pg_sys::palloc(bytes.len() + 1).cast::<u8>();
                std::ptr::copy_nonoverlapping(bytes.as_ptr(), copy, bytes.len());
                copy.add(bytes.len()).write(0);
                copy.into()
            },
            Form::Text | Form::Varlena => varlena::rust_byte_slice_to_bytea(bytes).into_pg().into(),
        }
    }
}
