//! No mechanism refutes its label, except the published scheme. A quick version with fixed seeds; `examples/audit.rs`
//! is the long one.

#[path = "audit/cases.rs"]
mod cases;

use cases::{Case, Finding, cases, identical_rows, pairs_at_the_threshold, tight_class};
use pg_sanitize_sample::Scheme;
use random::Coins;

fn run(case: &Case, scheme: Scheme, runs: usize) -> Finding {
    case.run(scheme, runs, Coins::seeded)
}

fn assert_holds(scheme: Scheme) {
    for case in cases(scheme) {
        let runs = if case.tables[0].row_count() > 5000 { 1000 } else { 8000 };
        let found = run(&case, scheme, runs);
        assert!(found.bound <= found.epsilon, "{found}");
    }
}

#[test]
fn public_schemes_keep_their_label() {
    assert_holds(Scheme::Public);
}

#[test]
fn noisy_counts_keep_their_label() {
    assert_holds(Scheme::DpCounts);
}

#[test]
fn noisy_counts_of_a_part_keep_their_label() {
    assert_holds(Scheme::DpSplit);
}

#[test]
fn chosen_columns_keep_their_label() {
    assert_holds(Scheme::DpSelect);
}

#[test]
fn the_audit_comes_close_where_the_theorem_is_tight() {
    let found = run(&tight_class(), Scheme::Public, 20_000);
    assert!(found.bound > 0.4 * found.epsilon, "{found}");
}

#[test]
fn a_sample_size_that_depends_on_the_table_gives_the_paper_away() {
    let found = run(&identical_rows(), Scheme::Paper, 2000);
    assert!(found.bound > 10.0 * found.epsilon, "{found}");
}

#[test]
fn rows_that_give_the_rare_combinations_give_the_paper_away() {
    let found = run(&pairs_at_the_threshold(), Scheme::Paper, 2000);
    assert!(found.bound > 3.0 * found.epsilon, "{found}");
}
