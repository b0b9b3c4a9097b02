//! The labels of itemsets that are drawn privately.

use super::units::{ROW_LIMITS, ROWS_PUBLIC};
use super::{Guarantee, Mode, Neighbours, PrivacyUnit};
use crate::Cost;
use random::Source;

/// What the label of drawn itemsets depends on.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct DrawnItemsets {
    /// The cost of all draws together.
    pub cost: Cost,
    pub draws: u64,
    pub neighbours: Neighbours,
    /// The epsilon that the publication claims for a draw, if its constant is used.
    pub claimed: Option<f64>,
}

impl table::Choice for Neighbours {
    const NAMES: &'static [(&'static str, Self)] =
        &[("replace", Neighbours::Replace), ("add_remove", Neighbours::AddRemove)];
}

impl Guarantee {
    /// Independent draws from the itemset mechanism.
    pub fn dp_itemsets(drawn: &DrawnItemsets, source: Source) -> Self {
        let draws = match drawn.draws {
            1 => "one draw".to_string(),
            draws => format!("{draws} draws, whose epsilons add up"),
        };
        let label = Guarantee::none(format!("itemset mechanism, {draws}")).with_itemset_limits();
        let mut label = label.dp(drawn.cost, PrivacyUnit::Row, source);
        label.neighbours = Some(drawn.neighbours);
        if drawn.neighbours == Neighbours::Replace {
            label.assumptions.push(ROWS_PUBLIC.into());
        }
        label.assumptions.push("theta does not depend on the rows".into());
        if let Some(claimed) = drawn.claimed {
            label.mode = Mode::Paper;
            label.paper_claim = Some(format!("({claimed}, 0)-differential privacy for each draw"));
            label.paper_claim_holds = Some(true);
        }
        label
    }

    /// The itemsets of largest supports, with noisy supports.
    pub fn dp_frequent_itemsets(cost: Cost, gaussian: bool, source: Source) -> Self {
        let noise = if gaussian { "Gaussian" } else { "Laplace" };
        let mechanism = format!(
            "itemsets taken one after the other by the exponential mechanism, supports with discrete \
             {noise} noise"
        );
        Guarantee::none(mechanism).with_itemset_limits().dp(cost, PrivacyUnit::Row, source)
    }

    fn with_itemset_limits(mut self) -> Self {
        self.assumptions.push("the domains of the columns are public".into());
        self.not_covered = ROW_LIMITS.map(String::from).into();
        self
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::GuaranteeKind;

    fn drawn(neighbours: Neighbours, claimed: Option<f64>) -> DrawnItemsets {
        let cost = Cost { epsilon: 2.0, delta: 0.0 };
        DrawnItemsets { cost, draws: 4, neighbours, claimed }
    }

    #[test]
    fn draws_are_labelled_with_what_all_of_them_cost() {
        let label = Guarantee::dp_itemsets(&drawn(Neighbours::Replace, None), Source::Os);
        assert_eq!(
            (label.kind, label.epsilon, label.delta),
            (GuaranteeKind::Dp, Some(2.0), Some(0.0))
        );
        assert_eq!((label.neighbours, label.mode), (Some(Neighbours::Replace), Mode::Default));
        assert!(label.mechanism.contains("4 draws") && label.paper_claim.is_none());
        assert!(label.sentence().contains("what is in any one row"), "{}", label.sentence());
        assert!(label.not_covered.iter().any(|limit| limit.contains("the time")));
        assert_eq!(label.assumptions.len(), 3);
        let label = Guarantee::dp_itemsets(&drawn(Neighbours::AddRemove, Some(2.0)), Source::Os);
        assert_eq!((label.neighbours, label.mode), (Some(Neighbours::AddRemove), Mode::Paper));
        assert_eq!((label.paper_claim_holds, label.assumptions.len()), (Some(true), 2));
    }

    #[test]
    fn a_seed_proves_nothing_of_what_comes_out() {
        let label = Guarantee::dp_itemsets(&drawn(Neighbours::Replace, None), Source::Seeded);
        assert_eq!((label.kind, label.epsilon), (GuaranteeKind::None, None));
        let cost = Cost { epsilon: 1.0, delta: 1e-9 };
        let label = Guarantee::dp_frequent_itemsets(cost, true, Source::Seeded);
        assert_eq!(label.kind, GuaranteeKind::None);
        let label = Guarantee::dp_frequent_itemsets(cost, true, Source::Os);
        assert_eq!((label.kind, label.delta), (GuaranteeKind::Dp, Some(1e-9)));
        assert!(label.mechanism.contains("Gaussian"));
        assert!(
            !Guarantee::dp_frequent_itemsets(cost, false, Source::Os)
                .mechanism
                .contains("Gaussian")
        );
    }
}
