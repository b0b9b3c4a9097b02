//! Charges to a budget, and how they add up.

use crate::api::prelude::*;
use crate::catalog::ledger::account::Sums;
use crate::catalog::ledger::{Asker, entries};
use crate::catalog::protection::LARGEST;

/// The smallest epsilon: below it the noise exceeds any count there can be.
const SMALLEST: f64 = 1e-9;

/// An epsilon that makes sense.
pub fn epsilon(value: f64) -> Result<f64> {
    if (SMALLEST..=LARGEST).contains(&value) {
        return Ok(value);
    }
    Err(Error::argument(
        format!("epsilon is {value}"),
        "epsilon is above 0; 1 is a common choice. Less protects more.",
    ))
}

/// A delta that makes sense.
pub fn delta(value: f64) -> Result<f64> {
    if (0.0..1.0).contains(&value) && (value == 0.0 || value >= 1e-100) {
        return Ok(value);
    }
    Err(Error::argument(
        format!("delta is {value}"),
        "delta is at least 0 and below 1, and should be far below one over the number of people.",
    ))
}

/// The refusal of a charge below the least.
pub fn too_small(epsilon: f64, least: f64) -> Error {
    Error::argument(
        format!("epsilon is {epsilon}, and a charge to this budget is at least {least}"),
        format!("Ask for {least} or more. The owner sets min_epsilon in sanitize.protect."),
    )
}

/// The name of the caller's role, for the records.
pub fn role_name() -> String {
    rights::role_name(rights::current_user()).unwrap_or_default()
}

pub const EPSILON: Argument<f64> =
    Argument::new("epsilon", Type::Float8, |given| epsilon(given.get::<f64>()?))
        .about("How much it tells about one unit.");

pub const DELTA: Argument<f64> =
    Argument::new("delta", Type::Float8, |given| delta(given.get::<f64>()?))
        .or("0")
        .about("The chance with which epsilon may be passed.");

const WHAT: Argument<String> =
    Argument::of("what").about("What it is charged for, as the ledger will say.");

const RHO_CHARGED: Argument<Option<f64>> =
    Argument::of("rho").about("That of Gaussian noise: sensitivity^2 / (2 sigma^2).");

const CHARGE: Method = Method::new(
    "charge",
    &[&RELATION, &WHAT, &EPSILON, &DELTA, &RHO_CHARGED],
    Returns::One(Type::Void),
    |call| {
        let relation = Relation::open(call.get(&RELATION)?)?;
        let what = call.get(&WHAT)?;
        let (epsilon, delta) = (call.get(&EPSILON)?, call.get(&DELTA)?);
        let charge = charge_of(Cost { epsilon, delta }, call.get(&RHO_CHARGED)?)?;
        // The caller names the price and is responsible for the terms.
        ledger::charge(&relation, Asker::caller(), &what, &charge, None)?;
        Ok(call.null())
    },
)
.about(
    "charges the budget of a protected relation, for mechanisms written in SQL: call it \
         before noise is drawn. The caller vouches for the numbers; rho is that of Gaussian \
         noise. Committed at once; ROLLBACK does not undo it",
);

/// A charge in the words of its caller, who vouches for them.
fn charge_of(whole: Cost, rho: Option<f64>) -> Result<Charge> {
    let pure = Charge::pure(whole.epsilon);
    match (rho, pure.rho) {
        (None, _) if whole.delta == 0.0 => Ok(pure),
        (None, _) => Ok(Charge::plain(whole)),
        (Some(rho), Some(most)) if rho > 0.0 && rho.is_finite() => {
            if whole.delta == 0.0 {
                return Ok(Charge { rho: Some(rho.min(most)), ..pure });
            }
            // The part of delta that noise with this rho does not use is added up separately.
            let rest = whole.delta - guarantee::zcdp_delta(rho, whole.epsilon);
            let rest = if rest > 0.0 { rest.next_up() } else { 0.0 };
            Ok(Charge { whole, rho: Some(rho), rest: Cost { epsilon: 0.0, delta: rest } })
        }
        (Some(rho), _) => Err(Error::argument(
            format!("rho is {rho}"),
            "rho is above 0 and finite: that of Gaussian noise is sensitivity^2 / (2 sigma^2). Leave it out if there is none.",
        )),
    }
}

// Sums of what was charged.

const EPSILONS: Argument<AnyNumeric> = Argument::of("epsilon").about("All epsilons together.");
const DELTAS: Argument<AnyNumeric> = Argument::of("delta").about("All deltas together.");
const RHOS: Argument<AnyNumeric> =
    Argument::of("rho").about("All rhos together, of charges that have one.");
const REST_EPSILON: Argument<AnyNumeric> =
    Argument::of("rest_epsilon").about("The epsilons without a rho.");
const REST_DELTA: Argument<AnyNumeric> =
    Argument::of("rest_delta").about("The deltas that no rho covers.");
const BUDGET_DELTA: Argument<AnyNumeric> =
    Argument::of("budget_delta").about("The delta of the budget.");

const SPENT: Method = Method::new(
    "spent",
    &[&EPSILONS, &DELTAS, &RHOS, &REST_EPSILON, &REST_DELTA, &BUDGET_DELTA],
    columns![epsilon_spent: Float8, delta_spent: Float8],
    |call| {
        let sums = Sums {
            epsilon: call.get(&EPSILONS)?,
            delta: call.get(&DELTAS)?,
            rho: call.get(&RHOS)?,
            rest_epsilon: call.get(&REST_EPSILON)?,
            rest_delta: call.get(&REST_DELTA)?,
        };
        let spent = sums.spent(&call.get(&BUDGET_DELTA)?);
        call.one_row([Value::Float(spent.epsilon), Value::Float(spent.delta)])
    },
)
.internal()
.pure()
.rows(1)
.about(
    "what charges with these sums take of a budget with that delta: the smaller epsilon of \
         the two ways to add up",
);

const RHO: Argument<f64> =
    Argument::of("rho").about("How much it tells, as concentrated privacy counts it.");

/// Not checked here: the arithmetic refuses what makes no sense.
const ANY_DELTA: Argument<f64> =
    Argument::of("delta").about("The chance with which epsilon may be passed.");

const ZCDP_EPSILON: Method =
    Method::new("zcdp_epsilon", &[&RHO, &ANY_DELTA], Returns::One(Type::Float8), |call| {
        let epsilon = guarantee::zcdp_epsilon(call.get(&RHO)?, call.get(&ANY_DELTA)?)?;
        call.value(epsilon)
    })
    .pure()
    .strict()
    .about(
        "the smallest epsilon found for which a mechanism of this rho is (epsilon, \
         delta)-differentially private; rounded up",
    );

const ZCDP_RHO: Method =
    Method::new("zcdp_rho", &[&EPSILON, &ANY_DELTA], Returns::One(Type::Float8), |call| {
        let rho = guarantee::zcdp_rho(call.get(&EPSILON)?, call.get(&ANY_DELTA)?)?;
        call.value(rho)
    })
    .pure()
    .strict()
    .about(
        "the largest rho found for which a mechanism is (epsilon, delta)-differentially \
         private; rounded down",
    );

const CONFIRM_LEDGER: Method = Method::new(
    "confirm_ledger",
    &[],
    Returns::One(Type::Text),
    |call| {
        if !rights::is_superuser(rights::current_user()) {
            return Err(Error::NotSuperuser);
        }
        let place = entries::confirm(&role_name())?;
        call.value(place)
    },
)
.about(
    "for superusers, after a restore or a failover: says that the ledger here holds every charge \
         there was. Until then nothing is released",
);

methods! {
    sanitize_charge => CHARGE;
    sanitize_spent => SPENT;
    sanitize_zcdp_epsilon => ZCDP_EPSILON;
    sanitize_zcdp_rho => ZCDP_RHO;
    sanitize_confirm_ledger => CONFIRM_LEDGER;
}
