//! Who is protected, and who may ask.

use super::budget::{self, role_name};
use super::domains;
use super::population::{self, WINDOW_LENGTH};
use crate::api::prelude::*;
use crate::catalog::ledger::entries;
use crate::catalog::population::{self as store, Limits};
use crate::catalog::protection::{Budget, Protection};
use crate::pg::call::attempt::attempt;
use crate::pg::shards::keeper;
use crate::rules::population::{self as rules, Home};
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

const EPSILON: Argument<Option<f64>> = Argument::optional("epsilon", Type::Float8, |given| {
    given.float8()?.map(budget::epsilon).transpose()
})
.about("How much may be learnt about a unit, in total or in each window; left out if the relation shares a budget.");

const DELTA: Argument<Option<f64>> = Argument::optional("delta", Type::Float8, |given| {
    given.float8()?.map(budget::delta).transpose()
})
.about("The chance with which epsilon may be passed: 0, if it is left out.");

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

const MAX_GROUPS_PER_UNIT: Argument<Option<i32>> = Argument::optional("max_groups_per_unit", Type::Int4, |given| {
    let hint = "It is the number of groups that a unit counts in: 1 or more.";
    given.if_given(|given| given.at_least(1, hint))
})
.about("In how many groups a unit counts at most; as many as it has rows that count, if it is left out.");

const MIN_EPSILON: Argument<Option<f64>> =
    Argument::optional("min_epsilon", Type::Float8, |given| {
        given.float8()?.map(population::min_epsilon).transpose()
    })
    .about("The least that a call may cost: 0.001, if it is left out.");

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

const POPULATION: Argument<Option<String>> = Argument::of("population")
    .about("The population whose budget the charges of the relation go to, as sanitize.population made it.");

const PROTECT: Method = Method::new(
    "protect",
    &[
        &RELATION,
        &UNIT,
        &EPSILON,
        &DELTA,
        &MAX_ROWS_PER_UNIT,
        &WINDOW_LENGTH,
        &MAX_GROUPS_PER_UNIT,
        &MIN_EPSILON,
        &MIN_QUERY_SET,
        &ASSUME_STABLE,
        &ROW_COUNT_PUBLIC,
        &POPULATION,
    ],
    Returns::One(Type::Void),
    protect,
)
.about(
    "registers a relation of the caller's: who is protected (the unit column), and how much may be learnt \
     in total or in each window, from this relation or from all of a population. Again: changes that, and what is \
     spent is taken from the ledger",
);

/// What a call of `protect` says about the budget.
struct GivenBudget {
    epsilon: Option<f64>,
    delta: Option<f64>,
    window_length: Option<String>,
    min_epsilon: Option<f64>,
    population: Option<String>,
}

impl GivenBudget {
    /// Refuses limits beside a population, and limits without an epsilon.
    fn of(call: &Call) -> Result<Self> {
        let given = GivenBudget {
            epsilon: call.get(&EPSILON)?,
            delta: call.get(&DELTA)?,
            window_length: call.get(&WINDOW_LENGTH)?,
            min_epsilon: call.get(&MIN_EPSILON)?,
            population: call.get(&POPULATION)?,
        };
        let limits = [
            (EPSILON.name, given.epsilon.is_some()),
            (DELTA.name, given.delta.is_some()),
            (WINDOW_LENGTH.name, given.window_length.is_some()),
            (MIN_EPSILON.name, given.min_epsilon.is_some()),
        ];
        let Some((limit, _)) = limits.into_iter().find(|limit| limit.1) else { return Ok(given) };
        match &given.population {
            Some(name) => Err(Error::argument(
                format!("{limit} is given beside population {name}"),
                "The population has the budget: leave out epsilon, delta, window_length and min_epsilon, or change them with sanitize.population.",
            )),
            None if given.epsilon.is_none() => Err(Error::argument(
                format!("{limit} is given without epsilon"),
                "Give epsilon too. Where the relation shares a budget, leave out epsilon, delta, window_length and min_epsilon.",
            )),
            None => Ok(given),
        }
    }

    fn limits(&self) -> Option<Limits<'_>> {
        Some(Limits {
            epsilon: self.epsilon?,
            delta: self.delta.unwrap_or(0.0),
            window_length: self.window_length.as_deref(),
            min_epsilon: self.min_epsilon.unwrap_or(population::MIN_EPSILON),
        })
    }

    /// Which account the relation gets.
    fn home(&self, relation: &Relation, unit: &str) -> Result<Home> {
        rules::home(relation, unit, self.population.as_deref(), self.epsilon.is_some())
    }

    /// Protects the relation with this budget, or with the one that it shares with others.
    fn protect(&self, home: Home, relation: &Relation, new: &Protection<'_>) -> Result<()> {
        let limits = self.limits();
        let needed = || limits.as_ref().ok_or(Error::Null { argument: EPSILON.name });
        match home {
            Home::Own => protection::protect(relation, new, &Budget::Own(needed()?)),
            Home::Population { id, with } => {
                protection::protect(relation, new, &Budget::Population(id))?;
                with.into_iter().try_for_each(|(other, name)| {
                    store::join(other, id)?;
                    notice_hint(
                        &format!("{name} shares the budget of {} from now on", relation.name),
                        "Both are about the same people, and what was spent of both adds up.",
                    );
                    Ok(())
                })
            }
            Home::Joined { id, whose } => share(relation, new, id, &whose),
            Home::With { other, whose } => share(relation, new, store::of_relation(other)?, &whose),
            Home::Head { id } => {
                protection::protect(relation, new, &Budget::Population(id))?;
                store::take_over(id, relation.oid)?;
                store::limit(id, needed()?)
            }
        }
    }
}

/// Protects the relation with a budget that others have, and says so.
fn share(relation: &Relation, new: &Protection<'_>, id: i64, whose: &str) -> Result<()> {
    protection::protect(relation, new, &Budget::Population(id))?;
    notice_hint(
        &format!("{} shares the budget of {whose}", relation.name),
        "They are about the same people, and all charges add up. sanitize.populations shows which relations share.",
    );
    Ok(())
}

fn protect(call: &Call) -> Result<Datum> {
    keeper::check()?;
    let relation = owned(call)?;
    check_kept_here(&relation)?;
    let name = call.get(&UNIT)?;
    let budget = GivenBudget::of(call)?;
    let max_rows_per_unit = call.get(&MAX_ROWS_PER_UNIT)?;
    let mut new = Protection {
        unit: &name,
        max_rows_per_unit: max_rows_per_unit.unwrap_or(1),
        max_groups_per_unit: call.get(&MAX_GROUPS_PER_UNIT)?,
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
    population::check_snapshot("sanitize.protect")?;
    let home = budget.home(&relation, &name)?;
    new.max_rows_per_unit = capping::bound(&relation, owner, column, max_rows_per_unit)?;
    entries::settle(&role_name())?;
    budget.protect(home, &relation, &new)?;
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
         ledger stays, and what was spent of a population",
    );

const GRANTEE: Argument<Oid> =
    Argument::new("grantee", Type::Role, |given| given.needed(given.role()?))
        .about("The role, which stands for its members too.");

/// A share of the budget, or all of it.
const EPSILON_SHARE: Argument<Option<f64>> = Argument::optional("epsilon", Type::Float8, |given| {
    given.float8()?.map(budget::epsilon).transpose()
})
.about("A share of the budget of its own, in a population for all its relations; without one the whole budget is its limit.");

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
