//! What was charged, and where the ledger is at home: the tables `ledger_entry` and `ledger_home`.

use super::account::decimal;
use crate::catalog::{damaged, execute, oid, run, value};
use crate::pg::prelude::*;
use guarantee::Charge;

/// Where the ledger is, and where it was last known to be whole.
pub enum Home {
    /// Both are the same place.
    Here,
    /// The ledger was restored or moved.
    Elsewhere { home: String, here: String },
    /// There is no record of where it was whole: nothing was ever protected here, or the record is gone.
    Unknown { here: String },
}

/// Looks where the ledger is.
pub fn home() -> Result<Home, Error> {
    let rows = run(
        "SELECT sanitize_internal.ledger_place() UNION ALL SELECT place FROM sanitize.ledger_home",
        &[],
    )?;
    let mut places = rows.into_iter().map(|row| row.into_iter().flatten().next());
    let here = places.next().flatten().unwrap_or_default();
    Ok(match (places.next().flatten(), places.next()) {
        (Some(home), None) if home == here => Home::Here,
        (Some(home), None) => Home::Elsewhere { home, here },
        _ => Home::Unknown { here },
    })
}

/// Records that the ledger is whole here when the first relation is protected or the first population made: nothing was
/// charged before.
pub fn settle(who: &str) -> Result<(), Error> {
    execute(
        "INSERT INTO sanitize.ledger_home
         SELECT true, sanitize_internal.ledger_place(), clock_timestamp(), $1
         WHERE NOT EXISTS (SELECT FROM sanitize.ledger_home)
           AND NOT EXISTS (SELECT FROM sanitize.protection)
           AND NOT EXISTS (SELECT FROM sanitize.population)
           AND NOT EXISTS (SELECT FROM sanitize.ledger_entry)
         ON CONFLICT DO NOTHING",
        &[Some(who)],
    )
}

/// Records that an administrator confirmed the ledger to be whole here; returns where that is.
pub fn confirm(who: &str) -> Result<Option<String>, Error> {
    value(
        "INSERT INTO sanitize.ledger_home VALUES (true, sanitize_internal.ledger_place(), clock_timestamp(), $1)
         ON CONFLICT (only_row) DO UPDATE SET place = excluded.place,
            confirmed_at = excluded.confirmed_at, confirmed_by = excluded.confirmed_by
         RETURNING place",
        &[Some(who)],
    )
}

/// Refuses damaged entries of the relation, given by its OID, which a sum would skip. An entry without a relation might
/// be one of them.
pub(in crate::catalog) fn check_entries(source: &str) -> Result<(), Error> {
    check("source = $1::oid::regclass AND row_type = sanitize_internal.row_type(source)", source)
}

/// As [`check_entries`], of the population with this number.
pub(in crate::catalog) fn check_population(id: &str) -> Result<(), Error> {
    check("population = $1::int8", id)
}

fn check(whose: &str, argument: &str) -> Result<(), Error> {
    let unreadable = format!(
        "SELECT 'found' FROM sanitize.ledger_entry
          WHERE source IS NULL OR {whose}
            AND NOT coalesce(isfinite(charged_at)
              AND epsilon >= 0 AND epsilon < 'Infinity' AND delta >= 0 AND delta < 'Infinity'
              AND (rho IS NULL OR rho >= 0 AND rho < 'Infinity')
              AND (rest_epsilon IS NULL OR rest_epsilon >= 0 AND rest_epsilon < 'Infinity')
              AND (rest_delta IS NULL OR rest_delta >= 0 AND rest_delta < 'Infinity'), false)
          LIMIT 1"
    );
    match run(&unreadable, &[Some(argument)])?.is_empty() {
        true => Ok(()),
        false => Err(damaged("ledger_entry", "charged_at, source or an amount")),
    }
}

/// A charge as it is written down.
pub struct Entry<'a> {
    pub source: Oid,
    pub who: &'a str,
    pub login: &'a str,
    pub what: &'a str,
    pub charge: Charge,
}

/// Writes a charge into the ledger; returns its number there.
pub fn enter(entry: &Entry<'_>) -> Result<i64, Error> {
    let Charge { whole, rho, rest } = entry.charge;
    let amounts = [whole.epsilon, whole.delta, rest.epsilon, rest.delta].map(decimal);
    let (source, rho) = (oid(entry.source), rho.map(decimal));
    let mut arguments =
        vec![Some(source.as_str()), Some(entry.who), Some(entry.login), Some(entry.what)];
    arguments.extend(amounts.iter().map(|amount| Some(amount.as_str())));
    arguments.push(rho.as_deref());
    let number = value(ENTER, &arguments)?.and_then(|number| number.parse().ok());
    number.ok_or_else(|| damaged("ledger_entry", "id"))
}

/// If the clock goes back, an entry must still not lie before the window that it belongs to.
const ENTER: &str = "INSERT INTO sanitize.ledger_entry
        (charged_at, source, who, login, what, epsilon, delta, rest_epsilon, rest_delta, rho, population)
    SELECT greatest(clock_timestamp(), a.window_start), a.source, $2, $3, $4,
           $5::numeric, $6::numeric, $7::numeric, $8::numeric, $9::numeric, a.population
      FROM sanitize_internal.account a
     WHERE a.source = $1::oid::regclass
    RETURNING id::text";
