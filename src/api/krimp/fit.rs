//! Fitting code tables: the arguments that the Krimp functions share.

use crate::api::prelude::*;
use crate::pg::call::notice::notice;
use krimp::{Candidates, CodeTable, Ended, Forbidden, Nulls, Options, Progress, Snapshot};
use std::time::Duration;
use table::Choice;

pub const CANDIDATES: Argument<Candidates> = Argument::choice("candidates").or("\"all\"").about(
    "Where patterns come from: 'all' frequent itemsets, the 'closed' ones, or 'pairs' of patterns.",
);

pub const PRUNE: Argument<bool> = Argument::of("prune")
    .or("false")
    .about("Whether patterns that no longer help are taken out again.");

pub const MAX_TIME: Argument<Option<Duration>> =
    Argument::optional("max_time", Type::Interval, |given| {
        let Some(time) = given.interval()? else { return Ok(None) };
        let days = i128::from(time.months()) * 30 + i128::from(time.days());
        let micros = days * 86_400_000_000 + i128::from(time.micros());
        match u64::try_from(micros) {
            Ok(micros) if micros > 0 => Ok(Some(Duration::from_micros(micros))),
            _ => Err(Error::argument(
                "max_time is not a positive length of time",
                "Give for example '10 seconds', or leave it out for no limit.",
            )),
        }
    })
    .about("How long to look for patterns; needs candidates 'pairs'.");

pub const NULLS: Argument<Nulls> = Argument::new("nulls", Type::Text, |given| {
    let name = given.get::<String>()?;
    Nulls::named(&name).ok_or_else(|| {
        given.refuse(
            format_args!("\"{name}\""),
            "nulls is 'missing' (a NULL is no item) or 'value' (it is one like any other).",
        )
    })
})
.or("\"missing\"")
.about("What a NULL cell is: 'missing', no item, or a 'value' like any other.");

/// Combinations that no pattern may contain; they are matched with the rows later.
pub const FORBIDDEN: Argument<Option<Json>> = Argument::of("forbidden")
    .about("Column lists and itemsets that no pattern may contain: [[\"zip\", \"age\"], {\"sex\": \"F\"}].");

/// What the arguments of a call ask for.
pub fn options(call: &Arguments<'_>) -> Result<Options> {
    let mut options = Options::new(call.get(&MIN_SUPPORT)?);
    options.max_length = call.get(&MAX_LENGTH)?;
    options.candidates = call.get(&CANDIDATES)?;
    options.prune = call.get_if_declared(&PRUNE)?;
    options.time = call.get(&MAX_TIME)?;
    if options.time.is_some() && options.candidates != Candidates::Pairs {
        return Err(Error::argument(
            "max_time is given, but candidates is not 'pairs'",
            "A list of candidates is tried to its end; candidates made from pairs can be stopped at any time.",
        ));
    }
    Ok(options)
}

/// The forbidden combinations, in the codes of the bag.
pub fn forbidden(call: &Arguments<'_>, name: &str, bag: &Bag) -> Result<Vec<Forbidden>> {
    const HINT: &str = "forbidden is an array of column lists and itemsets: [[\"zip\", \"age\"], {\"sex\": \"F\"}].";
    let Some(forbidden) = call.get(&FORBIDDEN)? else { return Ok(Vec::new()) };
    let names: Vec<&str> = bag.domains().iter().map(|d| d.name()).collect();
    let forbidden = combinations(FORBIDDEN.name, &forbidden, HINT, (name, &names))?;
    Ok(coded(forbidden, bag, Forbidden::Columns, Forbidden::Items).collect())
}

/// The positions of a call's columns in the relation: those that are drawn, and after them the class, if any.
pub fn columns_and_class(
    call: &ReleaseCall<'_>,
    relation: &Relation,
) -> Result<(Vec<usize>, bool)> {
    let names = call.get(&COLUMNS)?;
    let class = call.get(&CLASS)?.map(|name| relation.position(&name)).transpose()?;
    let mut columns = relation.positions("columns", names.as_deref())?;
    columns.retain(|&position| Some(position) != class);
    if columns.is_empty() {
        return Err(Error::argument(
            "no column is left beside the class",
            "Name further columns, or leave class out.",
        ));
    }
    columns.extend(class);
    Ok((columns, class.is_some()))
}

/// The progress of a fit, as a text.
pub fn told(now: Snapshot) -> String {
    let percent = now.ratio * 100.0;
    format!("{} candidates seen, {} accepted, {percent:.1} % of the size", now.seen, now.accepted)
}

/// The code table of a bag; `held` is the number of bytes that the call already holds.
pub fn fit(bag: &Bag, held: u64, options: &Options) -> Result<CodeTable> {
    let progress = Progress::new();
    let tell = || told(progress.snapshot());
    let job = |watch: &Watch| Ok::<_, Stop>(krimp::fit(bag, options, watch, &progress));
    let fitted = pool::run_telling("fitting", held, |_| tell(), job)?;
    // The hint for a limit depends on where candidates come from.
    let table = fitted.map_err(|error| match error {
        krimp::Error::Stop(stop) if options.candidates != Candidates::Pairs => too_many(stop),
        error => error.into(),
    })?;
    let limit = match table.ended {
        Ended::Complete => return Ok(table),
        Ended::Time => "max_time",
        Ended::Memory => "pg_sanitize.max_memory",
    };
    notice(&format!("pg_sanitize: fitting ended by {limit}, {}", tell()));
    Ok(table)
}

fn too_many(stop: Stop) -> Error {
    match stop {
        Stop::Memory { .. } => Error::Candidates {
            setting: "pg_sanitize.max_memory",
            limit: format!("{} MB", settings::max_memory() >> 20),
        },
        Stop::Itemsets { limit } => {
            Error::Candidates { setting: "pg_sanitize.max_itemsets", limit: limit.to_string() }
        }
        Stop::Cancelled => Error::Cancelled,
    }
}
