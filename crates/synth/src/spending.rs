//! The budget of a fit: what it may spend, and what it has spent. All sums round up, so the recorded sum is never
//! below the true one.

use random::Noise;
use serde::{Deserialize, Serialize};

/// A release of a fit and its price.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub enum FitCharge {
    /// The exponential mechanism chose a pair.
    Choice { rho: f64 },
    /// Noise of this variance was added to the counts of a marginal.
    Measurement { columns: Vec<usize>, variance: f64, rho: f64 },
}

/// A factor that exceeds the rounding of a few products and quotients.
const UP: f64 = 1.0 + 1e-14;

impl FitCharge {
    /// The charge of a marginal's counts, whose squared Euclidean sensitivity is `rows_per_unit`^2.
    pub fn measurement(columns: &[usize], rows_per_unit: u64, noise: &Noise) -> Self {
        let variance = match noise {
            // It has thirty bits, so the float is exact.
            Noise::Gaussian { sigma2 } => sigma2.to_f64(),
            Noise::Laplace { .. } => noise.stddev().powi(2),
        };
        let rows = rows_per_unit as f64;
        let rho = rows * rows / (2.0 * variance) * UP;
        FitCharge::Measurement { columns: columns.to_vec(), variance, rho }
    }

    /// The price of the release.
    pub fn rho(&self) -> f64 {
        match self {
            FitCharge::Choice { rho } | FitCharge::Measurement { rho, .. } => *rho,
        }
    }

    /// The variance of its noise; 0 for a choice.
    pub fn variance(&self) -> f64 {
        match self {
            FitCharge::Measurement { variance, .. } => *variance,
            FitCharge::Choice { .. } => 0.0,
        }
    }

    /// The same charge with other numbers of columns.
    pub(crate) fn renamed(self, names: &[usize]) -> Self {
        match self {
            FitCharge::Measurement { columns, variance, rho } => {
                let columns = columns.iter().map(|&column| names[column]).collect();
                FitCharge::Measurement { columns, variance, rho }
            }
            choice => choice,
        }
    }
}

/// A budget of rho. The curator takes every charge from it before the release.
pub struct Spending {
    rho: f64,
    spent: f64,
    pub charges: Vec<FitCharge>,
}

impl Spending {
    /// A budget of which nothing is spent yet.
    pub fn new(rho: f64) -> Self {
        Spending { rho, spent: 0.0, charges: vec![] }
    }

    /// What is left, rounded down.
    pub fn left(&self) -> f64 {
        (self.rho - self.spent).next_down().max(0.0)
    }

    /// Takes a charge; false, without taking anything, if not enough is left.
    #[must_use]
    pub fn take(&mut self, charge: FitCharge) -> bool {
        let spent = (self.spent + charge.rho()).next_up();
        let enough = spent <= self.rho;
        if enough {
            self.spent = spent;
            self.charges.push(charge);
        }
        enough
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn no_more_is_taken_than_was_given(parts in prop::collection::vec(1e-12f64..1.0, 1..50)) {
            let mut spending = Spending::new(parts[0]);
            for &rho in &parts {
                let (before, taken) = (spending.left(), spending.take(FitCharge::Choice { rho: rho * 0.1 }));
                prop_assert!(!taken || rho * 0.1 <= before.next_up());
            }
            // All that is left can be taken, except what rounding needs.
            let rest = spending.left() - parts[0] * 1e-15;
            let charge = FitCharge::Choice { rho: rest };
            prop_assert!(rest <= 0.0 || spending.take(charge));
            let more = |rho| FitCharge::Choice { rho };
            prop_assert!(!spending.take(more(parts[0])) && !spending.take(more(f64::NAN)));
            prop_assert!(spending.charges.iter().map(FitCharge::rho).sum::<f64>() <= parts[0] * (1.0 + 1e-15));
        }
    }
}
