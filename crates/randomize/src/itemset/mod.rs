//! The itemset mechanism (paper 000, section 3.2): an itemset is drawn with a probability that grows with
//! its support, from all itemsets that the public domains allow, whether a row contains them or not.
//!
//! P(I) is proportional to exp(c min(theta, supp(I))) over the non-empty itemsets of at most `max_length` items.
//! There are too many to list, so they are counted and numbered:
//!
//! * `itemset_space`: all itemsets of the public domains, numbered from 0. Finds an itemset by its number.
//! * `subsets`: the itemsets that single rows contain, numbered row by row: an itemset has as many numbers as rows
//!   contain it.
//! * `support`: the number of rows that contain an itemset.
//! * `support_levels`: mined frequent itemsets by support; single ones can be removed.
//! * `threshold`: the support from which itemsets are mined, so that few draws are rejected.
//! * `powers`: enclosures of exp(-c k) for many integers k.
//! * `enclosed_choice`: an exact choice in proportion to reals that are only known by enclosures.
//! * `sampler`: the draw from all of these ([`Sampler`]); `sampler.md` has the proofs.
//!
//! Two mechanisms use it: [`ItemsetDraws`] makes independent draws, [`TopItemsets`] takes the itemsets of the largest
//! supports one after the other and adds noise to their supports (`top_itemsets.md`). For tests, `reference` has the
//! law by its definition, and `joint_law` that of the output of [`TopItemsets`].

mod draws;
mod enclosed_choice;
mod itemset_space;
#[cfg(test)]
mod joint_law;
mod powers;
#[cfg(test)]
mod reference;
mod sampler;
mod subsets;
mod support;
mod support_levels;
#[cfg(test)]
mod tests;
mod threshold;
mod top_itemsets;

pub use draws::{Constants, ItemsetDraws};
pub use sampler::{Sampler, Weights, check_space};
pub use threshold::SamplerPurpose;
pub use top_itemsets::{Found, TopItemsets};
