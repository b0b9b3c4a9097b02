//! The labels of randomised cells, and of exact counts of independent rows.

use super::units::SEVERAL_ROWS;
use super::{Guarantee, GuaranteeKind, Mode, Neighbours, Numeric, PrivacyUnit};
use random::Source;

impl Guarantee {
    /// Randomised response on every cell; `epsilon` is that of a whole row.
    pub fn randomize_cells(epsilon: f64, source: Source) -> Self {
        let not_covered = [
            "whether a row exists, and the number of rows",
            SEVERAL_ROWS,
            "dependent rows: g of them are protected with g times epsilon",
            "other releases of the same table: their epsilons add up",
            "the time that the call takes",
        ];
        Guarantee {
            assumptions: vec!["the domains of the columns are public".into()],
            not_covered: not_covered.map(String::from).into(),
            paper_claim: Some("every cell is epsilon-dependent on the release".into()),
            paper_claim_holds: Some(false),
            ..Guarantee::none("randomised response on every cell")
        }
        .ldp(epsilon, source)
    }

    /// An exact count that is released if it lies between two limits that were fixed before, and refused otherwise.
    /// `epsilon` covers both outcomes.
    pub fn exact_count(epsilon: f64) -> Self {
        Guarantee {
            assumptions: vec![
                "rows are independent, and each is 1 with the given probability".into(),
                "the attacker knows this law, and no row beside the one in question".into(),
                "the ends between which a count is released were fixed without the data".into(),
            ],
            ..Guarantee::bayesian(epsilon, "an exact count, or its refusal")
        }
    }

    /// Exact counts of all values of a column.
    pub fn exact_counts(epsilon: f64) -> Self {
        Guarantee {
            assumptions: vec![
                "rows are independent, and each has a value with the given probabilities".into(),
                "the attacker knows this law, and no row beside the one in question".into(),
            ],
            ..Guarantee::bayesian(epsilon, "exact counts of all values")
        }
    }

    /// The belief about any row changes by a factor of at most e^epsilon with the release.
    fn bayesian(epsilon: f64, mechanism: &str) -> Self {
        Guarantee {
            kind: if epsilon.is_finite() { GuaranteeKind::Bayesian } else { GuaranteeKind::None },
            epsilon: Some(epsilon).filter(|epsilon| epsilon.is_finite()),
            neighbours: Some(Neighbours::Replace),
            unit: Some(PrivacyUnit::Row),
            mode: Mode::Default,
            numeric: Some(Numeric::F64),
            not_covered: vec![
                "an attacker who knows other rows: with all of them, the last follows".into(),
                "several counts of the same rows".into(),
                "a guarantee without a prior: this is no differential privacy".into(),
            ],
            ..Guarantee::none(mechanism)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::{Value, json};

    fn value(guarantee: &Guarantee) -> Value {
        serde_json::to_value(guarantee.label()).unwrap()
    }

    #[test]
    fn randomised_cells_protect_rows_locally() {
        let label = value(&Guarantee::randomize_cells(1.5, Source::Os));
        assert_eq!((&label["kind"], &label["unit"]), (&json!("ldp"), &json!("row")));
        assert_eq!((&label["epsilon"], &label["neighbours"]), (&json!(1.5), &json!("replace")));
        let sentence = label["sentence"].as_str().unwrap();
        assert!(
            sentence.starts_with("The released table is 1.5-locally differentially private"),
            "{sentence}"
        );
        assert!(
            sentence.contains("what is in any one row") && sentence.contains("4.49"),
            "{sentence}"
        );
    }

    #[test]
    fn a_seed_or_a_kept_column_leaves_less() {
        let seeded = value(&Guarantee::randomize_cells(1.5, Source::Seeded));
        assert_eq!((&seeded["kind"], &seeded["proved"]["kind"]), (&json!("none"), &json!("ldp")));
        let kept = value(&Guarantee::randomize_cells(0.5, Source::Os).keeping(&["id"]));
        assert_eq!((&kept["kind"], &kept["proved"]["epsilon"]), (&json!("none"), &json!(0.5)));
        let sentence = kept["sentence"].as_str().unwrap();
        assert!(sentence.contains("it is 0.5-locally differentially private"), "{sentence}");
    }

    #[test]
    fn exact_counts_need_a_prior() {
        let label = value(&Guarantee::exact_count(0.2));
        assert_eq!((&label["kind"], &label["epsilon"]), (&json!("bayesian"), &json!(0.2)));
        let sentence = label["sentence"].as_str().unwrap();
        assert!(sentence.contains("by at most a factor of 1.23"), "{sentence}");
        let nothing = value(&Guarantee::exact_counts(f64::INFINITY));
        assert_eq!(nothing["kind"], json!("none"));
        assert!(nothing["sentence"].as_str().unwrap().contains("no privacy guarantee"));
    }
}
