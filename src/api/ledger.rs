//! The ledger: the one place that decides whether something private may be released, and the one
//! function that every private mechanism calls before it draws.

use crate::pg::error::{Error, Exhausted};
use crate::pg::relation::Relation;
use crate::pg::worker::{self, Decision, worker_function};
use crate::pg::{rights, sql};
use dp::Cost;
use pgrx::pg_sys::Oid;
use serde::{Deserialize, Serialize};

/// The longest description of a charge, in bytes.
const WHAT: usize = 1000;

/// A charge that somebody asks for.
#[derive(Serialize, Deserialize)]
struct Request {
    source: u32,
    /// The role that asks, and the one that logged in.
    user: u32,
    login: u32,
    what: String,
    epsilon: String,
    delta: String,
}

#[derive(Serialize, Deserialize)]
enum Reply {
    Charged,
    NotProtected,
    NotAllowed,
    Exhausted(Exhausted),
    Unconfirmed { home: String, here: String },
}

/// A float as the decimal number that people see. The ledger adds these, exactly.
pub fn decimal(value: f64) -> String {
    format!("{value}")
}

/// Charges (epsilon, delta) for what the caller is about to learn from the relation, and commits
/// that. Whatever happens afterwards, the charge stands. An error means: release nothing.
pub fn charge(relation: &Relation, what: &str, epsilon: f64, delta: f64) -> Result<(), Error> {
    let mut end = what.len().min(WHAT);
    while !what.is_char_boundary(end) {
        end -= 1;
    }
    let request = Request {
        source: relation.oid.to_u32(),
        user: rights::current_user().to_u32(),
        login: rights::session_user().to_u32(),
        what: what[..end].to_string(),
        epsilon: decimal(epsilon),
        delta: decimal(delta),
    };
    let request = serde_json::to_vec(&request).map_err(Error::query)?;
    let reply = worker::ask(c"sanitize_ledger_worker", &request)?;
    let relation = || relation.name.clone();
    match serde_json::from_slice(&reply) {
        Ok(Reply::Charged) => Ok(()),
        Ok(Reply::NotProtected) => Err(Error::NotProtected { relation: relation() }),
        Ok(Reply::NotAllowed) => Err(Error::NotAllowed { relation: relation() }),
        Ok(Reply::Exhausted(budget)) => Err(Error::Exhausted(Box::new(budget))),
        Ok(Reply::Unconfirmed { home, here }) => Err(Error::Unconfirmed { home, here }),
        Err(error) => Err(Error::query(error)),
    }
}

/// [`charge`] for a mechanism that protects single rows, if the relation is protected: a unit that has
/// up to g rows costs what g rows cost. Returns whether it is protected.
///
/// Such a mechanism does not bound the rows of a unit, so they must be bounded already. Whoever calls
/// one can read the relation, so being told that they are not is no news.
pub fn charge_for_rows(relation: &Relation, what: &str, cost: Cost) -> Result<bool, Error> {
    let Some(protection) = super::budget::protection(relation.oid)? else {
        return Ok(false);
    };
    let unit = &relation.columns[relation.position(&protection.unit)?];
    let mut rows = 1;
    if !relation.is_key(unit) {
        rows = protection.max_rows_per_unit;
        let (from, unit) = (relation.from(), unit.quoted());
        let excess = sql::run(
            &format!(
                "SELECT '1'::pg_catalog.text FROM {from} GROUP BY {unit}
                 HAVING pg_catalog.count(*) OPERATOR(pg_catalog.>) {rows} OR {unit} IS NULL LIMIT 1"
            ),
            &[],
        )?;
        if !excess.is_empty() {
            return Err(Error::argument(
                format!(
                    "{} has a unit with more than {rows} rows, or rows without a unit",
                    relation.name
                ),
                "Rows are released here, and max_rows_per_unit must hold for them: release from a view that keeps to it, or protect with a larger one.",
            ));
        }
    }
    let cost = cost.of_rows(rows);
    charge(relation, what, cost.epsilon, cost.delta)?;
    Ok(true)
}

/// What the caller can still spend on a relation.
pub struct Remaining {
    pub epsilon: f64,
    pub delta: f64,
}

/// What is left for the caller: the least of the relation's budget and of every allowance that covers
/// the caller. Says also who may not ask at all; [`charge`] decides it again.
pub fn remaining(relation: &Relation) -> Result<Remaining, Error> {
    let (user, login) = (rights::current_user(), rights::session_user());
    let source = relation.oid.to_u32().to_string();
    let rows = rights::with_extension_rights(|| sql::run(REMAINING, &[Some(&source)]))?;
    let mut remaining = Remaining { epsilon: f64::INFINITY, delta: f64::INFINITY };
    let (mut protected, mut allowed) = (false, rights::owns(user, relation.oid));
    for row in rows {
        let number = |i: usize| row[i].as_deref().and_then(|text| text.parse::<f64>().ok());
        if let Some(grantee) = row[0].as_deref() {
            let grantee = Oid::from(grantee.parse::<u32>().unwrap_or_default());
            allowed |= rights::is_member(user, grantee);
            if !rights::is_member(user, grantee) && !rights::is_member(login, grantee) {
                continue;
            }
        } else {
            protected = true;
        }
        remaining.epsilon = remaining.epsilon.min(number(1).unwrap_or(f64::INFINITY));
        remaining.delta = remaining.delta.min(number(2).unwrap_or(f64::INFINITY));
    }
    match (protected, allowed) {
        (false, _) => Err(Error::NotProtected { relation: relation.name.clone() }),
        (true, false) => Err(Error::NotAllowed { relation: relation.name.clone() }),
        (true, true) => Ok(remaining),
    }
}

/// What is left of one budget, and whether a charge fits in.
struct Left {
    whose: String,
    fits: bool,
    epsilon: String,
    delta: String,
}

/// Decides one request in the worker's transaction, with the rights to the extension's tables only.
fn decide(request: &[u8]) -> Result<Decision, Error> {
    let request: Request = serde_json::from_slice(request).map_err(Error::query)?;
    let reply = rights::with_extension_rights(|| charge_or_refuse(&request))?;
    let reply = serde_json::to_vec(&reply).map_err(Error::query)?;
    Ok(Decision::Reply(reply))
}

worker_function!(sanitize_ledger_worker, decide);

fn charge_or_refuse(request: &Request) -> Result<Reply, Error> {
    if let Some((home, here)) = moved()? {
        return Ok(Reply::Unconfirmed { home, here });
    }
    let (source, user, login) =
        (Oid::from(request.source), Oid::from(request.user), Oid::from(request.login));
    let source_text = request.source.to_string();
    let asked = [Some(source_text.as_str()), Some(&request.epsilon), Some(&request.delta)];
    // From here to the commit nobody else changes the budget of this relation.
    let window = sql::run(LOCK, &asked[..1])?;
    let Some(window) = window.into_iter().next() else {
        return Ok(Reply::NotProtected);
    };
    if window[0].as_deref() == Some("true") {
        sql::run(RENEW_PROTECTION, &asked[..1])?;
        sql::run(RENEW_ALLOWANCES, &asked[..1])?;
    }
    // Every allowance that covers the caller is charged, those of the role that logged in too: SET
    // ROLE opens no second purse.
    let mut grantees = Vec::new();
    let mut budgets = vec![];
    for row in sql::run(ALLOWANCES, &asked)? {
        let grantee: u32 = row[0].as_deref().and_then(|oid| oid.parse().ok()).unwrap_or_default();
        if rights::is_member(user, grantee.into()) || rights::is_member(login, grantee.into()) {
            grantees.push(grantee.to_string());
            budgets.push(left(&row[1..]));
        }
    }
    let is_owner = rights::owner_of(source).is_some() && rights::owns(user, source);
    let allowed = grantees
        .iter()
        .any(|grantee| rights::is_member(user, grantee.parse::<u32>().unwrap_or_default().into()));
    if !is_owner && !allowed {
        return Ok(Reply::NotAllowed);
    }
    budgets.extend(sql::run(PROTECTION, &asked)?.iter().map(|row| left(row)));
    if let Some(budget) = budgets.into_iter().find(|budget| !budget.fits) {
        let renews = sql::run(RENEWS, &asked[..1])?;
        return Ok(Reply::Exhausted(Exhausted {
            whose: budget.whose,
            epsilon_left: budget.epsilon,
            delta_left: budget.delta,
            epsilon_asked: request.epsilon.clone(),
            delta_asked: request.delta.clone(),
            renews: renews.into_iter().flatten().flatten().next(),
        }));
    }
    let grantees = format!("{{{}}}", grantees.join(","));
    sql::run(CHARGE_PROTECTION, &asked)?;
    sql::run(CHARGE_ALLOWANCES, &[asked[0], asked[1], asked[2], Some(&grantees)])?;
    let name = |role| rights::role_name(role).unwrap_or_else(|| "(dropped role)".into());
    let (user, login) = (name(user), name(login));
    let entry = [asked[0], Some(&user), Some(&login), Some(&request.what), asked[1], asked[2]];
    sql::run(ENTER, &entry)?;
    Ok(Reply::Charged)
}

fn left(row: &[Option<String>]) -> Left {
    let text = |i: usize| row.get(i).cloned().flatten();
    Left {
        whose: text(0).unwrap_or_default(),
        fits: text(1).as_deref() == Some("true"),
        epsilon: text(2).unwrap_or_else(|| "unlimited".into()),
        delta: text(3).unwrap_or_else(|| "unlimited".into()),
    }
}

/// Where the ledger was last whole and where it is, if these differ.
fn moved() -> Result<Option<(String, String)>, Error> {
    let rows =
        sql::run("SELECT (SELECT place FROM sanitize.ledger_home), sanitize.ledger_place()", &[])?;
    let mut places = rows.into_iter().flatten();
    let (home, here) = (places.next().flatten(), places.next().flatten().unwrap_or_default());
    // Without a home nothing was ever protected here.
    Ok(home.filter(|home| *home != here).map(|home| (home, here)))
}

const REMAINING: &str = "WITH p AS (
        SELECT *, coalesce(window_start + window_length <= clock_timestamp(), false) AS over
          FROM sanitize.protection WHERE source = $1::oid::regclass)
    SELECT NULL::text, greatest(epsilon - CASE WHEN over THEN 0 ELSE epsilon_spent END, 0)::text,
           greatest(delta - CASE WHEN over THEN 0 ELSE delta_spent END, 0)::text FROM p
    UNION ALL
    SELECT a.grantee::oid::text,
           (CASE WHEN a.epsilon IS NOT NULL THEN greatest(a.epsilon - CASE WHEN over THEN 0 ELSE a.epsilon_spent END, 0) END)::text,
           (CASE WHEN a.delta IS NOT NULL THEN greatest(a.delta - CASE WHEN over THEN 0 ELSE a.delta_spent END, 0) END)::text
      FROM p JOIN sanitize.allowance a ON a.source = p.source";

const LOCK: &str = "SELECT coalesce(window_start + window_length <= clock_timestamp(), false)::text
    FROM sanitize.protection WHERE source = $1::oid::regclass FOR UPDATE NOWAIT";

const RENEW_PROTECTION: &str =
    "UPDATE sanitize.protection SET epsilon_spent = 0, delta_spent = 0, window_start = clock_timestamp()
     WHERE source = $1::oid::regclass";

const RENEW_ALLOWANCES: &str = "UPDATE sanitize.allowance SET epsilon_spent = 0, delta_spent = 0 WHERE source = $1::oid::regclass";

const ALLOWANCES: &str = "SELECT grantee::oid::text, grantee::text || ' for ' || source::text,
        (coalesce(epsilon_spent + $2::numeric <= epsilon, true)
            AND coalesce(delta_spent + $3::numeric <= delta, true))::text,
        (CASE WHEN epsilon IS NOT NULL THEN trim_scale(greatest(epsilon - epsilon_spent, 0)) END)::text,
        (CASE WHEN delta IS NOT NULL THEN trim_scale(greatest(delta - delta_spent, 0)) END)::text
    FROM sanitize.allowance WHERE source = $1::oid::regclass ORDER BY grantee FOR UPDATE NOWAIT";

const PROTECTION: &str = "SELECT source::text,
        (epsilon_spent + $2::numeric <= epsilon AND delta_spent + $3::numeric <= delta)::text,
        trim_scale(greatest(epsilon - epsilon_spent, 0))::text,
        trim_scale(greatest(delta - delta_spent, 0))::text
    FROM sanitize.protection WHERE source = $1::oid::regclass";

const RENEWS: &str = "SELECT (window_start + window_length)::text
    FROM sanitize.protection WHERE source = $1::oid::regclass";

const CHARGE_PROTECTION: &str = "UPDATE sanitize.protection
    SET epsilon_spent = epsilon_spent + $2::numeric, delta_spent = delta_spent + $3::numeric
    WHERE source = $1::oid::regclass";

const CHARGE_ALLOWANCES: &str = "UPDATE sanitize.allowance
    SET epsilon_spent = epsilon_spent + $2::numeric, delta_spent = delta_spent + $3::numeric
    WHERE source = $1::oid::regclass AND grantee = ANY ($4::oid[]::regrole[])";

const ENTER: &str =
    "INSERT INTO sanitize.ledger_entry (charged_at, source, who, login, what, epsilon, delta)
    VALUES (clock_timestamp(), $1::oid::regclass, $2, $3, $4, $5::numeric, $6::numeric)";
