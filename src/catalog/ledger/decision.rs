//! The ledger: the one place that decides whether something private may be released, and the one
//! function that every private mechanism calls before it draws.

use super::account::{Account, decimal};
use super::entries::{self, Entry, Home};
use crate::api::private::budget;
use crate::api::private::protection::{check_kept_here, check_stable};
use crate::api::shared::arguments::{KEEP, SEED};
use crate::catalog::protection::{self, Budgets, Share};
use crate::pg::call::error::{Error, Exhausted};
use crate::pg::prelude::*;
use crate::pg::process::worker::autonomous::{self, Decision};
use crate::pg::process::worker::worker_function;
use crate::pg::shards::keeper;
use crate::release::ReleaseCall;
use crate::rules::charged_rows::Bound;
use crate::rules::population;
use guarantee::{Charge, Cost};
use question::Terms;
use serde::{Deserialize, Serialize};

/// The longest description of a charge, in bytes.
const WHAT: usize = 1000;

/// Who asks: the roles of a session.
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

/// The outcome of a charge that was not refused.
#[derive(Debug)]
pub enum Outcome {
    /// The charge stands, under this number in the ledger.
    Charged { entry: i64 },
    /// Nothing was charged: the terms are no longer those under which the price was computed.
    Changed,
}

/// A request for a charge.
#[derive(Serialize, Deserialize)]
struct Request {
    source: Oid,
    asker: Asker,
    what: String,
    charge: Charge,
    /// The terms under which the price was computed; `None` if it depends on no terms.
    terms: Option<Terms>,
}

#[derive(Serialize, Deserialize)]
enum Reply {
    Charged { entry: i64 },
    Changed,
    NotProtected,
    NotAllowed,
    TooSmall { least: f64 },
    Exhausted(Exhausted),
    Unconfirmed { home: String, here: String },
    Damaged { table: String, column: String },
    OtherOwner,
}

/// Charges for what the asker is about to learn from the relation, and commits the charge. It stands even if the
/// transaction is rolled back. An error means: release nothing.
///
/// May be called in any process of the database on behalf of the asker.
pub fn charge(
    relation: &Relation,
    asker: Asker,
    what: &str,
    charge: &Charge,
    terms: Option<&Terms>,
) -> Result<Outcome, Error> {
    keeper::check()?;
    // A view may have been replaced, or a partition attached, since the relation was protected.
    population::check(relation)?;
    let mut end = what.len().min(WHAT);
    while !what.is_char_boundary(end) {
        end -= 1;
    }
    let request = Request {
        source: relation.oid,
        asker,
        what: what[..end].to_string(),
        charge: *charge,
        terms: terms.cloned(),
    };
    let request = serde_json::to_vec(&request).map_err(Error::query)?;
    let reply = autonomous::ask(c"sanitize_ledger_worker", &request)?;
    let relation = || relation.name.clone();
    match serde_json::from_slice(&reply).map_err(Error::query)? {
        Reply::Charged { entry } => Ok(Outcome::Charged { entry }),
        Reply::Changed => Ok(Outcome::Changed),
        Reply::NotProtected => Err(Error::NotProtected { relation: relation() }),
        Reply::NotAllowed => Err(Error::NotAllowed { relation: relation() }),
        Reply::TooSmall { least } => Err(budget::too_small(charge.whole.epsilon, least)),
        Reply::Exhausted(budget) => Err(Error::Exhausted(Box::new(budget))),
        Reply::Unconfirmed { home, here } => Err(Error::Unconfirmed { home, here }),
        Reply::Damaged { table, column } => Err(Error::Damaged { table, column }),
        Reply::OtherOwner => Err(Error::OtherOwner { relation: relation() }),
    }
}

/// Charges the price of a method that is called and will read these columns, under the terms that [`check_protecting`]
/// found: where the method protects single rows, a unit that has up to g rows costs what g rows cost. Returns the bound
/// under which rows must then be read, see [`crate::rules::charged_rows`]; `None` if the call is free or the relation
/// is not protected. Refuses before the charge what can be refused without reading a row. Refuses also if the terms
/// have changed meanwhile, because the checks and the label are for the terms that were found.
pub fn charge_call(
    call: &ReleaseCall<'_>,
    relation: &Relation,
    terms: Option<&Terms>,
    columns: &[usize],
) -> Result<Option<Bound>, Error> {
    let Some(price) = call.method.charge(call.arguments, columns.len())? else { return Ok(None) };
    check_kept_here(relation)?;
    let Some(terms) = terms else { return Ok(None) };
    check_stable(relation, terms)?;
    let bound = Bound::new(relation, terms)?;
    bound.check_readable(relation, columns)?;
    let price = crate::rules::terms::charged(call.method, price, bound.rows());
    match charge(relation, Asker::caller(), call.method.name, &price, Some(terms))? {
        Outcome::Charged { .. } => Ok(Some(bound)),
        Outcome::Changed => {
            Err(Error::TermsChanged { relation: relation.name.clone(), charged: false })
        }
    }
}

/// The terms of the relation's protection, if it is protected. Refuses to release rows of it in a way that guarantees
/// nothing, with kept columns or coins of a seed or what `unprotected` says, or that shows the number of rows where it
/// is not public: the cost in the ledger would then be wrong.
pub fn check_protecting(
    call: &ReleaseCall<'_>,
    relation: &Relation,
    unprotected: Option<&str>,
) -> Result<Option<Terms>, Error> {
    let Some(terms) = protection::terms(relation.oid)? else { return Ok(None) };
    crate::rules::terms::check_row_count(call.method, relation, &terms)?;
    let keep = call.arguments.get_if_declared(&KEEP)?.map(|_| "keep");
    let seed = call.arguments.get_if_declared(&SEED)?.map(|_| "seed");
    match unprotected.or(keep).or(seed) {
        None => Ok(Some(terms)),
        Some(what) => Err(Error::argument(
            format!("{} is protected, and a release with {what} protects nobody", relation.name),
            format!("Leave out {what}."),
        )),
    }
}

/// The rest of the budget for the asker: the least of the account that charges go to and of every share that covers the
/// asker. Refuses askers who may not ask at all; [`charge`] checks this again.
pub fn remaining(relation: &Relation, asker: &Asker) -> Result<Cost, Error> {
    let Some(accounts) = Accounts::read(relation.oid, *asker)? else {
        return Err(Error::NotProtected { relation: relation.name.clone() });
    };
    if !accounts.allowed {
        return Err(Error::NotAllowed { relation: relation.name.clone() });
    }
    let left = || accounts.all().map(|(_, account)| account.left());
    let least = |amounts: &mut dyn Iterator<Item = f64>| amounts.fold(f64::INFINITY, f64::min);
    Ok(Cost {
        epsilon: least(&mut left().map(|left| left.epsilon)),
        delta: least(&mut left().map(|left| left.delta)),
    })
}

/// The budgets that a charge of one asker comes out of.
struct Accounts {
    is_over: bool,
    /// The relation's own, or that of its population.
    account: Account,
    /// Every share that covers the asker, of a role that logged in too, so SET ROLE gives no second budget. A share of a
    /// population covers whoever asks about any of its relations.
    shares: Vec<Share>,
    /// The asker owns the relation, or an allowance for it covers the role whose rights are used.
    allowed: bool,
}

impl Accounts {
    /// `None` if the relation is not protected.
    fn read(source: Oid, asker: Asker) -> Result<Option<Self>, Error> {
        let Some(Budgets { is_over, account, mut shares }) = Budgets::read(source)? else {
            return Ok(None);
        };
        let owns = rights::owner_of(source).is_some() && rights::owns(asker.user, source);
        let is_allowed =
            |share: &Share| share.is_here && rights::is_member(asker.user, share.grantee);
        let allowed = owns || shares.iter().any(is_allowed);
        shares.retain(|share| asker.is_covered_by(share.grantee));
        Ok(Some(Accounts { is_over, account, shares, allowed }))
    }

    /// All accounts: first those of the grantees, then the relation's or its population's.
    fn all(&self) -> impl Iterator<Item = (Option<Oid>, &Account)> {
        let shares = self.shares.iter().map(|share| (Some(share.grantee), &share.account));
        shares.chain([(None, &self.account)])
    }
}

/// Decides one request in the worker's transaction.
fn decide(request: &[u8]) -> Result<Decision, Error> {
    let request: Request = serde_json::from_slice(request).map_err(Error::query)?;
    let reply = match charge_or_refuse(&request) {
        // All is read before anything is written.
        Err(Error::Damaged { table, column }) => Reply::Damaged { table, column },
        Err(Error::OtherOwner { .. }) => Reply::OtherOwner,
        reply => reply?,
    };
    let reply = serde_json::to_vec(&reply).map_err(Error::query)?;
    Ok(Decision::Reply(reply))
}

worker_function!(sanitize_ledger_worker, autonomous::serve, decide);

fn charge_or_refuse(request: &Request) -> Result<Reply, Error> {
    let home = entries::home()?;
    if let Home::Elsewhere { home, here } = home {
        return Ok(Reply::Unconfirmed { home, here });
    }
    // From here to the commit no other transaction changes the account, nor which one it is.
    let Some(holder) = protection::lock(request.source)? else {
        return Ok(Reply::NotProtected);
    };
    if let Home::Unknown { here } = home {
        // Protecting a relation records where the ledger is at home, so the record has been lost.
        return Ok(Reply::Unconfirmed { home: "a place that is not known any more".into(), here });
    }
    let accounts = Accounts::read(request.source, request.asker)?;
    let terms = protection::terms(request.source)?;
    let Some((accounts, terms)) = accounts.zip(terms) else {
        return Ok(Reply::NotProtected);
    };
    if accounts.is_over {
        protection::renew(request.source, holder)?;
    }
    if !accounts.allowed {
        return Ok(Reply::NotAllowed);
    }
    if request.terms.as_ref().is_some_and(|asked| *asked != terms) {
        return Ok(Reply::Changed);
    }
    let charge = request.charge;
    if charge.whole.epsilon < terms.min_epsilon {
        return Ok(Reply::TooSmall { least: terms.min_epsilon });
    }
    let mut counted = charge;
    let mut spent = Vec::new();
    for (grantee, account) in accounts.all() {
        let Some((sums, as_counted)) = account.after(&charge)? else {
            let renews = protection::renews(request.source)?;
            return Ok(Reply::Exhausted(exhausted(account, &charge, renews)));
        };
        counted = as_counted;
        spent.push((grantee, sums));
    }
    for (grantee, sums) in &spent {
        protection::spend(request.source, holder, *grantee, sums)?;
    }
    let name = |role| rights::role_name(role).unwrap_or_else(|| "(dropped role)".into());
    // The charge as the relation's budget counted it.
    let entry = entries::enter(&Entry {
        source: request.source,
        who: &name(request.asker.user),
        login: &name(request.asker.login),
        what: &request.what,
        charge: counted,
    })?;
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
