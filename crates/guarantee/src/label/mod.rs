//! The label beside every output: what is guaranteed, under which assumptions, and what is not covered.

mod cells;
mod classes;
mod composition;
mod itemsets;
mod methods;
mod operators;
mod sentence;
mod synthetic;
mod transactions;
mod trees;
mod units;

pub use classes::{ClassTerms, Sensitive};
pub use composition::told_after;
pub use itemsets::DrawnItemsets;
pub use methods::{AnswerGroups, Answers, Sampled};
pub use transactions::RandomisedTransaction;
pub use units::{Protected, Protects};

use crate::Cost;
use random::Source;
use serde::Serialize;
use std::collections::BTreeMap;

/// The kind of a guarantee. It never exceeds what is proved.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum GuaranteeKind {
    Dp,
    Ldp,
    KAnonymity,
    BreachBound,
    Bayesian,
    Syntactic,
    #[default]
    None,
}

/// How the delta of a sampling is computed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum DeltaMethod {
    /// The smallest delta for which the guarantee holds.
    #[default]
    Exact,
    /// The bound of Li, Qardaji and Su, as the paper uses it.
    #[serde(rename = "li2012")]
    Li,
}

impl table::Choice for DeltaMethod {
    const NAMES: &'static [(&'static str, Self)] =
        &[("exact", DeltaMethod::Exact), ("li", DeltaMethod::Li)];
}

/// Which pairs of tables a private mechanism must make indistinguishable.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Neighbours {
    /// One row more or less.
    AddRemove,
    /// One row changed.
    Replace,
}

/// Whose presence is protected.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum PrivacyUnit {
    Row,
    Cell,
    Person,
}

/// Whether the mechanism is our own or follows a publication to the letter.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Mode {
    #[default]
    Default,
    Paper,
}

/// Whether probabilities are exact.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Numeric {
    Exact,
    F64,
}

/// A promise about a part of the output, where there is none about the whole.
#[derive(Debug, Clone, Default, PartialEq, Serialize)]
pub struct Proved {
    pub kind: GuaranteeKind,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub epsilon: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub delta: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub k: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub sensitive: Option<Sensitive>,
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub metrics: BTreeMap<&'static str, f64>,
    #[serde(skip)]
    counts: Counts,
    /// The part that the promise is about.
    pub covers: String,
}

/// The label. Fields that do not apply are left out of its JSON.
#[derive(Debug, Clone, Default, PartialEq, Serialize)]
pub struct Guarantee {
    pub kind: GuaranteeKind,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub epsilon: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub delta: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub delta_method: Option<DeltaMethod>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub neighbours: Option<Neighbours>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub unit: Option<PrivacyUnit>,
    /// The column, or the path, that identifies the people who were counted.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub unit_column: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub gamma: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub rho1: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub rho2: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub k: Option<u64>,
    /// What holds for every class in a column that is returned unchanged.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub sensitive: Option<Sensitive>,
    /// What is proved although the kind is `none`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub proved: Option<Proved>,
    /// Properties of the output that are not guarantees.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub metrics: BTreeMap<&'static str, f64>,
    pub assumptions: Vec<String>,
    pub not_covered: Vec<String>,
    /// What was left out of a search.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub incomplete: Option<String>,
    pub mechanism: String,
    pub mode: Mode,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub rng: Option<Source>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub numeric: Option<Numeric>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub paper_claim: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub paper_claim_holds: Option<bool>,
    /// The output is totals, not a table.
    #[serde(skip)]
    answers: bool,
    /// What k and supports count.
    #[serde(skip)]
    counts: Counts,
}

/// What k and supports count.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
enum Counts {
    #[default]
    Rows,
    /// Rows; every person has at most one, so k rows belong to k people.
    OneRowEach,
    People,
}

const WITHOUT: &str = ", without the columns ";

/// A label with its sentence, as users see it.
#[derive(Serialize)]
pub struct Label<'a> {
    #[serde(flatten)]
    guarantee: &'a Guarantee,
    sentence: String,
}

impl Guarantee {
    /// A label that promises nothing.
    fn none(mechanism: impl Into<String>) -> Self {
        Guarantee { mechanism: mechanism.into(), ..Guarantee::default() }
    }

    /// Makes the label one of differential privacy for rows or people that are added or removed, with exact
    /// probabilities. Anyone who knows a seed can repeat its coins, so a seed voids the promise.
    fn dp(mut self, cost: Cost, unit: PrivacyUnit, source: Source) -> Self {
        self.rng = Some(source);
        self.numeric = Some(Numeric::Exact);
        self.neighbours = Some(Neighbours::AddRemove);
        self.unit = Some(unit);
        self.kind = GuaranteeKind::Dp;
        self.epsilon = Some(cost.epsilon);
        self.delta = Some(cost.delta);
        if source == Source::Seeded {
            self.not_covered.push("the coins come from a seed (no guarantee)".into());
            self.prove_only();
            if let Some(proved) = &mut self.proved {
                proved.covers = "a sample that is drawn like this one, but without a seed".into();
            }
        }
        self
    }

    /// Makes the label one of local differential privacy: each row is randomised by itself, so its output says little
    /// about it. Neighbours differ in one row's values; that a row exists is not secret.
    fn ldp(self, epsilon: f64, source: Source) -> Self {
        let mut label = self.dp(Cost { epsilon, delta: 0.0 }, PrivacyUnit::Row, source);
        label.neighbours = Some(Neighbours::Replace);
        match &mut label.proved {
            Some(proved) => proved.kind = GuaranteeKind::Ldp,
            None => label.kind = GuaranteeKind::Ldp,
        }
        label
    }

    /// Turns the promise about the output into one about a part of it.
    fn prove_only(&mut self) {
        if self.kind != GuaranteeKind::None {
            self.proved = Some(Proved {
                kind: self.kind,
                epsilon: self.epsilon.take(),
                delta: self.delta.take(),
                counts: self.counts,
                covers: "the released table".into(),
                ..Proved::default()
            });
            self.kind = GuaranteeKind::None;
        }
    }

    /// Records that columns are returned unchanged. Nothing is promised of whole rows any more.
    pub fn keeping(self, columns: &[&str]) -> Self {
        self.apart_from(columns, |columns| format!("columns returned unchanged: {columns}"))
    }

    /// Records that the values of columns were replaced, equal ones by equal ones. Rows stay linked by them, and the
    /// number of rows that refer to a row can identify it. Nothing is promised of whole rows any more.
    pub fn linked_by(self, columns: &[&str]) -> Self {
        self.apart_from(columns, |columns| {
            format!(
                "rows linked by keys: values of {columns} were replaced, equal ones by equal ones, so the number of rows that refer to a row can still identify it"
            )
        })
    }

    /// Records that the values of keys were replaced, each by one that was no key before. Only for private methods:
    /// someone who sees the new keys knows that none of them is an old one, and about how many rows there were.
    pub fn with_new_keys(self, columns: &[&str]) -> Self {
        let kind = self.proved.as_ref().map_or(self.kind, |proved| proved.kind);
        if !matches!(kind, GuaranteeKind::Dp | GuaranteeKind::Ldp) {
            return self;
        }
        self.apart_from(columns, |columns| {
            format!(
                "keys: new values of {columns} are none of the old ones, and their range follows the number of rows"
            )
        })
    }

    /// Withdraws the promise about whole rows: what is proved holds without these columns.
    fn apart_from(mut self, columns: &[&str], not_covered: impl Fn(&str) -> String) -> Self {
        if columns.is_empty() {
            return self;
        }
        let columns = columns.join(", ");
        self.not_covered.push(not_covered(&columns));
        self.prove_only();
        if self.proved.is_none() && !self.metrics.is_empty() {
            self.kind = GuaranteeKind::Syntactic;
            self.prove_only();
        }
        if let Some(proved) = &mut self.proved {
            proved.k = self.k.take().or(proved.k);
            proved.sensitive = self.sensitive.take().or(proved.sensitive.take());
            proved.metrics.append(&mut self.metrics);
            let without = if proved.covers.contains(WITHOUT) { ", " } else { WITHOUT };
            proved.covers += &format!("{without}{columns}");
        }
        // The publications do not consider such columns.
        if self.paper_claim_holds == Some(true) {
            (self.paper_claim, self.paper_claim_holds) = (None, None);
        }
        self
    }

    /// The label with its sentence, to be serialised.
    pub fn label(&self) -> Label<'_> {
        Label { guarantee: self, sentence: self.sentence() }
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
    fn answers_protect_people() {
        let cost = Cost { epsilon: 0.5, delta: 0.0 };
        let plain = Guarantee::dp_aggregate(&Answers { cost, ..Answers::default() });
        let label = value(&plain);
        assert_eq!((&label["kind"], &label["unit"]), (&json!("dp"), &json!("person")));
        assert_eq!((&label["epsilon"], &label["delta"]), (&json!(0.5), &json!(0.0)));
        assert_eq!(label["neighbours"], "add_remove");
        assert_eq!(label["mechanism"], "totals with discrete Laplace noise");
        let start =
            "The answer is (0.5, 0)-differentially private: whether any one person's rows are";
        assert!(plain.sentence().starts_with(start), "{}", plain.sentence());
        let answers = Answers {
            cost: Cost { delta: 1e-6, ..cost },
            groups: AnswerGroups::Private,
            unit: Some("patient"),
            rows_per_unit: Some(3),
            groups_per_unit: Some(2),
            assumed_stable: true,
        };
        let label = Guarantee::dp_aggregate(&answers);
        for part in ["Gaussian", "at most 3 rows", "at most 2 groups", "noisy number of people"] {
            assert!(label.mechanism.contains(part), "{}", label.mechanism);
        }
        assert_eq!(label.assumptions.len(), 4);
        let public = Answers { groups: AnswerGroups::Public, ..answers };
        assert_eq!(Guarantee::dp_aggregate(&public).assumptions.len(), 5);
    }

    #[test]
    fn suppression_is_no_differential_privacy() {
        let label = value(&Guarantee::mii_suppress(4, None));
        assert_eq!(label["kind"], "none");
        assert_eq!(label["metrics"], json!({"min_support_in_source": 5.0}));
        assert_eq!(value(&Guarantee::mii_suppress(4, Some(2))).get("metrics"), None);
        for label in
            [Guarantee::k_mii(5, None), Guarantee::k_anonymize(5, None, &ClassTerms::default())]
        {
            assert_eq!(value(&label)["kind"], "k-anonymity");
            assert!(label.sentence().contains("at least 4 others"));
            assert!(label.sentence().contains("composition"));
        }
    }
}
