//! Measures that describe a table, not the mechanism that made it.
//!
//! A class is the rows that are equal in every column but the sensitive one. Equality is that of a reader of the
//! table: NULL equals NULL, whether the cell was suppressed or never filled.
//!
//! Measures that take [`table::Units`] count people if these are given: the units that have one row with what is
//! counted. They count rows without them. Rows that have no unit count for nobody.
//!
//! [`class_risk`] lists the smallest classes. [`unicity`] measures how many rows or people a few known cells identify,
//! [`unicity_of_rows`] how many people some known rows identify.
//! [`utility`] compares a released table with its original: marginals, associations, and a model that distinguishes
//! them.
//!
//! `information` is about an operator instead: what its outputs reveal about its inputs, in bits. Three folders are
//! about published numbers instead of rows: [`entropy`] measures in bits what a statistic reveals, [`cells`]
//! suppresses small counts of a table with totals and audits such tables, [`answers`] audits exact sums. [`Rational`]
//! is their exact arithmetic.
#![forbid(unsafe_code)]

pub mod answers;
pub mod cells;
mod class_risk;
mod classes;
mod closeness;
mod combinations;
mod diversity;
pub mod entropy;
mod information;
mod itemsets;
mod leak;
mod matching;
mod meaning;
mod people_bounds;
mod postings;
mod rare_itemsets;
mod rational;
mod records;
mod row_counts;
mod sum;
mod supports;
mod suppression;
mod translation;
mod unicity;
mod unit_counters;
mod unit_rows;
pub mod utility;

pub use class_risk::{ClassRisk, SensitiveRisk, class_risk};
pub use classes::k_anonymity;
pub use closeness::t_closeness;
pub use diversity::{Diversity, l_diversity};
pub use information::{
    BreachBound, Information, breach_information, information, information_breach_bound,
};
pub use itemsets::{Comparison, compare_itemsets, least_support};
pub use leak::{Leak, rare_itemset_leak};
pub use meaning::{Cell, Made, Meaning};
pub use people_bounds::{People, people};
pub use rational::Rational;
pub use records::{CommonRecords, Score, anonymity_score, common_records};
pub use suppression::{ColumnSuppression, suppression};
pub use unicity::{Unicity, unicity, unicity_of_rows};
