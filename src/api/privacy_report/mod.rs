//! The privacy report: what a release, or each of two, protects and what it is good for, as JSON and as a
//! page.
//!
//! * [`options`] is what a caller may ask for.
//! * [`measured`] counts, on the threads.
//! * [`told`] puts what was counted into the words of the report.
//! * [`budget`] is what the caller may see of the original's budget.

mod budget;
mod measured;
mod options;
mod told;

use super::arguments::{ORIGINAL, RELEASED};
use super::hierarchy::of_columns;
use super::input::Input;
use crate::method::{Method, methods};
use crate::pg::argument::{Argument, Type};
use crate::pg::call::Call;
use crate::pg::error::Error;
use crate::pg::relation::Relation;
use crate::pg::signature::Returns;
use crate::pg::text::Text;
use crate::pg::{jsonb, pool, reader, sql};
use options::{Candidate, Options};
use pgrx::IntoDatum;
use pgrx::pg_sys::Oid;
use report::Report;
use serde_json::Value as Json;
use suppress::Hierarchy;

const OPTIONS: Argument<Json> = Argument {
    name: "options",
    of: Type::Json,
    default: Some("{}"),
    about: "What the report is asked for, by name: {\"method\": \"k_anonymize\", \"options\": {\"k\": 5}}.",
    read: |given| Ok(given.needed(given.json()?)?.into_owned()),
};

const PRIVACY_REPORT: Method = Method {
    name: "privacy_report",
    arguments: &[&ORIGINAL, &RELEASED, &OPTIONS],
    returns: Returns::One(Type::Json),
    run: |call| jsonb::datum(&serde_json::to_value(made(call)?).map_err(Error::fault)?),
    label: None,
    price: None,
};

const PRIVACY_REPORT_HTML: Method = Method {
    name: "privacy_report_html",
    arguments: &[&ORIGINAL, &RELEASED, &OPTIONS],
    returns: Returns::One(Type::Text),
    run: |call| {
        let page = report::html(&made(call)?);
        Ok(Text(page).into_datum().unwrap_or_else(|| call.null()))
    },
    label: None,
    price: None,
};

/// The report that a call asks for.
fn made(call: &Call) -> Result<Report, Error> {
    let options = Options::read(&call.get(&OPTIONS)?, call.get(&RELEASED)?)?;
    let original = call.get(&ORIGINAL)?;
    let tables = Tables::read(original, &options)?;
    let plan = options.plan();
    let measured = {
        let (original, releases) = (&tables.original.bag, tables.releases.iter().map(|r| &r.bag).collect());
        pool::run("reporting", tables.memory(), |watch| {
            plan.measure(original, &tables.hierarchies, releases, watch)
        })?
    };
    let made_at = sql::texts("SELECT pg_catalog.to_char(pg_catalog.now(), 'YYYY-MM-DD HH24:MI TZ')", &[])?;
    let mut report = told::report(&tables, &options, &plan, measured);
    report.made_at = made_at.into_iter().flatten().next().unwrap_or_default();
    report.budget = budget::accounts(original)?;
    Ok(report)
}

/// The original and the releases, with the same columns in the same order.
struct Tables {
    original: Input,
    /// Those of the original's columns: the declared ones, or proposed ones where nothing is declared.
    hierarchies: Vec<Hierarchy>,
    releases: Vec<Input>,
}

impl Tables {
    /// Reads with the caller's rights; a release may have more columns, in any order and of any types.
    fn read(original: Oid, options: &Options) -> Result<Self, Error> {
        let original = Relation::open(original)?;
        let columns = original.positions("columns", options.columns.as_deref())?;
        let releases: Vec<Relation> = options
            .candidates
            .iter()
            .map(|Candidate { relation, .. }| Relation::open(*relation))
            .collect::<Result<_, _>>()?;
        let places = |release: &Relation| {
            let names = columns.iter().map(|&column| original.columns[column].name.as_str());
            names.map(|name| release.position(name)).collect::<Result<Vec<_>, _>>()
        };
        let places = releases.iter().map(places).collect::<Result<Vec<_>, _>>()?;
        let bag = reader::read(&original, &columns)?.bag;
        let hierarchies = of_columns(&original, &columns, bag.domains())?;
        let original = Input { name: original.name, bag };
        let mut tables = Tables { original, hierarchies, releases: Vec::new() };
        for (release, places) in releases.into_iter().zip(places) {
            let bag = reader::read_beside(&release, &places, tables.memory())?.bag;
            tables.releases.push(Input { name: release.name, bag });
        }
        Ok(tables)
    }

    /// The bytes that they hold.
    fn memory(&self) -> u64 {
        let tables = self.releases.iter().chain([&self.original]).map(|table| table.bag.memory());
        tables.chain(self.hierarchies.iter().map(Hierarchy::memory)).sum()
    }
}

methods! {
    sanitize_privacy_report => PRIVACY_REPORT;
    sanitize_privacy_report_html => PRIVACY_REPORT_HTML;
}
