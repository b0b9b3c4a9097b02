//! Who is protected, and who may ask.

use super::budget::{self, role_name};
use super::domains;
use crate::api::prelude::*;
use crate::catalog::ledger::entries;
use crate::catalog::protection::{LARGEST, Protection};
use crate::pg::call::attempt::attempt;
use crate::pg::shards::keeper;
use crate::rules::stability::unstable;
use crate::rules::{below, capping, unit};
use question::Terms;

/// The relation that the call is about, which the caller must own.
fn owned(call: &Call) -> Result<Relation> {
    let relation = Relation::open(call.get(&RELATION)?)?;
    domains::check_owner(&relation)?;
    Ok(relation)
}

/// Refuses a relation whose budget another relation keeps, or that has no budget on this server. Every method that
/// takes from the budget of a relation asks this first.
pub fn check_kept_here(relation: &Relation) -> Result<()> {
    keeper::check()?;
    keeper::check_relation(relation)?;
    match protection::shares_rows(relation.oid)? {
        None => Ok(()),
        Some(other) => Err(Error::NotKeeper {
            what: format!("{} shares rows on other servers with {other}", relation.name),
            why: format!("The budget of these rows is that of {other}, which is protected."),
        }),
    }
}

/// Refuses a relation whose rows may depend on more than their own units, unless the owner vouches.
pub fn check_stable(relation: &Relation, terms: &Terms) -> Result<()> {
    if terms.assume_stable {
        return Ok(());
    }
    match unstable(relation, &terms.unit)? {
        None => Ok(()),
        Some(reason) => Err(Error::Unstable { relation: relation.name.clone(), reason }),
    }
}

/// Refuses a relation that no other process can read.
fn check_shared(relation: &Relation) -> Result<()> {
    if relation.is_temporary() {
        return Err(Error::argument(
            format!("{} is temporary", relation.name),
            "Only its own session can read it, and a protected relation is read by another process: make it a table.",
        ));
    }
    Ok(())
}

const UNIT: Argument<String> =
    Argument::of("unit").about("The column that tells apart whom to protect: persons, as a rule.");

const EPSILON: Argument<f64> =
    budget::EPSILON.about("How much may be learnt about a unit, in total or in each window.");

const MAX_ROWS_PER_UNIT: Argument<Option<i32>> = Argument::optional(
    "max_rows_per_unit",
    Type::Int4,
    |given| {
        given.if_given(|given| {
            given.at_least(1, "It is the number of rows of one unit that count: 1 or more.")
        })
    },
)
.about(
    "How many rows of a unit count at most; 1 where the unit is a key, to be named anywhere else.",
);

const WINDOW_LENGTH: Argument<Option<String>> = Argument::optional("window_length", Type::Interval, |given| match given.interval()? {
    None => Ok(None),
    Some(length) if length.as_micros() > 0 => Ok(given.text_of()),
    Some(_) => Err(Error::argument(
        "window_length is not above 0",
        "It is how long a budget lasts: '1 month'. Leave it out for a budget that never renews.",
    )),
})
.about("After how long the budget renews; never, if it is left out.");

const MAX_GROUPS_PER_UNIT: Argument<Option<i32>> = Argument::optional("max_groups_per_unit", Type::Int4, |given| {
    let hint = "It is the number of groups that a unit counts in: 1 or more.";
    given.if_given(|given| given.at_least(1, hint))
})
.about("In how many groups a unit counts at most; as many as it has rows that count, if it is left out.");

const MIN_EPSILON: Argument<f64> = Argument::new("min_epsilon", Type::Float8, |given| {
    given.fitting(
        |least| (0.0..=LARGEST).contains(&least),
        "It is the least that a call may cost: 0.001, or 0 for no such limit.",
    )
})
.or("0.001")
.about("The least that a call may cost.");

const MIN_QUERY_SET: Argument<Option<i32>> =
    Argument::optional("min_query_set", Type::Int4, |given| {
        given.if_given(|given| {
            given.at_least(1, "It is the smallest noisy count that is answered: 1 or more.")
        })
    })
    .about("The smallest noisy number of units that is answered for.");

const ASSUME_STABLE: Argument<bool> = Argument::of("assume_stable")
    .or("false")
    .about("True if the owner vouches that a row of the view depends on its own unit alone.");

const ROW_COUNT_PUBLIC: Argument<bool> = Argument::of("row_count_public")
    .or("false")
    .about("True if everybody may know how many rows there are: methods that return a row for each row need it.");

const PROTECT: Method = Method::new(
    "protect",
    &[
        &RELATION,
        &UNIT,
        &EPSILON,
        &budget::DELTA,
        &MAX_ROWS_PER_UNIT,
        &WINDOW_LENGTH,
        &MAX_GROUPS_PER_UNIT,
        &MIN_EPSILON,
        &MIN_QUERY_SET,
        &ASSUME_STABLE,
        &ROW_COUNT_PUBLIC,
    ],
    Returns::One(Type::Void),
    protect,
)
.about(
    "registers a relation of the caller's: who is protected (the unit column), and how much may be learnt \
     in total or in each window. Again: changes that, and what is spent is taken from the ledger",
);

fn protect(call: &Call) -> Result<Datum> {
    keeper::check()?;
    let relation = owned(call)?;
    check_kept_here(&relation)?;
    let name = call.get(&UNIT)?;
    let (epsilon, delta) = (call.get(&EPSILON)?, call.get(&budget::DELTA)?);
    let max_rows_per_unit = call.get(&MAX_ROWS_PER_UNIT)?;
    let window_length = call.get(&WINDOW_LENGTH)?;
    let mut new = Protection {
        unit: &name,
        epsilon,
        delta,
        max_rows_per_unit: max_rows_per_unit.unwrap_or(1),
        window_length: window_length.as_deref(),
        max_groups_per_unit: call.get(&MAX_GROUPS_PER_UNIT)?,
        min_epsilon: call.get(&MIN_EPSILON)?,
        min_query_set: call.get(&MIN_QUERY_SET)?,
        assume_stable: call.get(&ASSUME_STABLE)?,
        row_count_public: call.get(&ROW_COUNT_PUBLIC)?,
    };
    let position = unit::check(&relation, &name)?;
    check_shared(&relation)?;
    if !new.assume_stable
        && let Some(reason) = unstable(&relation, &name)?
    {
        return Err(Error::Unstable { relation: relation.name, reason });
    }
    let (owner, column) = (below::owner(&relation)?, &relation.columns[position]);
    new.max_rows_per_unit = capping::bound(&relation, owner, column, max_rows_per_unit)?;
    // What is spent must be read after the lock, because a charge may have been made since this transaction began.
    if rights::has_fixed_snapshot() {
        return Err(Error::FixedSnapshot {
            function: "sanitize.protect",
            why: "It takes over what is spent, which the transaction sees as it was when it began.",
        });
    }
    entries::settle(&role_name())?;
    protection::protect(relation.oid, &new)?;
    // The rows of a table are read now. Those of a view are not: how long it takes and what it does are unknown.
    if relation.is_plain_table || relation.is_partitioned() {
        capping::tell_dropped(&relation, owner, column, new.max_rows_per_unit)?;
        // An error here, for example on a declaration for a column whose type has changed, must not stop `protect`.
        attempt(|| domains::tell_all(&relation))?;
    }
    Ok(call.null())
}

const UNPROTECT: Method =
    Method::new("unprotect", &[&RELATION], Returns::One(Type::Void), |call| {
        let relation = owned(call)?;
        match protection::unprotect(relation.oid)? {
            true => Ok(call.null()),
            false => Err(Error::NotProtected { relation: relation.name }),
        }
    })
    .about(
        "ends the protection and all allowances of a relation: nobody can ask any more. The \
         ledger stays",
    );

const GRANTEE: Argument<Oid> =
    Argument::new("grantee", Type::Role, |given| given.needed(given.role()?))
        .about("The role, which stands for its members too.");

/// A share of the budget, or all of it.
const EPSILON_SHARE: Argument<Option<f64>> = Argument::optional("epsilon", Type::Float8, |given| {
    given.float8()?.map(budget::epsilon).transpose()
})
.about("A share of the budget of its own; without one the whole budget is its limit.");

const DELTA_SHARE: Argument<Option<f64>> = Argument::optional("delta", Type::Float8, |given| {
    given.float8()?.map(budget::delta).transpose()
})
.about("A share of delta of its own; without one it is the part of the relation's delta that epsilon is of its epsilon.");

const ALLOW: Method = Method::new(
    "allow",
    &[&RELATION, &GRANTEE, &EPSILON_SHARE, &DELTA_SHARE],
    Returns::One(Type::Void),
    |call| {
        let relation = owned(call)?;
        let grantee = call.get(&GRANTEE)?;
        if rights::role_name(grantee).is_none() {
            return Err(Error::argument(
                format!("there is no role with OID {}", grantee.to_u32()),
                "Name the role: sanitize.allow('patients', 'analyst').",
            ));
        }
        let (epsilon, delta) = (call.get(&EPSILON_SHARE)?, call.get(&DELTA_SHARE)?);
        if protection::terms(relation.oid)?.is_none() {
            return Err(Error::NotProtected { relation: relation.name });
        }
        protection::allow(relation.oid, grantee, epsilon, delta)?;
        Ok(call.null())
    },
)
.about(
    "lets a role and its members ask about a protected relation, with an optional share of \
         the budget; the role needs no right to read it",
);

const DISALLOW: Method =
    Method::new("disallow", &[&RELATION, &GRANTEE], Returns::One(Type::Void), |call| {
        let relation = owned(call)?;
        protection::disallow(relation.oid, call.get(&GRANTEE)?)?;
        Ok(call.null())
    })
    .about("takes back what sanitize.allow gave");

methods! {
    sanitize_protect => PROTECT;
    sanitize_unprotect => UNPROTECT;
    sanitize_allow => ALLOW;
    sanitize_disallow => DISALLOW;
}
