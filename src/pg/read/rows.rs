//! The rows of a query, passed on one at a time and not kept.

use super::toast;
use crate::pg::prelude::*;
use pgrx::{PgTupleDesc, Spi};
use std::ffi::CStr;

/// Takes the rows of a query.
pub trait RowSink {
    /// Called once, with the columns of the rows.
    fn begin(&mut self, _descriptor: &PgTupleDesc) {}

    /// Called for each row; false ends the query.
    ///
    /// # Safety
    /// `values` and `nulls` have as many entries as the descriptor, of its types.
    unsafe fn row(&mut self, values: *const Datum, nulls: *const bool) -> Result<bool, Error>;
}

#[repr(C)]
pub(in crate::pg) struct Receiver<'a> {
    base: pg_sys::DestReceiver,
    sink: &'a mut dyn RowSink,
}

#[pgrx::pg_guard]
unsafe extern "C-unwind" fn startup(
    this: *mut pg_sys::DestReceiver,
    _operation: i32,
    descriptor: pg_sys::TupleDesc,
) {
    // SAFETY: `this` is the Receiver that `each_row` passed.
    unsafe {
        (*this.cast::<Receiver>()).sink.begin(&PgTupleDesc::from_pg_copy(descriptor));
    }
}

#[pgrx::pg_guard]
unsafe extern "C-unwind" fn receive(
    slot: *mut pg_sys::TupleTableSlot,
    this: *mut pg_sys::DestReceiver,
) -> bool {
    // SAFETY: `this` is the Receiver that `each_row` passed; the slot is the executor's and holds as
    // many attributes as its descriptor says.
    unsafe {
        let natts = (*(*slot).tts_tupleDescriptor).natts;
        if i32::from((*slot).tts_nvalid) < natts {
            pg_sys::slot_getsomeattrs_int(slot, natts);
        }
        let sink = &mut (*this.cast::<Receiver>()).sink;
        sink.row((*slot).tts_values, (*slot).tts_isnull).unwrap_or_else(|error| error.raise())
    }
}

#[pgrx::pg_guard]
unsafe extern "C-unwind" fn nothing(_this: *mut pg_sys::DestReceiver) {}

impl<'a> Receiver<'a> {
    /// The receiver by which the executor sends rows to `sink`.
    pub(in crate::pg) fn new(sink: &'a mut dyn RowSink) -> Self {
        let base = pg_sys::DestReceiver {
            receiveSlot: Some(receive),
            rStartup: Some(startup),
            rShutdown: Some(nothing),
            rDestroy: Some(nothing),
            mydest: pg_sys::CommandDest::DestNone,
        };
        Receiver { base, sink }
    }
}

/// Runs a query in the caller's snapshot and hands every row to `sink`.
pub fn each_row(query: &CStr, sink: &mut dyn RowSink) {
    // SAFETY: as `beside` says.
    beside(&[], sink, |options| unsafe {
        pg_sys::SPI_execute_extended(query.as_ptr(), options);
    });
}

/// As [`each_row`], for a query that may also read held rows, and with the locks of [`toast::lock`].
pub(in crate::pg) fn each_row_locked(
    held: &[pg_sys::EphemeralNamedRelation],
    query: &CStr,
    sink: &mut dyn RowSink,
) {
    beside(held, sink, |options| {
        let preparing = pg_sys::SPIPrepareOptions {
            cursorOptions: pg_sys::CURSOR_OPT_PARALLEL_OK as i32,
            ..Default::default()
        };
        // SAFETY: the plan lives as long as the connection to SPI.
        unsafe {
            let plan = pg_sys::SPI_prepare_extended(query.as_ptr(), &preparing);
            toast::lock(plan);
            pg_sys::SPI_execute_plan_extended(plan, options);
        }
    });
}

/// Has a query executed with these options; it may also read held rows. An error inside unwinds through this frame.
fn beside(
    held: &[pg_sys::EphemeralNamedRelation],
    sink: &mut dyn RowSink,
    execute: impl FnOnce(&pg_sys::SPIExecuteOptions),
) {
    let mut receiver = Receiver::new(sink);
    let options = pg_sys::SPIExecuteOptions {
        read_only: true,
        dest: (&raw mut receiver).cast(),
        ..Default::default()
    };
    Spi::connect(|_| {
        held.iter().for_each(|&held| {
            // SAFETY: what is held outlives the query, and so does the receiver.
            unsafe { pg_sys::SPI_register_relation(held) };
        });
        execute(&options);
    });
}
