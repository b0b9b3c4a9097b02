//! The labels of synthetic tables.

use super::{Guarantee, Unit};
use crate::Cost;
use random::Source;

/// What the label of a table from noisy marginals depends on. Made from the arguments of a call and from
/// what the owner laid down.
#[derive(Debug, Clone)]
pub struct Synthetic<'a> {
    pub cost: Cost,
    /// The column that tells people apart; `None` where each row counts for itself.
    pub unit: Option<&'a str>,
    pub rows_per_unit: Option<u64>,
    /// The owner has said that a view may be asked although it is not seen to be stable.
    pub assumed_stable: bool,
    pub coins: Source,
}

impl Guarantee {
    /// Rows drawn from a model that was fitted to noisy marginals, or the model itself.
    pub fn dp_synthesize(synthetic: &Synthetic<'_>) -> Self {
        let mut mechanism = String::from(
            "marginals chosen by the exponential mechanism and counted with discrete Gaussian noise, and rows drawn from a model of them",
        );
        let mut assumptions = vec![
            "domains, bounds, workload and column names are public, and were not chosen by looking at the rows".to_string(),
        ];
        let mut not_covered = vec![
            "the time that the call takes".to_string(),
            "other releases of the same table: their epsilons and deltas add up".to_string(),
        ];
        let unit = match synthetic.unit {
            Some(unit) => {
                assumptions.push(format!("a person has one value of {unit}"));
                assumptions.push("each row of the relation depends on its own unit alone".into());
                not_covered.push("rows whose unit is NULL: they are left out".into());
                Unit::Person
            }
            None => {
                not_covered.push("several rows of one person: epsilon counts once for each".into());
                Unit::Row
            }
        };
        if let Some(rows) = synthetic.rows_per_unit {
            mechanism += &format!("; of a person at most {rows} rows count");
        }
        if synthetic.assumed_stable {
            assumptions.push(
                "the owner vouches that the view keeps to this, although its definition does not show it".into(),
            );
        }
        Guarantee { assumptions, not_covered, ..Guarantee::none(mechanism) }.dp(
            synthetic.cost,
            unit,
            synthetic.coins,
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::label::{Kind, Neighbours};

    fn synthetic() -> Synthetic<'static> {
        let cost = Cost { epsilon: 1.0, delta: 1e-9 };
        Synthetic {
            cost,
            unit: None,
            rows_per_unit: None,
            assumed_stable: false,
            coins: Source::Os,
        }
    }

    #[test]
    fn rows_or_people_are_protected() {
        let label = Guarantee::dp_synthesize(&synthetic());
        assert_eq!((label.kind, label.unit), (Kind::Dp, Some(Unit::Row)));
        assert_eq!((label.epsilon, label.delta), (Some(1.0), Some(1e-9)));
        assert_eq!(label.neighbours, Some(Neighbours::AddRemove));
        let people = Synthetic { unit: Some("patient"), rows_per_unit: Some(3), ..synthetic() };
        let label = Guarantee::dp_synthesize(&people);
        assert_eq!(label.unit, Some(Unit::Person));
        assert!(label.mechanism.contains("at most 3 rows"));
    }

    #[test]
    fn a_seed_ends_the_promise() {
        let label = Guarantee::dp_synthesize(&Synthetic { coins: Source::Seeded, ..synthetic() });
        assert_eq!((label.kind, label.epsilon), (Kind::None, None));
        assert_eq!(label.proved.unwrap().epsilon, Some(1.0));
    }
}
