//! Who is protected, how much may be learnt, and who may ask.

use super::ledger::{self, Asker};
use crate::catalog::account::Sums;
use crate::catalog::ledger as entries;
use crate::catalog::protection::{self, LARGEST, Protection};
use crate::pg::call::{Call, sql_function};
use crate::pg::error::Error;
use crate::pg::relation::Relation;
use crate::pg::rowset::{ResultRows, Value};
use crate::pg::{rights, types, view};
use dp::{Charge, Cost};
use pgrx::datum::Interval;
use pgrx::pg_sys::{Datum, Oid};
use pgrx::{AnyNumeric, IntoDatum};
use question::Terms;

/// The smallest epsilon: below it the noise exceeds any count there can be.
const SMALLEST: f64 = 1e-9;

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

/// Refuses a relation whose rows may depend on more than their own units, unless the owner vouches.
pub fn check_stable(relation: &Relation, terms: &Terms) -> Result<(), Error> {
    if terms.assume_stable {
        return Ok(());
    }
    match view::unstable(relation, &terms.unit, protection::units)? {
        None => Ok(()),
        Some(reason) => Err(Error::Unstable { relation: relation.name.clone(), reason }),
    }
}

/// The refusal of a charge below the least.
pub fn too_small(epsilon: f64, least: f64) -> Error {
    Error::argument(
        format!("epsilon is {epsilon}, and a charge to this budget is at least {least}"),
        format!("Ask for {least} or more. The owner sets min_epsilon in sanitize.protect."),
    )
}

/// Argument `i`, a number of things of which there is at least one; `None` if NULL.
fn at_least_one(call: &Call, i: usize, name: &str, what: &str) -> Result<Option<i32>, Error> {
    match call.optional::<i32>(i) {
        Some(number) if number < 1 => {
            Err(Error::argument(format!("{name} is {number}"), format!("It is {what}: 1 or more.")))
        }
        number => Ok(number),
    }
}

/// The unit column of a relation that can be protected.
fn check_unit(relation: &Relation, unit: &str) -> Result<(), Error> {
    let column = &relation.columns[relation.position(unit)?];
    if !types::identifies(column.base_type) {
        return Err(Error::argument(
            format!("column \"{unit}\" cannot tell units apart"),
            "The unit column is an integer, text, uuid, date, time or enum.",
        ));
    }
    if relation.compares_loosely(column) {
        return Err(Error::argument(
            format!("column \"{unit}\" has a nondeterministic collation"),
            "Texts that differ would be one unit or two, depending on who compares: give the column another collation, or protect a view that has it COLLATE \"C\".",
        ));
    }
    if relation.is_temporary() {
        return Err(Error::argument(
            format!("{} is temporary", relation.name),
            "Only its own session can read it, and a protected relation is read by another process: make it a table.",
        ));
    }
    Ok(())
}

fn window_length(call: &Call, i: usize) -> Result<Option<String>, Error> {
    match call.optional::<Interval>(i) {
        None => Ok(None),
        Some(length) if length.as_micros() > 0 => Ok(call.text_of(i)),
        Some(_) => Err(Error::argument(
            "window_length is not above 0",
            "It is how long a budget lasts: '1 month'. Leave it out for a budget that never renews.",
        )),
    }
}

fn protect(call: &Call) -> Result<Datum, Error> {
    let relation = owned(call)?;
    let unit = call.text(1, "unit")?;
    let epsilon = epsilon(call.value(2, "epsilon")?)?;
    let delta = delta(call.value(3, "delta")?)?;
    let rows =
        at_least_one(call, 4, "max_rows_per_unit", "the number of rows of one unit that count")?
            .ok_or(Error::Null { argument: "max_rows_per_unit" })?;
    let window = window_length(call, 5)?;
    let groups =
        at_least_one(call, 6, "max_groups_per_unit", "the number of groups that a unit counts in")?;
    let least = call.value::<f64>(7, "min_epsilon")?;
    if !(0.0..=LARGEST).contains(&least) {
        return Err(Error::argument(
            format!("min_epsilon is {least}"),
            "It is the least that a call may cost: 0.001, or 0 for no such limit.",
        ));
    }
    let query_set =
        at_least_one(call, 8, "min_query_set", "the smallest noisy count that is answered")?;
    let stable = call.value::<bool>(9, "assume_stable")?;
    check_unit(&relation, &unit)?;
    if !stable && let Some(reason) = view::unstable(&relation, &unit, protection::units)? {
        return Err(Error::Unstable { relation: relation.name, reason });
    }
    // What is spent is read after the lock: a charge may have been made since this transaction began.
    if rights::has_fixed_snapshot() {
        return Err(Error::FixedSnapshot);
    }
    entries::settle(&role_name())?;
    let new = Protection {
        unit: &unit,
        epsilon,
        delta,
        max_rows_per_unit: rows,
        window_length: window.as_deref(),
        max_groups_per_unit: groups,
        min_epsilon: least,
        min_query_set: query_set,
        assume_stable: stable,
    };
    protection::protect(relation.oid, &new)?;
    Ok(call.null())
}

fn role_name() -> String {
    rights::role_name(rights::current_user()).unwrap_or_default()
}

fn unprotect(call: &Call) -> Result<Datum, Error> {
    let relation = owned(call)?;
    match protection::unprotect(relation.oid)? {
        true => Ok(call.null()),
        false => Err(Error::NotProtected { relation: relation.name }),
    }
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
    let grantee = grantee(call)?;
    let epsilon = call.optional(2).map(epsilon).transpose()?;
    let delta = call.optional(3).map(delta).transpose()?;
    if protection::terms(relation.oid)?.is_none() {
        return Err(Error::NotProtected { relation: relation.name });
    }
    protection::allow(relation.oid, grantee, epsilon, delta)?;
    Ok(call.null())
}

fn disallow(call: &Call) -> Result<Datum, Error> {
    let relation = owned(call)?;
    protection::disallow(relation.oid, call.value::<Oid>(1, "grantee")?)?;
    Ok(call.null())
}

fn charge(call: &Call) -> Result<Datum, Error> {
    let relation = Relation::open(call.value::<Oid>(0, "source")?)?;
    let what = call.text(1, "what")?;
    let epsilon = epsilon(call.value(2, "epsilon")?)?;
    let delta = delta(call.value(3, "delta")?)?;
    let charge = charge_of(Cost { epsilon, delta }, call.optional(4))?;
    // Whoever names the price knows the terms.
    ledger::charge(&relation, Asker::caller(), &what, &charge, None)?;
    Ok(call.null())
}

/// A charge in the words of its caller, who vouches for them.
fn charge_of(whole: Cost, rho: Option<f64>) -> Result<Charge, Error> {
    let pure = Charge::pure(whole.epsilon);
    match (rho, pure.rho) {
        (None, _) if whole.delta == 0.0 => Ok(pure),
        (None, _) => Ok(Charge::plain(whole)),
        (Some(rho), Some(most)) if rho > 0.0 && rho.is_finite() => {
            if whole.delta == 0.0 {
                return Ok(Charge { rho: Some(rho.min(most)), ..pure });
            }
            // The part of delta that is not that of noise with this rho adds up by itself.
            let rest = whole.delta - dp::zcdp_delta(rho, whole.epsilon);
            let rest = if rest > 0.0 { rest.next_up() } else { 0.0 };
            Ok(Charge { whole, rho: Some(rho), rest: Cost { epsilon: 0.0, delta: rest } })
        }
        (Some(rho), _) => Err(Error::argument(
            format!("rho is {rho}"),
            "rho is above 0 and finite: that of Gaussian noise is sensitivity^2 / (2 sigma^2). Leave it out if there is none.",
        )),
    }
}

fn spent(call: &Call) -> Result<Datum, Error> {
    let amount = |i: usize| call.value::<AnyNumeric>(i, NAMES[i]);
    let sums = Sums {
        epsilon: amount(0)?,
        delta: amount(1)?,
        rho: amount(2)?,
        rest_epsilon: amount(3)?,
        rest_delta: amount(4)?,
    };
    let spent = sums.spent(&amount(5)?);
    let mut rows = ResultRows::begin(call)?;
    rows.push([Value::Float(spent.epsilon), Value::Float(spent.delta)]);
    Ok(rows.finish(call))
}

/// The arguments of [`spent`].
const NAMES: [&str; 6] = ["epsilon", "delta", "rho", "rest_epsilon", "rest_delta", "budget_delta"];

fn zcdp_epsilon(call: &Call) -> Result<Datum, Error> {
    let epsilon = dp::zcdp_epsilon(call.value(0, "rho")?, call.value(1, "delta")?)?;
    Ok(epsilon.into_datum().unwrap_or_else(|| call.null()))
}

fn zcdp_rho(call: &Call) -> Result<Datum, Error> {
    let rho = dp::zcdp_rho(epsilon(call.value(0, "epsilon")?)?, call.value(1, "delta")?)?;
    Ok(rho.into_datum().unwrap_or_else(|| call.null()))
}

fn confirm_ledger(call: &Call) -> Result<Datum, Error> {
    if !rights::is_superuser(rights::current_user()) {
        return Err(Error::NotSuperuser);
    }
    let place = entries::confirm(&role_name())?;
    Ok(place.and_then(IntoDatum::into_datum).unwrap_or_else(|| call.null()))
}

sql_function!(sanitize_protect, protect);
sql_function!(sanitize_unprotect, unprotect);
sql_function!(sanitize_allow, allow);
sql_function!(sanitize_disallow, disallow);
sql_function!(sanitize_charge, charge);
sql_function!(sanitize_spent, spent);
sql_function!(sanitize_zcdp_epsilon, zcdp_epsilon);
sql_function!(sanitize_zcdp_rho, zcdp_rho);
sql_function!(sanitize_confirm_ledger, confirm_ledger);
