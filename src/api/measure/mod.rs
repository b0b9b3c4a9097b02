//! Measures of privacy and utility.
//!
//! * `classes`: k, l, t and suppressed cells of one table. `risk`: small classes and rows that few known cells identify.
//! * `compare`, `generated`, `utility`: a release beside its original.
//! * `cell_tables`: tables of counts and their audits. `answers_audit`: what exact answers reveal.
//! * `entropy`: what released statistics reveal, in bits.
//! * `privacy_report`: all of that as one report.

crate::method::family! {
    answers_audit,
    cell_tables,
    classes,
    compare,
    entropy,
    generated,
    privacy_report,
    risk,
    utility,
}
