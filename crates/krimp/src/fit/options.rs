//! What a fit is asked for.

use serde::{Deserialize, Serialize};
use std::time::Duration;
use table::Item;

/// Where candidates come from.
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
    /// It is no item: the row is shorter.
    #[default]
    Missing,
    /// It is an item like any value, so that patterns can contain it.
    Value,
}

impl table::Choice for Nulls {
    const NAMES: &'static [(&'static str, Self)] =
        &[("missing", Nulls::Missing), ("value", Nulls::Value)];
}

/// Something that no pattern may contain. Singletons are always in the table.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Forbidden {
    /// All of these columns, whatever the values.
    Columns(Vec<u32>),
    /// All of these items.
    Items(Vec<Item>),
}

impl Forbidden {
    /// True if an itemset, its items in item order, contains what is forbidden.
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

/// What a fit is asked for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Options {
    /// The least support of a pattern; at least 1.
    pub min_support: u64,
    /// The most items of a pattern.
    pub max_length: Option<usize>,
    pub candidates: Candidates,
    /// What no pattern may contain.
    pub forbidden: Vec<Forbidden>,
    /// Whether elements that no longer earn their place are taken out when another enters.
    pub prune: bool,
    pub nulls: Nulls,
    /// How long [`Candidates::Pairs`] are tried; without it until no pair makes the size smaller.
    pub time: Option<Duration>,
}

impl Options {
    /// All itemsets with at least this support, no pruning.
    pub fn new(min_support: u64) -> Self {
        Options {
            min_support,
            max_length: None,
            candidates: Candidates::All,
            forbidden: Vec::new(),
            prune: false,
            nulls: Nulls::Missing,
            time: None,
        }
    }

    /// True if an itemset, its items in item order, contains nothing that is forbidden.
    pub(crate) fn allows(&self, items: &[Item]) -> bool {
        !self.forbidden.iter().any(|forbidden| forbidden.is_in(items))
    }
}
