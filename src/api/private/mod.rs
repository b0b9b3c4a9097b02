//! Releases with a differential privacy guarantee, and the budgets that pay for them.
//!
//! * `protection`: who is protected and who may ask. `population`: budgets that several relations share. `budget`: charges and how they add up.
//! * `aggregate`: noisy aggregates, the caller's side; `question`: what was asked and its queries; `answer`: the
//!   reader process; `bounded_rows`, `clamped_sums`: the aggregates that both use; `grid`: when answers are given.
//! * `domains`: public domains and bounds of columns.
//! * `sample`: private samples. `dp_itemsets`: itemsets drawn privately. `synthesize`: synthetic tables from noisy
//!   marginals; `synthesizer`: their stored model. `noise`: exact noise for one's own aggregates.

crate::method::family! {
    aggregate,
    bounded_rows,
    budget,
    clamped_sums,
    domains,
    dp_itemsets,
    grid,
    noise,
    population,
    protection,
    sample,
    synthesize,
}

pub mod answer;
pub mod question;
pub mod synthesizer;
