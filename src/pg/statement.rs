//! Statements that write one table and nothing else. They are parsed once and run as they were parsed:
//! whoever renames schemas meanwhile cannot have them write to another table.

use super::error::Error;
use super::option::Parameter;
use super::progress::Progress;
use super::rows::{Receiver, RowSink};
use super::text;
use pgrx::pg_sys::{self, Datum, Oid};
use pgrx::{PgList, PgTupleDesc};

/// What a statement did.
pub struct Written {
    pub rows: u64,
    /// The sum of the integers that it returned.
    pub sum: u64,
}

/// Rows between two looks at the clock.
const BATCH: u64 = 4096;

/// Adds up what rows of integers hold, and tells how many there are.
#[derive(Default)]
struct Sum {
    columns: usize,
    rows: u64,
    sum: u64,
    /// From the first row on: what makes the rows has a progress of its own.
    progress: Option<Progress>,
}

impl RowSink for Sum {
    fn begin(&mut self, descriptor: &PgTupleDesc) {
        self.columns = descriptor.len();
    }

    unsafe fn row(&mut self, values: *const Datum, _nulls: *const bool) -> Result<bool, Error> {
        for i in 0..self.columns {
            // SAFETY: as many int4 values as the descriptor has columns; RETURNING counts, which is never NULL.
            self.sum += unsafe { (*values.add(i)).value() as u32 as u64 };
        }
        if self.rows.is_multiple_of(BATCH) {
            self.progress.get_or_insert_with(|| Progress::begin("writing")).rows(self.rows);
        }
        self.rows += 1;
        Ok(true)
    }
}

/// Runs INSERT or DELETE on the table, which the caller has locked, with the caller's rights. What it returns,
/// if anything, are counts.
pub fn write(statement: &str, table: Oid, parameters: &[Parameter]) -> Result<Written, Error> {
    let mut sum = Sum::default();
    let mut receiver = Receiver::new(&mut sum);
    let types: Vec<Oid> = parameters.iter().map(|parameter| parameter.of).collect();
    // SAFETY: the steps by which Postgres runs a statement of its own; texts, trees and values live in the
    // current context, and an error in between is cleaned up by the transaction's end.
    unsafe {
        let source = text::c_string(statement);
        let parsed = PgList::<pg_sys::RawStmt>::from_pg(pg_sys::pg_parse_query(source));
        let Some(parsed) = parsed.get_ptr(0).filter(|_| parsed.len() == 1) else {
            return Err(Error::fault("not one statement"));
        };
        pg_sys::CommandCounterIncrement();
        pg_sys::PushCopiedSnapshot(pg_sys::GetTransactionSnapshot());
        pg_sys::UpdateActiveSnapshotCommandId();
        let count = types.len() as i32;
        let nothing = std::ptr::null_mut();
        #[cfg(feature = "pg14")]
        let rewritten = pg_sys::pg_analyze_and_rewrite(
            parsed,
            source,
            types.as_ptr().cast_mut(),
            count,
            nothing,
        );
        #[cfg(not(feature = "pg14"))]
        let rewritten = pg_sys::pg_analyze_and_rewrite_fixedparams(
            parsed,
            source,
            types.as_ptr(),
            count,
            nothing,
        );
        let rewritten = PgList::<pg_sys::Query>::from_pg(rewritten);
        let Some(query) = rewritten.get_ptr(0).filter(|_| rewritten.len() == 1) else {
            return Err(Error::fault("a rule rewrote the statement"));
        };
        let planned = pg_sys::pg_plan_query(query, source, 0, std::ptr::null_mut());
        if !touches_only(planned, table) {
            return Err(Error::Swapped);
        }
        let values = pg_sys::makeParamList(count);
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
            std::ptr::null_mut(),
            0,
        );
        pg_sys::ExecutorStart(run, 0);
        let forward = pg_sys::ScanDirection::ForwardScanDirection;
        #[cfg(feature = "pg18")]
        pg_sys::ExecutorRun(run, forward, 0);
        #[cfg(not(feature = "pg18"))]
        pg_sys::ExecutorRun(run, forward, 0, true);
        let rows = (*(*run).estate).es_processed;
        pg_sys::ExecutorFinish(run);
        pg_sys::ExecutorEnd(run);
        pg_sys::FreeQueryDesc(run);
        pg_sys::PopActiveSnapshot();
        pg_sys::CommandCounterIncrement();
        Ok(Written { rows, sum: sum.sum })
    }
}

/// True if the table is the only relation of the plan.
unsafe fn touches_only(planned: *mut pg_sys::PlannedStmt, table: Oid) -> bool {
    // SAFETY: the planner's own list of what the plan reads and writes.
    unsafe {
        let entries = PgList::<pg_sys::RangeTblEntry>::from_pg((*planned).rtable);
        let mut relations = entries
            .iter_ptr()
            .filter(|&entry| (*entry).rtekind == pg_sys::RTEKind::RTE_RELATION)
            .peekable();
        relations.peek().is_some() && relations.all(|entry| (*entry).relid == table)
    }
}
