//! The label beside every output: what is guaranteed, under which assumptions, and what is not.

use crate::{Cost, Plan, Scheme, Source};
use serde::Serialize;
use std::collections::BTreeMap;

/// The kind of a guarantee. It never exceeds what is proved.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Kind {
    Dp,
    Ldp,
    KAnonymity,
    BreachBound,
    Bayesian,
    Syntactic,
    None,
}

/// How a delta was computed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum DeltaMethod {
    Exact,
    Li2012,
}

/// Which tables a private mechanism must not tell apart.
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
pub enum Unit {
    Row,
    Cell,
    Person,
}

/// Whether the mechanism is ours or a publication's to the letter.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Mode {
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

/// The label. Fields that do not apply are left out of its JSON.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Guarantee {
    pub kind: Kind,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub epsilon: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub delta: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub delta_method: Option<DeltaMethod>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub neighbours: Option<Neighbours>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub unit: Option<Unit>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub gamma: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub rho1: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub rho2: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub k: Option<u64>,
    /// Properties of the output that are no guarantee.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub metrics: BTreeMap<&'static str, f64>,
    pub assumptions: Vec<String>,
    pub not_covered: Vec<String>,
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
}

/// A label with its sentence, as users see it.
#[derive(Serialize)]
pub struct Label<'a> {
    #[serde(flatten)]
    guarantee: &'a Guarantee,
    sentence: String,
}

const SYNTACTIC_LIMITS: [&str; 3] = [
    "attribute disclosure: rows of a class may share a sensitive value",
    "minimality attack: which cells are suppressed follows from the table, and tells of it",
    "composition: several releases of one table may be combined",
];

impl Guarantee {
    /// A label that promises nothing.
    fn none(mechanism: impl Into<String>) -> Self {
        Guarantee {
            kind: Kind::None,
            epsilon: None,
            delta: None,
            delta_method: None,
            neighbours: None,
            unit: None,
            gamma: None,
            rho1: None,
            rho2: None,
            k: None,
            metrics: BTreeMap::new(),
            assumptions: Vec::new(),
            not_covered: Vec::new(),
            mechanism: mechanism.into(),
            mode: Mode::Default,
            rng: None,
            numeric: None,
            paper_claim: None,
            paper_claim_holds: None,
        }
    }

    /// Suppression of minimal infrequent itemsets: a property of the source, no guarantee.
    pub fn mii_suppress(theta: u64, max_length: Option<usize>) -> Self {
        let mut label = Guarantee {
            not_covered: vec![
                "uniqueness in the release: a released row may be the only one of its form".into(),
            ],
            mode: Mode::Paper,
            ..Guarantee::none("suppression of minimal infrequent itemsets")
        };
        if max_length.is_none() {
            label.metrics.insert("min_support_in_source", theta as f64 + 1.0);
            label.paper_claim = Some(
                "what is left of a row is contained in more than theta rows of the table".into(),
            );
            label.paper_claim_holds = Some(true);
        }
        label.with_syntactic_limits(max_length)
    }

    /// k-MII: k-anonymous by equality classes.
    pub fn k_mii(k: u64, max_length: Option<usize>) -> Self {
        Guarantee {
            kind: Kind::KAnonymity,
            k: Some(k),
            mode: Mode::Paper,
            paper_claim: Some("the release is k-anonymous".into()),
            paper_claim_holds: Some(true),
            assumptions: vec!["classes are rows that look equal in the release".into()],
            ..Guarantee::none(
                "k-MII: suppression of minimal infrequent itemsets, small classes dropped",
            )
        }
        .with_syntactic_limits(max_length)
    }

    /// Lean suppression: k-anonymous by equality classes.
    pub fn k_anonymize(k: u64, max_length: Option<usize>) -> Self {
        Guarantee {
            kind: Kind::KAnonymity,
            k: Some(k),
            assumptions: vec!["classes are rows that look equal in the release".into()],
            ..Guarantee::none("lean suppression to k-anonymity")
        }
        .with_syntactic_limits(max_length)
    }

    /// A private sample, by its plan and the source of its coins.
    pub fn dp_mii_sample(plan: &Plan, source: Source) -> Self {
        let request = &plan.request;
        let mut label = Guarantee {
            k: Some(request.k),
            rng: Some(source),
            ..Guarantee::none(format!("sampling and suppression, scheme {}", request.scheme.name()))
        };
        let Some(total) = plan.total else {
            label.mode = Mode::Paper;
            label.mechanism = "DP-MII-suppress as published: k-anonymous release; scheme rows \
                               unprotected; sample size data dependent"
                .into();
            label.numeric = Some(Numeric::Exact);
            label.paper_claim = Some(format!(
                "({}, {})-differential privacy",
                request.epsilon,
                up(plan.delta_li.min(request.delta))
            ));
            label.paper_claim_holds = Some(false);
            label.not_covered = vec![
                "a row in the part that gives the rare combinations has no protection".into(),
                "the number of rows drawn tells the number of rows that were left".into(),
            ];
            return label;
        };
        label = label.dp(total, source);
        label.delta_method = Some(DeltaMethod::Exact);
        label.assumptions.push(match request.scheme {
            Scheme::Public => "the public table holds nothing of the private one".into(),
            _ => "domains are public; values outside them are mapped before".into(),
        });
        label
    }

    /// Imputation of a released table: the guarantee of that table, which nothing done to a release
    /// can weaken. Without its label nothing is known.
    pub fn impute(of: Option<&Guarantee>) -> Self {
        let Some(of) = of else {
            return Guarantee {
                not_covered: vec!["the table that was filled has no label".into()],
                ..Guarantee::none("imputation")
            };
        };
        let mut label = of.clone();
        label.mechanism = format!("{}, then imputation", of.mechanism);
        label.assumptions.push("the imputation saw the released table only".into());
        if of.k.is_some() {
            // Filled cells split classes: the count of equal rows is that of the release before.
            label.k = None;
            label.not_covered.push("classes may be smaller after filling".into());
            if label.kind == Kind::KAnonymity {
                label.kind = Kind::None;
            }
        }
        label
    }

    /// A table drawn from Krimp's patterns, class by class or not: a function of the table with
    /// noise that was made for no purpose of privacy.
    pub fn krimp_generate(class: Option<&str>, source: Source) -> Self {
        let mut label = Guarantee {
            mode: Mode::Paper,
            rng: Some(source),
            numeric: Some(Numeric::F64),
            paper_claim: Some("generated rows cannot be identified with original ones".into()),
            paper_claim_holds: Some(false),
            not_covered: vec![
                "a row can come out as it is in the source, the sooner the fewer patterns it takes"
                    .into(),
                "every value of the source can come out, whatever min_support is".into(),
                "how often something comes out tells how often it is in the source".into(),
            ],
            ..Guarantee::none("Krimp: rows put together from patterns of the source")
        };
        if let Some(class) = class {
            label.not_covered.push(format!("the counts of the values of {class} are exact"));
        }
        label
    }

    /// Makes the label one of differential privacy for rows that are added or removed, with exact
    /// probabilities. Coins of a seed can be repeated by anyone who knows it: then nothing is promised.
    pub fn dp(mut self, cost: Cost, source: Source) -> Self {
        self.rng = Some(source);
        self.numeric = Some(Numeric::Exact);
        self.neighbours = Some(Neighbours::AddRemove);
        self.unit = Some(Unit::Row);
        self.not_covered.extend([
            "several rows of one person: epsilon counts once for each".to_string(),
            "other releases of the same table: their epsilons and deltas add up".to_string(),
            "the time that the call takes".to_string(),
        ]);
        match source {
            Source::Os => {
                self.kind = Kind::Dp;
                self.epsilon = Some(cost.epsilon);
                self.delta = Some(cost.delta);
            }
            Source::Seeded => {
                self.kind = Kind::None;
                self.not_covered.push("the coins come from a seed (no guarantee)".into());
            }
        }
        self
    }

    /// Says that columns are returned as they are.
    pub fn keeping(mut self, columns: &[&str]) -> Self {
        if !columns.is_empty() {
            self.not_covered.push(format!("columns returned unchanged: {}", columns.join(", ")));
        }
        self
    }

    fn with_syntactic_limits(mut self, max_length: Option<usize>) -> Self {
        self.not_covered.extend(SYNTACTIC_LIMITS.map(String::from));
        if let Some(longest) = max_length {
            self.not_covered
                .push(format!("combinations of more than {longest} values in the source"));
        }
        self
    }

    /// The label with its sentence, to be serialised.
    pub fn label(&self) -> Label<'_> {
        Label { guarantee: self, sentence: self.sentence() }
    }

    /// One or two plain sentences for a data-sharing agreement.
    pub fn sentence(&self) -> String {
        let mut text = match self.kind {
            Kind::Dp => self.dp_sentence(),
            Kind::KAnonymity => String::from("The released table is k-anonymous."),
            _ => format!(
                "The released table ({}) comes with no privacy guarantee against an attacker.",
                self.mechanism
            ),
        };
        if let Some(k) = self.k {
            text +=
                &format!(" Every row of it looks like at least {} others.", k.saturating_sub(1));
        }
        if let Some(support) = self.metrics.get("min_support_in_source") {
            text += &format!(
                " The values left in a row occur together in at least {support} rows of the original table."
            );
        }
        if !self.not_covered.is_empty() {
            text += &format!(" Not covered: {}.", self.not_covered.join("; "));
        }
        text
    }

    fn dp_sentence(&self) -> String {
        let (epsilon, delta) = (self.epsilon.unwrap_or(0.0), self.delta.unwrap_or(0.0));
        let unit = match self.unit {
            Some(Unit::Person) => "person's rows",
            Some(Unit::Cell) => "cell",
            _ => "row",
        };
        let change = match self.neighbours {
            Some(Neighbours::Replace) => "what is in any one",
            _ => "whether any one",
        };
        let verb = match self.neighbours {
            Some(Neighbours::Replace) => "",
            _ => " is in the original table or not",
        };
        let except = if delta > 0.0 {
            format!(", but for a probability of at most {}", up(delta))
        } else {
            String::new()
        };
        format!(
            "The released table is ({}, {})-differentially private: {change} {unit}{verb} changes the \
             probability of anything that can be seen in it by at most a factor of {}{except}, \
             whatever else is known.",
            epsilon,
            up(delta),
            up(epsilon.exp())
        )
    }
}

/// A number to three digits, rounded up: in a promise, more is safer than less.
fn up(x: f64) -> f64 {
    if x <= 0.0 || !x.is_finite() {
        return x;
    }
    let text = format!("{x:.2e}");
    let rounded: f64 = text.parse().unwrap_or(x);
    if rounded >= x {
        return rounded;
    }
    let unit = 10f64.powf(x.log10().floor() - 2.0);
    format!("{:.2e}", rounded + unit).parse().unwrap_or(x)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Request;
    use serde_json::{Value, json};

    fn plan(scheme: Scheme) -> Plan {
        Plan::new(Request {
            scheme,
            epsilon: 1.0,
            delta: 1e-6,
            k: 10,
            split: 0.1,
            max_length: scheme.usual_length(),
            columns: 5,
            theta1: None,
        })
        .unwrap()
    }

    fn value(guarantee: &Guarantee) -> Value {
        serde_json::to_value(guarantee.label()).unwrap()
    }

    #[test]
    fn private_samples_say_epsilon_and_delta() {
        for scheme in [Scheme::Public, Scheme::DpCounts, Scheme::DpSplit] {
            let label = value(&Guarantee::dp_mii_sample(&plan(scheme), Source::Os));
            assert_eq!(label["kind"], "dp");
            assert_eq!(label["neighbours"], "add_remove");
            assert_eq!(label["unit"], "row");
            assert_eq!(label["rng"], "os");
            assert_eq!(label["numeric"], "exact");
            assert_eq!(label["mode"], "default");
            assert_eq!(label["delta_method"], "exact");
            assert_eq!(label["k"], 10);
            assert!(label["epsilon"].as_f64().unwrap() <= 1.0);
            assert!(label["delta"].as_f64().unwrap() <= 1e-6);
            assert_eq!(label.get("gamma"), None);
            let sentence = label["sentence"].as_str().unwrap();
            assert!(sentence.contains("differentially private"), "{sentence}");
        }
    }

    #[test]
    fn a_seed_voids_the_guarantee() {
        let label = value(&Guarantee::dp_mii_sample(&plan(Scheme::DpCounts), Source::Seeded));
        assert_eq!(label["kind"], "none");
        assert_eq!(label["rng"], "seeded");
        assert_eq!(label.get("epsilon"), None);
        assert!(label["sentence"].as_str().unwrap().contains("no privacy guarantee"));
    }

    #[test]
    fn the_paper_keeps_its_claim_and_gets_no_kind() {
        let label = value(&Guarantee::dp_mii_sample(&plan(Scheme::Paper), Source::Os));
        assert_eq!(label["kind"], "none");
        assert_eq!(label["mode"], "paper");
        assert_eq!(label["paper_claim_holds"], false);
        assert!(label["mechanism"].as_str().unwrap().contains("scheme rows unprotected; sample"));
        assert_eq!(label["paper_claim"], "(1, 0.000001)-differential privacy");
        assert_eq!(label.get("epsilon"), None);
    }

    #[test]
    fn suppression_is_no_differential_privacy() {
        let label = value(&Guarantee::mii_suppress(4, None));
        assert_eq!(label["kind"], "none");
        assert_eq!(label["metrics"], json!({"min_support_in_source": 5.0}));
        assert_eq!(value(&Guarantee::mii_suppress(4, Some(2))).get("metrics"), None);
        for label in [Guarantee::k_mii(5, None), Guarantee::k_anonymize(5, None)] {
            assert_eq!(value(&label)["kind"], "k-anonymity");
            assert!(label.sentence().contains("at least 4 others"));
            assert!(label.sentence().contains("composition"));
        }
    }

    #[test]
    fn imputation_inherits_what_survives_it() {
        let private = Guarantee::dp_mii_sample(&plan(Scheme::Public), Source::Os);
        let filled = Guarantee::impute(Some(&private));
        assert_eq!((filled.kind, filled.epsilon, filled.k), (Kind::Dp, private.epsilon, None));
        assert_eq!(Guarantee::impute(Some(&Guarantee::k_mii(5, None))).kind, Kind::None);
        assert_eq!(Guarantee::impute(None).kind, Kind::None);
    }

    #[test]
    fn kept_columns_are_named() {
        let label = Guarantee::k_mii(2, None).keeping(&["name", "town"]);
        assert!(label.sentence().contains("columns returned unchanged: name, town"));
        assert_eq!(Guarantee::k_mii(2, None).keeping(&[]), Guarantee::k_mii(2, None));
    }

    #[test]
    fn promised_numbers_are_rounded_up() {
        for (x, expected) in [
            (0.0, 0.0),
            (1.0, 1.0),
            (0.0012341, 0.00124),
            (9.999e-7, 1e-6),
            (2.7123, 2.72),
            (99.91, 100.0),
        ] {
            assert_eq!(up(x), expected);
        }
        assert_eq!(up(f64::INFINITY), f64::INFINITY);
    }
}
