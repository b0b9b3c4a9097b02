//! The labels of k-anonymous releases, with or without general values and diverse or close classes.

use super::sentence::others;
use super::{Counts, Guarantee, GuaranteeKind, PrivacyUnit};
use serde::Serialize;

/// What the label of a k-anonymous release depends on beside k. Made from the arguments of `k_anonymize`.
#[derive(Debug, Clone, Copy, Default)]
pub struct ClassTerms<'a> {
    /// Cells may be shown at a level of their column's hierarchy.
    pub generalized: bool,
    /// The column that classes are diverse or close in; it is returned as it is.
    pub sensitive: Option<&'a str>,
    pub l: Option<f64>,
    /// `l` is the exponential of a class's entropy, not its number of values.
    pub entropy: bool,
    pub t: Option<f64>,
}

/// What holds for every class of a release in a column that is returned unchanged.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Sensitive {
    pub column: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub distinct_l: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub entropy_l: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub t: Option<f64>,
}

impl Sensitive {
    /// What is proved of the rows of a release, as a sentence.
    pub(super) fn sentence(&self, k: u64, counts: Counts) -> String {
        format!(" E{}.", &self.clause(k, counts)[1..])
    }

    /// The same, as a clause within a sentence.
    pub(super) fn clause(&self, k: u64, counts: Counts) -> String {
        let mut parts = Vec::new();
        if let Some(l) = self.distinct_l {
            let of = if counts == Counts::People { ", of as many different people" } else { "" };
            parts.push(format!("have at least {l} different values in it{of}"));
        }
        if let Some(l) = self.entropy_l {
            parts.push(format!("have the entropy of at least {l} equally frequent values in it"));
        }
        if let Some(t) = self.t {
            parts.push(format!("are within a distance of {t} of all released rows in it"));
        }
        format!(
            "every row of it {} in the columns beside \"{}\"; rows that look alike {}",
            others(k, counts),
            self.column,
            parts.join(" and ")
        )
    }
}

const MINIMALITY: &str = "minimality attack: how coarse a cell is shown depends on the table and reveals something about it";

/// People are counted in single rows.
const SEVERAL_KNOWN: &str = "several rows of one person: someone who knows two of them may find that person by both together";

impl Guarantee {
    /// k-anonymity with little loss: every released row looks like at least k - 1 others.
    pub fn k_anonymize(k: u64, max_length: Option<usize>, classes: &ClassTerms) -> Self {
        let mechanism = match (classes.generalized, classes.sensitive) {
            (false, None) => "lean suppression to k-anonymity",
            (false, Some(_)) => "suppression to k-anonymity with diverse or close classes",
            (true, None) => "local recoding to k-anonymity over hierarchies",
            (true, Some(_)) => {
                "local recoding to k-anonymity over hierarchies, with diverse or close classes"
            }
        };
        let mut label = Guarantee {
            kind: GuaranteeKind::KAnonymity,
            k: Some(k),
            assumptions: vec!["classes are rows that look equal in the release".into()],
            ..Guarantee::none(mechanism)
        }
        .with_syntactic_limits(max_length);
        if classes.generalized {
            label.not_covered[1] = MINIMALITY.into();
        }
        if let Some(column) = classes.sensitive {
            label.assumptions.push(format!("the column \"{column}\" is not known from elsewhere"));
            // Rows of a class may no longer share one sensitive value; the frequencies of the values in it are still
            // shown.
            label.not_covered[0] =
                "attribute disclosure: how frequent a sensitive value is in a class is shown"
                    .into();
            label.sensitive = Some(Sensitive {
                column: column.into(),
                distinct_l: classes.l.filter(|_| !classes.entropy),
                entropy_l: classes.l.filter(|_| classes.entropy),
                t: classes.t,
            });
        }
        label
    }

    /// True if the label states k.
    pub fn says_k(&self) -> bool {
        self.k.or_else(|| self.proved.as_ref()?.k).is_some()
    }

    /// Records that every person has at most one row: then k rows are rows of k people.
    pub fn with_one_row_each(mut self) -> Self {
        self.counts = Counts::OneRowEach;
        if let Some(proved) = &mut self.proved {
            proved.counts = Counts::OneRowEach;
        }
        self.assumptions.push("everybody has one row".into());
        self
    }

    /// Records what k and supports count: the people whom the column or path `unit` identifies, or rows. Called before
    /// [`Guarantee::keeping`].
    pub fn counting(mut self, unit: Option<&str>) -> Self {
        let Some(unit) = unit else {
            self.unit = Some(PrivacyUnit::Row);
            return self;
        };
        self.unit = Some(PrivacyUnit::Person);
        self.unit_column = Some(unit.into());
        self.counts = Counts::People;
        self.assumptions
            .push(format!("a person has one value of {unit}; rows without one count for nobody"));
        self.not_covered.push(SEVERAL_KNOWN.into());
        self
    }

    /// Whole columns at a level of their hierarchies: nothing is promised.
    pub fn generalize() -> Self {
        Guarantee {
            not_covered: vec![
                "uniqueness in the release: a released row may be the only one of its form".into(),
                "attribute disclosure: rows of a class may share a sensitive value".into(),
                "composition: several releases of one table may be combined".into(),
            ],
            ..Guarantee::none("whole columns shown at a level of their hierarchies")
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn value(label: &Guarantee) -> serde_json::Value {
        serde_json::to_value(label.label()).unwrap()
    }

    #[test]
    fn diverse_classes_are_told() {
        let classes = ClassTerms {
            sensitive: Some("ward"),
            l: Some(3.0),
            t: Some(0.2),
            ..ClassTerms::default()
        };
        let label = Guarantee::k_anonymize(5, None, &classes);
        assert_eq!(value(&label)["kind"], "k-anonymity");
        assert_eq!(
            value(&label)["sensitive"],
            json!({"column": "ward", "distinct_l": 3.0, "t": 0.2})
        );
        let sentence = label.sentence();
        for part in [
            "at least 4 others in the columns beside \"ward\"",
            "at least 3 different values",
            "within a distance of 0.2",
            "how frequent a sensitive value",
            "composition",
        ] {
            assert!(sentence.contains(part), "{part}: {sentence}");
        }
        let entropy = ClassTerms { entropy: true, t: None, ..classes };
        let label = Guarantee::k_anonymize(5, None, &entropy);
        assert_eq!(value(&label)["sensitive"], json!({"column": "ward", "entropy_l": 3.0}));
        assert!(label.sentence().contains("entropy of at least 3"));
    }

    #[test]
    fn people_or_rows_are_told() {
        let plain = || Guarantee::k_anonymize(5, None, &ClassTerms::default());
        let rows = plain().counting(None);
        assert_eq!((&value(&rows)["unit"], value(&rows).get("unit_column")), (&json!("row"), None));
        assert!(rows.sentence().contains("Rows are counted, not people"));
        let people = plain().counting(Some("stay_id.patient"));
        let label = value(&people);
        assert_eq!(
            (&label["unit"], &label["unit_column"]),
            (&json!("person"), &json!("stay_id.patient"))
        );
        let sentence = people.sentence();
        for part in
            ["looks like rows of at least 5 people", "People are counted", "knows two of them"]
        {
            assert!(sentence.contains(part), "{part}: {sentence}");
        }
        assert!(!sentence.contains("Rows are counted"), "{sentence}");
        // Kept columns leave a promise about the rest, which still counts people.
        let kept = people.keeping(&["patient"]);
        assert_eq!(
            (&value(&kept)["kind"], &value(&kept)["unit"]),
            (&json!("none"), &json!("person"))
        );
        assert!(kept.sentence().contains("every row of it looks like rows of at least 5 people"));
        assert!(kept.sentence().contains("People are counted"), "{}", kept.sentence());
        let found = Guarantee::mii_suppress(4, None).counting(Some("patient"));
        assert!(found.sentence().contains("in rows of at least 5 people of the original table"));
        // Filled cells make other classes.
        let filled = Guarantee::impute(Some(&plain().counting(Some("patient"))));
        assert_eq!((filled.unit, filled.unit_column), (None, None));
    }

    #[test]
    fn general_values_are_told() {
        let classes = ClassTerms { generalized: true, ..ClassTerms::default() };
        let label = Guarantee::k_anonymize(2, None, &classes);
        assert!(label.mechanism.contains("local recoding"));
        assert!(label.not_covered.iter().any(|limit| limit.contains("how coarse")));
        assert_eq!(value(&label).get("sensitive"), None);
        assert_eq!(value(&Guarantee::generalize())["kind"], "none");
    }
}
