//! Statements. Those on the extension's own tables take and give every value as text, with casts in the
//! statement: there are few of them, and none is in a hurry.

use super::error::Error;
use super::text::Text;
use pgrx::datum::DatumWithOid;
use pgrx::{Spi, pg_sys};

/// One row of text.
pub type Row = Vec<Option<String>>;

/// What a standby knows of the budget may be old, and it can charge nothing: it is asked in vain.
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

/// The first column of a query's rows, a text, read with the caller's rights.
pub fn texts(query: &str, arguments: &[DatumWithOid<'_>]) -> Result<Vec<Option<String>>, Error> {
    let read = Spi::connect(|client| {
        let rows = client.select(query, None, arguments)?;
        rows.map(|row| row.get::<Text>(1)).collect::<Result<Vec<_>, _>>()
    });
    let read = read.map_err(Error::query)?.into_iter();
    Ok(read.map(|text| text.map(|Text(text)| text)).collect())
}

/// The rows of a query whose columns are texts, read with the caller's rights.
pub fn rows(query: &str, arguments: &[DatumWithOid<'_>]) -> Result<Vec<Row>, Error> {
    let read = Spi::connect(|client| {
        let mut rows = Vec::new();
        for tuple in client.select(query, None, arguments)? {
            let row: Result<Row, pgrx::spi::Error> = (1..=tuple.columns())
                .map(|i| Ok(tuple.get::<Text>(i)?.map(|Text(text)| text)))
                .collect();
            rows.push(row?);
        }
        Ok::<_, pgrx::spi::Error>(rows)
    });
    read.map_err(Error::query)
}

/// Runs a statement without a result with the caller's rights.
pub fn run_as_caller(statement: &str, arguments: &[DatumWithOid<'_>]) -> Result<(), Error> {
    Spi::run_with_args(statement, arguments).map_err(Error::query)
}
