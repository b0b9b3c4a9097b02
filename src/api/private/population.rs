//! Populations: budgets that several relations about the same people share.

use super::budget::{self, role_name};
use crate::api::prelude::*;
use crate::catalog::ledger::entries;
use crate::catalog::population::{self, Limits};
use crate::catalog::protection::LARGEST;
use crate::pg::shards::keeper;
use crate::rules::population::ours;

/// The longest name, in bytes.
const LONGEST: usize = 1000;

const NAME: Argument<String> = Argument::new("name", Type::Text, |given| {
    let name: String = given.get()?;
    match name.trim().is_empty() || name.len() > LONGEST {
        true => Err(Error::argument(
            "name is no name of a population",
            format!("It says who is in the relations, in at most {LONGEST} bytes: 'patients'."),
        )),
        false => Ok(name),
    }
})
.about("Its name, which no other population of the database has.");

const EPSILON: Argument<f64> = budget::EPSILON.about(
    "How much may be learnt about one of the people from all relations together, in total or in each window.",
);

pub const WINDOW_LENGTH: Argument<Option<String>> = Argument::optional("window_length", Type::Interval, |given| match given.interval()? {
    None => Ok(None),
    Some(length) if length.as_micros() > 0 => Ok(given.text_of()),
    Some(_) => Err(Error::argument(
        "window_length is not above 0",
        "It is how long a budget lasts: '1 month'. Leave it out for a budget that never renews.",
    )),
})
.about("After how long the budget renews; never, if it is left out.");

/// The least that a call may cost, where nobody said it.
pub const MIN_EPSILON: f64 = 0.001;

/// A least charge that makes sense.
pub fn min_epsilon(least: f64) -> Result<f64> {
    if (0.0..=LARGEST).contains(&least) {
        return Ok(least);
    }
    Err(Error::argument(
        format!("min_epsilon is {least}"),
        "It is the least that a call may cost: 0.001, or 0 for no such limit.",
    ))
}

const LEAST: Argument<f64> =
    Argument::new("min_epsilon", Type::Float8, |given| min_epsilon(given.get::<f64>()?))
        .or("0.001")
        .about("The least that a call may cost.");

/// Refuses a transaction that sees what is spent as it was when the transaction began.
pub fn check_snapshot(function: &'static str) -> Result<()> {
    match rights::has_fixed_snapshot() {
        false => Ok(()),
        true => Err(Error::FixedSnapshot {
            function,
            why: "It takes over what is spent, which the transaction sees as it was when it began.",
        }),
    }
}

const POPULATION: Method = Method::new(
    "population",
    &[&NAME, &EPSILON, &budget::DELTA, &WINDOW_LENGTH, &LEAST],
    Returns::One(Type::Void),
    |call| {
        keeper::check()?;
        let name = call.get(&NAME)?;
        let window_length = call.get(&WINDOW_LENGTH)?;
        let limits = Limits {
            epsilon: call.get(&EPSILON)?,
            delta: call.get(&budget::DELTA)?,
            window_length: window_length.as_deref(),
            min_epsilon: call.get(&LEAST)?,
        };
        check_snapshot("sanitize.population")?;
        entries::settle(&role_name())?;
        let caller = rights::current_user();
        if population::named(&name, caller)?.is_none() {
            population::make(&name, caller, &limits)?;
        }
        population::limit(ours(&name, caller)?, &limits)?;
        Ok(call.null())
    },
)
.about(
    "makes a population of the caller's: one budget for all relations about the same people, which sanitize.protect \
     puts into it. Again: changes its limits, and what is spent stays spent",
);

const DROP_POPULATION: Method =
    Method::new("drop_population", &[&NAME], Returns::One(Type::Void), |call| {
        let name = call.get(&NAME)?;
        check_snapshot("sanitize.drop_population")?;
        let id = ours(&name, rights::current_user())?;
        match population::any_member(id)? {
            None => population::drop(id)?,
            Some(relation) => return Err(Error::argument(
                format!("{relation} is in population {name}"),
                "Unprotect all its relations first: sanitize.populations lists them. What is spent stays spent.",
            )),
        }
        Ok(call.null())
    })
    .about(
        "drops a population that no relation is in any more. What was told about its people is not forgotten: it counts \
         where its relations are protected next, and in the next population of the caller's with this name",
    );

methods! {
    sanitize_population => POPULATION;
    sanitize_drop_population => DROP_POPULATION;
}
