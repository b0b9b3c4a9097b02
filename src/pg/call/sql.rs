//! Statements. Those on the extension's own tables take and give every value as text, with casts in the statement:
//! there are few of them, and none is time-critical.

use crate::pg::prelude::*;
use pgrx::datum::DatumWithOid;
use pgrx::{FromDatum, Spi};
use std::ffi::{CString, c_char};
use std::str::FromStr;

/// One row of text.
pub type Row = Vec<Option<String>>;

/// Refuses on a standby: what it knows of the budget may be old, and it cannot charge.
pub fn refuse_standby() -> Result<(), Error> {
    // SAFETY: a query of shared state.
    if unsafe { pg_sys::RecoveryInProgress() } { Err(Error::Standby) } else { Ok(()) }
}

/// Runs a statement whose parameters and result columns are text.
pub fn run(statement: &str, arguments: &[Option<&str>]) -> Result<Vec<Row>, Error> {
    refuse_standby()?;
    Spi::connect_mut(|client| {
        let arguments: Vec<_> =
            arguments.iter().map(|value| value.map(|text| Text(text.into())).into()).collect();
        let table = client.update(statement, None, &arguments)?;
        let mut rows = Vec::with_capacity(table.len());
        for tuple in table {
            let row: Result<Row, pgrx::spi::Error> = (1..=tuple.columns())
                .map(|i| Ok(tuple.get::<Text>(i)?.map(|Text(text)| text)))
                .collect();
            rows.push(row?);
        }
        Ok::<_, pgrx::spi::Error>(rows)
    })
    .map_err(Error::query)
}

/// The texts of a query's only column, read as [`rows`] reads.
pub fn texts(query: &str, arguments: &[DatumWithOid<'_>]) -> Result<Vec<Option<String>>, Error> {
    Ok(rows::<1>(query, arguments)?.into_iter().flatten().collect())
}

/// True if a query has rows, of one text each.
pub fn any(query: &str, arguments: &[DatumWithOid<'_>]) -> Result<bool, Error> {
    Ok(!texts(query, arguments)?.is_empty())
}

/// True if this database knows the function: its extension may be of an earlier version than the library.
pub fn is_known(function: &str) -> Result<bool, Error> {
    let query = "SELECT pg_catalog.to_regprocedure($1)::pg_catalog.text";
    Ok(texts(query, &[Text(function.into()).into()])?.iter().any(Option::is_some))
}

/// A number that a query returned as text.
pub fn number<T: FromStr>(text: &Option<String>) -> Result<T, Error> {
    let number = text.as_deref().and_then(|text| text.parse().ok());
    number.ok_or_else(|| Error::query("the catalog holds no number where one is expected"))
}

/// The OID of an object, returned as text.
pub fn oid(text: &Option<String>) -> Result<Oid, Error> {
    number::<u32>(text).map(Oid::from)
}

/// As [`rows`], in a new snapshot: a statement that has waited for a lock sees what was committed meanwhile.
pub fn latest_rows<const N: usize>(
    query: &str,
    arguments: &[DatumWithOid<'_>],
) -> Result<Vec<[Option<String>; N]>, Error> {
    // SAFETY: the snapshot is taken away again; an error leaves that to the end of the transaction.
    unsafe { pg_sys::PushActiveSnapshot(pg_sys::GetLatestSnapshot()) };
    let read = rows(query, arguments);
    // SAFETY: pops the snapshot that was pushed above.
    unsafe { pg_sys::PopActiveSnapshot() };
    read
}

/// The rows of a query whose columns are texts, read with the caller's rights and in the caller's snapshot.
///
/// This does not use pgrx' client: in a transaction that has written, that would begin a new command, which is an error
/// in the leader of a parallel query.
pub fn rows<const N: usize>(
    query: &str,
    arguments: &[DatumWithOid<'_>],
) -> Result<Vec<[Option<String>; N]>, Error> {
    let query = CString::new(text::from_utf8(query)).map_err(Error::fault)?;
    let mut types: Vec<_> = arguments.iter().map(DatumWithOid::oid).collect();
    let mut values: Vec<_> = arguments
        .iter()
        .map(|a| a.datum().map_or(Datum::null(), pgrx::datum::Datum::sans_lifetime))
        .collect();
    let nulls: Vec<_> =
        arguments.iter().map(|a| if a.datum().is_some() { b' ' } else { b'n' } as c_char).collect();
    Spi::connect(|_| {
        // SAFETY: as many types, values and marks as the count says; an error unwinds through this frame.
        let status = unsafe {
            pg_sys::SPI_execute_with_args(
                query.as_ptr(),
                arguments.len() as i32,
                types.as_mut_ptr(),
                values.as_mut_ptr(),
                nulls.as_ptr(),
                true,
                0,
            )
        };
        Spi::check_status(status).map_err(Error::query)?;
        // SAFETY: the table of the query that has just succeeded; all its columns are texts.
        unsafe { found(pg_sys::SPI_tuptable, pg_sys::SPI_processed as usize) }
    })
}

/// The texts of a result.
///
/// # Safety
/// `table` is what SPI found: `count` tuples whose columns are texts.
unsafe fn found<const N: usize>(
    table: *mut pg_sys::SPITupleTable,
    count: usize,
) -> Result<Vec<[Option<String>; N]>, Error> {
    // SAFETY: as the caller says.
    unsafe {
        let shape = (*table).tupdesc;
        if (*shape).natts as usize != N {
            return Err(Error::query("a query has other columns than expected"));
        }
        let cell = |tuple, column| {
            let mut is_null = false;
            let datum = pg_sys::SPI_getbinval(tuple, shape, column, &mut is_null);
            Text::from_datum(datum, is_null).map(|Text(text)| text)
        };
        let row = |i| std::array::from_fn(|column| cell(*(*table).vals.add(i), column as i32 + 1));
        Ok((0..count).map(row).collect())
    }
}

/// Runs a statement without a result with the caller's rights.
pub fn run_as_caller(statement: &str, arguments: &[DatumWithOid<'_>]) -> Result<(), Error> {
    Spi::run_with_args(statement, arguments).map_err(Error::query)
}
