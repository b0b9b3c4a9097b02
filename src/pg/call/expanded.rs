//! Values of Postgres that are Rust values while they are worked on: each lives in a memory context of its own, is
//! dropped with it, and is converted into bytes only when it leaves the process. Postgres calls them expanded objects.
//! An aggregate whose state is one adds to it in place.

use super::error::Error;
use pgrx::PgMemoryContexts;
use pgrx::pg_sys::{self, Datum, ExpandedObjectHeader, MemoryContext};
use std::any::Any;

/// A Rust value that can be written as bytes any number of times.
pub trait Flat: Any {
    fn bytes(&mut self) -> Result<&[u8], Error>;
}

/// A value as Postgres knows it.
#[repr(C)]
struct Expanded {
    header: ExpandedObjectHeader,
    value: Box<dyn Flat>,
}

/// The address of this table identifies our values.
static METHODS: pg_sys::ExpandedObjectMethods = pg_sys::ExpandedObjectMethods {
    get_flat_size: Some(flat_size),
    flatten_into: Some(flatten_into),
};

/// # Safety
/// `header` belongs to a value of ours, to which there is no other reference during the call.
unsafe fn bytes<'a>(header: *mut ExpandedObjectHeader) -> &'a [u8] {
    // SAFETY: a value of ours begins with its header.
    let value = unsafe { &mut (*header.cast::<Expanded>()).value };
    value.bytes().unwrap_or_else(|error| error.raise())
}

#[pgrx::pg_guard]
unsafe extern "C-unwind" fn flat_size(header: *mut ExpandedObjectHeader) -> pg_sys::Size {
    // SAFETY: Postgres finds this function in the headers of our values only.
    unsafe { bytes(header) }.len() + pg_sys::VARHDRSZ
}

#[pgrx::pg_guard]
unsafe extern "C-unwind" fn flatten_into(
    header: *mut ExpandedObjectHeader,
    result: *mut std::ffi::c_void,
    size: pg_sys::Size,
) {
    // SAFETY: as above; the result has the size that `flat_size` returned, that of the bytes and a header.
    unsafe {
        let bytes = bytes(header);
        assert_eq!(bytes.len() + pg_sys::VARHDRSZ, size);
        pgrx::set_varsize_4b(result.cast(), size as i32);
        let data = result.cast::<u8>().add(pg_sys::VARHDRSZ);
        data.copy_from_nonoverlapping(bytes.as_ptr(), bytes.len());
    }
}

/// Makes a value, in a memory context of its own below `parent`; the datum may be written through.
pub fn keep<T: Flat>(
    parent: MemoryContext,
    make: impl FnOnce(MemoryContext) -> Result<T, Error>,
) -> Result<Datum, Error> {
    // SAFETY: a plain child context, which its parent deletes at the latest. The callback of the context drops
    // the value before its memory goes.
    unsafe {
        let context = pg_sys::AllocSetContextCreateExtended(
            parent,
            c"pg_sanitize state".as_ptr(),
            pg_sys::ALLOCSET_SMALL_MINSIZE as usize,
            pg_sys::ALLOCSET_SMALL_INITSIZE as usize,
            pg_sys::ALLOCSET_DEFAULT_MAXSIZE as usize,
        );
        let expanded = Expanded { header: Default::default(), value: Box::new(make(context)?) };
        let expanded = PgMemoryContexts::For(context).leak_and_drop_on_delete(expanded);
        pg_sys::EOH_init_header(&raw mut (*expanded).header, &raw const METHODS, context);
        Ok((&raw mut (*expanded).header.eoh_rw_ptr).into())
    }
}

/// Which references to a value are accepted.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Access {
    /// Only references that may write.
    Write,
    /// All references.
    Read,
}

/// The value of a datum, if it is one of ours in the memory of `parent` and if `access` to it is allowed.
pub fn of_datum<'a, T: Flat>(
    datum: Datum,
    parent: MemoryContext,
    access: Access,
) -> Option<&'a mut T> {
    use pg_sys::vartag_external::{VARTAG_EXPANDED_RO, VARTAG_EXPANDED_RW};
    // SAFETY: the datum is a varlena, whose header says whether it is an expanded object; if so, its methods say
    // whether it is ours. The executor has no other reference to it during the call.
    unsafe {
        let pointer = datum.cast_mut_ptr::<pg_sys::varlena>();
        if pointer.is_null() || !pgrx::varlena::varatt_is_1b_e(pointer) {
            return None;
        }
        let tag = u32::from((*pointer.cast::<pg_sys::varattrib_1b_e>()).va_tag);
        if tag != VARTAG_EXPANDED_RW && (tag != VARTAG_EXPANDED_RO || access == Access::Write) {
            return None;
        }
        let header = pg_sys::DatumGetEOHP(datum);
        if !std::ptr::eq((*header).eoh_methods, &raw const METHODS)
            || pg_sys::MemoryContextGetParent((*header).eoh_context) != parent
        {
            return None;
        }
        let value: &mut dyn Any = &mut *(*header.cast::<Expanded>()).value;
        value.downcast_mut()
    }
}
