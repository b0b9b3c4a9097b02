//! The parameters of a fit.

use serde::{Deserialize, Serialize};
use std::time::Duration;
use table::Item;

/// The source of candidates.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Candidates {
    /// All frequent itemsets.
    #[default]
    All,
    /// The frequent itemsets that have no superset of equal support.
    Closed,
    /// Unions of two elements of the table, the most promising ones first: for data with too many
    /// frequent itemsets. The search can be ended at any time.
    Pairs,
}

impl table::Choice for Candidates {
    const NAMES: &'static [(&'static str, Self)] =
        &[("all", Candidates::All), ("closed", Candidates::Closed), ("pairs", Candidates::Pairs)];
}

/// How a NULL cell counts.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Nulls {
    /// NULL is not an item: the row is shorter.
    #[default]
    Missing,
    /// NULL is an item like any value, so that patterns can contain it.
    Value,
}

impl table::Choice for Nulls {
    const NAMES: &'static [(&'static str, Self)] =
        &[("missing", Nulls::Missing), ("value", Nulls::Value)];
}

/// A combination that no pattern may contain. Singletons are always in the table.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Forbidden {
    /// All of these columns, whatever the values.
    Columns(Vec<u32>),
    /// All of these items.
    Items(#[serde(with = "crate::model::json::pairs")] Vec<Item>),
}

impl Forbidden {
    /// True if an itemset, with its items in item order, contains the forbidden combination.
    fn is_in(&self, items: &[Item]) -> bool {
        match self {
            Forbidden::Columns(columns) => columns
                .iter()
                .all(|column| items.binary_search_by_key(column, |item| item.column).is_ok()),
            Forbidden::Items(forbidden) => {
                forbidden.iter().all(|item| items.binary_search(item).is_ok())
            }
        }
    }
}

/// The parameters of a fit.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct Options {
    /// The least support of a pattern; at least 1.
    pub min_support: u64,
    /// The most items of a pattern.
    pub max_length: Option<usize>,
    pub candidates: Candidates,
    /// What no pattern may contain.
    #[serde(default)]
    pub forbidden: Vec<Forbidden>,
    /// Whether elements that are no longer worth their bits are removed when another enters.
    pub prune: bool,
    pub nulls: Nulls,
    /// The time for trying [`Candidates::Pairs`]; without it they are tried until no pair makes the size smaller.
    #[serde(skip)]
    pub time: Option<Duration>,
}

impl Options {
    /// All itemsets with at least this support, no pruning.
    pub fn new(min_support: u64) -> Self {
        Options { min_support, ..Options::default() }
    }

    /// True if an itemset, with its items in item order, contains no forbidden combination.
    pub(crate) fn allows(&self, items: &[Item]) -> bool {
        !self.forbidden.iter().any(|forbidden| forbidden.is_in(items))
    }
}
