//! Minimal infrequent itemsets (MIIs), frequent and closed itemsets of a [`table::Bag`].
//!
//! An item is a (column, value) pair, an itemset has at most one value per column, and its support is the number of
//! rows that contain it. A NULL cell is no item. An MII occurs, has a support of at most theta, and every proper
//! non-empty subset of it has a larger support.
//!
//! With [`table::Units`] a support is a number of units instead, people say: of those who have one row that contains
//! the itemset. A row without a unit counts for nobody. An itemset that only such rows contain occurs, but has support
//! 0, so that it is infrequent even where theta is 0. Visitors get all rows that contain an MII, those without a unit
//! included. [`candidates()`] counts rows.
//!
//! # The functions and their callers
//!
//! | call | result | callers |
//! |---|---|---|
//! | [`miis`] | a list of MIIs | `mine_miis` |
//! | [`visit_miis`] | each MII with its rows to a [`Visitor`], no list | suppression, private samples, leak measures |
//! | [`risk`] | counts by column and value | `mii_risk` |
//! | [`frequent()`], [`closed`] | a list of itemsets | `frequent_itemsets`, the comparison of itemsets |
//! | [`candidates()`] | itemsets in one fixed order, few bytes each | Krimp |
//! | [`candidates_of`] | the same for a list that was found elsewhere | code trees of randomised rows |
//! | [`bound`], [`orthogonal`] | the largest number of MIIs, tables that have them | `mii_bound`, `orthogonal_array` |
//!
//! # The steps of a search
//!
//! `project` reduces the data step by step: items are ranked by support, the rows that contain a prefix are reduced
//! to the items that may still follow, and rows that become equal are merged into groups. `mii` and `frequent` are
//! depth-first searches over these projections, with a rayon task per first item or two. Where few groups are left, a
//! set of groups is a few machine words and a narrow search continues with those. Where rows have many items, nothing
//! is projected and supports are counted from `bitmaps` of the items' rows. Results go to a `Sink`: an `itemset_list`
//! within the limits of the watch, or a visitor. `reference` has all definitions for tests.
//!
//! # How units are counted
//!
//! Supports in units do not add up over rows, because two rows may be of one unit. They do over the rows of units that
//! have only one distinct row in a projection: these are merged as rows are, and their weight is a number of units.
//! The others are in groups of their unit, one unit after the other, so that a unit is new where it differs from the
//! last one that was seen. Step by step fewer units have several rows, so that the deeper part of a search is that of
//! rows. Pruning stays right: a group of more than theta units is frequent, and an item may be dropped if every row
//! has it (not if as many units have it). Only [`closed`] has no bitmaps for units.
//!
//! # Why frequent itemsets are mined in two ways
//!
//! [`frequent()`] lists itemsets in no particular order from projections, which hold only items of rows: the cost of
//! a table of a thousand sparse columns depends on its cells, and the search has no recursion. [`candidates()`] needs
//! itemsets in item order, in a form that can be sorted by support without a copy of each set, and has to omit
//! forbidden ones during the search: it grows a prefix tree column by column over sorted rows, whose nodes are the
//! candidates. That is also cheaper (Adult at a support of 500, sorting included: 0.80 against 1.13 thousand million
//! instructions, and 12 bytes a set against 75). But it holds two numbers for every cell, NULL or not, and recurses
//! as deep as there are columns. Closed candidates come from [`closed`] and are put into such a tree.
#![forbid(unsafe_code)]

mod bitmaps;
mod candidates;
mod frequent;
mod itemset_list;
mod mii;
pub mod orthogonal;
mod project;
#[doc(hidden)]
pub mod reference;
#[cfg(test)]
mod tests;

pub use candidates::{CandidateKind, CandidateList, Run, candidates, candidates_of};
pub use frequent::{closed, frequent};
pub use mii::{
    BOUND_COLUMNS, ColumnRisk, RiskCounts, Subtree, Visitor, bound, miis, risk, visit_miis,
};
