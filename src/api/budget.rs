//! Who is protected, how much may be learnt, and who may ask.

use super::ledger::{self, decimal};
use crate::pg::call::{Call, sql_function};
use crate::pg::error::Error;
use crate::pg::relation::Relation;
use crate::pg::{rights, sql, types};
use pgrx::IntoDatum;
use pgrx::datum::Interval;
use pgrx::pg_sys::{Datum, Oid};

/// The smallest epsilon: below it the noise exceeds any count there can be.
const SMALLEST: f64 = 1e-9;
/// The largest epsilon: far above it nothing is protected.
const LARGEST: f64 = 1e6;

/// What `protect` laid down for a relation.
pub struct Protection {
    pub unit: String,
    pub max_rows_per_unit: u64,
    pub delta: f64,
}

/// An epsilon that makes sense.
pub fn epsilon(value: f64) -> Result<f64, Error> {
    if (SMALLEST..=LARGEST).contains(&value) {
        return Ok(value);
    }
    Err(Error::argument(
        format!("epsilon is {value}"),
        "epsilon is above 0; 1 is a common choice. Less protects more.",
    ))
}

/// A delta that makes sense.
pub fn delta(value: f64) -> Result<f64, Error> {
    if (0.0..1.0).contains(&value) && (value == 0.0 || value >= 1e-100) {
        return Ok(value);
    }
    Err(Error::argument(
        format!("delta is {value}"),
        "delta is at least 0 and below 1, and should be far below one over the number of people.",
    ))
}

/// The protected relation of argument 0, which the caller must own.
fn owned(call: &Call) -> Result<Relation, Error> {
    let relation = Relation::open(call.value::<Oid>(0, "source")?)?;
    if rights::owns(rights::current_user(), relation.oid) {
        return Ok(relation);
    }
    Err(Error::NotOwner { relation: relation.name })
}

/// What is laid down for the relation; `None` if it is not protected.
pub fn protection(source: Oid) -> Result<Option<Protection>, Error> {
    let source = source.to_u32().to_string();
    let rows = rights::with_extension_rights(|| {
        sql::run(
            "SELECT unit, max_rows_per_unit::text, delta::text FROM sanitize.protection
             WHERE source = $1::oid::regclass",
            &[Some(&source)],
        )
    })?;
    Ok(rows.into_iter().next().map(|row| {
        let text = |i: usize| row[i].as_deref().unwrap_or_default();
        Protection {
            unit: text(0).to_string(),
            max_rows_per_unit: text(1).parse().unwrap_or(1),
            delta: text(2).parse().unwrap_or(0.0),
        }
    }))
}

fn protect(call: &Call) -> Result<Datum, Error> {
    let relation = owned(call)?;
    let unit = call.text(1, "unit")?;
    let epsilon = epsilon(call.value(2, "epsilon")?)?;
    let delta = delta(call.value(3, "delta")?)?;
    let rows = call.value::<i32>(4, "max_rows_per_unit")?;
    if rows < 1 {
        return Err(Error::argument(
            format!("max_rows_per_unit is {rows}"),
            "It is the number of rows of one unit that count: 1 or more.",
        ));
    }
    let column = &relation.columns[relation.position(&unit)?];
    if !types::identifies(column.base_type) {
        return Err(Error::argument(
            format!("column \"{unit}\" cannot tell units apart"),
            "The unit column is an integer, text, uuid, date, time or enum.",
        ));
    }
    let window = match call.optional::<Interval>(5) {
        None => None,
        Some(length) if length.as_micros() > 0 => call.text_of(5),
        Some(_) => {
            return Err(Error::argument(
                "window_length is not above 0",
                "It is how long a budget lasts: '1 month'. Leave it out for a budget that never renews.",
            ));
        }
    };
    let source = relation.oid.to_u32().to_string();
    rights::with_extension_rights(|| {
        sql::run(HOME, &[Some(&role_name())])?;
        sql::run(
            PROTECT,
            &[
                Some(&source),
                Some(&unit),
                Some(&rows.to_string()),
                Some(&decimal(epsilon)),
                Some(&decimal(delta)),
                window.as_deref(),
            ],
        )
    })?;
    Ok(call.null())
}

fn role_name() -> String {
    rights::role_name(rights::current_user()).unwrap_or_default()
}

/// The ledger is whole where the first relation is protected: nothing was charged before.
const HOME: &str = "INSERT INTO sanitize.ledger_home
    SELECT true, sanitize.ledger_place(), clock_timestamp(), $1
    WHERE NOT EXISTS (SELECT FROM sanitize.ledger_home)
    ON CONFLICT DO NOTHING";

/// What the ledger has of a relation that was protected before stays spent.
const PROTECT: &str = "INSERT INTO sanitize.protection AS p
        (source, unit, max_rows_per_unit, epsilon, epsilon_spent, delta, delta_spent, window_length, window_start)
    SELECT $1::oid::regclass, $2, $3::int, $4::numeric, coalesce(sum(e.epsilon), 0),
           $5::numeric, coalesce(sum(e.delta), 0), $6::interval, clock_timestamp()
      FROM sanitize.ledger_entry e
     WHERE e.source = $1::oid::regclass
       AND ($6 IS NULL OR e.charged_at + $6::interval > clock_timestamp())
    ON CONFLICT (source) DO UPDATE SET
        unit = excluded.unit, max_rows_per_unit = excluded.max_rows_per_unit,
        epsilon = excluded.epsilon, delta = excluded.delta, window_length = excluded.window_length";

fn unprotect(call: &Call) -> Result<Datum, Error> {
    let relation = owned(call)?;
    let source = relation.oid.to_u32().to_string();
    let gone = rights::with_extension_rights(|| {
        sql::run(
            "DELETE FROM sanitize.allowance WHERE source = $1::oid::regclass",
            &[Some(&source)],
        )?;
        sql::run(
            "DELETE FROM sanitize.protection WHERE source = $1::oid::regclass RETURNING unit",
            &[Some(&source)],
        )
    })?;
    if gone.is_empty() {
        return Err(Error::NotProtected { relation: relation.name });
    }
    Ok(call.null())
}

/// The role in argument 1.
fn grantee(call: &Call) -> Result<Oid, Error> {
    let grantee = call.value::<Oid>(1, "grantee")?;
    match rights::role_name(grantee) {
        Some(_) => Ok(grantee),
        None => Err(Error::argument(
            format!("there is no role with OID {}", grantee.to_u32()),
            "Name the role: sanitize.allow('patients', 'analyst').",
        )),
    }
}

fn allow(call: &Call) -> Result<Datum, Error> {
    let relation = owned(call)?;
    let grantee = grantee(call)?.to_u32().to_string();
    let epsilon = call.optional(2).map(epsilon).transpose()?.map(decimal);
    let delta = call.optional(3).map(delta).transpose()?.map(decimal);
    if protection(relation.oid)?.is_none() {
        return Err(Error::NotProtected { relation: relation.name });
    }
    let source = relation.oid.to_u32().to_string();
    rights::with_extension_rights(|| {
        sql::run(
            "INSERT INTO sanitize.allowance VALUES
                ($1::oid::regclass, $2::oid::regrole, $3::numeric, 0, $4::numeric, 0)
             ON CONFLICT (source, grantee) DO UPDATE SET epsilon = excluded.epsilon, delta = excluded.delta",
            &[Some(&source), Some(&grantee), epsilon.as_deref(), delta.as_deref()],
        )
    })?;
    Ok(call.null())
}

fn disallow(call: &Call) -> Result<Datum, Error> {
    let relation = owned(call)?;
    let grantee = call.value::<Oid>(1, "grantee")?.to_u32().to_string();
    let source = relation.oid.to_u32().to_string();
    rights::with_extension_rights(|| {
        sql::run(
            "DELETE FROM sanitize.allowance
             WHERE source = $1::oid::regclass AND grantee = $2::oid::regrole",
            &[Some(&source), Some(&grantee)],
        )
    })?;
    Ok(call.null())
}

fn charge(call: &Call) -> Result<Datum, Error> {
    let relation = Relation::open(call.value::<Oid>(0, "source")?)?;
    let what = call.text(1, "what")?;
    let epsilon = epsilon(call.value(2, "epsilon")?)?;
    let delta = delta(call.value(3, "delta")?)?;
    ledger::charge(&relation, &what, epsilon, delta)?;
    Ok(call.null())
}

fn confirm_ledger(call: &Call) -> Result<Datum, Error> {
    if !rights::is_superuser(rights::current_user()) {
        return Err(Error::NotSuperuser);
    }
    let who = role_name();
    let place = rights::with_extension_rights(|| {
        sql::run(
            "INSERT INTO sanitize.ledger_home VALUES (true, sanitize.ledger_place(), clock_timestamp(), $1)
             ON CONFLICT (only_row) DO UPDATE SET place = excluded.place,
                confirmed_at = excluded.confirmed_at, confirmed_by = excluded.confirmed_by
             RETURNING place",
            &[Some(&who)],
        )
    })?;
    let place = place.into_iter().flatten().flatten().next();
    Ok(place.and_then(IntoDatum::into_datum).unwrap_or_else(|| call.null()))
}

sql_function!(sanitize_protect, protect);
sql_function!(sanitize_unprotect, unprotect);
sql_function!(sanitize_allow, allow);
sql_function!(sanitize_disallow, disallow);
sql_function!(sanitize_charge, charge);
sql_function!(sanitize_confirm_ledger, confirm_ledger);
