//! The labels of suppression, private samples, noisy totals, imputation, generated and shuffled tables, and hidden
//! itemsets.

use super::sentence::up;
use super::units::{ROW_LIMITS, VOUCHED};
use super::{DeltaMethod, Guarantee, GuaranteeKind, Mode, Numeric, PrivacyUnit, Proved};
use crate::Cost;
use random::Source;

const SYNTACTIC_LIMITS: [&str; 3] = [
    "attribute disclosure: rows of a class may share a sensitive value",
    "minimality attack: which cells are suppressed depends on the table and reveals something about it",
    "composition: several releases of one table may be combined",
];

/// What the label of noisy totals depends on: the arguments of a question and the terms that the owner set.
#[derive(Debug, Clone, Default)]
pub struct Answers<'a> {
    pub cost: Cost,
    pub groups: AnswerGroups,
    /// The column that identifies people.
    pub unit: Option<&'a str>,
    pub rows_per_unit: Option<u64>,
    pub groups_per_unit: Option<u64>,
    /// The owner vouches for a view whose definition does not show that it is stable.
    pub assumed_stable: bool,
}

/// What the label of a private sample depends on. Made from its design.
#[derive(Debug, Clone)]
pub struct Sampled {
    /// The scheme's name.
    pub scheme: &'static str,
    /// The number of rows that share a form.
    pub k: u64,
    /// The cost that the caller asked for.
    pub asked: Cost,
    /// The cost that is guaranteed; `None` for the published scheme, which guarantees nothing.
    pub total: Option<Cost>,
    /// The bound of Li, Qardaji and Su on the delta of the sampling.
    pub delta_li: f64,
    /// An assumption that the scheme makes.
    pub assumption: Option<&'static str>,
}

/// Where the groups of an answer come from.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum AnswerGroups {
    #[default]
    None,
    /// From a public list.
    Public,
    /// From the rows, if enough people are in them.
    Private,
}

impl Guarantee {
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
            kind: GuaranteeKind::KAnonymity,
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

    /// A private sample, by its design and the source of its coins.
    pub fn dp_mii_sample(sampled: impl Into<Sampled>, source: Source) -> Self {
        let sampled = sampled.into();
        let mut label = Guarantee {
            k: Some(sampled.k),
            rng: Some(source),
            ..Guarantee::none(format!("sampling and suppression, scheme {}", sampled.scheme))
        };
        let Some(total) = sampled.total else {
            label.mode = Mode::Paper;
            label.proved = Some(Proved {
                kind: GuaranteeKind::KAnonymity,
                k: label.k,
                covers: "the released table".into(),
                ..Proved::default()
            });
            label.mechanism = "DP-MII-suppress as published: k-anonymous release; scheme rows \
                               unprotected; sample size data dependent"
                .into();
            label.numeric = Some(Numeric::Exact);
            label.paper_claim = Some(format!(
                "({}, {})-differential privacy",
                sampled.asked.epsilon,
                up(sampled.delta_li.min(sampled.asked.delta))
            ));
            label.paper_claim_holds = Some(false);
            label.not_covered = vec![
                "a row in the part that gives the rare combinations has no protection".into(),
                "the number of drawn rows reveals the number of remaining rows".into(),
            ];
            return label;
        };
        label.not_covered = ROW_LIMITS.map(String::from).into();
        label.delta_method = Some(DeltaMethod::Exact);
        label.assumptions.extend(sampled.assumption.map(String::from));
        label.dp(total, PrivacyUnit::Row, source)
    }

    /// Noisy answers to a question about totals; the unit of protection is a person.
    pub fn dp_aggregate(answers: &Answers) -> Self {
        let mut mechanism = String::from(if answers.cost.delta > 0.0 {
            "totals with discrete Laplace or discrete Gaussian noise, whichever is narrower"
        } else {
            "totals with discrete Laplace noise"
        });
        if let Some(rows) = answers.rows_per_unit {
            mechanism += &format!("; at most {rows} rows of a person count");
        }
        if let Some(groups) = answers.groups_per_unit {
            mechanism += &format!("; at most {groups} groups of a person count");
        }
        let mut assumptions = vec![
            "each row of the relation depends on its own unit alone".to_string(),
            "bounds of values are public or found privately".to_string(),
        ];
        match answers.groups {
            AnswerGroups::None => (),
            AnswerGroups::Public => assumptions.push("the list of groups is public".into()),
            AnswerGroups::Private => {
                mechanism += "; a group is shown if its noisy number of people is large enough"
            }
        }
        if let Some(unit) = answers.unit {
            assumptions.push(format!("a person has one value of {unit}"));
        }
        if answers.assumed_stable {
            assumptions.push(VOUCHED.into());
        }
        let not_covered = [
            "the time that the answer takes",
            "reads and writes of the whole cluster as its statistics show them",
            "the size of the table as the catalog shows it",
            "rows whose unit is NULL",
            "other releases that the ledger does not know",
        ];
        Guarantee {
            assumptions,
            not_covered: not_covered.map(String::from).into(),
            answers: true,
            ..Guarantee::none(mechanism)
        }
        .dp(answers.cost, PrivacyUnit::Person, Source::Os)
    }

    /// Imputation of a released table. Differential privacy survives any processing of a release. Promises about how
    /// rows look do not: filled cells make different rows. Without the label of the release nothing is known.
    pub fn impute(of: Option<&Guarantee>) -> Self {
        let Some(of) = of else {
            return Guarantee {
                not_covered: vec!["the label of the table that was filled is not known".into()],
                ..Guarantee::none("imputation")
            };
        };
        let mut label = of.clone();
        // Filled cells may depend on kept columns, or on the coins of a seed.
        label.proved = None;
        label.mechanism = format!("{}, then imputation", of.mechanism);
        label.assumptions.push("the imputation saw the released table only".into());
        if of.k.is_some() || of.sensitive.is_some() {
            label.not_covered.push("classes may be smaller after filling, and less diverse".into());
        }
        if !of.metrics.is_empty() {
            label.not_covered.push(
                "combinations of values: filled cells may make rare ones, and ones that were hidden"
                    .into(),
            );
        }
        (label.k, label.sensitive) = (None, None);
        label.metrics.clear();
        (label.paper_claim, label.paper_claim_holds) = (None, None);
        if matches!(label.kind, GuaranteeKind::KAnonymity | GuaranteeKind::Syntactic) {
            label.kind = GuaranteeKind::None;
        }
        if label.neighbours.is_none() {
            // Whom k and supports counted does not matter any more.
            (label.unit, label.unit_column) = (None, None);
        }
        label
    }

    /// A table drawn from Krimp's patterns, by class or as a whole. It is a function of the table with noise that was
    /// not designed for privacy.
    pub fn krimp_generate(class: Option<&str>, source: Source) -> Self {
        let unchanged = "a row of the source can be generated unchanged, the more likely the fewer patterns it consists of";
        Guarantee {
            mode: Mode::Paper,
            paper_claim: Some("generated rows cannot be identified with original ones".into()),
            paper_claim_holds: Some(false),
            ..Guarantee::generated(
                "Krimp: rows put together from patterns of the source",
                unchanged,
                class,
                source,
            )
        }
    }

    /// The label of columns shuffled in groups.
    pub fn shuffle_groups(source: Source) -> Self {
        Guarantee {
            rng: Some(source),
            numeric: Some(Numeric::Exact),
            not_covered: vec![
                "within a group of columns, the values of each row of the source stay together"
                    .into(),
                "every value is released exactly as often as in the source".into(),
                "the number of rows is exact".into(),
            ],
            ..Guarantee::none("groups of columns shuffled by themselves")
        }
    }

    /// The label of a table in which the listed itemsets are no longer frequent. That includes itemsets with columns
    /// that are never blanked.
    pub fn hide_itemsets(min_support: u64, keep: &[String]) -> Self {
        let mut label = Guarantee {
            not_covered: vec![
                "people: every row is released, most of them unchanged".into(),
                "itemsets that are not listed, including parts of listed ones and items that occur with them"
                    .into(),
                "the place of the blanks: a blank beside the rest of a listed itemset reveals that the \
                 itemset was there, and how often"
                    .into(),
                "composition: several releases of one table may be combined".into(),
            ],
            ..Guarantee::none("listed itemsets brought below a support by suppression")
        };
        if !keep.is_empty() {
            label.not_covered.push(format!("columns returned unchanged: {}", keep.join(", ")));
        }
        label.metrics.insert("max_support_of_listed", min_support.saturating_sub(1) as f64);
        label
    }

    pub(super) fn with_syntactic_limits(mut self, max_length: Option<usize>) -> Self {
        self.not_covered.extend(SYNTACTIC_LIMITS.map(String::from));
        if let Some(longest) = max_length {
            self.not_covered
                .push(format!("combinations of more than {longest} values in the source"));
        }
        self
    }

    /// Records that infrequent combinations were searched for in a share of the rows only. What was checked on all
    /// rows still holds; what depends on the search does not.
    pub fn searched_in_sample(mut self, share: f64) -> Self {
        self.metrics.remove("min_support_in_source");
        if self.kind == GuaranteeKind::None {
            (self.paper_claim, self.paper_claim_holds) = (None, None);
        }
        self.incomplete = Some(format!(
            "infrequent combinations were searched for in a share of {share} of the rows"
        ));
        self.not_covered.push("infrequent combinations that the sample does not show".into());
        self
    }
}
