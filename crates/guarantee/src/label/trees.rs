//! The labels of tables drawn from code trees.

use super::{Guarantee, Numeric};
use random::Source;

impl Guarantee {
    /// A table drawn from the code tree of a table that was not randomised.
    pub fn code_tree_generate(class: Option<&str>, source: Source) -> Self {
        let mechanism = "rows drawn from a dependent code tree of the source";
        let unchanged = "a row of the source can be generated unchanged";
        Guarantee::generated(mechanism, unchanged, class, source)
    }

    /// A table drawn from what was learnt of rows that were not randomised. `unchanged` says that rows of the source
    /// may come out as they are.
    pub(super) fn generated(
        mechanism: &str,
        unchanged: &str,
        class: Option<&str>,
        source: Source,
    ) -> Self {
        let mut not_covered = vec![
            unchanged.into(),
            "every value of the source can be generated, however rare it is".into(),
            "frequencies in the output reveal frequencies in the source".into(),
        ];
        let exact = |class| format!("the counts of the values of {class} are exact");
        not_covered.extend(class.map(exact));
        let (rng, numeric) = (Some(source), Some(Numeric::F64));
        Guarantee { rng, numeric, not_covered, ..Guarantee::none(mechanism) }
    }

    /// A table drawn from the code tree of rows whose cells, class included, were randomised. It keeps the guarantee
    /// of those rows, because nothing computed from them alone can weaken it.
    pub fn private_krimp_generate(epsilon: f64, source: Source) -> Self {
        Guarantee {
            mechanism: "randomised response on every cell, the class included; then Krimp and a \
                        dependent code tree of the randomised rows, from which rows are drawn"
                .into(),
            paper_claim: Some(
                "with an epsilon of 0.1 for each cell, a row changes the probability of any event \
                 by at most a factor of 1.11"
                    .into(),
            ),
            ..Guarantee::randomize_cells(epsilon, source)
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
    fn trees_of_randomised_rows_protect_as_these_do() {
        let label = value(&Guarantee::private_krimp_generate(1.5, Source::Os));
        let cells = value(&Guarantee::randomize_cells(1.5, Source::Os));
        for field in ["kind", "epsilon", "delta", "unit", "neighbours", "not_covered", "numeric"] {
            assert_eq!(label[field], cells[field], "{field}");
        }
        assert_eq!((&label["kind"], &label["epsilon"]), (&json!("ldp"), &json!(1.5)));
        assert_eq!(label["paper_claim_holds"], json!(false));
        let seeded = value(&Guarantee::private_krimp_generate(1.5, Source::Seeded));
        assert_eq!(seeded["kind"], json!("none"));
    }

    #[test]
    fn trees_of_plain_rows_protect_nothing() {
        let label = value(&Guarantee::code_tree_generate(Some("sex"), Source::Os));
        assert_eq!((&label["kind"], label.get("epsilon")), (&json!("none"), None));
        assert!(label["sentence"].as_str().unwrap().contains("the counts of the values of sex"));
    }
}
