//! Statements that write or read one table and nothing else. They are parsed once and run as parsed, so renaming
//! schemas meanwhile cannot make them write to another table.

use super::held_rows::Held;
use super::target;
use crate::pg::prelude::*;
use crate::pg::process::progress::Progress;
use crate::pg::read::rows::{Receiver, RowSink};
use pgrx::pg_sys::panic::CaughtError;
use pgrx::{PgList, PgSqlErrorCode, PgTryBuilder, PgTupleDesc};
use std::panic::AssertUnwindSafe;

/// A parameter of a statement; `None` is NULL.
pub struct Parameter {
    pub of: Oid,
    pub value: Option<Datum>,
}

/// What a statement did.
pub struct Written {
    pub rows: u64,
    /// The sum of the integers that it returned.
    pub sum: u64,
}

/// Rows between two checks of the clock.
const BATCH: u64 = 4096;

/// Adds up rows of integers, and reports how many there are.
#[derive(Default)]
struct Sum {
    columns: usize,
    rows: u64,
    sum: u64,
    /// Made with the first row: making the rows has progress of its own.
    progress: Option<Progress>,
}

impl RowSink for Sum {
    fn begin(&mut self, descriptor: &PgTupleDesc) {
        self.columns = descriptor.len();
    }

    unsafe fn row(&mut self, values: *const Datum, _nulls: *const bool) -> Result<bool, Error> {
        for i in 0..self.columns {
            // SAFETY: as many integers as the descriptor has columns; they count, and are neither NULL nor below 0.
            self.sum += unsafe { (*values.add(i)).value() as u64 };
        }
        if self.rows.is_multiple_of(BATCH) {
            self.progress.get_or_insert_with(|| Progress::begin("writing")).rows(self.rows);
        }
        self.rows += 1;
        Ok(true)
    }
}

/// Who maintains the foreign keys of the table that is written.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum References {
    Checked,
    /// The caller, who changes both sides: no referential action runs, and nothing is checked.
    LeftAlone,
}

/// Runs a statement on the table, which the caller has locked, with the caller's rights. The rows that it returns, if
/// any, are counts.
pub fn write(statement: &str, table: Oid, parameters: &[Parameter]) -> Result<Written, Error> {
    write_beside(&Held::new(), statement, table, parameters, References::Checked)
}

/// As [`write`], for a statement that may also read held rows.
pub fn write_beside(
    held: &Held,
    statement: &str,
    table: Oid,
    parameters: &[Parameter],
    references: References,
) -> Result<Written, Error> {
    let mut sum = Sum::default();
    let rows = run(held, statement, table, parameters, references, &mut sum)?;
    Ok(Written { rows, sum: sum.sum })
}

/// As [`write_beside`], for rows whose cells may have been blanked: the error for a NULL in a NOT NULL column has a
/// hint.
pub fn write_blanked(held: &Held, statement: &str, table: Oid) -> Result<Written, Error> {
    let write = || write_beside(held, statement, table, &[], References::Checked);
    PgTryBuilder::new(AssertUnwindSafe(write))
        .catch_when(PgSqlErrorCode::ERRCODE_NOT_NULL_VIOLATION, |error| match error {
            CaughtError::PostgresError(report) => {
                Err(Error::Blanked { what: report.message().to_string() })
            }
            other => other.rethrow(),
        })
        .execute()
}

/// Holds the rows of a query, which reads the table, functions or held rows, under a name; returns how many there are.
pub fn hold(
    held: &mut Held,
    name: &str,
    query: &str,
    table: Oid,
    parameters: &[Parameter],
) -> Result<u64, Error> {
    let mut store = held.store(std::ptr::null_mut());
    let rows = run(held, query, table, parameters, References::Checked, &mut store)?;
    held.keep(name, store);
    Ok(rows)
}

/// The only value of a query that returns one row of one column, which is not NULL and of variable length. It is in
/// the caller's memory context.
pub fn value(held: &Held, query: &str, table: Oid) -> Result<Parameter, Error> {
    // SAFETY: the context of the caller, which outlives the query.
    let context = unsafe { pg_sys::CurrentMemoryContext };
    let mut only = Only { of: pg_sys::InvalidOid, value: None, context };
    run(held, query, table, &[], References::Checked, &mut only)?;
    match only.value {
        Some(value) => Ok(Parameter { of: only.of, value: Some(value) }),
        None => Err(Error::fault("a query has no result")),
    }
}

/// Keeps the first value of the last row.
struct Only {
    of: Oid,
    value: Option<Datum>,
    context: pg_sys::MemoryContext,
}

impl RowSink for Only {
    fn begin(&mut self, descriptor: &PgTupleDesc) {
        self.of = descriptor.get(0).map_or(pg_sys::InvalidOid, |column| column.atttypid);
    }

    unsafe fn row(&mut self, values: *const Datum, nulls: *const bool) -> Result<bool, Error> {
        // SAFETY: the caller's query returns a varlena.
        unsafe {
            if !*nulls {
                let before = pg_sys::MemoryContextSwitchTo(self.context);
                let copy = pg_sys::pg_detoast_datum_copy((*values).cast_mut_ptr());
                pg_sys::MemoryContextSwitchTo(before);
                self.value = Some(copy.into());
            }
        }
        Ok(true)
    }
}

fn run(
    held: &Held,
    statement: &str,
    table: Oid,
    parameters: &[Parameter],
    references: References,
    sink: &mut dyn RowSink,
) -> Result<u64, Error> {
    let mut receiver = Receiver::new(sink);
    let types: Vec<Oid> = parameters.iter().map(|parameter| parameter.of).collect();
    // SAFETY: the steps by which Postgres runs a statement of its own; texts, trees and values live in the
    // current context, and an error in between is cleaned up by the transaction's end.
    unsafe {
        let source = text::c_string(statement);
        let parsed = PgList::<pg_sys::RawStmt>::from_pg(pg_sys::pg_parse_query(source));
        let Some(parsed) = parsed.get_ptr(0).filter(|_| parsed.len() == 1) else {
            return Err(Error::fault("not one statement"));
        };
        push_snapshot();
        let count = types.len() as i32;
        let environment = held.environment();
        #[cfg(feature = "pg14")]
        let rewritten = pg_sys::pg_analyze_and_rewrite(
            parsed,
            source,
            types.as_ptr().cast_mut(),
            count,
            environment,
        );
        #[cfg(not(feature = "pg14"))]
        let rewritten = pg_sys::pg_analyze_and_rewrite_fixedparams(
            parsed,
            source,
            types.as_ptr(),
            count,
            environment,
        );
        let rewritten = PgList::<pg_sys::Query>::from_pg(rewritten);
        let Some(query) = rewritten.get_ptr(0).filter(|_| rewritten.len() == 1) else {
            return Err(Error::fault("a rule rewrote the statement"));
        };
        let planned = pg_sys::pg_plan_query(query, source, 0, std::ptr::null_mut());
        if !touches_only(planned, table) {
            return Err(Error::Swapped);
        }
        // NULL and not an empty list where there are none: Citus tries to look up values in an empty list.
        let values = match count {
            0 => std::ptr::null_mut(),
            count => pg_sys::makeParamList(count),
        };
        for (i, parameter) in parameters.iter().enumerate() {
            let place = (*values).params.as_mut_ptr().add(i);
            (*place).ptype = parameter.of;
            (*place).pflags = pg_sys::PARAM_FLAG_CONST as u16;
            (*place).isnull = parameter.value.is_none();
            (*place).value = parameter.value.unwrap_or(Datum::null());
        }
        let run = pg_sys::CreateQueryDesc(
            planned,
            source,
            pg_sys::GetActiveSnapshot(),
            std::ptr::null_mut(),
            (&raw mut receiver).cast(),
            values,
            environment,
            0,
        );
        pg_sys::ExecutorStart(run, 0);
        if references == References::LeftAlone {
            leave_references_alone((*run).estate);
        }
        let forward = pg_sys::ScanDirection::ForwardScanDirection;
        #[cfg(feature = "pg18")]
        pg_sys::ExecutorRun(run, forward, 0);
        #[cfg(not(feature = "pg18"))]
        pg_sys::ExecutorRun(run, forward, 0, true);
        let rows = (*(*run).estate).es_processed;
        pg_sys::ExecutorFinish(run);
        pg_sys::ExecutorEnd(run);
        pg_sys::FreeQueryDesc(run);
        pop_snapshot();
        Ok(rows)
    }
}

/// Runs `work` as a statement of its own: it sees all earlier changes, including those of other transactions unless the
/// snapshot is fixed.
pub fn in_new_snapshot<T>(work: impl FnOnce() -> Result<T, Error>) -> Result<T, Error> {
    // SAFETY: each snapshot is taken away again; an error that unwinds leaves that to the end of the transaction.
    unsafe { push_snapshot() };
    let done = work();
    // SAFETY: pops the snapshot that was pushed above.
    unsafe { pop_snapshot() };
    done
}

/// Begins a command with a snapshot of its own.
unsafe fn push_snapshot() {
    // SAFETY: the steps by which Postgres begins a statement.
    unsafe {
        pg_sys::CommandCounterIncrement();
        pg_sys::PushCopiedSnapshot(pg_sys::GetTransactionSnapshot());
        pg_sys::UpdateActiveSnapshotCommandId();
    }
}

/// Ends it.
unsafe fn pop_snapshot() {
    // SAFETY: the caller has pushed a snapshot.
    unsafe {
        pg_sys::PopActiveSnapshot();
        pg_sys::CommandCounterIncrement();
    }
}

/// Removes the triggers of foreign keys from the relations that a statement which has not begun will write. Other
/// statements keep theirs, including those that this one causes.
unsafe fn leave_references_alone(estate: *mut pg_sys::EState) {
    // SAFETY: the executor's own list of what it has opened to write; the copies live as long as it.
    unsafe {
        let written = (*estate).es_opened_result_relations;
        for written in PgList::<pg_sys::ResultRelInfo>::from_pg(written).iter_ptr() {
            let Some(all) = (*written).ri_TrigDesc.as_ref() else { continue };
            let count = usize::try_from(all.numtriggers).unwrap_or(0);
            let triggers = std::slice::from_raw_parts(all.triggers, count);
            let of_reference = |trigger: &&pg_sys::Trigger| {
                pg_sys::RI_FKey_trigger_type(trigger.tgfoid) != pg_sys::RI_TRIGGER_NONE as i32
            };
            let mut left: Vec<pg_sys::Trigger> =
                triggers.iter().filter(|one| !of_reference(one)).copied().collect();
            let size = left.len() * size_of::<pg_sys::Trigger>();
            let copy = pg_sys::palloc(size.max(1)).cast::<pg_sys::Trigger>();
            copy.copy_from_nonoverlapping(left.as_mut_ptr(), left.len());
            let described = pg_sys::palloc(size_of::<pg_sys::TriggerDesc>());
            let described = described.cast::<pg_sys::TriggerDesc>();
            described.write(pg_sys::TriggerDesc {
                triggers: copy,
                numtriggers: left.len() as i32,
                ..*all
            });
            (*written).ri_TrigDesc = described;
        }
    }
}

/// True if no relation but the table and its partitions is in the plan.
unsafe fn touches_only(planned: *mut pg_sys::PlannedStmt, table: Oid) -> bool {
    // SAFETY: the planner's own list of what the plan reads and writes.
    unsafe {
        let parts = target::parts(table);
        let entries = PgList::<pg_sys::RangeTblEntry>::from_pg((*planned).rtable);
        entries
            .iter_ptr()
            .filter(|&entry| (*entry).rtekind == pg_sys::RTEKind::RTE_RELATION)
            .all(|entry| parts.contains(&(*entry).relid))
    }
}
