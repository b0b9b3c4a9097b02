//! The privacy report: what a release, or each of two, protects and what it is good for, as JSON and as a
//! page.
//!
//! * [`options`] reads the caller's options.
//! * [`tables`] reads the tables, and decides which columns are compared, and in which of them rows were to look alike.
//! * [`measured`] counts, on threads.
//! * [`json`] makes the JSON of the report from the counts.
//! * [`budget`] reads the part of the original's budget that the caller may see.

mod budget;
mod json;
mod measured;
mod options;
mod tables;

use crate::api::prelude::*;
use crate::api::shared::input::original_and_released;
pub use options::Candidate;
use options::Options;
use report::Report;
use tables::Tables;

const OPTIONS: Argument<Json> = Argument::of("options")
    .or("{}")
    .about("What the report is asked for, by name: {\"method\": \"k_anonymize\", \"options\": {\"k\": 5}}.");

const PRIVACY_REPORT: Method = Method::new(
    "privacy_report",
    &[&ORIGINAL, &RELEASED, &OPTIONS],
    Returns::One(Type::Json),
    |call| jsonb::datum(&serde_json::to_value(made(call)?).map_err(Error::fault)?),
)
.reading()
.about(
    "what a release protects and what it is good for: its guarantee, the original's risk, \
         what was blanked and changed, classes, distributions, itemsets, budget, and a verdict. \
         It shows values of the original: for the privacy officer, not for publishing",
);

const PRIVACY_REPORT_HTML: Method = Method::new(
    "privacy_report_html",
    &[&ORIGINAL, &RELEASED, &OPTIONS],
    Returns::One(Type::Text),
    |call| call.value(Text(report::html(&made(call)?))),
)
.reading()
.about(
    "the privacy report as a page of HTML that stands by itself, with charts. It shows \
         values of the original: for the privacy officer, not for publishing",
);

/// The report that a call asks for.
fn made(call: &Call) -> Result<Report> {
    let (original, released) = original_and_released(call)?;
    let options = Options::read(&call.get(&OPTIONS)?, original, released)?;
    // Ranges of dates and numbers are made of texts of one form.
    let tables = rights::with_local_formats(|| Tables::read(original, &options))?;
    let plan = options.plan();
    let mut report = match tables.original.bag.width() {
        0 => json::label_alone(&tables, &options),
        _ => {
            let measured =
                pool::run("reporting", tables.memory(), |watch| plan.measure(&tables, watch))?;
            json::report(&tables, &options, &plan, measured)
        }
    };
    let made_at =
        sql::texts("SELECT pg_catalog.to_char(pg_catalog.now(), 'YYYY-MM-DD HH24:MI TZ')", &[])?;
    report.made_at = made_at.into_iter().flatten().next().unwrap_or_default();
    report.budget = budget::accounts(original)?;
    Ok(report)
}

methods! {
    sanitize_privacy_report => PRIVACY_REPORT;
    sanitize_privacy_report_html => PRIVACY_REPORT_HTML;
}
