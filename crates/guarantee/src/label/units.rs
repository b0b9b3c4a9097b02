//! How the label of a protected source names its units: the label promises what the ledger charges.

use super::{Guarantee, GuaranteeKind, Neighbours, PrivacyUnit};
use crate::Cost;

/// What a private method protects in a source without declared units.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Protects {
    /// One row more or less. A unit costs as much as all of its rows, so their number must be bounded by someone.
    Rows,
    /// The contents of a row. That a row exists is visible, and so is the number of rows.
    Contents,
    /// One unit more or less: the method itself bounds the rows of a unit.
    Units,
}

/// The terms that the owner of a protected source set, and what the ledger charges for a release of it.
#[derive(Debug, Clone)]
pub struct Protected<'a> {
    /// The column that identifies units.
    pub unit: &'a str,
    pub rows_per_unit: u64,
    /// The owner vouches for a view whose definition does not show that it is stable.
    pub assumed_stable: bool,
    pub counts: Protects,
    /// What is charged.
    pub cost: Cost,
}

/// A limit of methods that protect rows, for sources without units.
pub(super) const SEVERAL_ROWS: &str =
    "several rows of one person: epsilon counts once for each, and delta grows faster";

/// The limits of methods that protect rows, one release at a time.
pub(super) const ROW_LIMITS: [&str; 3] = [
    SEVERAL_ROWS,
    "other releases of the same table: their epsilons and deltas add up",
    "the time that the call takes",
];

/// An assumption of methods that protect the contents of rows, not their existence.
pub(super) const ROWS_PUBLIC: &str = "the number of rows is public";

impl Guarantee {
    /// The label of a release of a protected source by a private method. Whom it protects, and at which epsilon and
    /// delta, is what the ledger has charged. This is the one place where labels and charges meet.
    pub fn of_units(mut self, protected: &Protected<'_>) -> Self {
        let Protected { unit, rows_per_unit, cost, .. } = *protected;
        let contents = protected.counts == Protects::Contents;
        match &mut self.proved {
            Some(proved) if matches!(proved.kind, GuaranteeKind::Dp | GuaranteeKind::Ldp) => {
                (proved.epsilon, proved.delta) = (Some(cost.epsilon), Some(cost.delta));
            }
            _ if matches!(self.kind, GuaranteeKind::Dp | GuaranteeKind::Ldp) => {
                (self.epsilon, self.delta) = (Some(cost.epsilon), Some(cost.delta));
            }
            // There is no promise to adapt.
            _ => return self,
        }
        self.unit = Some(PrivacyUnit::Person);
        self.neighbours = Some(if contents { Neighbours::Replace } else { Neighbours::AddRemove });
        self.not_covered.retain(|line| line != SEVERAL_ROWS);
        // The charge also covers one row more or less, or the owner says that the number of rows is public.
        self.assumptions.retain(|line| line != ROWS_PUBLIC);
        let mut add = |line: String| {
            if !self.assumptions.contains(&line) {
                self.assumptions.push(line);
            }
        };
        add(format!("a person has one value of {unit}"));
        add("each row of the relation depends on its own unit alone".into());
        match protected.counts {
            Protects::Units => {
                self.mechanism += &format!("; at most {rows_per_unit} rows of a person count");
                self.not_covered.push("rows whose unit is NULL: they are left out".into());
            }
            Protects::Rows | Protects::Contents => {
                add(format!("a person has at most {rows_per_unit} rows: more are refused"));
            }
        }
        if contents {
            add(format!("{ROWS_PUBLIC}: the owner has said so"));
        }
        if protected.assumed_stable {
            add(VOUCHED.into());
        }
        self
    }
}

pub(super) const VOUCHED: &str =
    "the owner vouches that the view keeps to this, although its definition does not show it";

#[cfg(test)]
mod tests {
    use super::*;
    use crate::label::DrawnItemsets;
    use random::Source;

    fn protected(counts: Protects, epsilon: f64) -> Protected<'static> {
        let cost = Cost { epsilon, delta: 0.0 };
        Protected { unit: "patient", rows_per_unit: 3, assumed_stable: true, counts, cost }
    }

    fn synthetic(coins: Source) -> Guarantee {
        Guarantee::dp_synthesize(Cost { epsilon: 1.0, delta: 1e-9 }, coins)
    }

    #[test]
    fn what_the_ledger_counts_is_what_the_label_says() {
        let label = synthetic(Source::Os).of_units(&protected(Protects::Units, 1.0));
        assert_eq!(
            (label.unit, label.neighbours),
            (Some(PrivacyUnit::Person), Some(Neighbours::AddRemove))
        );
        assert_eq!((label.epsilon, label.delta), (Some(1.0), Some(0.0)));
        assert!(label.mechanism.contains("at most 3 rows of a person count"));
        assert!(label.assumptions.iter().any(|line| line.contains("vouches")));
        assert!(!label.not_covered.iter().any(|line| line == SEVERAL_ROWS));
        assert!(label.sentence().contains("any one person's rows are"), "{}", label.sentence());
        let label = Guarantee::randomize_cells(1.0, Source::Os)
            .of_units(&protected(Protects::Contents, 3.0));
        assert_eq!(
            (label.unit, label.neighbours),
            (Some(PrivacyUnit::Person), Some(Neighbours::Replace))
        );
        assert_eq!((label.kind, label.epsilon), (GuaranteeKind::Ldp, Some(3.0)));
        assert!(label.assumptions.iter().any(|line| line.contains("the number of rows is public")));
        assert!(label.sentence().contains("what is in any one person's rows"));
    }

    #[test]
    fn the_number_of_rows_is_no_assumption_where_a_row_more_is_covered() {
        let cost = Cost { epsilon: 1.0, delta: 0.0 };
        let drawn =
            DrawnItemsets { cost, draws: 1, neighbours: Neighbours::Replace, claimed: None };
        let label = Guarantee::dp_itemsets(&drawn, Source::Os);
        assert!(label.assumptions.iter().any(|line| line == ROWS_PUBLIC));
        let label = label.of_units(&protected(Protects::Rows, 3.0));
        assert_eq!(label.neighbours, Some(Neighbours::AddRemove));
        assert!(!label.assumptions.iter().any(|line| line.contains(ROWS_PUBLIC)));
    }

    #[test]
    fn nothing_is_promised_of_coins_of_a_seed() {
        let label = synthetic(Source::Seeded).of_units(&protected(Protects::Rows, 3.0));
        assert_eq!((label.kind, label.epsilon), (GuaranteeKind::None, None));
        assert_eq!(label.proved.as_ref().and_then(|proved| proved.epsilon), Some(3.0));
        let plain = Guarantee::k_mii(5, None);
        assert_eq!(plain.clone().of_units(&protected(Protects::Rows, 3.0)), plain);
    }
}
