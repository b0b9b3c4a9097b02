//! Triggers of the extension's own tables.

use super::serve::Call;
use crate::pg::prelude::*;

/// The columns of a row that is about to be inserted into a table of the extension. All other calls are refused, for
/// example by a trigger that a role put on its own table.
pub fn inserted<const COLUMNS: usize>(
    call: &Call,
    table: &str,
) -> Result<[Option<Datum>; COLUMNS], Error> {
    // SAFETY: the context of a call is null or a node; one of this tag is the trigger manager's, and its row and
    // descriptor are valid during the call.
    unsafe {
        let context = (*call.fcinfo).context;
        if context.is_null() || (*context).type_ != pg_sys::NodeTag::T_TriggerData {
            return Err(strange(table));
        }
        let data = &*context.cast::<pg_sys::TriggerData>();
        let event = data.tg_event
            & (pg_sys::TRIGGER_EVENT_OPMASK
                | pg_sys::TRIGGER_EVENT_TIMINGMASK
                | pg_sys::TRIGGER_EVENT_ROW);
        let expected =
            pg_sys::TRIGGER_EVENT_INSERT | pg_sys::TRIGGER_EVENT_BEFORE | pg_sys::TRIGGER_EVENT_ROW;
        let relation = (*data.tg_relation).rd_id;
        let schema = pg_sys::get_namespace_oid(c"sanitize_internal".as_ptr(), true);
        let name = text::c_string(table);
        let descriptor = (*data.tg_relation).rd_att;
        if event != expected
            || relation != pg_sys::get_relname_relid(name, schema)
            || (*descriptor).natts as usize != COLUMNS
        {
            return Err(strange(table));
        }
        let (mut values, mut nulls) = ([Datum::null(); COLUMNS], [true; COLUMNS]);
        pg_sys::heap_deform_tuple(
            data.tg_trigtuple,
            descriptor,
            values.as_mut_ptr(),
            nulls.as_mut_ptr(),
        );
        Ok(std::array::from_fn(|i| (!nulls[i]).then_some(values[i])))
    }
}

fn strange(table: &str) -> Error {
    Error::argument(
        format!("the function is the trigger of sanitize_internal.{table} and of nothing else"),
        "Nobody calls it, and no other table has it.",
    )
}

/// Runs `work` with the caller's rights, and settings under which names and texts mean the same in every session.
pub fn fixed<T>(work: impl FnOnce() -> Result<T, Error>) -> Result<T, Error> {
    rights::with_fixed_names(|| rights::with_fixed_formats(work))
}
