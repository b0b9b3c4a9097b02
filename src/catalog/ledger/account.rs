//! The arithmetic of one budget: what its charges add up to, and whether one more fits in.
//!
//! There are two ways to add up, and a charge fits in if either of them allows it. By sums: all epsilons within epsilon
//! and all deltas within delta/2. By concentration: what rho comes to at the rest of the other delta/2, together with
//! what rho does not cover. Both sums only grow, so in any order of charges the total stays within one of the two.

use crate::pg::call::error::Error;
use guarantee::{Charge, Cost};
use pgrx::AnyNumeric;

/// A float as the decimal number that people see. The ledger adds these, exactly.
pub fn decimal(value: f64) -> String {
    format!("{value}")
}

/// A float as the amount that the ledger adds.
fn amount(value: f64) -> Result<AnyNumeric, Error> {
    AnyNumeric::try_from(decimal(value).as_str()).map_err(Error::query)
}

/// A float that is not below the amount, nor below the floats that were added up to it: their decimals may be smaller
/// by half a unit in the last place.
fn up(amount: &AnyNumeric) -> f64 {
    let nearest = nearest(amount);
    if nearest == 0.0 { 0.0 } else { (nearest * (1.0 + 2.0 * f64::EPSILON)).next_up() }
}

/// A float that is not above the amount.
fn down(amount: &AnyNumeric) -> f64 {
    let nearest = nearest(amount);
    if nearest == 0.0 { 0.0 } else { nearest.next_down() }
}

/// The float nearest to the amount; NaN, which fits into nothing, if there is none.
fn nearest(amount: &AnyNumeric) -> f64 {
    amount.to_string().parse().unwrap_or(f64::NAN)
}

/// What charges add up to, exactly.
#[derive(Clone, Default)]
pub struct Sums {
    pub epsilon: AnyNumeric,
    pub delta: AnyNumeric,
    /// The sum over the charges that have a rho.
    pub rho: AnyNumeric,
    /// What rho does not cover.
    pub rest_epsilon: AnyNumeric,
    pub rest_delta: AnyNumeric,
}

impl Sums {
    /// The five amounts as text, in the order of the fields.
    pub fn texts(&self) -> [String; 5] {
        [&self.epsilon, &self.delta, &self.rho, &self.rest_epsilon, &self.rest_delta]
            .map(ToString::to_string)
    }

    fn plus(&self, charge: &Charge) -> Result<Self, Error> {
        let add = |sum: &AnyNumeric, part: f64| -> Result<AnyNumeric, Error> {
            Ok(sum.clone() + amount(part)?)
        };
        Ok(Sums {
            epsilon: add(&self.epsilon, charge.whole.epsilon)?,
            delta: add(&self.delta, charge.whole.delta)?,
            rho: add(&self.rho, charge.rho.unwrap_or(0.0))?,
            rest_epsilon: add(&self.rest_epsilon, charge.rest.epsilon)?,
            rest_delta: add(&self.rest_delta, charge.rest.delta)?,
        })
    }

    /// True if the sum of all deltas is at most delta/2, so that the other half is left for concentration.
    fn within_half(&self, delta: &AnyNumeric) -> bool {
        self.delta.clone() + self.delta.clone() <= *delta
    }

    /// The epsilon of these charges by concentration; `None` if that way does not apply.
    fn concentrated(&self, delta: &AnyNumeric) -> Option<f64> {
        let rest = Cost { epsilon: up(&self.rest_epsilon), delta: up(&self.rest_delta) };
        guarantee::concentrated_epsilon(up(&self.rho), rest, down(delta))
    }

    /// What is spent of a budget with this delta: the smaller epsilon of the two ways, and the deltas that have to be
    /// added up in that way.
    pub fn spent(&self, delta: &AnyNumeric) -> Cost {
        let sum = Cost { epsilon: nearest(&self.epsilon), delta: nearest(&self.delta) };
        match self.concentrated(delta) {
            Some(epsilon) if epsilon < sum.epsilon || !self.within_half(delta) => {
                Cost { epsilon, delta: nearest(&self.rest_delta) }
            }
            _ => sum,
        }
    }
}

/// The budget of a relation, or of a role that may ask about it, and what is spent of it.
pub struct Account {
    /// Whose budget it is, for messages.
    pub whose: String,
    /// `None`: no limit of its own.
    pub epsilon: Option<AnyNumeric>,
    pub delta: AnyNumeric,
    pub spent: Sums,
}

impl Account {
    /// What is spent after the charge, and the charge as it was counted; `None` if it does not fit in.
    ///
    /// Every mechanism with a rho also satisfies its (epsilon, delta), so a charge whose rho does not fit in may count
    /// as one without a rho.
    pub fn after(&self, charge: &Charge) -> Result<Option<(Sums, Charge)>, Error> {
        let plain = Charge::plain(charge.whole);
        for charge in [*charge, plain] {
            let sums = self.spent.plus(&charge)?;
            if self.fits_concentrated(&sums) {
                return Ok(Some((sums, charge)));
            }
        }
        let sums = self.spent.plus(charge)?;
        let within = self.epsilon.as_ref().is_none_or(|epsilon| sums.epsilon <= *epsilon);
        Ok((within && sums.within_half(&self.delta)).then_some((sums, *charge)))
    }

    fn fits_concentrated(&self, sums: &Sums) -> bool {
        let limit = self.epsilon.as_ref().map_or(f64::INFINITY, down);
        sums.concentrated(&self.delta).is_some_and(|epsilon| epsilon <= limit)
    }

    /// The rest of the budget, by the way of adding up that leaves more epsilon. Its delta is what that way has left:
    /// by concentration for deltas that rho does not cover, by sums for all deltas. By sums a charge of exactly that
    /// fits in; by concentration a charge without a rho needs a little more room.
    pub fn left(&self) -> Cost {
        let left =
            |share: f64, sum: &AnyNumeric| (nearest(&self.delta) * share - nearest(sum)).max(0.0);
        let by_sums = self
            .spent
            .within_half(&self.delta)
            .then(|| Cost { epsilon: self.left_by_sums(), delta: left(0.5, &self.spent.delta) });
        let concentrated = self.spent.concentrated(&self.delta).map(|spent| Cost {
            epsilon: self.epsilon.as_ref().map_or(f64::INFINITY, |epsilon| {
                // Reduced by the rounding error of the sums that such a charge will be part of.
                (down(epsilon) * (1.0 - 16.0 * f64::EPSILON) - spent).max(0.0)
            }),
            delta: left(guarantee::REST, &self.spent.rest_delta),
        });
        let ways = [concentrated, by_sums].into_iter().flatten();
        ways.max_by(|a, b| a.epsilon.total_cmp(&b.epsilon)).unwrap_or_default()
    }

    fn left_by_sums(&self) -> f64 {
        let Some(epsilon) = &self.epsilon else { return f64::INFINITY };
        let exact = epsilon.clone() - self.spent.epsilon.clone();
        let mut left = nearest(&exact).max(0.0);
        // The ledger charges the decimal of the float, which may be larger than the float.
        while left > 0.0 && amount(left).is_ok_and(|left| left > exact) {
            left = left.next_down();
        }
        left
    }
}
