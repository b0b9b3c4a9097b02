//! The labels of randomised transactions.

use super::{Guarantee, Mode};
use random::Source;

/// What the label of a randomised transaction depends on. Made from its operator.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct RandomisedTransaction {
    /// The amplification of the operator, and its logarithm, both rounded up.
    pub gamma: f64,
    pub epsilon: f64,
    /// The number of items to which transactions are cut or filled up.
    pub size: usize,
    /// Transactions were grouped by size, which is public.
    pub size_public: bool,
}

impl Guarantee {
    /// Select-a-size, as a list of items.
    pub fn select_a_size(randomised: RandomisedTransaction, source: Source) -> Self {
        Guarantee::randomised("select-a-size randomisation", randomised, source)
    }

    /// Select-a-size, as a seed.
    pub fn randomize_to_seed(randomised: RandomisedTransaction, source: Source) -> Self {
        Guarantee::randomised("select-a-size randomisation, as a seed", randomised, source)
    }

    fn randomised(mechanism: &str, randomised: RandomisedTransaction, source: Source) -> Self {
        let RandomisedTransaction { gamma, epsilon, size, size_public } = randomised;
        let not_covered = [
            "whether a transaction exists, and the number of transactions",
            "a second randomisation of the same transaction: gamma multiplies",
            "dependent transactions: g of them are protected with g times epsilon",
            "the time that the call takes",
        ];
        let mut label = Guarantee {
            gamma: Some(gamma),
            assumptions: vec!["the universe of items is public".into()],
            not_covered: not_covered.map(String::from).into(),
            ..Guarantee::none(mechanism)
        };
        if !size_public {
            label.assumptions.push(format!(
                "the size {size} is public: longer transactions are cut to it by chance, shorter ones filled up with dummies"
            ));
        }
        let mut label = label.ldp(epsilon, source);
        if size_public {
            label.not_covered.insert(0, "transaction size".into());
            label.mode = Mode::Paper;
            label.paper_claim = Some("no property becomes more likely than gamma allows".into());
            label.paper_claim_holds = Some(false);
            label.prove_only();
            if let Some(proved) = &mut label.proved {
                proved.covers = "the transactions of one size".into();
            }
        }
        if let Some(proved) = &mut label.proved {
            proved.metrics.extend(label.gamma.take().map(|gamma| ("gamma", gamma)));
        }
        label
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::{Value, json};

    const USUAL: RandomisedTransaction =
        RandomisedTransaction { gamma: 19.0, epsilon: 2.945, size: 5, size_public: false };

    fn value(guarantee: &Guarantee) -> Value {
        serde_json::to_value(guarantee.label()).unwrap()
    }

    #[test]
    fn transactions_are_protected_locally_sizes_included() {
        for label in [
            Guarantee::select_a_size(USUAL, Source::Os),
            Guarantee::randomize_to_seed(USUAL, Source::Os),
        ] {
            let label = value(&label);
            assert_eq!((&label["kind"], &label["gamma"]), (&json!("ldp"), &json!(19.0)));
            assert_eq!((&label["unit"], &label["neighbours"]), (&json!("row"), &json!("replace")));
            assert!(label["assumptions"][1].as_str().unwrap().contains("size 5"));
        }
    }

    #[test]
    fn public_sizes_and_seeds_of_coins_leave_less() {
        let label = value(&Guarantee::select_a_size(
            RandomisedTransaction { size_public: true, ..USUAL },
            Source::Os,
        ));
        assert_eq!((&label["kind"], &label["proved"]["kind"]), (&json!("none"), &json!("ldp")));
        assert_eq!(label["not_covered"][0], "transaction size");
        assert_eq!(
            (label.get("gamma"), &label["proved"]["metrics"]["gamma"]),
            (None, &json!(19.0))
        );
        let label = value(&Guarantee::select_a_size(USUAL, Source::Seeded));
        assert_eq!((&label["kind"], &label["proved"]["kind"]), (&json!("none"), &json!("ldp")));
        assert_eq!(label.get("gamma"), None);
    }
}
