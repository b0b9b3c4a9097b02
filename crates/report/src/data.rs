//! The contents of a report, as measured. The code that makes them cuts lists to a length that a page can show.

use crate::verdict::Verdict;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use std::collections::BTreeMap;

/// A report on one release, or on two that are candidates.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Report {
    pub title: String,
    pub made_at: String,
    /// The columns that are compared.
    pub columns: Vec<String>,
    /// The columns by which someone may be recognised: in a release, rows should look alike in them.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub known_columns: Vec<String>,
    /// What is not compared, and why.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub notes: Vec<String>,
    pub original: Original,
    pub releases: Vec<Release>,
    /// The part of the original's budget that is spent, if it has one that the reader may see.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub budget: Vec<Account>,
}

/// The table from which releases were made.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Original {
    pub name: String,
    pub rows: u64,
    /// The classes of rows that are equal in the known columns.
    pub classes: ClassSizes,
    /// Combinations that at most this number of rows share stand out.
    pub theta: u64,
    /// The largest number of columns of such a combination.
    pub max_length: usize,
    /// In the order of the known columns.
    pub risk: Vec<ColumnRisk>,
    /// The values through which the most rows stand out.
    pub risky_values: Vec<ValueRisk>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub unicity: Vec<Unicity>,
}

/// Rows that stand out through a column.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct ColumnRisk {
    pub column: String,
    pub combinations: u64,
    pub rows: u64,
}

/// Rows that stand out through a value.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct ValueRisk {
    pub column: String,
    pub value: String,
    pub combinations: u64,
    pub rows: u64,
}

/// The numbers of rows that look alike.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct ClassSizes {
    /// The number of rows of the smallest class; none without rows.
    pub smallest: Option<u64>,
    pub number: u64,
    /// The number of rows that look like no other row.
    pub alone: u64,
    pub sizes: Vec<ClassSize>,
}

/// Classes of some sizes.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct ClassSize {
    pub from: u64,
    /// `None`: that number or more.
    pub to: Option<u64>,
    pub classes: u64,
    pub rows: u64,
}

/// A released table, compared with the original.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Release {
    pub name: String,
    pub rows: u64,
    /// The method that made it, if known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub method: Option<String>,
    /// The label of that method: kind, epsilon, k, sentence, assumptions, not_covered, …
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub guarantee: Option<Value>,
    pub verdict: Vec<Verdict>,
    /// The columns in which rows should look alike: a class is the rows that are equal in them.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub class_columns: Vec<String>,
    /// Further columns in which rows should look alike, which are not compared.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub not_compared: Vec<String>,
    pub classes: ClassSizes,
    /// The classes of the original in the same columns.
    #[serde(default)]
    pub classes_before: ClassSizes,
    /// The sensitive column in the classes.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub sensitive: Option<Sensitive>,
    /// The people in the classes, where the original identifies the person of each row.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub people: Option<People>,
    /// Values were made coarser or blanked, not drawn.
    #[serde(default)]
    pub coarser: bool,
    /// What coarse values stand for: the most common ones of each column.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub coarse: Vec<CoarseValue>,
    /// In the order of the columns.
    pub columns: Vec<ColumnChange>,
    /// In descending order of their difference.
    pub pairs: Vec<PairChange>,
    pub crossed: Vec<Crossed>,
    /// The measures of `utility`, by name.
    pub utility: BTreeMap<String, Option<f64>>,
    pub itemsets: ItemsetChange,
    /// 0: no row of the original can be recognised in the release; 1: all can.
    pub anonymity_score: Option<f64>,
    pub common_rows: CommonRows,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub unicity: Vec<Unicity>,
}

/// The diversity of a column in the least diverse class, and the largest distance of a class from all rows.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Sensitive {
    pub column: String,
    pub distinct_l: Option<f64>,
    pub entropy_l: Option<f64>,
    pub t: Option<f64>,
}

/// The number of people in classes. Released rows do not say which rows they were, so there are bounds.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct People {
    /// The column that identifies people.
    pub unit: String,
    pub classes: u64,
    /// Classes of fewer than k people, for certain and at worst.
    pub surely_fewer: u64,
    pub perhaps_fewer: u64,
    /// The fewest people in a class: the lower and the upper bound.
    pub fewest: u64,
    pub fewest_at_most: u64,
}

/// A value that stands for several values of the original, of which the first and the last are given.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct CoarseValue {
    pub column: String,
    pub value: String,
    /// The share of the rows that show it.
    pub rows: f64,
    pub values: u64,
    pub first: String,
    pub last: String,
}

/// A column before and after. Shares are of the rows of each table.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct ColumnChange {
    pub column: String,
    pub original_nulls: f64,
    pub released_nulls: f64,
    pub original_values: u64,
    pub released_values: u64,
    /// The total variation distance of the values: at least this share of the cells was changed.
    pub changed: f64,
    /// The share of the column's information that is lost, if it was measured.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub loss: Option<f64>,
    /// The most common values, or ranges of numbers.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub values: Vec<ValueShare>,
}

/// The shares of a value or a group of values; `None` is NULL.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct ValueShare {
    pub value: Option<String>,
    /// Several values, described by the text.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub grouped: bool,
    pub original: f64,
    pub released: f64,
}

/// Two columns before and after.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct PairChange {
    pub a: String,
    pub b: String,
    /// The total variation distance of their combinations.
    pub changed: f64,
    /// Cramér's V.
    pub original_v: f64,
    pub released_v: f64,
}

/// The combinations of the most common values of two columns, by the value of a, then of b. `None` is NULL; the last
/// row and column are all other values.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Crossed {
    pub a: String,
    pub b: String,
    pub a_values: Vec<Option<String>>,
    pub b_values: Vec<Option<String>>,
    pub original: Vec<Vec<f64>>,
    pub released: Vec<Vec<f64>>,
}

/// Frequent itemsets before and after.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct ItemsetChange {
    pub min_share: f64,
    /// The largest number of items of an itemset.
    pub max_length: usize,
    pub original: u64,
    pub released: u64,
    pub common: u64,
    pub missing: u64,
    pub added: u64,
    pub support_difference: Option<f64>,
}

/// The share of the rows of each table that occur in the other.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct CommonRows {
    pub of_released: Option<f64>,
    pub of_original: Option<f64>,
}

/// The share of rows that someone identifies who knows this number of their cells.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Unicity {
    pub known: u32,
    pub share: f64,
}

/// A budget, or a role's share of it.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Account {
    /// `None`: the whole budget.
    pub grantee: Option<String>,
    pub epsilon: Option<f64>,
    pub epsilon_spent: f64,
    pub delta: Option<f64>,
    pub delta_spent: f64,
}
