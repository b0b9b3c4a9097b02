//! The labels of synthetic tables.

use super::units::SEVERAL_ROWS;
use super::{Guarantee, PrivacyUnit};
use crate::Cost;
use random::Source;

impl Guarantee {
    /// Rows drawn from a model that was fitted to noisy marginals, or the model itself.
    pub fn dp_synthesize(cost: Cost, source: Source) -> Self {
        let mechanism = "marginals chosen by the exponential mechanism and counted with discrete Gaussian noise, and rows drawn from a model of them";
        let not_covered = [
            "the time that the call takes",
            "other releases of the same table: their epsilons and deltas add up",
            SEVERAL_ROWS,
        ];
        Guarantee {
            assumptions: vec![
                "domains, bounds, workload and column names are public, and were not chosen by looking at the rows".into(),
            ],
            not_covered: not_covered.map(String::from).into(),
            ..Guarantee::none(mechanism)
        }
        .dp(cost, PrivacyUnit::Row, source)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::label::{GuaranteeKind, Neighbours};

    const COST: Cost = Cost { epsilon: 1.0, delta: 1e-9 };

    #[test]
    fn rows_are_protected() {
        let label = Guarantee::dp_synthesize(COST, Source::Os);
        assert_eq!((label.kind, label.unit), (GuaranteeKind::Dp, Some(PrivacyUnit::Row)));
        assert_eq!((label.epsilon, label.delta), (Some(1.0), Some(1e-9)));
        assert_eq!(label.neighbours, Some(Neighbours::AddRemove));
    }

    #[test]
    fn a_seed_ends_the_promise() {
        let label = Guarantee::dp_synthesize(COST, Source::Seeded);
        assert_eq!((label.kind, label.epsilon), (GuaranteeKind::None, None));
        assert_eq!(label.proved.unwrap().epsilon, Some(1.0));
    }
}
