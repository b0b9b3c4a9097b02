//! The ledger: the one place that decides whether something private may be released, and the one
//! function that every private mechanism calls before it draws.

use super::account::{Account, Sums, amount, decimal};
use super::budget::{self, Terms};
use crate::pg::error::{Error, Exhausted};
use crate::pg::relation::Relation;
use crate::pg::worker::autonomous::{self, Decision};
use crate::pg::worker::worker_function;
use crate::pg::{rights, sql};
use dp::{Charge, Cost};
use pgrx::pg_sys::Oid;
use serde::{Deserialize, Serialize};

/// The longest description of a charge, in bytes.
const WHAT: usize = 1000;
/// How often the terms may change while one call is being priced.
const CHANGES: usize = 100;

/// Whoever asks.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Asker {
    /// The role whose rights are used.
    pub user: Oid,
    /// The role that logged in.
    pub login: Oid,
}

impl Asker {
    /// The caller of this session.
    pub fn caller() -> Self {
        Asker { user: rights::current_user(), login: rights::session_user() }
    }

    /// True if an allowance for the role covers the asker.
    fn is_covered_by(self, grantee: Oid) -> bool {
        rights::is_member(self.user, grantee) || rights::is_member(self.login, grantee)
    }
}

/// What became of a charge that was not refused.
#[derive(Debug)]
pub enum Outcome {
    /// It stands, under this number in the ledger.
    Charged { entry: i64 },
    /// Nothing was charged: the terms are no longer those that the price was made under, but these.
    Changed(Terms),
}

/// A charge that somebody asks for.
#[derive(Serialize, Deserialize)]
struct Request {
    source: Oid,
    asker: Asker,
    what: String,
    whole: (f64, f64),
    rho: Option<f64>,
    rest: (f64, f64),
    /// What the price was made under; `None` if it depends on no terms.
    terms: Option<Terms>,
}

impl Request {
    fn charge(&self) -> Charge {
        let cost = |(epsilon, delta)| Cost { epsilon, delta };
        Charge { whole: cost(self.whole), rho: self.rho, rest: cost(self.rest) }
    }
}

#[derive(Serialize, Deserialize)]
enum Reply {
    Charged { entry: i64 },
    Changed(Terms),
    NotProtected,
    NotAllowed,
    TooSmall { least: f64 },
    Exhausted(Exhausted),
    Unconfirmed { home: String, here: String },
}

/// Charges for what the asker is about to learn from the relation, and commits that. Whatever happens
/// afterwards, the charge stands. An error means: release nothing.
///
/// May be called in any process of the database on behalf of the asker.
pub fn charge(
    relation: &Relation,
    asker: Asker,
    what: &str,
    charge: &Charge,
    terms: Option<&Terms>,
) -> Result<Outcome, Error> {
    let mut end = what.len().min(WHAT);
    while !what.is_char_boundary(end) {
        end -= 1;
    }
    let request = Request {
        source: relation.oid,
        asker,
        what: what[..end].to_string(),
        whole: (charge.whole.epsilon, charge.whole.delta),
        rho: charge.rho,
        rest: (charge.rest.epsilon, charge.rest.delta),
        terms: terms.cloned(),
    };
    let request = serde_json::to_vec(&request).map_err(Error::query)?;
    let reply = autonomous::ask(c"sanitize_ledger_worker", &request)?;
    let relation = || relation.name.clone();
    match serde_json::from_slice(&reply).map_err(Error::query)? {
        Reply::Charged { entry } => Ok(Outcome::Charged { entry }),
        Reply::Changed(terms) => Ok(Outcome::Changed(terms)),
        Reply::NotProtected => Err(Error::NotProtected { relation: relation() }),
        Reply::NotAllowed => Err(Error::NotAllowed { relation: relation() }),
        Reply::TooSmall { least } => Err(budget::too_small(charge.whole.epsilon, least)),
        Reply::Exhausted(budget) => Err(Error::Exhausted(Box::new(budget))),
        Reply::Unconfirmed { home, here } => Err(Error::Unconfirmed { home, here }),
    }
}

/// [`charge`] for a mechanism that protects single rows, if the relation is protected: a unit that has
/// up to g rows costs what g rows cost. Returns whether it is protected.
///
/// Such a mechanism does not bound the rows of a unit, so they must be bounded already. Whoever calls
/// one can read the relation, so being told that they are not is no news.
pub fn charge_for_rows(relation: &Relation, what: &str, charge: &Charge) -> Result<bool, Error> {
    let Some(mut terms) = budget::terms(relation.oid)? else {
        return Ok(false);
    };
    for _ in 0..CHANGES {
        budget::check_stable(relation, &terms)?;
        let rows = rows_per_unit(relation, &terms)?;
        match self::charge(relation, Asker::caller(), what, &charge.of_rows(rows), Some(&terms))? {
            Outcome::Charged { .. } => return Ok(true),
            Outcome::Changed(now) => terms = now,
        }
    }
    Err(Error::Ledger { certain: true, why: "the terms of the protection keep changing" })
}

/// The most rows that a unit has, by the schema or by the terms, which must hold then.
fn rows_per_unit(relation: &Relation, terms: &Terms) -> Result<u64, Error> {
    let unit = &relation.columns[relation.position(&terms.unit)?];
    if relation.is_key(unit) {
        return Ok(1);
    }
    let rows = terms.max_rows_per_unit;
    let (from, unit) = (relation.from(), unit.quoted());
    let excess = sql::run(
        &format!(
            "SELECT '1'::pg_catalog.text FROM {from} GROUP BY {unit}
             HAVING pg_catalog.count(*) OPERATOR(pg_catalog.>) {rows} OR {unit} IS NULL LIMIT 1"
        ),
        &[],
    )?;
    if excess.is_empty() {
        return Ok(rows);
    }
    Err(Error::argument(
        format!("{} has a unit with more than {rows} rows, or rows without a unit", relation.name),
        "Rows are released here, and max_rows_per_unit must hold for them: release from a view that keeps to it, or protect with a larger one.",
    ))
}

/// What somebody can still spend on a relation.
pub struct Remaining {
    pub epsilon: f64,
    pub delta: f64,
}

/// What is left for the asker: the least of the relation's budget and of every allowance that covers
/// the asker. Says also who may not ask at all; [`charge`] decides it again.
pub fn remaining(relation: &Relation, asker: &Asker) -> Result<Remaining, Error> {
    let found = rights::with_extension_rights(|| Accounts::read(relation.oid, *asker))?;
    let Some(accounts) = found else {
        return Err(Error::NotProtected { relation: relation.name.clone() });
    };
    if !accounts.allowed {
        return Err(Error::NotAllowed { relation: relation.name.clone() });
    }
    let left = || accounts.all().map(|(_, account)| account.left());
    let least = |amounts: &mut dyn Iterator<Item = f64>| amounts.fold(f64::INFINITY, f64::min);
    Ok(Remaining {
        epsilon: least(&mut left().map(|left| left.epsilon)),
        delta: least(&mut left().map(|left| left.delta)),
    })
}

/// The budgets that a charge of one asker comes out of.
struct Accounts {
    relation: Account,
    /// Every allowance that covers the asker, those of the role that logged in too: SET ROLE opens no
    /// second purse.
    allowances: Vec<(Oid, Account)>,
    /// The asker owns the relation, or an allowance covers the role whose rights are used.
    allowed: bool,
}

impl Accounts {
    /// `None` if the relation is not protected.
    fn read(source: Oid, asker: Asker) -> Result<Option<Self>, Error> {
        let mut relation = None;
        let mut allowances = Vec::new();
        let mut allowed = rights::owner_of(source).is_some() && rights::owns(asker.user, source);
        for row in sql::run(ACCOUNTS, &[Some(&source.to_u32().to_string())])? {
            let is_over = row[2].as_deref() == Some("true");
            let account = Account {
                whose: row[1].clone().unwrap_or_default(),
                epsilon: row[3].as_deref().map(|text| amount(Some(text))).transpose()?,
                delta: amount(row[4].as_deref())?,
                spent: if is_over { Sums::default() } else { Sums::read(&row[5..])? },
            };
            let Some(grantee) = row[0].as_deref() else {
                relation = Some(account);
                continue;
            };
            let grantee = Oid::from(grantee.parse::<u32>().map_err(Error::query)?);
            allowed |= rights::is_member(asker.user, grantee);
            if asker.is_covered_by(grantee) {
                allowances.push((grantee, account));
            }
        }
        Ok(relation.map(|relation| Accounts { relation, allowances, allowed }))
    }

    /// Those of the grantees first, then the relation's.
    fn all(&self) -> impl Iterator<Item = (Option<Oid>, &Account)> {
        let allowances = self.allowances.iter().map(|(grantee, account)| (Some(*grantee), account));
        allowances.chain([(None, &self.relation)])
    }
}

/// Decides one request in the worker's transaction, with the rights to the extension's tables only.
fn decide(request: &[u8]) -> Result<Decision, Error> {
    let request: Request = serde_json::from_slice(request).map_err(Error::query)?;
    let reply = rights::with_extension_rights(|| charge_or_refuse(&request))?;
    let reply = serde_json::to_vec(&reply).map_err(Error::query)?;
    Ok(Decision::Reply(reply))
}

worker_function!(sanitize_ledger_worker, autonomous::serve, decide);

fn charge_or_refuse(request: &Request) -> Result<Reply, Error> {
    if let Some((home, here)) = moved()? {
        return Ok(Reply::Unconfirmed { home, here });
    }
    let source = request.source.to_u32().to_string();
    let source = Some(source.as_str());
    // From here to the commit nobody else changes the budget of this relation.
    let window = sql::run(LOCK_PROTECTION, &[source])?;
    let Some(window) = window.into_iter().next() else {
        return Ok(Reply::NotProtected);
    };
    sql::run(LOCK_ALLOWANCES, &[source])?;
    if window[0].as_deref() == Some("true") {
        sql::run(RENEW_PROTECTION, &[source])?;
        sql::run(RENEW_ALLOWANCES, &[source])?;
    }
    let Some(accounts) = Accounts::read(request.source, request.asker)? else {
        return Ok(Reply::NotProtected);
    };
    if !accounts.allowed {
        return Ok(Reply::NotAllowed);
    }
    let Some(terms) = budget::terms(request.source)? else {
        return Ok(Reply::NotProtected);
    };
    if request.terms.as_ref().is_some_and(|asked| *asked != terms) {
        return Ok(Reply::Changed(terms));
    }
    let charge = request.charge();
    if charge.whole.epsilon < terms.min_epsilon {
        return Ok(Reply::TooSmall { least: terms.min_epsilon });
    }
    let mut counted = charge;
    let mut spent = Vec::new();
    for (grantee, account) in accounts.all() {
        let Some((sums, as_counted)) = account.after(&charge)? else {
            let renews = sql::run(RENEWS, &[source])?.into_iter().flatten().flatten().next();
            return Ok(Reply::Exhausted(exhausted(account, &charge, renews)));
        };
        counted = as_counted;
        spent.push((grantee, sums));
    }
    for (grantee, sums) in &spent {
        let sums = sums.texts();
        let grantee = grantee.map(|grantee| grantee.to_u32().to_string());
        let mut arguments = vec![source];
        arguments.extend(sums.iter().map(|sum| Some(sum.as_str())));
        match &grantee {
            None => sql::run(SPEND, &arguments)?,
            Some(grantee) => {
                arguments.push(Some(grantee));
                sql::run(SPEND_ALLOWANCE, &arguments)?
            }
        };
    }
    enter(request, &counted)
}

/// Writes the charge into the ledger as the relation's budget has counted it.
fn enter(request: &Request, counted: &Charge) -> Result<Reply, Error> {
    let name = |role| rights::role_name(role).unwrap_or_else(|| "(dropped role)".into());
    let texts = [
        request.source.to_u32().to_string(),
        name(request.asker.user),
        name(request.asker.login),
        request.what.clone(),
        decimal(counted.whole.epsilon),
        decimal(counted.whole.delta),
        decimal(counted.rest.epsilon),
        decimal(counted.rest.delta),
    ];
    let rho = counted.rho.map(decimal);
    let mut arguments: Vec<_> = texts.iter().map(|text| Some(text.as_str())).collect();
    arguments.push(rho.as_deref());
    let entry = sql::run(ENTER, &arguments)?.into_iter().flatten().flatten().next();
    let entry = entry.and_then(|id| id.parse().ok());
    let entry = entry.ok_or_else(|| Error::query("the ledger numbers no entry"))?;
    Ok(Reply::Charged { entry })
}

fn exhausted(account: &Account, charge: &Charge, renews: Option<String>) -> Exhausted {
    let left = account.left();
    let text = |amount: f64| match amount {
        f64::INFINITY => "unlimited".into(),
        amount => decimal(amount),
    };
    Exhausted {
        whose: account.whose.clone(),
        epsilon_left: text(left.epsilon),
        delta_left: text(left.delta),
        epsilon_asked: decimal(charge.whole.epsilon),
        delta_asked: decimal(charge.whole.delta),
        renews,
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

/// Whose budget, whether its window is over, what it is, and the five sums: of the relation (no
/// grantee) and of every allowance. Where the sums of the rest are missing, nothing has a rho.
const ACCOUNTS: &str = "WITH p AS (
        SELECT *, coalesce(window_start + window_length <= clock_timestamp(), false)::text AS over
          FROM sanitize.protection WHERE source = $1::oid::regclass)
    SELECT NULL::text, source::text, over, epsilon::text, delta::text,
           epsilon_spent::text, delta_spent::text, rho_spent::text,
           coalesce(rest_epsilon, epsilon_spent)::text, coalesce(rest_delta, delta_spent)::text
      FROM p
    UNION ALL
    SELECT a.grantee::oid::text, a.grantee::text || ' for ' || a.source::text, p.over,
           a.epsilon::text, coalesce(a.delta, p.delta)::text,
           a.epsilon_spent::text, a.delta_spent::text, a.rho_spent::text,
           coalesce(a.rest_epsilon, a.epsilon_spent)::text, coalesce(a.rest_delta, a.delta_spent)::text
      FROM p JOIN sanitize.allowance a ON a.source = p.source";

const LOCK_PROTECTION: &str =
    "SELECT coalesce(window_start + window_length <= clock_timestamp(), false)::text
    FROM sanitize.protection WHERE source = $1::oid::regclass FOR UPDATE NOWAIT";

const LOCK_ALLOWANCES: &str = "SELECT FROM sanitize.allowance
    WHERE source = $1::oid::regclass ORDER BY grantee FOR UPDATE NOWAIT";

const RENEW_PROTECTION: &str = "UPDATE sanitize.protection SET epsilon_spent = 0, delta_spent = 0,
        rho_spent = 0, rest_epsilon = 0, rest_delta = 0, window_start = clock_timestamp()
    WHERE source = $1::oid::regclass";

const RENEW_ALLOWANCES: &str = "UPDATE sanitize.allowance SET epsilon_spent = 0, delta_spent = 0,
        rho_spent = 0, rest_epsilon = 0, rest_delta = 0
    WHERE source = $1::oid::regclass";

const RENEWS: &str = "SELECT (window_start + window_length)::text
    FROM sanitize.protection WHERE source = $1::oid::regclass";

const SPEND: &str = "UPDATE sanitize.protection
    SET epsilon_spent = $2::numeric, delta_spent = $3::numeric, rho_spent = $4::numeric,
        rest_epsilon = $5::numeric, rest_delta = $6::numeric
    WHERE source = $1::oid::regclass";

const SPEND_ALLOWANCE: &str = "UPDATE sanitize.allowance
    SET epsilon_spent = $2::numeric, delta_spent = $3::numeric, rho_spent = $4::numeric,
        rest_epsilon = $5::numeric, rest_delta = $6::numeric
    WHERE source = $1::oid::regclass AND grantee = $7::oid::regrole";

/// A clock that goes back must not put an entry before the window that it belongs to.
const ENTER: &str = "INSERT INTO sanitize.ledger_entry
        (charged_at, source, who, login, what, epsilon, delta, rest_epsilon, rest_delta, rho)
    SELECT greatest(clock_timestamp(), p.window_start), p.source, $2, $3, $4,
           $5::numeric, $6::numeric, $7::numeric, $8::numeric, $9::numeric
      FROM sanitize.protection p WHERE p.source = $1::oid::regclass
    RETURNING id::text";
